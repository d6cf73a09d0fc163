import FoundationEssentials

/// The few kinds of structured fields (RFC 9651) that uploads are spoken of with.
enum StructuredField {
    /// `?1` or `?0`; nil for anything else. Parameters are passed over.
    static func boolean(_ text: String) -> Bool? {
        switch item(text) {
        case "?1": true
        case "?0": false
        default: nil
        }
    }

    static func write(_ value: Bool) -> String { value ? "?1" : "?0" }

    /// A whole number that isn't negative, of at most 15 digits; nil for anything else. Parameters are passed over.
    static func count(_ text: String) -> Int64? {
        let item = item(text)
        guard (1...15).contains(item.utf8.count), item.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 })
        else { return nil }
        return Int64(item)
    }

    /// The bytes of a key of a dictionary (`sha-256=:…:, sha-512=:…:`); nil where there is none, or it is no byte sequence.
    static func bytes(of key: String, in text: String) -> [UInt8]? {
        for member in text.split(separator: ",") {
            let parts = member.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].trimmingSpace() == key else { continue }
            let value = item(String(parts[1]))
            guard value.utf8.count >= 2, value.hasPrefix(":"), value.hasSuffix(":") else { return nil }
            return Data(base64Encoded: String(value.dropFirst().dropLast())).map { Array($0) }
        }
        return nil
    }

    private static func item(_ text: String) -> String {
        (text.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false).first ?? "").trimmingSpace()
    }
}
