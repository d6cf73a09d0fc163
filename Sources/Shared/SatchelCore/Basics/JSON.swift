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
