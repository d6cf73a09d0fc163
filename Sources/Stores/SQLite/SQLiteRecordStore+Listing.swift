public import Attachments
internal import GRDB

extension SQLiteRecordStore {
    /// No page is longer.
    static let longestPage = 1000

    public func job(_ id: JobID, of tenant: TenantID) async throws(AttachmentError) -> JobRecord? {
        try await read { database, _ in try database.jobRecord(id, of: tenant) }
    }

    /// What became of work that is known by one of these keys, by its key.
    public func states(ofWork keys: [String], of tenant: TenantID) async throws(AttachmentError) -> [String: WorkState]
    {
        try await read { database, _ in
            var states: [String: WorkState] = [:]
            for key in keys {
                let row = try database.row(
                    "SELECT state FROM jobs WHERE tenant = ? AND work_key = ?", [tenant.rawValue, key])
                states[key] = try row?.choice("state")
            }
            return states
        }
    }

    /// The profiles of this name under which jobs were submitted, each as it was then.
    public func profiles(named name: String) async throws(AttachmentError) -> [Profile] {
        try await read { database, _ in
            try database.texts("SELECT body FROM profiles WHERE name = ?", [name]).map(ProfileColumn.value)
        }
    }

    /// Newest first.
    public func jobs(
        of tenant: TenantID, where filter: RecordFilter, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<JobRecord> {
        let query = ListQuery(.jobs, of: tenant, where: filter, after: cursor, limit: limit)
        return try await page(query) { database, row in try database.jobRecord(row) }
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
        let query = ListQuery(.attachments, of: tenant, where: filter, after: cursor, limit: limit)
        return try await page(query) { database, row in
            try database.attachmentRecord(row, job: database.jobID(key: row["job"]))
        }
    }

    private func page<Element: Sendable>(
        _ query: ListQuery, _ element: @escaping @Sendable (Database, Row) throws -> Element
    ) async throws(AttachmentError) -> Page<Element> {
        try await read { database, _ in
            let rows = try database.rows(query.sql, query.arguments)
            let isLast = rows.count < query.limit
            return Page(
                elements: try rows.map { try element(database, $0) }, next: isLast ? nil : rows.last?["cursor"])
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
    enum Table: String, Sendable {
        case jobs
        case attachments

        /// The column that grows with time, and that a cursor is a value of.
        var order: String {
            switch self {
            case .jobs: "key"
            case .attachments: "id"
            }
        }

        var hasKind: String {
            switch self {
            case .jobs: "EXISTS (SELECT 1 FROM attachments WHERE job = jobs.key AND kind = ?)"
            case .attachments: "kind = ?"
            }
        }
    }

    let sql: String
    let arguments: StatementArguments
    let limit: Int

    /// - Parameter cursor: As it was given; after anything else comes nothing.
    init(_ table: Table, of tenant: TenantID, where filter: RecordFilter, after cursor: String?, limit: Int) {
        var conditions = ["tenant = ?"]
        var arguments: StatementArguments = [tenant.rawValue]
        func require(_ condition: String, _ value: (any DatabaseValueConvertible)?) {
            guard let value else { return }
            conditions.append(condition)
            arguments += [value]
        }
        require("state = ?", filter.state?.rawValue)
        require("run <> '' AND run = ?", filter.run?.rawValue)
        require(table.hasKind, filter.kind?.rawValue)
        switch table {
        case .jobs: require("key < ?", cursor.map { Int64($0) ?? 0 })
        case .attachments: require("id < ?", cursor)
        }
        self.limit = min(max(limit, 1), SQLiteRecordStore.longestPage)
        sql = """
            SELECT *, CAST(\(table.order) AS TEXT) AS cursor FROM \(table.rawValue)
            WHERE \(conditions.joined(separator: " AND ")) ORDER BY \(table.order) DESC LIMIT ?
            """
        self.arguments = arguments + [self.limit]
    }
}
