import CFFmpeg

/// The network abstraction layer units of one H.264 packet: looked at, and freed of what is no picture.
///
/// Supplemental information (type 6) is where encoders sign; text can hide in filler and in types without a meaning too.
/// No player needs any of it.
enum NALUnits {
    struct Look: Equatable {
        /// Slices of an instantaneous refresh (type 5): nothing after refers to anything before.
        var isRefresh = false
        var hasSupplement = false
    }

    private static let refresh: UInt8 = 5
    /// Slices, and their parameters. ITU-T H.264, table 7-1; auxiliary pictures (19) and further views and layers (14,
    /// 15, 20, 21) are not shown.
    private static let needed: Set<UInt8> = [1, 2, 3, 4, 5, 7, 8]

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
    static func look(at packet: UnsafeBufferPointer<UInt8>, framing: Framing) -> Look? {
        var look = Look()
        let isSound = unsafe forEach(in: packet, framing: framing) { _, type in
            if type == refresh { look.isRefresh = true }
            if !needed.contains(type) { look.hasSupplement = true }
        }
        return isSound ? look : nil
    }

    /// Moves the units that are kept to the front, and gives their bytes' count; nil where the framing is broken.
    static func dropSupplements(in packet: UnsafeMutableBufferPointer<UInt8>, framing: Framing) -> Int? {
        var kept = 0
        let isSound = unsafe forEach(in: UnsafeBufferPointer(packet), framing: framing) { range, type in
            guard needed.contains(type) else { return }
            if kept != range.lowerBound {
                for index in range { unsafe packet[kept + index - range.lowerBound] = packet[index] }
            }
            kept += range.count
        }
        return isSound ? kept : nil
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
