internal import SatchelCore
internal import Postgres

/// A list as a statement.
///
/// It is read along one index, its *way*, in which places fall: the narrowest that there is for the filter. What the way
/// doesn't say is looked at for each row. What is looked at is cut off first, so that no plan reads more.
struct RecordListQuery: Sendable {
    let sql: String
    let values: [SQLValue]
    let limit: Int

    /// - Parameters:
    ///   - cursor: As it was given; after anything else comes nothing.
    ///   - label: One of the filter's that few jobs have.
    ///   - places: Between which everything lies that was created at the filter's times.
    ///   - longest: Rows that are looked at, at most.
    init(
        _ table: ListedTable, of tenant: TenantID, where filter: RecordFilter, after cursor: String?, limit: Int,
        rare label: JobLabel?, between places: PlaceRange, longest: Int
    ) {
        self.limit = RecordStore.pageLength(limit)
        var rest = filter
        var conditions = Conditions()
        let (way, place, isInOrder) = Self.way(table, of: tenant, &rest, rare: label, &conditions)
        for (relation, bound) in [("<", cursor), ("<", places.end), (">=", places.start)] {
            if let bound { conditions.require("\(place) \(relation) $", table.value(bound)) }
        }
        let found = "SELECT \(place) AS place FROM \(way) WHERE \(conditions.sql)"
        conditions = conditions.next()
        Self.require(rest, in: table, of: tenant, &conditions)
        // Of unfinished jobs few are running.
        let longest = rest == RecordFilter(state: .pending) ? min(longest, self.limit + 1000) : longest
        let rows = conditions.isEmpty || !isInOrder ? self.limit : longest
        // Of rows that don't come in order, all are looked at: they are few.
        let cut = isInOrder ? "ORDER BY \(place) DESC LIMIT \(rows)" : ""
        sql = """
            WITH seen AS MATERIALIZED (\(found) \(cut)),
            matching AS MATERIALIZED (
                SELECT seen.place FROM seen CROSS JOIN \(table.rawValue)
                WHERE \(table.rawValue).tenant = $1 AND \(table.rawValue).\(table.order) = seen.place
                    AND \(conditions.sql) ORDER BY seen.place DESC LIMIT \(self.limit))
            SELECT matching.place::text AS place, ends.place::text AS floor, ends.count FROM (
                SELECT (SELECT place FROM seen ORDER BY place LIMIT 1) AS place, (SELECT count(*) FROM seen) AS count
            ) AS ends LEFT JOIN matching ON true ORDER BY matching.place DESC
            """
        values = conditions.values
        seen = isInOrder ? rows : nil
    }

    /// Rows that are looked at, where that may not be all.
    private let seen: Int?

    /// The places on a page, and where the next one begins.
    func page(_ rows: RecordRows) throws -> (places: [String], next: String?) {
        let places = try rows.compactMap { try $0.optionalText("place") }
        guard places.count < limit else { return (places, places.last) }
        guard let seen, let row = rows.first, try row.int("count") >= seen else { return (places, nil) }
        return (places, try row.optionalText("floor"))
    }

    private static func way(
        _ table: ListedTable, of tenant: TenantID, _ filter: inout RecordFilter, rare label: JobLabel?,
        _ conditions: inout Conditions
    ) -> (tables: String, place: String, isInOrder: Bool) {
        let name = table.rawValue
        let own = "\(name).\(table.order)"
        if let label {
            filter.labels.remove(label)
            conditions.require("labels.tenant = $", .raw(tenant))
            conditions.require("labels.key = $ AND labels.value = $", .text(label.key), .text(label.value))
            return switch table {
            case .jobs: ("labels", "labels.job", true)
            case .attachments:
                (
                    "labels JOIN attachments ON attachments.tenant = labels.tenant AND attachments.job = labels.job",
                    own, false
                )
            }
        }
        if filter.run == nil, let code = filter.code {
            filter.code = nil
            let value = SQLValue.raw(code)
            switch table {
            case .jobs:
                conditions.require("failed.tenant = $ AND failed.code = $", .raw(tenant), value)
                // The first of a job's, so that the job comes once.
                conditions.require(
                    """
                    NOT EXISTS (
                        SELECT 1 FROM attachments AS earlier
                        WHERE earlier.tenant = failed.tenant AND earlier.code = failed.code
                            AND earlier.job = failed.job AND earlier.ordinal < failed.ordinal)
                    """)
                return ("attachments AS failed", "failed.job", true)
            case .attachments:
                conditions.require("attachments.tenant = $ AND attachments.code = $", .raw(tenant), value)
                return (name, own, true)
            }
        }
        conditions.require("\(name).tenant = $", .raw(tenant))
        if let run = filter.run {
            conditions.require("\(name).run <> '' AND \(name).run = $", .raw(run))
            filter.run = nil
            return (name, own, true)
        }
        if table == .attachments, let kind = filter.kind {
            conditions.require("attachments.kind = $", .raw(kind))
            filter.kind = nil
        }
        if filter.state == .running {
            filter.state = nil
            conditions.require(
                "\(name).state = 'pending' AND queue.state = 'running' AND \(name).\(table.job) = queue.job")
            // SQLite begins with the first.
            return ("queue CROSS JOIN \(name)", own, false)
        }
        if let state = filter.state {
            // What is unfinished is pending in its own table; which of the two it is the queue says.
            conditions.require("\(name).state = $", .text((state.isFinished ? state : .pending).rawValue))
            if state.isFinished { filter.state = nil }
        }
        return (name, own, true)
    }

