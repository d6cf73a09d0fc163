import CFFmpeg
import StillCodecs

/// What decoders are told before the first packet, freed of what they don't need: a copy takes it over.
enum DecoderConfiguration {
    private static let sequence: UInt8 = 7
    private static let picture: UInt8 = 8

    /// Shortens the configuration of H.264 and AAC in place, and that of PCM to nothing; another's, and what is not
    /// understood, stays.
    static func clean(_ parameters: UnsafeMutablePointer<AVCodecParameters>) throws(FFmpegFailure) {
        guard let data = unsafe parameters.pointee.extradata else { return }
        let old = unsafe [UInt8](UnsafeBufferPointer(start: data, count: Int(parameters.pointee.extradata_size)))
        let new: [UInt8]
        switch unsafe parameters.pointee.codec_id {
        case AV_CODEC_ID_H264 where old.first == 1:
            guard let kept = h264(old) else { throw FFmpegFailure(satchel_averror_invaliddata) }
            new = kept
        case AV_CODEC_ID_AAC: new = aac(old)
        case AV_CODEC_ID_PCM_S16LE: new = []
        default: return
        }
        for (index, byte) in new.enumerated() { unsafe data[index] = byte }
        for index in new.count..<old.count { unsafe data[index] = 0 }
        unsafe parameters.pointee.extradata_size = Int32(new.count)
    }

    /// An `avcC` (ISO/IEC 14496-15, 5.3.3.1) with nothing but parameter sets in it and nothing behind it; nil where it
    /// is broken.
    static func h264(_ old: [UInt8]) -> [UInt8]? {
        guard old.count >= 7 else { return nil }
        var new = Array(old[0..<5])
        var position = 5
        for (mask, type) in [(UInt8(0x1f), sequence), (0xff, picture)] {
            guard position < old.count else { return nil }
            let count = old[position] & mask
            position += 1
            var kept: [ArraySlice<UInt8>] = []
            for _ in 0..<count {
                guard position + 2 <= old.count else { return nil }
                let end = position + 2 + Int(old[position]) << 8 + Int(old[position + 1])
                guard end <= old.count, end > position + 2 else { return nil }
                if old[position + 2] & 0x1f == type { kept.append(old[position..<end]) }
                position = end
            }
            new.append(UInt8(kept.count) | ~mask)
            for set in kept { new += set }
        }
        // The chroma format and the depths of samples, and no extensions, for the profiles that have them.
        if [100, 110, 122, 144].contains(old[1]), position + 4 <= old.count {
            new += old[position..<position + 3] + [0]
        }
        return new
    }

    /// An `AudioSpecificConfig` (ISO/IEC 14496-3, 1.6.2.1) of low complexity: two bytes, and three where they say whether
    /// there is spectral band replication besides; or five, with the rate written out.
    static func aac(_ old: [UInt8]) -> [UInt8] {
        guard old.count > 2, !listsChannels(old) else { return old }
        let rate = (old[0] & 7) << 1 | old[1] >> 7
        let saysMore = rate == 15 || old.count >= 5 && old[2] == 0x56 && old[3] & 0xe0 == 0xe0
        return Array(old.prefix(saysMore ? 5 : 2))
    }

    /// Samples a second by their number in an `AudioSpecificConfig`: ISO/IEC 14496-3, table 1.18.
    private static let rates = [
        96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
    ]

    /// What an `AudioSpecificConfig` says where it is of low complexity, mono or stereo, with frames of 1024 samples and
    /// nothing besides: neither spectral band replication nor what only a decoder understands. Nil of any other.
    static func plainAAC(_ configuration: [UInt8]) -> (samples: Int, channels: Int)? {
        guard configuration.count >= 2, configuration[0] >> 3 == 2 else { return nil }
        let rate = Int((configuration[0] & 7) << 1 | configuration[1] >> 7)
        let channels = Int(configuration[1] >> 3 & 15)
        guard rate < rates.count, (1...2).contains(channels), configuration[1] & 7 == 0 else { return nil }
        let deniesReplication =
            configuration.count == 5 && configuration[2] == 0x56 && configuration[3] == 0xe5
            && configuration[4] & 0x80 == 0
        guard configuration.count == 2 || deniesReplication else { return nil }
        return (rates[rate], channels)
    }

    /// Whether an `AudioSpecificConfig` names its channels one by one, with room for a comment: such sound is never
    /// copied.
    static func listsChannels(_ configuration: [UInt8]) -> Bool {
        configuration.count >= 2 && (configuration[0] & 7) << 1 | configuration[1] >> 7 != 15
            && configuration[1] & 0x78 == 0
    }
}

/// A copy of a decoder's configuration in memory that FFmpeg frees, with the padding that its readers need.
func paddedCopy(of configuration: [UInt8]) throws(FFmpegFailure) -> UnsafeMutablePointer<UInt8> {
    guard
        let data = unsafe av_mallocz(configuration.count + Int(AV_INPUT_BUFFER_PADDING_SIZE))?
            .assumingMemoryBound(to: UInt8.self)
    else { throw .noMemory }
    for (index, byte) in configuration.enumerated() { unsafe data[index] = byte }
    return unsafe data
}
