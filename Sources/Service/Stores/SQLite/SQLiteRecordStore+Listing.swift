public import SatchelCore
internal import GRDB

extension SQLiteRecordStore {
    /// No page is longer.
    static let longestPage = 1000
    /// A label that fewer jobs have is rare: then all of them are read.
    static let rareLabel = 1000

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
        try await page(.jobs, of: tenant, where: filter, after: cursor, limit: limit) { database, row in
            try database.jobRecord(row)
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
        try await page(.attachments, of: tenant, where: filter, after: cursor, limit: limit) { database, row in
            try database.attachmentRecord(row, job: database.jobID(key: row["job"]))
        }
    }

    private func page<Element: Sendable>(
        _ table: ListedTable, of tenant: TenantID, where filter: RecordFilter, after cursor: String?, limit: Int,
        _ element: @escaping @Sendable (Database, Row) throws -> Element
    ) async throws(AttachmentError) -> Page<Element> {
        try await read { [longestSearch] database, _ in
            let query = ListQuery(
                table, of: tenant, where: filter, after: cursor, limit: limit,
                rare: try database.rarest(of: filter.labels, of: tenant, in: table),
                between: try database.places(of: filter, of: tenant, in: table))
            let floor = query.isSearch ? query.floor(longestSearch) : nil
            let end = try floor.flatMap { try database.texts($0.sql, $0.arguments).first }
            let (sql, arguments) = query.page(to: end)
            let rows = try database.rows(sql, arguments)
            let next: String? = rows.count < query.limit ? end : rows.last?["cursor"]
            return Page(elements: try rows.map { try element(database, $0) }, next: next)
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

extension Database {
    /// The label of a filter that the fewest jobs have. An attachment's place tells nothing of its job's: of attachments all
    /// are read that have the label, and so it has to be rare.
    fileprivate func rarest(of labels: Set<JobLabel>, of tenant: TenantID, in table: ListedTable) throws -> JobLabel? {
        if table == .jobs, labels.count == 1 { return labels.first }
        let counted = try labels.map { label in
            let count = try number(
                Self.jobsLabelled, [tenant.rawValue, label.key, label.value, SQLiteRecordStore.rareLabel])
            return (label: label, count: count ?? 0)
        }
        let rarest = counted.min { ($0.count, $0.label.key) < ($1.count, $1.label.key) }
        if table == .attachments, let rarest, rarest.count >= SQLiteRecordStore.rareLabel { return nil }
        return rarest?.label
    }

    static let jobsLabelled = """
        SELECT count(*) FROM (
            SELECT 1 FROM labels WHERE tenant = ? AND key = ? AND value = ? LIMIT ?)
        """

    /// Between which places everything lies that was created at a filter's times.
    fileprivate func places(
        of filter: RecordFilter, of tenant: TenantID, in table: ListedTable
    ) throws -> PlaceRange {
        var places = PlaceRange()
        places.start = try filter.since.map { try place(of: $0 - PlaceRange.slack, of: tenant, in: table) }
        places.end = try filter.before.map { try place(of: $0 + PlaceRange.slack, of: tenant, in: table) }
        return places
    }

    /// Where in a list that begins which was created at an instant or later.
    private func place(of instant: Instant, of tenant: TenantID, in table: ListedTable) throws -> String {
        let sql = Self.createdAt(in: table)
        var halving = Halving(table == .jobs ? 0..<1 << 40 : AttachmentID.times)
        while let number = halving.next {
            let from = table.place(number)
            let createdAt = try self.number(sql, [tenant.rawValue, table.value(from)])
            halving.take(createdAt.map { $0 >= instant.milliseconds } ?? true)
        }
        return table.place(halving.found)
    }

    static func createdAt(in table: ListedTable) -> String {
        """
        SELECT created_at FROM \(table.rawValue) WHERE tenant = ? AND \(table.order) >= ? ORDER BY \(table.order) LIMIT 1
        """
    }
}