    private static func require(
        _ filter: RecordFilter, in table: ListedTable, of tenant: TenantID, _ conditions: inout Conditions
    ) {
        let name = table.rawValue
        let isOfProfile = "profile IN (SELECT key FROM profiles WHERE name = $)"
        switch filter.state {
        case .pending?, .running?:
            conditions.require(
                """
                \(name).state = 'pending' AND EXISTS (
                    SELECT 1 FROM queue WHERE queue.job = \(name).\(table.job) AND queue.state = $)
                """, .raw(filter.state))
        case let state?: conditions.require("\(name).state = $", .raw(state))
        case nil: break
        }
        if let run = filter.run { conditions.require("\(name).run = $", .raw(run)) }
        if let since = filter.since { conditions.require("\(name).created_at >= $", .time(since)) }
        if let before = filter.before { conditions.require("\(name).created_at < $", .time(before)) }
        for (column, value) in [
            ("kind", filter.kind?.rawValue), ("code", filter.code?.rawValue), ("identifier", filter.identifier),
        ] {
            guard let value else { continue }
            switch table {
            case .jobs:
                conditions.require(
                    """
                    EXISTS (
                        SELECT 1 FROM attachments AS its
                        WHERE its.job = jobs.key AND its.generation = jobs.generation AND its.\(column) = $)
                    """, .text(value))
            case .attachments: conditions.require("attachments.\(column) = $", .text(value))
            }
        }
        if let profile = filter.profile {
            switch table {
            case .jobs: conditions.require("jobs.\(isOfProfile)", .text(profile))
            case .attachments:
                conditions.require(
                    "EXISTS (SELECT 1 FROM jobs WHERE jobs.key = attachments.job AND jobs.\(isOfProfile))",
                    .text(profile))
            }
        }
        for label in filter.labels.sorted(by: { ($0.key, $0.value) < ($1.key, $1.value) }) {
            conditions.require(
                """
                EXISTS (
                    SELECT 1 FROM labels AS other WHERE other.tenant = $ AND other.key = $ AND other.value = $
                        AND other.job = \(name).\(table.job))
                """, .raw(tenant), .text(label.key), .text(label.value))
        }
    }
}

extension ListedTable {
    /// A place as the database knows it; one before all for what is none.
    func value(_ place: String) -> SQLValue {
        switch self {
        case .jobs: .int(Int64(place) ?? 0)
        case .attachments: .uuid(place)
        }
    }
}

extension RecordTransaction {
    /// A page of a list.
    func places(
        in table: ListedTable, of tenant: TenantID, where filter: RecordFilter, after cursor: String?, limit: Int
    ) throws -> (places: [String], next: String?) {
        let query = RecordListQuery(
            table, of: tenant, where: filter, after: cursor, limit: limit,
            rare: try rarest(of: filter.labels, of: tenant, in: table),
            between: try places(of: filter, of: tenant, in: table), longest: store.longestSearch)
        return try query.page(try run(query.sql, query.values))
    }

    /// The label of a filter that the fewest jobs have; of a list of attachments nil where it isn't rare.
    private func rarest(of labels: Set<JobLabel>, of tenant: TenantID, in table: ListedTable) throws -> JobLabel? {
        guard !labels.isEmpty else { return nil }
        if table == .jobs, labels.count == 1 { return labels.first }
        let labels = labels.sorted { ($0.key, $0.value) < ($1.key, $1.value) }
        let counts = try send(
            labels.map { label in
                Statement(
                    """
                    SELECT count(*) AS n FROM (
                        SELECT 1 FROM labels WHERE tenant = $1 AND key = $2 AND value = $3 LIMIT $4) AS found
                    """, [.raw(tenant), .text(label.key), .text(label.value), .int(RecordStore.rareLabel)])
            }
        ).map { try $0.first?.int("n") ?? 0 }
        guard let rarest = zip(labels, counts).min(by: { $0.1 < $1.1 }) else { return nil }
        return table == .attachments && rarest.1 >= RecordStore.rareLabel ? nil : rarest.0
    }

    /// Between which places everything lies that was created at a filter's times.
    private func places(
        of filter: RecordFilter, of tenant: TenantID, in table: ListedTable
    ) throws -> PlaceRange {
        var places = PlaceRange()
        if let since = filter.since {
            places.start = try place(of: since - PlaceRange.slack, of: tenant, in: table)
        }
        if let before = filter.before {
            places.end = try place(of: before + PlaceRange.slack, of: tenant, in: table)
        }
        return places
    }

    /// Where in a list that begins which was created at an instant or later.
    private func place(of instant: Instant, of tenant: TenantID, in table: ListedTable) throws -> String {
        // Each look is a round trip: not the whole range, then, but what there is.
        let (name, order) = (table.rawValue, table.order)
        let ends = try run(
            """
            SELECT (SELECT \(order) FROM \(name) WHERE tenant = $1 ORDER BY \(order) LIMIT 1)::text AS first,
                (SELECT \(order) FROM \(name) WHERE tenant = $1 ORDER BY \(order) DESC LIMIT 1)::text AS last
            """, [.raw(tenant)]
        ).first
        let first = try ends?.optionalText("first").flatMap(table.number) ?? 0
        let last = try ends?.optionalText("last").flatMap(table.number) ?? first
        var halving = Halving(first..<last + 1)
        while let number = halving.next {
            let row = try run(
                "SELECT created_at FROM \(name) WHERE tenant = $1 AND \(order) >= $2 ORDER BY \(order) LIMIT 1",
                [.raw(tenant), table.value(table.place(number))]
            ).first
            halving.take(try row.map { try $0.instant("created_at") >= instant } ?? true)
        }
        return table.place(halving.found)
    }
}

extension ListedTable {
    /// The number of a place.
    fileprivate func number(_ place: String) -> Int64? {
        switch self {
        case .jobs: Int64(place)
        case .attachments: AttachmentID(rawValue: place).instant?.milliseconds
        }
    }
}
