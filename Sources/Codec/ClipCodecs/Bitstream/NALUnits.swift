import CFFmpeg
import StillCodecs

/// The network abstraction layer units of one H.264 packet: looked at, and freed of what is no picture.
///
/// Supplemental information (type 6) is where encoders sign and where text can hide, and filler, extensions and types
/// without a meaning could hold anything; no player needs them. Parameter sets stand in the decoder's configuration.
enum NALUnits {
    struct UnitSummary: Equatable {
        /// Slices of an instantaneous refresh (type 5): nothing after refers to anything before.
        var isRefresh = false
        /// Other units than slices.
        var hasSupplement = false
        /// Slices in partitions (types 2 to 4), which only the Extended profile has.
        var hasPartitions = false
        /// Parameter sets that are none of those which are known.
        var changesParameters = false
    }

    private static let slice: UInt8 = 1
    private static let refresh: UInt8 = 5
    private static let sequenceParameters: UInt8 = 7
    private static let pictureParameters: UInt8 = 8

    /// How the units of a stream are framed.
    enum Framing: Equatable {
        /// A length of so many bytes before each unit.
        case lengths(Int)
        /// A start code before each unit.
        case startCodes

        /// As the decoder's configuration says; nil where it is neither.
        init?(configuration: UnsafeBufferPointer<UInt8>) {
            guard configuration.count >= 7 else { return nil }
            if unsafe configuration[0] == 1 {
                self = .lengths(unsafe Int(configuration[4] & 3) + 1)
            } else if unsafe configuration[0] == 0 && configuration[1] == 0 {
                self = .startCodes
            } else {
                return nil
            }
        }
    }

    /// Looks at a packet's units; nil where their framing is broken.
    ///
    /// - Parameter known: The parameter sets that hold for the whole stream; nil where none are known.
    static func summary(
        at packet: UnsafeBufferPointer<UInt8>, framing: Framing, known: ParameterSets? = nil
    ) -> UnitSummary? {
        var summary = UnitSummary()
        let isSound = unsafe forEach(in: packet, framing: framing) { range, type in
            switch type {
            case refresh: summary.isRefresh = true
            case slice: break
            case 2...4: summary.hasPartitions = true
            case sequenceParameters, pictureParameters:
                summary.hasSupplement = true
                let unit = unsafe content(of: range, in: packet, framing: framing)
                if let known, unsafe !known.contains(packet[unit]) { summary.changesParameters = true }
            default: summary.hasSupplement = true
            }
        }
        return isSound ? summary : nil
    }

    /// Moves the slices to the front, and gives their bytes' count; nil where the framing is broken.
    static func dropSupplements(in packet: UnsafeMutableBufferPointer<UInt8>, framing: Framing) -> Int? {
        var kept = 0
        let isSound = unsafe forEach(in: UnsafeBufferPointer(packet), framing: framing) { range, type in
            guard type == slice || type == refresh else { return }
            if kept != range.lowerBound {
                for index in range { unsafe packet[kept + index - range.lowerBound] = packet[index] }
            }
            kept += range.count
        }
        return isSound ? kept : nil
    }

    /// The slices, each behind its length in four bytes; nil where the framing is broken.
    static func slices(of packet: UnsafeBufferPointer<UInt8>, framing: Framing) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(packet.count + 16)
        let isSound = unsafe forEach(in: packet, framing: framing) { range, type in
            guard type == slice || type == refresh else { return }
            let unit = unsafe content(of: range, in: packet, framing: framing)
            let length = UInt32(truncatingIfNeeded: unit.count)
            for shift in [24, 16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: length >> shift)) }
            unsafe bytes += packet[unit]
        }
        return isSound ? bytes : nil
    }

    /// Where a unit is without its framing, and without the zeros that may follow it before a start code.
    private static func content(
        of range: Range<Int>, in packet: UnsafeBufferPointer<UInt8>, framing: Framing
    ) -> Range<Int> {
        switch framing {
        case .lengths(let width): return range.dropFirst(width)
        case .startCodes:
            var start = range.lowerBound
            while start < range.upperBound, unsafe packet[start] == 0 { start += 1 }
            start = min(start + 1, range.upperBound)
            var end = range.upperBound
            while end > start, unsafe packet[end - 1] == 0 { end -= 1 }
            return start..<end
        }
    }

    /// Calls `body` with the range of each unit without its framing; false where that is broken.
    static func forEachContent(
        in packet: UnsafeBufferPointer<UInt8>, framing: Framing, _ body: (Range<Int>) -> Void
    ) -> Bool {
        unsafe forEach(in: packet, framing: framing) { range, _ in
            body(unsafe content(of: range, in: packet, framing: framing))
        }
    }

    /// Calls `body` with the range of each unit, its framing included, and its type.
    private static func forEach(
        in packet: UnsafeBufferPointer<UInt8>, framing: Framing, _ body: (Range<Int>, UInt8) -> Void
    ) -> Bool {
        switch framing {
        case .lengths(let width):
            var position = 0
            while position < packet.count {
                guard position + width < packet.count else { return false }
                var length = 0
                for index in position..<position + width { length = unsafe length << 8 | Int(packet[index]) }
                let end = position + width + length
                guard length > 0, end <= packet.count else { return false }
                let type = unsafe packet[position + width] & 0x1f
                body(position..<end, type)
                position = end
            }
            return true
        case .startCodes:
            guard var start = unsafe startCode(in: packet, from: 0), start.lowerBound == 0 else { return false }
            while true {
                guard start.upperBound < packet.count else { return false }
                let next = unsafe startCode(in: packet, from: start.upperBound)
                let type = unsafe packet[start.upperBound] & 0x1f
                body(start.lowerBound..<(next?.lowerBound ?? packet.count), type)
                guard let next else { return true }
                start = next
            }
        }
    }

    /// The next `00 00 01`, with the zero before it where there is one.
    private static func startCode(in packet: UnsafeBufferPointer<UInt8>, from begin: Int) -> Range<Int>? {
        var index = begin
        while index + 2 < packet.count {
            if unsafe packet[index + 2] > 1 {
                index += 3
            } else if unsafe packet[index] == 0 && packet[index + 1] == 0 && packet[index + 2] == 1 {
                let begins = unsafe index > begin && packet[index - 1] == 0 ? index - 1 : index
                return begins..<index + 3
            } else {
                index += 1
            }
        }
        return nil
    }
}
