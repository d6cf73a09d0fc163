public import Attachments
internal import Postgres

extension PostgresRecordStore {
    /// No page is longer.
    static let longestPage = 1000

    public func job(_ id: JobID, of tenant: TenantID) async throws(AttachmentError) -> JobRecord? {
        try await read { work in
            try await work.jobRecords([id], of: tenant).first
        }
    }

    public func states(ofWork keys: [String], of tenant: TenantID) async throws(AttachmentError) -> [String: WorkState]
    {
        try await read { work in
            var states: [String: WorkState] = [:]
            let rows = try await work.run(
                """
                SELECT work_key, coalesce(queue.state, jobs.state) AS state FROM jobs
                    LEFT JOIN queue ON queue.job = jobs.key
                WHERE jobs.tenant = $1 AND work_key = ANY($2::text[])
                """, [.text(tenant.rawValue), .texts(keys)])
            for row in rows { states[try row.text("work_key")] = try row.choice("state") }
            return states
        }
    }

    public func profiles(named name: String) async throws(AttachmentError) -> [Profile] {
        try await read { work in
            try await work.run("SELECT body FROM profiles WHERE name = $1 ORDER BY key", [.text(name)]).map {
                try ProfileColumn.value(from: $0.text("body"))
            }
        }
    }

    public func jobs(
        of tenant: TenantID, where filter: RecordFilter, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<JobRecord> {
        try await read { work in
            let limit = min(max(limit, 1), Self.longestPage)
            var conditions = Conditions(of: tenant)
            if let state = filter.state { conditions.require(state, of: "jobs", job: "key") }
            if let run = filter.run { conditions.require("jobs.run <> '' AND jobs.run = $", .text(run.rawValue)) }
            if let kind = filter.kind {
                conditions.require(
                    "EXISTS (SELECT 1 FROM attachments WHERE job = jobs.key AND kind = $)", .text(kind.rawValue))
            }
            // After anything else than was given comes nothing.
            if let cursor { conditions.require("jobs.key < $", .int(Int64(cursor) ?? 0)) }
            let keys = try await work.run(
                "SELECT key FROM jobs WHERE \(conditions.sql) ORDER BY key DESC LIMIT \(limit)", conditions.values
            ).map { try $0.int64("key") }
            let records = try await work.jobRecords(keys)
            return Page(
                elements: keys.compactMap { records[$0] }, next: keys.count < limit ? nil : keys.last.map { "\($0)" })
        }
    }

    public func attachment(
        _ id: AttachmentID, of tenant: TenantID
    ) async throws(AttachmentError) -> AttachmentRecord? {
        try await read { work in
            try await work.attachmentRecords([id], of: tenant).first
        }
    }

    public func attachments(
        of tenant: TenantID, where filter: RecordFilter, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<AttachmentRecord> {
        try await read { work in
            let limit = min(max(limit, 1), Self.longestPage)
            var conditions = Conditions(of: tenant)
            if let state = filter.state { conditions.require(state, of: "attachments", job: "job") }
            if let run = filter.run { conditions.require("run <> '' AND run = $", .text(run.rawValue)) }
            if let kind = filter.kind { conditions.require("kind = $", .text(kind.rawValue)) }
            if let cursor { conditions.require("id < $", .uuid(cursor)) }
            let rows = try await work.run(
                """
                SELECT \(PostgresWork.attachmentColumns) FROM attachments WHERE \(conditions.sql)
                ORDER BY id DESC LIMIT \(limit)
                """, conditions.values)
            return Page(
                elements: try await work.attachmentRecords(rows, of: tenant),
                next: rows.count < limit ? nil : try rows.last?.text("id"))
        }
    }

    public func blob(
        of role: RenditionRole, of attachment: AttachmentID, tenant: TenantID
    ) async throws(AttachmentError) -> BlobName? {
        try await read { work in
            try await work.run(
                "SELECT blob FROM renditions WHERE tenant = $1 AND attachment = $2 AND role = $3",
                [.text(tenant.rawValue), .uuid(attachment.rawValue), .text(role.rawValue)]
            ).first.map { BlobName(rawValue: try $0.text("blob")) }
        }
    }
}

/// What a list is narrowed to, text and values apart.
struct Conditions {
    var sql = "tenant = $1"
    var values: [PostgresValue]

    init(of tenant: TenantID) {
        values = [.text(tenant.rawValue)]
    }

    /// - Parameter condition: In which `$` alone stands for the value.
    mutating func require(_ condition: String, _ value: PostgresValue? = nil) {
        if let value { values.append(value) }
        sql += " AND " + condition.replacing("$", with: "$\(values.count)")
    }

    /// What is unfinished is pending in its own table; which of the two it is the queue says.
    ///
    /// - Parameter job: The table's column with the job's key.
    mutating func require(_ state: WorkState, of table: String, job: String) {
        switch state {
        case .pending, .running:
            require("\(table).state = 'pending'")
            require(
                "EXISTS (SELECT 1 FROM queue WHERE queue.job = \(table).\(job) AND queue.state = $)",
                .text(state.rawValue))
        default: require("\(table).state = $", .text(state.rawValue))
        }
    }
}
