/// Writes the blocks of a GIF, in order, into memory from where they are taken now and then.
struct GIFWriter {
    /// Written and not taken yet.
    private(set) var bytes: [UInt8] = []

    mutating func take() -> [UInt8] {
        defer { bytes.removeAll(keepingCapacity: true) }
        return bytes
    }

    /// - Parameters:
    ///   - palette: At most 256 colours; none where each frame has its own.
    ///   - plays: 0 for ever; at most 65,536 can be said.
    mutating func begin(width: Int, height: Int, palette: [UInt32], plays: Int) {
        bytes += "GIF89a".utf8
        number(width)
        number(height)
        let bits = Self.bits(palette.count)
        bytes += [palette.isEmpty ? 0x70 : 0xF0 | UInt8(bits - 1), 0, 0]
        if !palette.isEmpty { write(palette, bits: bits) }
        guard plays != 1 else { return }
        bytes += [0x21, 0xFF, 11]
        bytes += "NETSCAPE2.0".utf8
        bytes += [3, 1]
        number(plays == 0 ? 0 : min(plays - 1, 65_535))
        bytes.append(0)
    }

    struct Frame {
        var area: Rectangle
        /// Hundredths of a second, at most 65,535.
        var delay: Int
        var disposal: Int
        var transparent: Int?
        /// Its own.
        var palette: [UInt32]?
        var codeSize: Int
    }

    /// - Parameter codes: The compressed pixels, of which `count` bytes count.
    mutating func write(_ frame: Frame, codes: [UInt8], count: Int) {
        bytes += [0x21, 0xF9, 4, UInt8(frame.disposal << 2 | (frame.transparent == nil ? 0 : 1))]
        number(frame.delay)
        bytes += [UInt8(frame.transparent ?? 0), 0, 0x2C]
        number(frame.area.left)
        number(frame.area.top)
        number(frame.area.width)
        number(frame.area.height)
        if let palette = frame.palette {
            let bits = Self.bits(palette.count)
            bytes.append(0x80 | UInt8(bits - 1))
            write(palette, bits: bits)
        } else {
            bytes.append(0)
        }
        bytes.append(UInt8(frame.codeSize))
        var position = 0
        while position < count {
            let length = min(255, count - position)
            bytes.append(UInt8(length))
            bytes += codes[position..<position + length]
            position += length
        }
        bytes.append(0)
    }

    mutating func end() { bytes.append(0x3B) }

    /// Bits of an index into so many colours: 1…8.
    static func bits(_ colours: Int) -> Int {
        var bits = 1
        while bits < 8, 1 << bits < colours { bits += 1 }
        return bits
    }

    private mutating func number(_ value: Int) {
        bytes.append(UInt8(truncatingIfNeeded: value))
        bytes.append(UInt8(truncatingIfNeeded: value >> 8))
    }

    /// Where a file's own palette begins.
    static let paletteOffset = 13

    /// Red, green and blue of each colour.
    static func bytes(of palette: [UInt32]) -> [UInt8] {
        palette.flatMap { colour in
            [
                UInt8(truncatingIfNeeded: colour), UInt8(truncatingIfNeeded: colour >> 8),
                UInt8(truncatingIfNeeded: colour >> 16),
            ]
        }
    }

    private mutating func write(_ palette: [UInt32], bits: Int) {
        bytes += Self.bytes(of: palette)
        for _ in palette.count..<(1 << bits) { bytes += [0, 0, 0] }
    }
}
