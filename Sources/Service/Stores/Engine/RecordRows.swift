internal import SatchelCore
internal import FoundationEssentials
internal import GRDB
internal import Postgres

/// The rows of an answer, of either engine.
struct RecordRows: RandomAccessCollection {
    private enum Storage {
        case postgres(PostgresRows)
        case sqlite([Row], columns: [String], changes: Int)
    }

    private let storage: Storage

    /// No rows.
    init() {
        storage = .sqlite([], columns: [], changes: 0)
    }

    init(_ rows: PostgresRows) {
        storage = .postgres(rows)
    }

    /// - Parameter changes: Rows that the statement changed or returned.
    init(_ rows: [Row], columns: [String], changes: Int) {
        storage = .sqlite(rows, columns: columns, changes: changes)
    }

    var startIndex: Int { 0 }

    var endIndex: Int {
        switch storage {
        case .postgres(let rows): rows.count
        case .sqlite(let rows, _, _): rows.count
        }
    }

    subscript(position: Int) -> RecordRow {
        switch storage {
        case .postgres(let rows): .postgres(rows[position])
        case .sqlite(let rows, let columns, _): .sqlite(rows[position], columns: columns)
        }
    }

    /// Rows that the statement changed or returned.
    var changes: Int {
        switch storage {
        case .postgres(let rows): rows.changes
        case .sqlite(_, _, let changes): changes
        }
    }
}

/// A row of an answer. Columns are read by name.
enum RecordRow {
    case postgres(PostgresRow)
    case sqlite(Row, columns: [String])

    /// - Throws: ``PostgresError/unexpectedColumn(_:)``, as all of these.
    func optionalText(_ column: String) throws(PostgresError) -> String? {
        switch self {
        case .postgres(let row): try row.optionalText(column)
        case .sqlite(let row, let columns):
            switch try Self.value(row, columns, column) {
            case .null: nil
            case .string(let text): text
            case .int64(let number): String(number)
            case .double(let number): String(number)
            case .blob: throw .unexpectedColumn(column)
            }
        }
    }

    func text(_ column: String) throws(PostgresError) -> String {
        try present(optionalText(column), column)
    }

    func optionalInt(_ column: String) throws(PostgresError) -> Int64? {
        switch self {
        case .postgres(let row): try row.optionalInt(column)
        case .sqlite(let row, let columns):
            switch try Self.value(row, columns, column) {
            case .null: nil
            case .int64(let number): number
            default: throw .unexpectedColumn(column)
            }
        }
    }

    func int64(_ column: String) throws(PostgresError) -> Int64 {
        try present(optionalInt(column), column)
    }

    func int(_ column: String) throws(PostgresError) -> Int {
        Int(try int64(column))
    }

    func optionalDouble(_ column: String) throws(PostgresError) -> Double? {
        switch self {
        case .postgres(let row): try row.optionalDouble(column)
        case .sqlite(let row, let columns):
            switch try Self.value(row, columns, column) {
            case .null: nil
            case .double(let number): number
            case .int64(let number): Double(number)
            default: throw .unexpectedColumn(column)
            }
        }
    }

    func bool(_ column: String) throws(PostgresError) -> Bool {
        switch self {
        case .postgres(let row): try row.bool(column)
        case .sqlite: try int64(column) != 0
        }
    }

    func optionalBytes(_ column: String) throws(PostgresError) -> [UInt8]? {
        switch self {
        case .postgres(let row): try row.optionalBytes(column)
        case .sqlite(let row, let columns):
            switch try Self.value(row, columns, column) {
            case .null: nil
            case .blob(let data): Array(data)
            default: throw .unexpectedColumn(column)
            }
        }
    }

    func instant(_ column: String) throws(PostgresError) -> Instant {
        Instant(milliseconds: try int64(column))
    }

    func optionalInstant(_ column: String) throws(PostgresError) -> Instant? {
        try optionalInt(column).map(Instant.init(milliseconds:))
    }

    /// An identifier, or one of several choices.
    func value<Value: RawRepresentable<String>>(_ column: String) throws -> Value {
        guard let value = Value(rawValue: try text(column)) else {
            throw AttachmentError.storeFailed(reason: "the records: an unknown \(column)")
        }
        return value
    }

    func optionalValue<Value: RawRepresentable<String>>(_ column: String) throws -> Value? {
        try optionalText(column).flatMap(Value.init(rawValue:))
    }

    func json<Value: Decodable>(_ column: String) throws -> Value {
        try Column.value(Value.self, from: try text(column))
    }

    func optionalJSON<Value: Decodable>(_ column: String) throws -> Value? {
        try optionalText(column).map { try Column.value(Value.self, from: $0) }
    }

    /// The encrypted headers and keys of a submission.
    func secrets() throws -> SealedSecrets? {
        guard let kid = try optionalText("headers_kid"), let box = try optionalBytes("headers") else { return nil }
        return SealedSecrets(kid: kid, box: Data(box))
    }

    /// A row's own look-up is slow: it writes the names of all columns in lower case.
    private static func value(
        _ row: Row, _ columns: [String], _ column: String
    ) throws(PostgresError) -> DatabaseValue.Storage {
        guard let index = columns.firstIndex(of: column) else { throw .unexpectedColumn(column) }
        return (row[index] as DatabaseValue).storage
    }

    private func present<Value>(_ value: Value?, _ column: String) throws(PostgresError) -> Value {
        guard let value else { throw .unexpectedColumn(column) }
        return value
    }
}
