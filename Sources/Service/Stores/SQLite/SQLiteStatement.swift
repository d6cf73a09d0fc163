internal import FoundationEssentials
internal import GRDB
internal import Postgres
internal import SatchelCore
internal import Synchronization

/// A statement as SQLite takes it.
///
/// Statements are written once, in PostgreSQL's words. What SQLite says otherwise is rewritten here, once for each text:
///
/// | PostgreSQL | SQLite |
/// | --- | --- |
/// | `unnest($1::text[], $2::int[]) WITH ORDINALITY AS new (a, b, n)` | a subquery over `json_each`, of an array of rows |
/// | `= ANY($1::text[])`, `<> ALL($1::text[])` | `IN` and `NOT IN` over `json_each` |
/// | the same of lists of one | a subquery of the values, `=` and `<>` |
/// | `FOR UPDATE OF jobs SKIP LOCKED` and other locks | nothing: there is one writer |
/// | `$1::bigint`, `COLLATE "C"` | `?1` |
/// | `greatest`, `least`, `string_agg` | `max`, `min`, `group_concat` |
/// | `encode(hash, 'hex')`, `array_to_string(bins, ',')` | `lower(hex(hash))`, `trim(bins, '[]')` |
///
/// `decode(text, 'hex')`, `get_bit` and `add_bins` are functions that ``functions`` adds. What is in both languages is left as it
/// is: `RETURNING` (but for `IS NULL`, which SQLite 3.40 gets wrong there), `ON CONFLICT`, `WITH … AS MATERIALIZED`, `UPDATE … FROM`, row values and `FILTER`. A statement must not
/// use what is in PostgreSQL alone, above all a `WITH` that changes rows; a test prepares each.
struct SQLiteStatement: Sendable {
    let sql: String
    /// The numbers of values that the text names, from 0.
    private let isUsed: [Bool]
    /// Values that are bound behind all others, each an array of rows that is made of these lists, or the only element of one.
    private let rows: [[Int]]
    private let isOfOne: Bool

    /// - Parameter isOfOne: Whether each list has one element, as most have. SQLite makes a table of any other list.
    init(_ statement: String, isOfOne: Bool = false) {
        let numbers = statement.utf8.split(separator: UInt8(ascii: "$")).dropFirst()
        let count = numbers.compactMap { Int(Substring($0.prefix { (48...57).contains($0) })) }.max() ?? 0
        var (rows, isUsed) = ([[Int]](), [Bool](repeating: false, count: count))
        func number(_ word: String) -> Int? { word.first == "$" ? Int(word.dropFirst()) : nil }
        func value(_ number: Int) -> String {
            isUsed[number - 1] = true
            return "?\(number)"
        }
        func joined(_ lists: [Int]) -> String {
            rows.append(lists.map { $0 - 1 })
            return "?\(count + rows.count)"
        }
        func table(_ words: inout SQLWords) -> String? {
            guard let lists = words.list()?.compactMap(number), !lists.isEmpty else { return nil }
            let hasPlace = words.take("WITH", "ORDINALITY")
            let alias = words.take("AS") ? words.next() : nil
            var names = alias != nil && words.take("(") ? words.list() ?? [] : []
            let place = hasPlace ? names.popLast() : nil
            var columns = lists.count == 1 ? ["value"] : lists.indices.map { "value ->> \($0)" }
            if isOfOne { columns = lists.map { joined([$0]) } }
            let array = isOfOne ? nil : lists.count == 1 ? value(lists[0]) : joined(lists)
            columns = columns.enumerated().map { names.indices.contains($0) ? "\($1) AS \(names[$0])" : $1 }
            if let place { columns.append("\(isOfOne ? "1" : "key + 1") AS \(place)") }
            let source = array.map { " FROM json_each(\($0))" } ?? ""
            // SQLite may otherwise begin with the table, and look through all of it.
            let join = !isOfOne && alias != nil && words.take("JOIN") ? " CROSS JOIN" : ""
            return "(SELECT \(columns.joined(separator: ", "))\(source))\(alias.map { " AS \($0)" } ?? "")\(join)"
        }
        func comparison(_ words: inout SQLWords, isAny: Bool) -> String? {
            guard let list = words.list()?.compactMap(number).first else { return nil }
            if isOfOne { return "\(isAny ? "=" : "<>") \(joined([list]))" }
            return "\(isAny ? "IN" : "NOT IN") (SELECT value FROM json_each(\(value(list))))"
        }
        sql = SQLWords.rewritten(statement) { word, words in
            switch word {
            case "FOR": return words.takeLock() ? "" : nil
            case "unnest" where words.take("("): return table(&words)
            case "=" where words.take("ANY", "("): return comparison(&words, isAny: true)
            case "<" where words.take(">", "ALL", "("): return comparison(&words, isAny: false)
            case "encode" where words.take("("): return words.list().map { "lower(hex(\($0[0])))" }
            case "array_to_string" where words.take("("): return words.list().map { "trim(\($0[0]), '[]')" }
            default: return number(word).map(value) ?? Self.names[word]
            }
        }
        self.isUsed = isUsed
        self.rows = rows
        self.isOfOne = isOfOne
    }

