public import Attachments
internal import GRDB

extension SQLiteRecordStore {
    /// No page is longer.
    static let longestPage = 1000

    public func job(_ id: JobID, of tenant: TenantID) async throws(AttachmentError) -> JobRecord? {
        try await read { database, _ in
            try database.row(
                "SELECT * FROM jobs WHERE tenant = ? AND id = ?", [tenant.rawValue, id.rawValue]
            ).map(database.jobRecord)
        }
    }

    /// Newest first.
    public func jobs(
        of tenant: TenantID, where filter: RecordFilter, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<JobRecord> {
        let query = ListQuery.jobs(of: tenant, where: filter, after: cursor.map { Int64($0) ?? 0 }, limit: limit)
        return try await read { database, _ in
            let rows = try database.rows(query.sql, query.arguments)
            let isLast = rows.count < query.limit
            return Page(
                elements: try rows.map(database.jobRecord),
                next: isLast ? nil : rows.last.map { String($0["key"] as Int64) })
        }
    }

    public func attachment(
        _ id: AttachmentID, of tenant: TenantID
    ) async throws(AttachmentError) -> AttachmentRecord? {
        try await read { database, _ in try database.attachmentRecord(id, of: tenant) }
    }

    /// Newest first.
    public func attachments(
        of tenant: TenantID, where filter: RecordFilter, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<AttachmentRecord> {
        let query = ListQuery.attachments(of: tenant, where: filter, after: cursor, limit: limit)
        return try await read { database, _ in
            let rows = try database.rows(query.sql, query.arguments)
            let isLast = rows.count < query.limit
            return Page(
                elements: try rows.map { try database.attachmentRecord($0, job: database.jobID(key: $0["job"])) },
                next: isLast ? nil : rows.last?["id"])
        }
    }

    public func blob(
        of role: RenditionRole, of attachment: AttachmentID, tenant: TenantID
    ) async throws(AttachmentError) -> BlobName? {
        try await read { database, _ in
            try database.texts(
                "SELECT blob FROM renditions WHERE tenant = ? AND attachment = ? AND role = ?",
                [tenant.rawValue, attachment.rawValue, role.rawValue]
            ).first.map(BlobName.init(rawValue:))
        }
    }
}

/// The text and the values of a list, apart, so that a test can ask SQLite for its plan.
struct ListQuery: Sendable {
    var sql: String
    var arguments: StatementArguments
    var limit: Int

    static func jobs(of tenant: TenantID, where filter: RecordFilter, after cursor: Int64?, limit: Int) -> ListQuery {
        var conditions = ["tenant = ?"]
        var arguments: StatementArguments = [tenant.rawValue]
        if let state = filter.state {
            conditions.append("state = ?")
            arguments += [state.rawValue]
        }
        if let run = filter.run {
            conditions.append("run <> '' AND run = ?")
            arguments += [run.rawValue]
        }
        if let kind = filter.kind {
            conditions.append("EXISTS (SELECT 1 FROM attachments WHERE job = jobs.key AND kind = ?)")
            arguments += [kind.rawValue]
        }
        if let cursor {
            conditions.append("key < ?")
            arguments += [cursor]
        }
        return ListQuery(table: "jobs", conditions, arguments, order: "key", limit: limit)
    }

    static func attachments(
        of tenant: TenantID, where filter: RecordFilter, after cursor: String?, limit: Int
    ) -> ListQuery {
        var conditions = ["tenant = ?"]
        var arguments: StatementArguments = [tenant.rawValue]
        if let state = filter.state {
            conditions.append("state = ?")
            arguments += [state.rawValue]
        }
        if let kind = filter.kind {
            conditions.append("kind = ?")
            arguments += [kind.rawValue]
        }
        if let run = filter.run {
            conditions.append("run <> '' AND run = ?")
            arguments += [run.rawValue]
        }
        if let cursor {
            conditions.append("id < ?")
            arguments += [cursor]
        }
        return ListQuery(table: "attachments", conditions, arguments, order: "id", limit: limit)
    }

    private init(
        table: String, _ conditions: [String], _ arguments: StatementArguments, order: String, limit: Int
    ) {
        self.limit = min(max(limit, 1), SQLiteRecordStore.longestPage)
        sql = "SELECT * FROM \(table) WHERE \(conditions.joined(separator: " AND ")) ORDER BY \(order) DESC LIMIT ?"
        self.arguments = arguments + [self.limit]
    }
}
