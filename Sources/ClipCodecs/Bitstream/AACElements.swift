import CFFmpeg
import StillCodecs

/// The elements at the beginning of an AAC packet that hold no sound: encoders sign there.
///
/// ISO/IEC 14496-3, 4.4.2.1: `raw_data_block`, `data_stream_element`, `fill_element`. What follows the first element
/// of sound can't be found without decoding it.
enum AACElements {
    private static let dataStream = 4
    private static let fill = 6
    /// Of a fill element's extension: only padding. Others carry spectral bands and dynamics.
    private static let padding = 0
    private static let paddingWithData = 1

    /// Overwrites with zeros what the data and fill elements before the first sound hold.
    ///
    /// - Parameter packet: A raw data block, with or without an ADTS header before it.
    /// - Returns: Whether anything changed.
    static func clear(_ packet: inout [UInt8]) -> Bool {
        var reader = Bits(bytes: packet, position: headerBytes(packet) * 8)
        defer { packet = reader.bytes }
        var hasChanged = false
        while let element = reader.take(3) {
            switch element {
            case fill:
                guard var count = reader.take(4) else { return hasChanged }
                if count == 15 {
                    guard let more = reader.take(8) else { return hasChanged }
                    count += more - 1
                }
                guard count > 0 else { continue }
                guard let kind = reader.take(4) else { return hasChanged }
                let rest = count * 8 - 4
                if kind == padding || kind == paddingWithData {
                    // A filler's nibble is 0 and its bytes 10100101, but a decoder skips whatever is there.
                    if reader.clear(rest) { hasChanged = true }
                } else if !reader.skip(rest) {
                    return hasChanged
                }
            case dataStream:
                guard reader.take(4) != nil, let isAligned = reader.take(1),
                    var count = reader.take(8)
                else { return hasChanged }
                if count == 255 {
                    guard let more = reader.take(8) else { return hasChanged }
                    count += more
                }
                if isAligned == 1 { reader.align() }
                if reader.clear(count * 8) { hasChanged = true }
            default: return hasChanged
            }
        }
        return hasChanged
    }

    /// Of ADTS: 7, and 9 with a checksum; 0 for none.
    static func headerBytes(_ packet: some RandomAccessCollection<UInt8>) -> Int {
        let start = Array(packet.prefix(2))
        guard packet.count > 9, start[0] == 0xff, start[1] & 0xf6 == 0xf0 else { return 0 }
        return start[1] & 1 == 1 ? 7 : 9
    }

    /// Reads and clears bits, never beyond the end. What is aligned is so from the packet's beginning.
    private struct Bits {
        var bytes: [UInt8]
        var position: Int

        private var left: Int { bytes.count * 8 - position }

        mutating func take(_ count: Int) -> Int? {
            guard count <= left else { return nil }
            var value = 0
            for _ in 0..<count {
                value = value << 1 | Int(bytes[position >> 3] >> UInt8(7 - position & 7) & 1)
                position += 1
            }
            return value
        }

        mutating func skip(_ count: Int) -> Bool {
            guard count <= left else { return false }
            position += count
            return true
        }

        mutating func align() { position = (position + 7) / 8 * 8 }

        /// Sets bits to 0 as far as there are any; whether one was 1.
        mutating func clear(_ count: Int) -> Bool {
            var hasChanged = false
            for _ in 0..<max(0, min(count, left)) {
                let mask = UInt8(1) << UInt8(7 - position & 7)
                if bytes[position >> 3] & mask != 0 {
                    bytes[position >> 3] &= ~mask
                    hasChanged = true
                }
                position += 1
            }
            return hasChanged
        }
    }
}

extension Packet {
    /// Clears what an AAC encoder wrote about itself before the first sound.
    func clearAACElements() throws(FFmpegFailure) {
        var copy = unsafe Array(contents)
        guard AACElements.clear(&copy) else { return }
        try checked(unsafe av_packet_make_writable(raw))
        for (index, byte) in copy.enumerated() { unsafe raw.pointee.data[index] = byte }
    }
}
