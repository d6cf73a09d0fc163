/// What JSON's strings say, and how they are written.
public enum JSONString {
    /// What a string with its quotation marks says; nil where an escaped surrogate stands alone.
    static func decode(_ raw: JSONText) -> String? {
        var text: [UInt8] = []
        text.reserveCapacity(raw.count)
        var rest = raw.dropFirst().dropLast()
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                text.append(byte)
                continue
            }
            guard let escape = rest.popFirst() else { return nil }
            switch escape {
            case UInt8(ascii: "b"): text.append(0x08)
            case UInt8(ascii: "f"): text.append(0x0C)
            case UInt8(ascii: "n"): text.append(0x0A)
            case UInt8(ascii: "r"): text.append(0x0D)
            case UInt8(ascii: "t"): text.append(0x09)
            case UInt8(ascii: "u"):
                guard let scalar = scalar(of: &rest) else { return nil }
                text += Array(String(Character(scalar)).utf8)
            default: text.append(escape)
            }
        }
        return String(validating: text, as: UTF8.self)
    }

    /// The scalar of one `\u` escape, or of two that are a surrogate pair. `\u` of the first is already taken.
    private static func scalar(of rest: inout JSONText) -> Unicode.Scalar? {
        guard let first = codeUnit(of: &rest) else { return nil }
        guard UTF16.isLeadSurrogate(first) else { return Unicode.Scalar(first) }
        guard rest.popFirst() == UInt8(ascii: "\\"), rest.popFirst() == UInt8(ascii: "u"),
            let second = codeUnit(of: &rest), UTF16.isTrailSurrogate(second)
        else { return nil }
        return Unicode.Scalar(0x1_0000 + (UInt32(first & 0x3FF) << 10) + UInt32(second & 0x3FF))
    }

    private static func codeUnit(of rest: inout JSONText) -> UInt16? {
        let digits = rest.prefix(4)
        rest = rest.dropFirst(4)
        return digits.count == 4 ? UInt16(String(decoding: digits, as: UTF8.self), radix: 16) : nil
    }

    /// `text` with quotation marks, escaped only where RFC 8259 requires it.
    public static func encode(_ text: String) -> [UInt8] {
        var raw: [UInt8] = [UInt8(ascii: "\"")]
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): raw += [UInt8(ascii: "\\"), byte]
            case 0x0A: raw += Array(#"\n"#.utf8)
            case 0x0D: raw += Array(#"\r"#.utf8)
            case 0x09: raw += Array(#"\t"#.utf8)
            case 0..<0x20:
                let digits = String(byte, radix: 16)
                raw += Array(("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8)
            default: raw.append(byte)
            }
        }
        raw.append(UInt8(ascii: "\""))
        return raw
    }
}
