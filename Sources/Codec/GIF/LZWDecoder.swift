/// Undoes GIF's compression.
///
/// A string of the dictionary is remembered by where it first came out, because the string that a code adds is always
/// the previous one and the pixel behind it.
package struct LZWDecoder: Sendable {
    package enum Outcome: Hashable, Sendable {
        /// All pixels came out.
        case complete
        /// The data ends, or says it does, after so many.
        case short(pixels: Int)
        /// A code that cannot be, after so many.
        case invalid(pixels: Int)
    }

    private var places = [Int32](repeating: 0, count: 4096)
    private var lengths = [Int32](repeating: 0, count: 4096)

    package init() {}

    /// - Parameters:
    ///   - data: The compressed bytes without the lengths of their blocks.
    ///   - codeSize: Bits of a pixel, 1…11: more is refused as invalid.
    ///   - output: As long as the frame has pixels.
    package mutating func decode(
        _ data: Span<UInt8>, codeSize: Int, into output: inout MutableSpan<UInt8>
    ) -> Outcome {
        guard (1...11).contains(codeSize) else { return .invalid(pixels: 0) }
        return Self.decode(data, codeSize, into: &output, &places, &lengths)
    }

    private static func decode(
        _ data: Span<UInt8>, _ codeSize: Int, into output: inout MutableSpan<UInt8>, _ places: inout [Int32],
        _ lengths: inout [Int32]
    ) -> Outcome {
        let clear = 1 << codeSize
        let wanted = output.count
        let bytes = data.count
        var places = places.mutableSpan
        var lengths = lengths.mutableSpan
        var width = codeSize + 1
        var next = clear + 2
        var accumulator: UInt64 = 0
        var bits = 0
        var position = 0
        var filled = 0
        // The previous string; none after a clear code.
        var lastPlace = 0
        var lastLength = 0
        while filled < wanted {
            while bits < width {
                guard position < bytes else { return .short(pixels: filled) }
                accumulator |= UInt64(data[position]) &<< UInt64(truncatingIfNeeded: bits)
                position &+= 1
                bits &+= 8
            }
            let code = Int(truncatingIfNeeded: accumulator & (1 &<< UInt64(truncatingIfNeeded: width) &- 1))
            accumulator = accumulator &>> UInt64(truncatingIfNeeded: width)
            bits &-= width
            if code < clear {
                output[filled] = UInt8(truncatingIfNeeded: code)
                if lastLength > 0, next < 4096 {
                    places[next] = Int32(truncatingIfNeeded: lastPlace)
                    lengths[next] = Int32(truncatingIfNeeded: lastLength &+ 1)
                    next &+= 1
                }
                lastPlace = filled
                lastLength = 1
                filled &+= 1
            } else if code == clear {
                width = codeSize + 1
                next = clear + 2
                lastLength = 0
                continue
            } else if code == clear &+ 1 {
                return .short(pixels: filled)
            } else {
                if lastLength > 0, next < 4096 {
                    places[next] = Int32(truncatingIfNeeded: lastPlace)
                    lengths[next] = Int32(truncatingIfNeeded: lastLength &+ 1)
                    next &+= 1
                }
                guard code < next, lastLength > 0 else { return .invalid(pixels: filled) }
                let place = Int(places[code])
                let length = Int(lengths[code])
                let count = min(length, wanted &- filled)
                // Forwards: the newest string overlaps with what comes out.
                for offset in 0..<count { output[filled &+ offset] = output[place &+ offset] }
                lastPlace = filled
                lastLength = length
                filled &+= count
            }
            if next == 1 &<< width, width < 12 { width &+= 1 }
        }
        return .complete
    }
}
