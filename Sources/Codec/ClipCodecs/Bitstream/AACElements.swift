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
        var reader = BitReader(packet, from: headerBytes(packet))
        defer { packet = reader.bytes }
        var hasChanged = false
        while !reader.isOver {
            var count = 0
            switch Int(reader.bits(3)) {
            case fill:
                count = Int(reader.bits(4))
                if count == 15 { count += Int(reader.bits(8)) - 1 }
                guard count > 0 else { continue }
                let kind = Int(reader.bits(4))
                let rest = count * 8 - 4
                if kind == padding || kind == paddingWithData {
                    // A filler's nibble is 0 and its bytes 10100101, but a decoder skips whatever is there.
                    if reader.clear(rest) { hasChanged = true }
                } else {
                    reader.skip(rest)
                }
            case dataStream:
                reader.skip(4)
                let isAligned = reader.bit()
                count = Int(reader.bits(8))
                if count == 255 { count += Int(reader.bits(8)) }
                if isAligned { reader.align() }
                if reader.clear(count * 8) { hasChanged = true }
            default: return hasChanged
            }
        }
        return hasChanged
    }

    /// Bytes of the ADTS frame that `packet` begins with; nil of what is none. ISO/IEC 13818-7, 6.2.
    static func frameBytes(_ packet: some RandomAccessCollection<UInt8>) -> Int? {
        let head = Array(packet.prefix(6)).map(Int.init)
        guard headerBytes(packet) > 0, head.count == 6 else { return nil }
        return (head[3] & 3) << 11 | head[4] << 3 | head[5] >> 5
    }

    /// Of ADTS: 7, and 9 with a checksum; 0 for none.
    static func headerBytes(_ packet: some RandomAccessCollection<UInt8>) -> Int {
        let start = Array(packet.prefix(2))
        guard packet.count > 9, start[0] == 0xff, start[1] & 0xf6 == 0xf0 else { return 0 }
        return start[1] & 1 == 1 ? 7 : 9
    }
}

extension Packet {
    /// Clears what an AAC encoder wrote about itself before the first sound.
    func clearAACElements() throws(FFmpegFailure) {
        var copy = unsafe Array(contents)
        if AACElements.clear(&copy) { try overwrite(with: copy) }
    }
}
