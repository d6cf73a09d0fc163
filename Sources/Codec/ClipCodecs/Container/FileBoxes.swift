import SatchelCore

/// The boxes of a file of the MP4 family (ISO/IEC 14496-12, clause 4.2), of which their headers alone are read.
final class FileBoxes {
    struct Box {
        var type: String
        /// As far as what it lies in reaches.
        var content: Range<Int64>
        /// Whether it doesn't go beyond that.
        var isWhole: Bool
    }

    let whole: Range<Int64>
    private let read: (Int, Int64) -> [UInt8]?
    /// Boxes that are still looked at.
    private var left = 10_000

    private init(bytes: Int64, read: @escaping (Int, Int64) -> [UInt8]?) {
        whole = 0..<max(0, bytes)
        self.read = read
    }

    /// Lends `body` those of a file, which must not outlive it.
    ///
    /// - Parameters:
    ///   - bytes: Of the file.
    ///   - read: So many of its bytes from an offset; nil where there are fewer.
    static func of<Value>(
        _ bytes: Int64, _ read: (Int, Int64) -> [UInt8]?, _ body: (FileBoxes) -> Value
    ) -> Value {
        withoutActuallyEscaping(read) { body(FileBoxes(bytes: bytes, read: $0)) }
    }

    /// Those that lie one after the other in `range`, up to the first that is broken.
    func boxes(in range: Range<Int64>, until last: String? = nil) -> [Box] {
        var found: [Box] = []
        var position = range.lowerBound
        while left > 0, position + 8 <= range.upperBound, let header = read(8, position) {
            left -= 1
            var (start, length) = (position + 8, Int64(Self.number(header, at: 0)))
            if length == 1, let large = read(8, start) {
                length = Int64(Self.number(large, at: 0)) << 32 | Int64(Self.number(large, at: 4))
                start += 8
            } else if length == 0 {
                length = range.upperBound - position
            }
            let isWhole = length <= range.upperBound - position
            let end = isWhole ? position + length : range.upperBound
            guard length >= start - position, end >= start else { break }
            found.append(
                Box(type: String(decoding: header[4...], as: UTF8.self), content: start..<end, isWhole: isWhole))
            position = end
            if found.last?.type == last { break }
        }
        return found
    }

    /// What the first whole one of a type holds.
    func first(_ type: String, in range: Range<Int64>) -> Range<Int64>? {
        boxes(in: range, until: type).last.flatMap { $0.type == type && $0.isWhole ? $0.content : nil }
    }

    /// Four bytes.
    static func number(_ bytes: [UInt8], at offset: Int) -> UInt32 {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// What is the matter with an MP4 whose index is missing or cut off, as of a recording or a download that was interrupted; nil
    /// of all else.
    static func lackOfIndex(in bytes: Int64, _ read: (Int, Int64) -> [UInt8]?) -> Finding? {
        let boxes = of(bytes, read) { $0.boxes(in: $0.whole) }
        guard boxes.first?.type == "ftyp" else { return nil }
        if let last = boxes.last, last.type == "moov", !last.isWhole {
            return Finding(.endsWithin, named: "index, without which nothing of it can be decoded")
        }
        guard !boxes.contains(where: { $0.type == "moov" }) else { return nil }
        return boxes.last?.isWhole == false
            ? Finding(.endsBefore, named: "index, without which nothing of it can be decoded,") : Finding(.indexMissing)
    }
}
