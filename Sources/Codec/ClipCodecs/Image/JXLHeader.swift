import StillCodecs

/// What a JPEG XL says of itself before its first frame: ISO/IEC 18181-1, annex D, in the boxes of 18181-2.
struct JXLHeader: Hashable, Sendable {
    /// Whether its frames have durations.
    private(set) var isAnimated = false

    /// Nil where no header is found.
    init?(_ file: UnsafeRawBufferPointer) {
        guard var bits = unsafe Bits(Self.codestream(in: file)) else { return nil }
        // Size and aspect.
        bits.skipSize()
        // All of what follows is as usual; or what doesn't concern colours is.
        guard bits.next() == 0, bits.next() == 1 else {
            if bits.isPast { return nil }
            return
        }
        // Orientation, the size it is meant for, a preview.
        _ = bits.next(3)
        if bits.next() == 1 { bits.skipSize() }
        if bits.next() == 1 { bits.skipPreviewSize() }
        isAnimated = bits.next() == 1
        if bits.isPast { return nil }
    }

    /// Bytes that the fields above take at most.
    private static let longest = 64

    /// The first bytes of the codestream, which may be in parts.
    private static func codestream(in file: UnsafeRawBufferPointer) -> [UInt8] {
        if unsafe file.starts(with: signature) { return unsafe Array(file.prefix(longest)) }
        var bytes: [UInt8] = []
        for box in unsafe Bytes(whole: file).boxes where ["jxlc", "jxlp"].contains(box.type) {
            // The number of the part comes first.
            let start = box.type == "jxlp" ? 4 : 0
            let part = (start..<start + longest - bytes.count).lazy.map { box.body.number(at: $0, bytes: 1) }
            bytes += part.prefix { $0 != nil }.compactMap { $0.map(UInt8.init) }
            if box.type == "jxlc" || bytes.count == longest { break }
        }
        return bytes
    }

    private static let signature: [UInt8] = [0xff, 0x0a]

    /// Bits from the lowest of each byte on; zero beyond the end.
    private struct Bits {
        private let bytes: [UInt8]
        private var position = 16

        /// Nil of what doesn't begin as a codestream.
        init?(_ bytes: [UInt8]) {
            guard bytes.starts(with: JXLHeader.signature) else { return nil }
            self.bytes = bytes
        }

        var isPast: Bool { position > bytes.count * 8 }

        mutating func next(_ count: Int = 1) -> Int {
            (0..<count).reduce(0) { value, bit in
                defer { position += 1 }
                guard position / 8 < bytes.count else { return value }
                return value | Int(bytes[position / 8] >> (position % 8) & 1) << bit
            }
        }

        /// A number that has one of four lengths.
        private mutating func skip(lengths: [Int]) { _ = next(lengths[next(2)]) }

        /// Height, aspect, and width where that isn't one of seven.
        mutating func skipSize() {
            let isSmall = next() == 1
            for side in 0..<2 where side == 0 || next(3) == 0 {
                // In eighths of pixels, or in pixels.
                if isSmall { _ = next(5) } else { skip(lengths: [9, 13, 18, 30]) }
            }
        }

        mutating func skipPreviewSize() {
            let lengths = next() == 1 ? [0, 0, 5, 9] : [6, 8, 10, 12]
            skip(lengths: lengths)
            if next(3) == 0 { skip(lengths: lengths) }
        }
    }
}
