import SatchelCore

/// Lossless WebP without transforms, references or statistics: every value is a code of 8 bits.
///
/// libwebp's encoders have no bound on their bytes that could be relied on; this one's are known beforehand
/// (`BoundedStill.plainWebP`). The format is RFC 9649's.
enum PlainWebP {
    static let longestSide = MediaType.webp.mostPixelsOfASide

    static func file(_ raster: Raster) -> [UInt8] {
        precondition(raster.width <= longestSide && raster.height <= longestSide)
        var bits = BitWriter(capacity: 40 + 160 + raster.bytes.count)
        bits.write(0x2f, 8)
        bits.write(UInt32(raster.width - 1), 14)
        bits.write(UInt32(raster.height - 1), 14)
        bits.write(raster.channels == 4 ? 1 : 0, 1)
        bits.write(0, 3)
        // No transform, no colour cache, one group of codes.
        bits.write(0, 3)
        // Green shares its alphabet with the 24 lengths of references.
        writeCode(unused: 24, to: &bits)
        writeCode(unused: 0, to: &bits)
        writeCode(unused: 0, to: &bits)
        if raster.channels == 4 {
            writeCode(unused: 0, to: &bits)
        } else {
            // One symbol of 8 bits, 255, which takes no bits.
            bits.write(0b101, 3)
            bits.write(255, 8)
        }
        // Distances: one symbol of 1 bit, 0.
        bits.write(0b0001, 4)
        for pixel in stride(from: 0, to: raster.bytes.count, by: raster.channels) {
            bits.write(reversed(raster.bytes[pixel + 1]), 8)
            bits.write(reversed(raster.bytes[pixel]), 8)
            bits.write(reversed(raster.bytes[pixel + 2]), 8)
            if raster.channels == 4 { bits.write(reversed(raster.bytes[pixel + 3]), 8) }
        }
        let data = bits.finished()
        let padding = data.count % 2
        return Array("RIFF".utf8) + littleEndian(12 + data.count + padding) + Array("WEBPVP8L".utf8)
            + littleEndian(data.count) + data + [UInt8](repeating: 0, count: padding)
    }

    /// A code in which 256 symbols have 8 bits and the `unused` after them have none.
    private static func writeCode(unused: UInt32, to bits: inout BitWriter) {
        // Lengths are coded themselves, by a code of 1 bit for the length 8 and one for a run of zeros (18). Which lengths
        // have codes is said in the order 17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8: twelve, said as 12 - 4.
        bits.write(0, 1)
        bits.write(12 - 4, 4)
        for position in 0..<12 { bits.write(position == 1 || position == 11 ? 1 : 0, 3) }
        // Of all symbols.
        bits.write(0, 1)
        for _ in 0..<8 { bits.write(0, 32) }
        if unused > 0 {
            bits.write(1, 1)
            bits.write(unused - 11, 7)
        }
    }

    /// Codes are written with their highest bit first.
    private static func reversed(_ value: UInt8) -> UInt32 {
        var value = value
        value = value >> 4 | value << 4
        value = (value & 0xcc) >> 2 | (value & 0x33) << 2
        value = (value & 0xaa) >> 1 | (value & 0x55) << 1
        return UInt32(value)
    }

    private static func littleEndian(_ value: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}

/// Bits into bytes, lowest first.
private struct BitWriter {
    private var bytes: [UInt8] = []
    private var pending: UInt64 = 0
    private var count = 0

    init(capacity: Int) {
        bytes.reserveCapacity(capacity)
    }

    mutating func write(_ value: UInt32, _ bits: Int) {
        pending |= UInt64(value) << UInt64(count)
        count += bits
        while count >= 8 {
            bytes.append(UInt8(truncatingIfNeeded: pending))
            pending >>= 8
            count -= 8
        }
    }

    /// The bytes, the last one filled with zeros.
    consuming func finished() -> [UInt8] {
        if count > 0 { bytes.append(UInt8(truncatingIfNeeded: pending)) }
        return bytes
    }
}
