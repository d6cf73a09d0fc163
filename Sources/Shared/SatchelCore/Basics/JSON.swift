public import FoundationEssentials

/// The one way Satchel writes and reads JSON: snake_case keys, sorted, slashes unescaped.
public enum JSON {
    /// UTF-8 bytes of `value`; over several lines where `pretty`.
    public static func encode(_ value: some Encodable, pretty: Bool = false) throws -> Data {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting =
            pretty
            ? [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
            : [
                .sortedKeys, .withoutEscapingSlashes,
            ]
        return try encoder.encode(value)
    }

    /// The same as ``encode(_:pretty:)``, as a string. Where `pretty`, what a terminal would not show but act on is escaped,
    /// which the same value is read from.
    public static func text(_ value: some Encodable, pretty: Bool = false) throws -> String {
        let text = String(decoding: try encode(value, pretty: pretty), as: UTF8.self)
        return pretty ? text.escapingInvisible() : text
    }

    /// Reads what ``encode(_:pretty:)`` writes; unknown keys are passed over.
    public static func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(type, from: data)
    }
}

/// A JSON object of which each field is named once, where its value is: `["jobId": id, "next": next]`.
///
/// Names are written in camelCase, as those of a type's properties are. What is nil is written as null.
public struct JSONFields: Encodable, Sendable, ExpressibleByDictionaryLiteral {
    public typealias Field = any Encodable & Sendable

    private var fields: [(String, Field)]

    public init(dictionaryLiteral fields: (String, Field)...) { self.fields = fields }

    /// The fields of both.
    public static func + (first: JSONFields, second: JSONFields) -> JSONFields {
        var all = first
        all.fields += second.fields
        return all
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: NameKey.self)
        for (name, value) in fields { try container.encode(value, forKey: NameKey(name)) }
    }
}

/// A key that is known at run time alone.
struct NameKey: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { nil }
}
