/// A value that is bound to a statement. Its type is what the statement makes of it: an array or a text that the server
/// can't place needs a cast there (`$1::bigint[]`).
public enum SQLValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    /// Also for `uuid` and `jsonb`. PostgreSQL keeps no NUL in a text: such a batch is refused before it is sent.
    case text(String)
    case bytes([UInt8])
    case ints([Int64?])
    case doubles([Double?])
    case bools([Bool])
    case texts([String?])

    public static func int(_ value: Int) -> SQLValue { .int(Int64(value)) }

    public static func int(_ value: Int64?) -> SQLValue { value.map { .int($0) } ?? .null }

    public static func double(_ value: Double?) -> SQLValue { value.map { .double($0) } ?? .null }

    public static func text(_ value: String?) -> SQLValue { value.map { .text($0) } ?? .null }

    public static func bytes(_ value: [UInt8]?) -> SQLValue { value.map { .bytes($0) } ?? .null }

    /// A UUID; what is none matches nothing.
    public static func uuid(_ value: String?) -> SQLValue {
        value.flatMap { isUUID($0) ? .text($0) : nil } ?? .null
    }

    /// UUIDs; those that are none match nothing.
    public static func uuids(_ values: [String]) -> SQLValue { .texts(values.map { isUUID($0) ? $0 : nil }) }

    static func isUUID(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count == 36 else { return false }
        return bytes.enumerated().allSatisfy { index, byte in
            switch index {
            case 8, 13, 18, 23: byte == UInt8(ascii: "-")
            default:
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
            }
        }
    }

    /// As it travels: bytes as they are, all else as text; nil for NULL.
    ///
    /// - Throws: ``PostgresError/nul``.
    func wire() throws(PostgresError) -> (bytes: [UInt8], isBinary: Bool)? {
        switch self {
        case .null: return nil
        case .bool(let value): return (Array((value ? "t" : "f").utf8), false)
        case .int(let value): return (Array(String(value).utf8), false)
        case .double(let value): return (Array(Self.text(of: value).utf8), false)
        case .text(let value): return (try Self.checked(Array(value.utf8)), false)
        case .bytes(let value): return (value, true)
        case .ints(let values): return (Self.array(values) { Array(String($0).utf8) }, false)
        case .doubles(let values): return (Self.array(values) { Array(Self.text(of: $0).utf8) }, false)
        case .bools(let values): return (Self.array(values.map(Optional.some)) { Array(($0 ? "t" : "f").utf8) }, false)
        case .texts(let values): return (try Self.checked(Self.array(values) { Self.quoted($0) }), false)
        }
    }

    private static func text(of value: Double) -> String {
        value.isNaN ? "NaN" : value.isInfinite ? (value < 0 ? "-Infinity" : "Infinity") : "\(value)"
    }

    private static func checked(_ bytes: [UInt8]) throws(PostgresError) -> [UInt8] {
        guard !bytes.contains(0) else { throw .nul }
        return bytes
    }

    /// As PostgreSQL reads an array: `{1,NULL,"a \"word\""}`.
    private static func array<Element>(_ values: [Element?], _ text: (Element) -> [UInt8]) -> [UInt8] {
        var bytes = [UInt8(ascii: "{")]
        for (index, value) in values.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes += value.map(text) ?? Array("NULL".utf8)
        }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    private static func quoted(_ text: String) -> [UInt8] {
        var bytes = [UInt8(ascii: "\"")]
        for byte in text.utf8 {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { bytes.append(UInt8(ascii: "\\")) }
            bytes.append(byte)
        }
        bytes.append(UInt8(ascii: "\""))
        return bytes
    }
}

extension SQLValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByNilLiteral
{
    public init(stringLiteral value: String) { self = .text(value) }
    public init(integerLiteral value: Int64) { self = .int(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(nilLiteral: ()) { self = .null }
}

/// A statement with its values, `$1` and on. Its text is prepared once per connection, so it should come from the program
/// alone.
public struct Statement: Hashable, Sendable {
    public var sql: String
    public var values: [SQLValue]

    public init(_ sql: String, _ values: [SQLValue] = []) {
        self.sql = sql
        self.values = values
    }
}
