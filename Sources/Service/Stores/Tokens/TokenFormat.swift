internal import SatchelCore

/// How a token is written: prefix, id (128 bits, 22 characters), secret (256 bits, 43 characters) and the CRC-32 of
/// all before it (6 characters), each in base62 of fixed width.
///
/// The checksum tells a mistyped or cut token from a wrong one without a look at any key; it protects nothing.
enum TokenFormat {
    static let idLength = 22
    static let secretLength = 43
    static let checksumLength = 6

    private static let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
    private static let isDigit = (UInt8.min ... .max).map(alphabet.contains)
    /// The CRC-32 of each byte.
    private static let remainders = (UInt32(0)..<256).map { byte in
        (0..<8).reduce(byte) { crc, _ in crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
    }

    /// 128 random bits.
    static func newID() -> String {
        let bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        return base62(bytes, length: idLength)
    }

    static func compose(_ kind: TokenKind, id: String, secret: [UInt8]) -> String {
        let body = kind.rawValue + id + base62(secret, length: secretLength)
        return body + checksum(body)
    }

    /// The kind and the id in a well-formed token; nil for anything else. Says nothing about the secret.
    static func parse(_ text: String) -> (kind: TokenKind, id: String)? {
        guard let kind = TokenKind.allCases.first(where: { text.hasPrefix($0.rawValue) }) else { return nil }
        let bytes = Array(text.utf8)
        let prefix = kind.rawValue.utf8.count
        guard bytes.count == prefix + idLength + secretLength + checksumLength,
            bytes[prefix...].allSatisfy({ isDigit[Int($0)] })
        else { return nil }
        let body = String(decoding: bytes.dropLast(checksumLength), as: UTF8.self)
        guard body + checksum(body) == text else { return nil }
        return (kind, String(decoding: bytes[prefix..<prefix + idLength], as: UTF8.self))
    }

    /// A big-endian number in base 62, padded with zeros to `length`.
    static func base62(_ bytes: [UInt8], length: Int) -> String {
        var digits = [UInt8](repeating: alphabet[0], count: length)
        // Four bytes are divided at a time: byte by byte, this is a quarter of what a lease's check takes.
        var number = stride(from: bytes.count, to: 0, by: -4).reversed().map { end in
            bytes[max(0, end - 4)..<end].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        for position in digits.indices.reversed() {
            var remainder: UInt64 = 0
            for index in number.indices {
                let value = remainder << 32 | number[index]
                number[index] = value / 62
                remainder = value % 62
            }
            digits[position] = alphabet[Int(remainder)]
        }
        return String(decoding: digits, as: UTF8.self)
    }

    /// CRC-32 (ISO 3309, as in zlib), in base62.
    private static func checksum(_ text: String) -> String {
        var crc = UInt32.max
        for byte in text.utf8 { crc = crc >> 8 ^ remainders[Int(UInt8(truncatingIfNeeded: crc) ^ byte)] }
        crc = ~crc
        return base62([24, 16, 8, 0].map { UInt8(truncatingIfNeeded: crc >> $0) }, length: checksumLength)
    }
}
