/// Percent-encoding (RFC 3986).
package enum PercentCoding {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Nil for a broken escape, and for what is not UTF-8 when decoded.
    ///
    /// - Parameter plusIsSpace: As in a query that a form made.
    package static func decode(_ text: some StringProtocol, plusIsSpace: Bool = false) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst()?.hexadecimalDigit, let low = rest.popFirst()?.hexadecimalDigit else {
                    return nil
                }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(0x20)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// - Parameter isKept: Which bytes of its UTF-8 stay as they are.
    package static func encode(
        _ text: some StringProtocol, keeping isKept: (UInt8) -> Bool = isUnreserved
    ) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if isKept(byte) { bytes.append(byte) } else { bytes += escape(byte) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// `%` and two digits.
    package static func escape(_ byte: UInt8) -> [UInt8] {
        [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }

    /// Letters, digits and `-._~` (section 2.3).
    package static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
