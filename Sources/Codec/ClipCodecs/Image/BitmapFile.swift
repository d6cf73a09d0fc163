import SatchelCore
import Glibc
import StillCodecs

/// A BMP whose pixels stand in its rows as they are, with 16, 24 or 32 bits each, under masks of any kind. FFmpeg reads the
/// others, and of these those masks alone that it has a format for.
struct BitmapFile: Hashable, Sendable {
    let size: PixelSize
    private let bits: Int
    /// Of red, green, blue and alpha; 0 where there is none.
    private let masks: [UInt32]
    private let isTopDown: Bool
    /// Bytes before the first row, and of a row.
    private let start: Int64
    private let stride: Int
    private let descriptor: Int32

    /// Reads the header; nil where FFmpeg reads the rows.
    ///
    /// - Throws: ``AttachmentError/unsupportedFeature(reason:advice:)`` where the masks overlap or have gaps.
    init?(_ descriptor: Int32) throws(AttachmentError) {
        let head = try readBytes(descriptor, count: 138)
        guard head.count >= 54, head.starts(with: [0x42, 0x4d]) else { return nil }
        func number(_ place: Int, _ bytes: Int = 4) -> UInt32 {
            guard place + bytes <= head.count else { return 0 }
            return head[place..<place + bytes].reversed().reduce(0) { $0 << 8 | UInt32($1) }
        }
        let header = number(14)
        let compression = number(30)
        let bits = Int(number(28, 2))
        self.bits = bits
        // Windows' headers: 40 bytes, and the later ones, which hold the masks that else follow.
        guard [40, 52, 56, 108, 124].contains(header) else { return nil }
        let hasAlphaMask = header >= 56 || compression == 6
        switch (bits, compression) {
        case (16, 0): masks = [0x7c00, 0x03e0, 0x001f, 0]
        // The fourth byte is kept for nothing.
        case (24, 0), (32, 0): masks = [0xff_0000, 0xff00, 0xff, 0]
        case (16, 3), (32, 3), (16, 6), (32, 6):
            masks = [number(54), number(58), number(62), hasAlphaMask ? number(66) : 0]
        default: return nil
        }
        let isSound = masks.allSatisfy { mask in
            let low = mask >> (mask == 0 ? 0 : mask.trailingZeroBitCount)
            return low & (low &+ 1) == 0 && (bits == 32 || mask >> bits == 0)
        }
        let (red, green, blue, alpha) = (masks[0], masks[1], masks[2], masks[3])
        let union = red | green | blue | alpha
        let count = masks.reduce(0) { $0 + $1.nonzeroBitCount }
        guard isSound, red | green | blue != 0, union.nonzeroBitCount == count else {
            throw .unsupported(.colorMasks)
        }
        let width = Int(Int32(bitPattern: number(18)))
        let height = Int(Int32(bitPattern: number(22)))
        guard width > 0, height != 0 else { return nil }
        isTopDown = height < 0
        size = PixelSize(width: width, height: abs(height))
        stride = (width * bits + 31) / 32 * 4
        start = Int64(number(10))
        self.descriptor = descriptor
    }

    var hasAlpha: Bool { masks[3] != 0 }

    /// Rows that the file is too short for.
    func missingRows() throws(AttachmentError) -> Int {
        // The last row may lack what only fills it up.
        let rest = try fileBytes(descriptor) - start + Int64(stride - size.width * bits / 8)
        return size.height - min(size.height, Int(max(0, rest)) / stride)
    }

    /// RGBA in rows without gaps; rows that are missing are grey, or transparent where others may be.
    func decode() throws(AttachmentError) -> [UInt8] {
        var pixels = [UInt8](repeating: 0, count: Int(size.area) * 4)
        let tables = masks.map(Self.table)
        let shifts = masks.map { $0 == 0 ? 0 : UInt32($0.trailingZeroBitCount) }
        let bytes = bits / 8
        var missing = 0
        var showsNothing = true
        var row = [UInt8](repeating: 0, count: stride)
        let needed = size.width * bytes
        for index in 0..<size.height {
            if index % 64 == 0, WorkTime.isUp { throw WorkTime.failure }
            let got = unsafe pread(descriptor, &row, stride, off_t(start + Int64(index) * Int64(stride)))
            guard got >= needed else {
                missing = size.height - index
                break
            }
            var to = (isTopDown ? index : size.height - 1 - index) * size.width * 4
            var from = 0
            for _ in 0..<size.width {
                var value = UInt32(row[from]) | UInt32(row[from + 1]) << 8
                if bytes > 2 { value |= UInt32(row[from + 2]) << 16 }
                if bytes > 3 { value |= UInt32(row[from + 3]) << 24 }
                for channel in 0..<4 {
                    let mask = masks[channel]
                    guard mask != 0 else {
                        pixels[to + channel] = channel == 3 ? 255 : 0
                        continue
                    }
                    let sample = (value & mask) >> shifts[channel]
                    pixels[to + channel] =
                        tables[channel].isEmpty
                        ? Self.scaled(sample, bits: mask.nonzeroBitCount) : tables[channel][Int(sample)]
                }
                if pixels[to + 3] != 0 { showsNothing = false }
                to += 4
                from += bytes
            }
        }
        // Who writes such an alpha doesn't mean it, say browsers.
        if hasAlpha, showsNothing, missing == 0 {
            for place in Swift.stride(from: 3, to: pixels.count, by: 4) { pixels[place] = 255 }
        }
        if !hasAlpha, missing > 0 {
            let first = isTopDown ? size.height - missing : 0
            for place in first * size.width * 4..<(first + missing) * size.width * 4 {
                pixels[place] = place % 4 == 3 ? 255 : 0x80
            }
        }
        return pixels
    }

    /// What each sample of a mask comes to, from 0 to 255; empty where there would be too many.
    private static func table(of mask: UInt32) -> [UInt8] {
        let bits = mask.nonzeroBitCount
        guard bits > 0, bits <= 10 else { return [] }
        return (0..<UInt32(1) << bits).map { scaled($0, bits: bits) }
    }

    private static func scaled(_ sample: UInt32, bits: Int) -> UInt8 {
        let most = UInt64(1) << bits - 1
        return UInt8((UInt64(sample) * 255 + most / 2) / most)
    }
}
