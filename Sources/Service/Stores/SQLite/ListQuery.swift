internal import SatchelCore
internal import GRDB

/// The text and the values of a list, apart, so that a test can ask SQLite for its plan.
///
/// A list is read along one index, its *way*, in which places fall: the narrowest that there is for the filter. What the way
/// doesn't say is looked at for each row; then only so many rows are (``floor(_:)``), and the page ends there.
struct ListQuery: Sendable {
    /// Where a list is looked through.
    struct Way: Sendable {
        var tables: String
        var conditions: [String]
        var arguments: StatementArguments
        /// The column with places.
        var place: String
        /// Whether rows come in the order of their places, one after the other: else all are read, which are few.
        var isInOrder = true
    }

    let table: ListedTable
    let way: Way
    let limit: Int
    private var conditions: [String] = []
    private var arguments: StatementArguments = []

    /// - Parameters:
    ///   - cursor: As it was given; after anything else comes nothing.
    ///   - label: One of the filter's that few jobs have.
    ///   - places: Between which everything lies that was created at the filter's times.
    init(
        _ table: ListedTable, of tenant: TenantID, where filter: RecordFilter, after cursor: String?, limit: Int,
        rare label: JobLabel? = nil, between places: PlaceRange = PlaceRange()
    ) {
        self.table = table
        self.limit = min(max(limit, 1), SQLiteRecordStore.longestPage)
        var rest = filter
        var way = Self.way(table, of: tenant, &rest, rare: label)
        for (relation, place) in [("<", cursor), ("<", places.end), (">=", places.start)] {
            guard let place else { continue }
            way.conditions.append("\(way.place) \(relation) ?")
            way.arguments += [table.value(place)]
        }
        self.way = way
        require(rest, of: tenant)
    }

    /// Takes the way, and from the filter what that says.
    private static func way(
        _ table: ListedTable, of tenant: TenantID, _ filter: inout RecordFilter, rare label: JobLabel?
    ) -> Way {
        let (name, place) = (table.rawValue, "\(table.rawValue).\(table.order)")
        var way = Way(tables: name, conditions: ["\(name).tenant = ?"], arguments: [tenant.rawValue], place: place)
        func take(_ condition: String, _ value: (any DatabaseValueConvertible)?) {
            guard let value else { return }
            way.conditions.append(condition)
            way.arguments += [value]
        }
        if let label {
            filter.labels.remove(label)
            way.arguments += [label.key, label.value]
            way.conditions = ["labels.tenant = ?", "labels.key = ?", "labels.value = ?"]
            switch table {
            case .jobs:
                way.tables = "labels CROSS JOIN jobs ON jobs.key = labels.job"
                way.place = "labels.job"
            case .attachments:
                way.tables = "labels CROSS JOIN attachments ON attachments.job = labels.job"
                way.isInOrder = false
            }
        } else if let run = filter.run {
            take("\(name).run <> '' AND \(name).run = ?", run.rawValue)
            filter.run = nil
        } else if let code = filter.code {
            filter.code = nil
            switch table {
            case .jobs:
                // The first of a job's, so that the job comes once.
                way = Way(
                    tables: """
                        attachments AS failed INDEXED BY attachments_by_code_and_job
                        CROSS JOIN jobs ON jobs.key = failed.job
                        """,
                    conditions: [
                        "failed.tenant = ?", "failed.code = ?",
                        """
                        NOT EXISTS (
                            SELECT 1 FROM attachments AS earlier INDEXED BY attachments_by_code_and_job
                            WHERE earlier.tenant = failed.tenant AND earlier.code = failed.code
                                AND earlier.job = failed.job AND earlier.ordinal < failed.ordinal)
                        """,
                    ], arguments: [tenant.rawValue, code.rawValue], place: "failed.job")
            case .attachments:
                way.tables = "attachments INDEXED BY attachments_by_code"
                take("attachments.code = ?", code.rawValue)
            }
        } else {
            if table == .attachments {
                take("attachments.kind = ?", filter.kind?.rawValue)
                filter.kind = nil
            }
            take("\(name).state = ?", filter.state?.rawValue)
            filter.state = nil
        }
        return way
    }

    /// Looks at each row of the way for what that doesn't say.
    private mutating func require(_ filter: RecordFilter, of tenant: TenantID) {
        func require(_ condition: String, _ values: (any DatabaseValueConvertible)?...) {
            let values = values.compactMap(\.self)
            guard !values.isEmpty else { return }
            conditions.append(condition)
            arguments += StatementArguments(values)
        }
        let name = table.rawValue
        let isOfProfile = "profile IN (SELECT key FROM profiles WHERE name = ?)"
        require("\(name).state = ?", filter.state?.rawValue)
        require("\(name).run <> '' AND \(name).run = ?", filter.run?.rawValue)
        require("\(name).created_at >= ?", filter.since?.milliseconds)
        require("\(name).created_at < ?", filter.before?.milliseconds)
        switch table {
        case .jobs:
            for (column, value) in [
                ("kind", filter.kind?.rawValue), ("code", filter.code?.rawValue), ("identifier", filter.identifier),
            ] {
                require(
                    """
                    EXISTS (
                        SELECT 1 FROM attachments AS its
                        WHERE its.job = jobs.key AND its.generation = jobs.generation AND its.\(column) = ?)
                    """, value)
            }
            require("jobs.\(isOfProfile)", filter.profile)
        case .attachments:
            require("attachments.kind = ?", filter.kind?.rawValue)
            require("attachments.code = ?", filter.code?.rawValue)
            require("attachments.identifier = ?", filter.identifier)
            require(
                "EXISTS (SELECT 1 FROM jobs WHERE jobs.key = attachments.job AND jobs.\(isOfProfile))",
                filter.profile)
        }
        for label in filter.labels.sorted(by: { ($0.key, $0.value) < ($1.key, $1.value) }) {
            require(
                """
                EXISTS (
                    SELECT 1 FROM labels AS other WHERE other.tenant = ? AND other.key = ? AND other.value = ?
                        AND other.job = \(table == .jobs ? "jobs.key" : "attachments.job"))
                """, tenant.rawValue, label.key, label.value)
        }
    }

    /// Whether a page may have to look at many rows.
    var isSearch: Bool { !conditions.isEmpty && way.isInOrder }

    /// Of so many rows of the way, the place of the last; nothing where there are fewer.
    func floor(_ rows: Int) -> (sql: String, arguments: StatementArguments) {
        (
            """
            SELECT CAST(\(way.place) AS TEXT) FROM \(way.tables) WHERE \(way.conditions.joined(separator: " AND "))
            ORDER BY \(way.place) DESC LIMIT 1 OFFSET ?
            """, way.arguments + [rows - 1]
        )
    }

    /// - Parameter floor: Where the page ends at the latest.
    func page(to floor: String?) -> (sql: String, arguments: StatementArguments) {
        var conditions = way.conditions
        var arguments = way.arguments
        if let floor {
            conditions.append("\(way.place) >= ?")
            arguments += [table.value(floor)]
        }
        conditions += self.conditions
        arguments += self.arguments
        return (
            """
            SELECT \(table.rawValue).*, CAST(\(way.place) AS TEXT) AS cursor FROM \(way.tables)
            WHERE \(conditions.joined(separator: " AND ")) ORDER BY \(way.place) DESC LIMIT ?
            """, arguments + [limit]
        )
    }
}

extension ListedTable {
    /// A place as the database knows it; one before all for what is none.
    func value(_ place: String) -> any DatabaseValueConvertible & Sendable {
        switch self {
        case .jobs: Int64(place) ?? 0
        case .attachments: place
        }
    }
}
