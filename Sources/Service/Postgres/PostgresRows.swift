internal import CPostgres

/// The rows of an answer. Their bytes are freed with the last that uses them.
public struct PostgresRows: Sendable, RandomAccessCollection {
    let answer: PostgresAnswer?

    /// No rows.
    public init() {
        answer = nil
    }

    init(_ answer: PostgresAnswer) {
        self.answer = answer
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { answer?.count ?? 0 }

    public subscript(position: Int) -> PostgresRow {
        guard let answer, indices.contains(position) else { preconditionFailure("there is no such row") }
        return PostgresRow(answer: answer, index: position)
    }

    /// Rows that the statement changed or returned.
    public var changes: Int { answer?.changes ?? 0 }
}

/// A row of an answer, whose columns are known by their names.
public struct PostgresRow: Sendable {
    let answer: PostgresAnswer
    let index: Int

    /// - Throws: ``PostgresError/unexpectedColumn(_:)``, as all of these.
    public func optionalText(_ column: String) throws(PostgresError) -> String? {
        try answer.value(index, column).map { bytes throws(PostgresError) in String(decoding: bytes, as: UTF8.self) }
    }

    public func text(_ column: String) throws(PostgresError) -> String {
        try present(optionalText(column), column)
    }

    public func optionalInt(_ column: String) throws(PostgresError) -> Int64? {
        guard let text = try optionalText(column) else { return nil }
        return try present(Int64(text), column)
    }

    public func int64(_ column: String) throws(PostgresError) -> Int64 {
        try present(optionalInt(column), column)
    }

    public func int(_ column: String) throws(PostgresError) -> Int {
        Int(try int64(column))
    }

    public func optionalDouble(_ column: String) throws(PostgresError) -> Double? {
        guard let text = try optionalText(column) else { return nil }
        return try present(Double(text), column)
    }

    public func bool(_ column: String) throws(PostgresError) -> Bool {
        switch try optionalText(column) {
        case "t": true
        case "f": false
        default: throw .unexpectedColumn(column)
        }
    }

    public func optionalBytes(_ column: String) throws(PostgresError) -> [UInt8]? {
        guard let text = try answer.value(index, column) else { return nil }
        guard text.starts(with: "\\x".utf8), text.count % 2 == 0 else { throw .unexpectedColumn(column) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 2 - 1)
        for place in stride(from: 2, to: text.count, by: 2) {
            bytes.append(try digit(text[place], column) << 4 | digit(text[place + 1], column))
        }
        return bytes
    }

    private func digit(_ byte: UInt8, _ column: String) throws(PostgresError) -> UInt8 {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: throw .unexpectedColumn(column)
        }
    }

    private func present<Value>(_ value: Value?, _ column: String) throws(PostgresError) -> Value {
        guard let value else { throw .unexpectedColumn(column) }
        return value
    }
}

/// Owns a result of libpq, which never changes once it is there: any thread may read it.
@safe
final class PostgresAnswer: Sendable {
    private nonisolated(unsafe) let handle: OpaquePointer

    /// Takes over a result.
    init(owning handle: OpaquePointer) {
        unsafe self.handle = handle
    }

    deinit {
        unsafe PQclear(handle)
    }

    var status: ExecStatusType { unsafe PQresultStatus(handle) }

    var count: Int { unsafe Int(PQntuples(handle)) }

    var changes: Int { unsafe Int(String(cString: PQcmdTuples(handle))) ?? 0 }

    func value(_ row: Int, _ column: String) throws(PostgresError) -> [UInt8]? {
        let number = unsafe PQfnumber(handle, column)
        guard number >= 0 else { throw .unexpectedColumn(column) }
        guard unsafe PQgetisnull(handle, Int32(row), number) == 0 else { return nil }
        let length = unsafe Int(PQgetlength(handle, Int32(row), number))
        guard length > 0, let start = unsafe PQgetvalue(handle, Int32(row), number) else { return [] }
        return unsafe start.withMemoryRebound(to: UInt8.self, capacity: length) { bytes in
            unsafe Array(UnsafeBufferPointer(start: bytes, count: length))
        }
    }

    private func field(_ code: Character) -> String? {
        guard let value = code.asciiValue, let text = unsafe PQresultErrorField(handle, Int32(value)) else {
            return nil
        }
        return unsafe String(cString: text)
    }

    /// What went wrong with a statement; nil where it was only passed over.
    func error(of sql: String) -> PostgresError? {
        guard status == PGRES_FATAL_ERROR else { return nil }
        let message = field("M") ?? "it said no more"
        let end = message.firstRange(of: ": ")?.lowerBound ?? message.endIndex
        return .statement(
            PostgresFailure(
                code: field("C") ?? "XX000", message: String(message[..<end]), constraint: field("n"), sql: sql))
    }
}