    private static let names = ["greatest": "max", "least": "min", "string_agg": "group_concat"]

    /// Values that are bound.
    var count: Int { isUsed.count + rows.count }

    /// - Throws: ``PostgresError/nul``, where a list has a text with one.
    func arguments(_ values: [SQLValue]) throws -> StatementArguments {
        // StatementArguments takes an array of this type as it is. Any other goes through slow generic code.
        var arguments: [(any DatabaseValueConvertible)?] = []
        arguments.reserveCapacity(count)
        for (index, isUsed) in isUsed.enumerated() { arguments.append(isUsed ? try values[index].bound() : nil) }
        for columns in rows {
            if isOfOne {
                arguments.append(try values[columns[0]].element())
                continue
            }
            let columns = try columns.map { try values[$0].elements() ?? [] }
            let rows = (0..<(columns.map(\.count).max() ?? 0)).map { row in
                "[" + columns.map { $0.indices.contains(row) ? $0[row] : "null" }.joined(separator: ",") + "]"
            }
            arguments.append(("[" + rows.joined(separator: ",") + "]").databaseValue)
        }
        return StatementArguments(arguments)
    }

    /// What statements call that SQLite doesn't have.
    static let functions = [
        DatabaseFunction("decode", argumentCount: 2, pure: true) { values in
            String.fromDatabaseValue(values[0]).flatMap { Data(hexadecimal: $0) }
        },
        DatabaseFunction("get_bit", argumentCount: 2, pure: true) { values in
            guard let bits = Data.fromDatabaseValue(values[0]), let place = Int.fromDatabaseValue(values[1]) else {
                return nil
            }
            return Int(bits[place / 8] >> UInt8(place % 8) & 1)
        },
        // Adds two histograms, each a JSON array.
        DatabaseFunction("add_bins", argumentCount: 2, pure: true) { values in
            let bins = values.map { value in
                (String.fromDatabaseValue(value) ?? "").utf8.split { "[],".utf8.contains($0) }
                    .compactMap { Int64(Substring($0)) }
            }
            let sums = (0..<max(bins[0].count, bins[1].count)).map { index in
                bins.reduce(0) { $0 + ($1.indices.contains(index) ? $1[index] : 0) }
            }
            return "[" + sums.map(String.init).joined(separator: ",") + "]"
        },
    ]
}

extension SQLWords {
    /// Takes words with commas between them and the bracket behind them; nil for anything else.
    fileprivate mutating func list() -> [String]? {
        var words: [String] = []
        repeat { words.append(next()) } while take(",")
        return take(")") ? words : nil
    }

