import StillCodecs

/// Reads bits, from the highest of each byte on, never beyond the end.
struct BitReader {
    private(set) var bytes: [UInt8]
    private(set) var position: Int
    /// Reading went on behind the end: what was read then was zeros.
    private(set) var isOver = false

    init(_ bytes: [UInt8], from byte: Int = 0) {
        self.bytes = bytes
        position = byte * 8
    }

    /// A unit of H.264 behind its header, without the bytes that keep start codes from occurring in it.
    init(unit: [UInt8]) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(unit.count)
        var zeros = 0
        for byte in unit.dropFirst() {
            if zeros >= 2 && byte == 3 {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros + 1 : 0
            bytes.append(byte)
        }
        self.init(bytes)
    }

    mutating func bit() -> Bool {
        guard position < bytes.count * 8 else {
            isOver = true
            return false
        }
        defer { position += 1 }
        return bytes[position >> 3] >> (7 - UInt8(position & 7)) & 1 == 1
    }

    /// - Parameter count: At most 32.
    mutating func bits(_ count: Int) -> UInt32 {
        (0..<count).reduce(0) { value, _ in value << 1 | (bit() ? 1 : 0) }
    }

    /// An Exp-Golomb code, clause 9.1 of H.264; more than 32 bits count as the end.
    mutating func unsigned() -> UInt32 {
        var zeros = 0
        while !bit() {
            zeros += 1
            if isOver || zeros > 31 {
                isOver = true
                return 0
            }
        }
        return zeros == 0 ? 0 : (1 << UInt32(zeros)) - 1 + bits(zeros)
    }

    mutating func skip(_ count: Int) { position += count }

    /// Goes on at the next whole byte.
    mutating func align() { position = (position + 7) / 8 * 8 }

    /// Sets bits to 0 as far as there are any; whether one was 1.
    mutating func clear(_ count: Int) -> Bool {
        var hasChanged = false
        for _ in 0..<max(0, min(count, bytes.count * 8 - position)) where bit() {
            bytes[(position - 1) >> 3] &= ~(0x80 >> UInt8((position - 1) & 7))
            hasChanged = true
        }
        return hasChanged
    }

    /// Whether exactly a unit's closing bit and zeros are left.
    var isAtEnd: Bool {
        var rest = self
        guard !isOver, rest.bit() else { return false }
        while rest.position < bytes.count * 8 { if rest.bit() { return false } }
        return true
    }
}
