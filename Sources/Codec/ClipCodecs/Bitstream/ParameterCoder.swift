/// Goes through the fields of a parameter set in their order, be it to read or to write them.
protocol ParameterCoder {
    mutating func bit(_ value: inout Bool)
    mutating func bits(_ value: inout UInt32, _ count: Int)
    /// An Exp-Golomb code, clause 9.1 of H.264.
    mutating func unsigned(_ value: inout UInt32)
}

extension ParameterCoder {
    /// A flag, and `fields` where it is set.
    mutating func optional<Value>(
        _ value: inout Value?, _ empty: Value, _ fields: (inout Value, inout Self) -> Void
    ) {
        var isThere = value != nil
        bit(&isThere)
        var inner = value ?? empty
        if isThere { fields(&inner, &self) }
        value = isThere ? inner : nil
    }
}

extension BitReader: ParameterCoder {
    mutating func bit(_ value: inout Bool) { value = bit() }
    mutating func bits(_ value: inout UInt32, _ count: Int) { value = bits(count) }
    mutating func unsigned(_ value: inout UInt32) { value = unsigned() }
}

/// Writes a parameter set bit by bit.
struct ParameterWriter: ParameterCoder {
    private var bytes: [UInt8] = []
    private var used = 0

    mutating func bit(_ value: inout Bool) { append(value) }

    mutating func bits(_ value: inout UInt32, _ count: Int) {
        for place in (0..<count).reversed() { append(value >> UInt32(place) & 1 == 1) }
    }

    mutating func unsigned(_ value: inout UInt32) {
        let code = UInt64(value) + 1
        let length = 64 - code.leadingZeroBitCount
        for place in (0..<2 * length - 1).reversed() { append(place < length && code >> UInt64(place) & 1 == 1) }
    }

    private mutating func append(_ bit: Bool) {
        if used & 7 == 0 { bytes.append(0) }
        if bit { bytes[used >> 3] |= 0x80 >> UInt8(used & 7) }
        used += 1
    }

    /// A unit with `header`, closed, and with the bytes that keep start codes from occurring in it.
    func unit(header: UInt8) -> [UInt8] {
        var closed = self
        closed.append(true)
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
