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
        guard pretty else { return text }
        return text.unicodeScalars.reduce(into: "") { shown, scalar in
            if scalar == "\n" || !scalar.isInvisible {
                shown.unicodeScalars.append(scalar)
            } else {
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    shown += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            }
        }
    }

    /// Reads what ``encode(_:pretty:)`` writes; unknown keys are passed over.
    public static func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(type, from: data)
    }
}
