import CFFmpeg
import StillCodecs

/// Clears what MP3 frames hold beside their sound: the bytes between the end of one frame's data and the beginning of the
/// next one's, in which encoders sign and anything can be written.
///
/// ISO/IEC 11172-3, 2.4.1.7 and 2.4.2.7, and ISO/IEC 13818-3, 2.4.1.7. A frame's data may begin in the frames before it,
/// so frames are held until it is known that no later one needs them.
struct MP3Ancillary {
    /// A frame that may still change.
    private struct Held {
        var bytes: [UInt8]
        /// Where its own data begins in it.
        var start: Int
        /// Where its own data begins in the data of all frames.
        var position: Int

        var end: Int { position + bytes.count - start }
    }

    private var held: [Held] = []
    /// Where the next frame's own data begins in the data of all frames.
    private var position = 0
    /// Where the data of the last frame ends.
    private var used = 0

    /// How far a frame may reach back.
    private static let reach = 511

    /// Takes in the next frame.
    ///
    /// - Returns: The frames that no later one needs, in order, as long as they were.
    mutating func add(_ frame: [UInt8]) -> [[UInt8]] {
        guard let side = MP3SideInformation(frame) else {
            // Not understood: what was before is complete, and nothing reaches over it.
            used = max(used, position + frame.count)
            held.append(Held(bytes: frame, start: 0, position: position))
            position += frame.count
            return release(before: position - Self.reach)
        }
        let begin = position - side.reach
        clear(from: used, to: begin)
        // A frame that reaches into what is not there takes nothing from it.
        used = max(used, begin + (side.bits + 7) / 8)
        held.append(Held(bytes: frame, start: side.end, position: position))
        position += frame.count - side.end
        return release(before: min(begin, position - Self.reach))
    }

    /// The frames that are left.
    mutating func finish() -> [[UInt8]] {
        clear(from: used, to: position)
        return release(before: .max)
    }

    private mutating func clear(from start: Int, to end: Int) {
        guard start < end else { return }
        for index in held.indices {
            let frame = held[index]
            let from = max(start, frame.position) - frame.position + frame.start
            let to = min(end, frame.end) - frame.position + frame.start
            for byte in from..<max(from, to) { held[index].bytes[byte] = 0 }
        }
    }

    private mutating func release(before position: Int) -> [[UInt8]] {
        let count = held.prefix { $0.end <= position }.count
        defer { held.removeFirst(count) }
        return held.prefix(count).map(\.bytes)
    }
}

/// What the head of an MP3 frame says of its data.
struct MP3SideInformation: Hashable, Sendable {
    /// Bytes by which the data begins before the frame's own.
    var reach: Int
    /// Bits of the data.
    var bits: Int
    /// Bytes of the header, the checksum and the side information.
    var end: Int
    /// Whether every field has a value that a decoder knows.
    var isValid = true

    /// Nil for what is no frame of layer III.
    init?(_ frame: [UInt8]) {
        guard frame.count >= 4, frame[0] == 0xff, frame[1] & 0xe6 == 0xe2, frame[1] & 0x18 != 0x08 else { return nil }
        let isVersion1 = frame[1] & 0x18 == 0x18
        let isMono = frame[3] >> 6 == 3
        let start = frame[1] & 1 == 0 ? 6 : 4
        end = start + (isVersion1 ? (isMono ? 17 : 32) : (isMono ? 9 : 17))
        guard frame.count >= end else { return nil }
        var reader = BitReader(frame, from: start)
        reach = Int(reader.bits(isVersion1 ? 9 : 8))
        let channels = isMono ? 1 : 2
        // Private bits, and which scale factors are shared.
        reader.skip(isVersion1 ? (isMono ? 5 : 3) + 4 * channels : (isMono ? 1 : 2))
        bits = 0
        for _ in 0..<(isVersion1 ? 2 : 1) * channels {
            bits += Int(reader.bits(12))
            // Pairs of big values, of 576 in all; and the type of a window that is switched, which 0 is none.
            if reader.bits(9) > 288 { isValid = false }
            reader.skip(isVersion1 ? 12 : 17)
            if reader.bits(3) == 0b100 { isValid = false }
            reader.skip(isVersion1 ? 23 : 22)
        }
    }
}

extension Packet {
    /// Puts `bytes`, as many as it has, in the place of its contents.
    func overwrite(with bytes: [UInt8]) throws(FFmpegFailure) {
        try checked(unsafe av_packet_make_writable(raw))
        for (index, byte) in bytes.prefix(self.bytes).enumerated() { unsafe raw.pointee.data[index] = byte }
    }
}
