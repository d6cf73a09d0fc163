public import SatchelCore
internal import Postgres

extension PostgresRecordStore {
    /// No page is longer.
    static let longestPage = 1000
    /// A label that fewer jobs have is rare: then all of them are read.
    static let rareLabel = 1000

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
            let (places, next) = try await work.places(
                in: .jobs, of: tenant, where: filter, after: cursor, limit: limit)
            let keys = places.compactMap { Int64($0) }
            let records = try await work.jobRecords(keys)
            return Page(elements: keys.compactMap { records[$0] }, next: next)
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
            let (places, next) = try await work.places(
                in: .attachments, of: tenant, where: filter, after: cursor, limit: limit)
            let rows = try await work.run(
                """
                SELECT \(PostgresWork.attachmentColumns) FROM attachments
                WHERE tenant = $1 AND id = ANY($2::uuid[]) ORDER BY id DESC
                """, [.text(tenant.rawValue), .uuids(places)])
            return Page(elements: try await work.attachmentRecords(rows, of: tenant), next: next)
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
