import StillCodecs

/// Reads a parameter set bit by bit, without the bytes that keep start codes from occurring in it.
struct ParameterReader {
    private let bytes: [UInt8]
    private var position = 0
    /// Reading went on behind the end: what was read then was zeros.
    private(set) var isOver = false

    /// - Parameter unit: With its header, without a start code.
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
        self.bytes = bytes
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

    mutating func signed() -> Int32 {
        let code = unsigned()
        let half = Int32(clamping: (UInt64(code) + 1) / 2)
        return code & 1 == 1 ? half : -half
    }

    /// Whether exactly the closing bit and zeros are left.
    var isAtEnd: Bool {
        var rest = self
        guard !isOver, rest.bit() else { return false }
        while rest.position < bytes.count * 8 { if rest.bit() { return false } }
        return true
    }
}

/// Writes a parameter set bit by bit.
struct ParameterWriter {
    private var bytes: [UInt8] = []
    private var used = 0

    mutating func bit(_ value: Bool) {
        if used & 7 == 0 { bytes.append(0) }
        if value { bytes[used >> 3] |= 0x80 >> UInt8(used & 7) }
        used += 1
    }

    mutating func bits(_ value: UInt32, _ count: Int) {
        for place in (0..<count).reversed() { bit(value >> UInt32(place) & 1 == 1) }
    }

    mutating func unsigned(_ value: UInt32) {
        let code = UInt64(value) + 1
        let length = 64 - code.leadingZeroBitCount
        for place in (0..<2 * length - 1).reversed() { bit(place < length && code >> UInt64(place) & 1 == 1) }
    }

    /// A unit with `header`, closed, and with the bytes that keep start codes from occurring in it.
    func unit(header: UInt8) -> [UInt8] {
        var closed = self
        closed.bit(true)
        var unit = [header]
        var zeros = 0
        for byte in closed.bytes {
            if zeros >= 2 && byte <= 3 {
                unit.append(3)
                zeros = 0
            }
            zeros = byte == 0 ? zeros + 1 : 0
            unit.append(byte)
        }
        return unit
    }
}