    /// Takes what follows `FOR` where it locks rows.
    fileprivate mutating func takeLock() -> Bool {
        guard take("UPDATE") || take("NO", "KEY", "UPDATE") || take("SHARE") || take("KEY", "SHARE") else {
            return false
        }
        if take("OF") { _ = next() }
        if !take("SKIP", "LOCKED") { _ = take("NOWAIT") }
        return true
    }
}

extension SQLValue {
    /// A value as it is bound: a list as a JSON array.
    fileprivate func bound() throws -> DatabaseValue {
        switch self {
        case .null: .null
        case .bool(let value): value.databaseValue
        case .int(let value): value.databaseValue
        case .double(let value): value.databaseValue
        case .text(let value): value.databaseValue
        case .bytes(let value): Data(value).databaseValue
        case .ints, .doubles, .bools, .texts:
            ("[" + (try elements() ?? []).joined(separator: ",") + "]").databaseValue
        }
    }

    /// The only element of a list as it is bound.
    fileprivate func element() throws -> DatabaseValue {
        switch self {
        case .ints(let values): values[0].databaseValue
        case .doubles(let values): values[0].databaseValue
        case .bools(let values): values[0].databaseValue
        case .texts(let values):
            if values[0]?.utf8.contains(0) == true { throw PostgresError.nul } else { values[0].databaseValue }
        default: .null
        }
    }

    /// The number of elements of a list; nil for anything else.
    fileprivate var count: Int? {
        switch self {
        case .ints(let values): values.count
        case .doubles(let values): values.count
        case .bools(let values): values.count
        case .texts(let values): values.count
        default: nil
        }
    }

    /// The elements of a list as JSON; nil for anything else.
    fileprivate func elements() throws -> [String]? {
        switch self {
        case .ints(let values): values.map { $0.map(String.init) ?? "null" }
        case .doubles(let values): values.map { $0.map { "\($0)" } ?? "null" }
        case .bools(let values): values.map { $0 ? "1" : "0" }
        case .texts(let values): try values.map { try $0.map(Self.json) ?? "null" }
        default: nil
        }
    }

    private static func json(_ text: String) throws -> String {
        var bytes = [UInt8(ascii: "\"")]
        for byte in text.utf8 {
            switch byte {
            case 0: throw PostgresError.nul
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 1..<0x20: bytes += Array("\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8)
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The statements of a store, rewritten once each.
final class SQLiteStatements: Sendable {
    /// The statements for any lists, and those for lists of one.
    private let known = Mutex<[[String: SQLiteStatement]]>([[:], [:]])

    subscript(_ statement: Postgres.Statement) -> SQLiteStatement {
        let lists = statement.values.compactMap(\.count)
        let isOfOne = !lists.isEmpty && lists.allSatisfy { $0 == 1 }
        return known.withLock { known in
            let place = isOfOne ? 1 : 0
            if let known = known[place][statement.sql] { return known }
            let own = SQLiteStatement(statement.sql, isOfOne: isOfOne)
            known[place][statement.sql] = own
            return own
        }
    }

    /// All that were used so far.
    var all: Set<String> { known.withLock { Set($0.flatMap(\.keys)) } }
}

/// Sends statements to a connection of SQLite, which carries out one after the other.
struct SQLiteSender: StatementSender {
    let database: Database
    let statements: SQLiteStatements

    /// What was committed or taken back is known.
    var mayHaveCommitted: Bool { false }

    func send(_ statements: [Postgres.Statement]) throws -> [RecordRows] {
        try statements.map { statement in
            let own = self.statements[statement]
            let prepared = try database.cachedStatement(sql: own.sql)
            let arguments = try own.arguments(statement.values)
            guard prepared.columnCount > 0 else {
                try prepared.execute(arguments: arguments)
                return RecordRows([], columns: [], changes: database.changesCount)
            }
            // Each row that was changed is returned.
            let rows = try Row.fetchAll(prepared, arguments: arguments)
            return RecordRows(rows, columns: prepared.columnNames, changes: rows.count)
        }
    }
}
