internal import FoundationEssentials
internal import Postgres
internal import SatchelCore

/// Columns and what they get, in the order in which they are written.
typealias Columns<Value> = KeyValuePairs<String, Value>

extension SQLValue {
    /// An identifier, or one of several choices.
    static func raw<Value: RawRepresentable<String>>(_ value: Value?) -> SQLValue { .text(value.map(\.rawValue)) }

    static func raws<Value: RawRepresentable<String>>(_ values: some Sequence<Value>) -> SQLValue {
        .texts(values.map { $0.rawValue })
    }

    /// Milliseconds.
    static func time(_ value: Instant?) -> SQLValue { .int(value.map(\.milliseconds)) }

    static func json<Value: Encodable>(_ value: Value?) throws -> SQLValue {
        .text(try value.map { value in try Column.unsortedText(value) })
    }
}

/// Statements that name each column beside its value. A condition's values are the last, one for each of its `$`.
extension Statement {
    /// Adds a row.
    ///
    /// - Parameter rest: What follows, such as `ON CONFLICT DO NOTHING`.
    static func insert(into table: String, _ row: Columns<SQLValue>, _ rest: String = "") -> Statement {
        let places = row.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
        return Statement("INSERT INTO \(table) (\(names(row))) VALUES (\(places)) \(rest)", row.map(\.value))
    }

    /// Adds a row for each that is found.
    ///
    /// - Parameters:
    ///   - found: Columns that get an expression of the row that is found.
    ///   - source: The rows that are found: a table, with a condition.
    static func insert(
        into table: String, _ row: Columns<SQLValue>, _ found: Columns<String>, from source: String,
        _ values: [SQLValue], _ rest: String = ""
    ) -> Statement {
        let places = row.indices.map { "$\($0 + 1)" } + found.map(\.value)
        return Statement(
            """
            INSERT INTO \(table) (\(names(row)), \(names(found)))
            SELECT \(places.joined(separator: ", ")) FROM \(numbered(source, after: row.count)) \(rest)
            """, row.map(\.value) + values)
    }

    /// Adds a row for each job of a list that is there.
    ///
    /// - Parameters:
    ///   - names: The jobs, which may repeat.
    ///   - lists: Columns with their types, and a list of values for each: one for each name.
    ///   - found: Columns that get an expression of the row in `jobs`, or of the lists' row, `own`.
    static func insert(
        into table: String, forEach names: [JobName], _ lists: Columns<SQLValue>, _ found: Columns<String>,
        _ rest: String = ""
    ) -> Statement {
        let values = [SQLValue.raws(names.map(\.tenant)), .raws(names.map(\.job))] + lists.map(\.value)
        let columns = (["job_tenant text", "job_id text"] + lists.map(\.key)).map {
            $0.split(separator: " ").map(String.init)
        }
        let computed = Set(found.map(\.key))
        let own = columns.dropFirst(2).map { $0[0] }.filter { !computed.contains($0) }
        let places = columns.enumerated().map { "$\($0 + 1)::\($1[1])[]" }
        return Statement(
            """
            INSERT INTO \(table) (\((own + found.map(\.key)).joined(separator: ", ")))
            SELECT \((own.map { "own.\($0)" } + found.map(\.value)).joined(separator: ", "))
            FROM unnest(\(places.joined(separator: ", "))) AS own (\(columns.map { $0[0] }.joined(separator: ", ")))
                JOIN jobs ON jobs.tenant = own.job_tenant AND jobs.id = own.job_id WHERE true \(rest)
            """, values)
    }

    /// Adds a row, or replaces the columns of the one with the same key.
    ///
    /// - Parameters:
    ///   - key: The names of the columns of the key.
    ///   - condition: Whether the row that is there may be replaced.
    static func upsert(
        into table: String, by key: [String], _ row: Columns<SQLValue>, if condition: String = "true"
    ) -> Statement {
        let changes = row.map(\.key).filter { !key.contains($0) }.map { "\($0) = excluded.\($0)" }
        return insert(
            into: table, row,
            """
            ON CONFLICT (\(key.joined(separator: ", "))) DO UPDATE SET \(changes.joined(separator: ", ")) WHERE \(condition)
            """)
    }

    /// Adds numbers to those of the row with a key, or makes that row.
    static func add(
        to table: String, at key: Columns<SQLValue>, _ numbers: [(key: String, value: SQLValue)]
    ) -> Statement {
        let row = Array(key) + numbers
        let places = row.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
        let sums = numbers.map { "\($0.key) = \(table).\($0.key) + excluded.\($0.key)" }.joined(separator: ", ")
        return Statement(
            """
            INSERT INTO \(table) (\(row.map(\.key).joined(separator: ", "))) VALUES (\(places))
            ON CONFLICT (\(names(key))) DO UPDATE SET \(sums)
            """, row.map(\.value))
    }

    /// Changes rows.
    ///
    /// - Parameter more: Further changes, without values.
    static func update(
        _ table: String, _ columns: Columns<SQLValue>, _ more: String? = nil, where condition: String,
        _ values: SQLValue...
    ) -> Statement {
        let changes = columns.enumerated().map { "\($1.key) = $\($0 + 1)" } + [more].compactMap(\.self)
        return Statement(
            """
            UPDATE \(table) SET \(changes.joined(separator: ", "))
            WHERE \(numbered(condition, after: columns.count))
            """, columns.map(\.value) + values)
    }

    private static func names(_ columns: Columns<some Any>) -> String {
        columns.map(\.key).joined(separator: ", ")
    }

    private static func numbered(_ condition: String, after count: Int) -> String {
        let pieces = condition.split(separator: "$", omittingEmptySubsequences: false)
        return pieces.dropFirst().enumerated().reduce(String(pieces.first ?? "")) { text, piece in
            "\(text)$\(count + piece.offset + 1)\(piece.element)"
        }
    }
}
