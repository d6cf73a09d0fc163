extension Sequence<UInt8> {
    /// Two digits a byte, in lower case.
    package var hexadecimal: String {
        map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

extension RangeReplaceableCollection<UInt8> {
    /// Nil for what aren't pairs of hexadecimal digits, of either case.
    package init?(hexadecimal text: some StringProtocol) {
        self.init()
        var rest = Array(text.utf8)[...]
        while let first = rest.popFirst() {
            guard let high = first.hexadecimalDigit, let low = rest.popFirst()?.hexadecimalDigit else { return nil }
            append(high << 4 | low)
        }
    }
}

extension UInt8 {
    /// What an ASCII digit stands for; nil where it is none.
    package var hexadecimalDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
