/// One range of a `Range` header, as it was asked for (RFC 9110, section 14.1.2).
enum ByteRange: Hashable, Sendable {
    case from(Int64, through: Int64?)
    case last(Int64)

    /// Nil for what is to be passed over: another unit, several ranges, or a range that makes no sense.
    init?(header: String) {
        let text = header.utf8
        guard text.count > 6, header.prefix(6).lowercased() == "bytes=" else { return nil }
        let range = header.dropFirst(6).filter { $0 != " " && $0 != "\t" }
        guard !range.contains(","), let dash = range.firstIndex(of: "-") else { return nil }
        let first = range[..<dash]
        let last = range[range.index(after: dash)...]
        if first.isEmpty {
            guard let count = Self.number(last) else { return nil }
            self = .last(count)
            return
        }
        guard let start = Self.number(first) else { return nil }
        guard !last.isEmpty else {
            self = .from(start, through: nil)
            return
        }
        guard let end = Self.number(last), start <= end else { return nil }
        self = .from(start, through: end)
    }

    /// Which bytes of `size` these are; nil where there are none of them.
    func bytes(of size: Int64) -> Range<Int64>? {
        switch self {
        case .from(let start, let end):
            guard start < size else { return nil }
            return start..<min(end ?? size - 1, size - 1) + 1
        case .last(let count):
            guard count > 0, size > 0 else { return nil }
            return max(size - count, 0)..<size
        }
    }

    /// Digits alone. What no file is as long as counts as the longest.
    private static func number(_ text: some StringProtocol) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return min(Int64(text) ?? .max, .max / 2)
    }
}
