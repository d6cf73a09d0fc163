public import FoundationEssentials

extension Data {
    /// Bytes from base64 of either alphabet (RFC 4648), with padding or without; nil where it is none.
    public init?(anyBase64 text: String) {
        let digits = text.utf8.prefix { $0 != UInt8(ascii: "=") }
        let padding = text.utf8.count - digits.count
        guard digits.allSatisfy(\.isBase64Digit), digits.count % 4 != 1,
            text.utf8.suffix(padding).allSatisfy({ $0 == UInt8(ascii: "=") }),
            padding == 0 || padding == (4 - digits.count % 4) % 4
        else { return nil }
        let ends = String(repeating: "=", count: (4 - digits.count % 4) % 4)
        self.init(
            base64Encoded: text.prefix(digits.count).replacing("-", with: "+").replacing("_", with: "/") + ends)
    }

    /// Base64 with the alphabet of URLs and without padding, as JSON Web Keys have it.
    public var base64URL: String {
        unpaddedBase64.replacing("+", with: "-").replacing("/", with: "_")
    }

    /// Base64 without padding, as Matrix has it.
    public var unpaddedBase64: String {
        String(base64EncodedString().prefix { $0 != "=" })
    }
}

extension UInt8 {
    /// Of either alphabet.
    fileprivate var isBase64Digit: Bool {
        switch self {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "-"),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
