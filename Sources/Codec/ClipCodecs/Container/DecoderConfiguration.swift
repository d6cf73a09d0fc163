import CFFmpeg
import StillCodecs

/// What decoders are told before the first packet, freed of what they don't need: a copy takes it over.
enum DecoderConfiguration {
    /// What a copy says in the place of `old`: shortened of AAC, nothing of PCM, and another's as it is. Of H.264 it says what
    /// ``ParameterSets/configuration`` does.
    static func clean(_ old: [UInt8], of codec: AVCodecID) -> [UInt8] {
        switch codec {
        case AV_CODEC_ID_AAC: aac(old)
        case AV_CODEC_ID_PCM_S16LE: []
        default: old
        }
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

    /// Whether an `AudioSpecificConfig` tells of frames of 960 samples, or of layers: few players have either.
    static func isUnusual(_ configuration: [UInt8]) -> Bool {
        configuration.count >= 2 && (configuration[0] & 7) << 1 | configuration[1] >> 7 != 15
            && configuration[1] & 7 != 0
    }

    /// Whether an `AudioSpecificConfig` names its channels one by one, with room for a comment: such sound is never
    /// copied.
    static func listsChannels(_ configuration: [UInt8]) -> Bool {
        configuration.count >= 2 && (configuration[0] & 7) << 1 | configuration[1] >> 7 != 15
            && configuration[1] & 0x78 == 0
    }
}

/// What `parameters` tell a decoder before the first packet; empty where they don't.
func configuration(of parameters: UnsafePointer<AVCodecParameters>) -> UnsafeBufferPointer<UInt8> {
    let data = unsafe parameters.pointee.extradata
    return unsafe UnsafeBufferPointer(start: data, count: data == nil ? 0 : Int(parameters.pointee.extradata_size))
}

/// Puts `configuration` in the place of `data`, which FFmpeg frees, with the padding that its readers need.
func configure(
    _ data: inout UnsafeMutablePointer<UInt8>?, _ bytes: inout Int32, _ configuration: [UInt8]
) throws(FFmpegFailure) {
    guard let new = unsafe av_mallocz(configuration.count + Int(AV_INPUT_BUFFER_PADDING_SIZE)) else { throw .noMemory }
    unsafe configuration.withUnsafeBytes {
        unsafe UnsafeMutableRawBufferPointer(start: new, count: $0.count).copyMemory(from: $0)
    }
    unsafe av_free(data)
    unsafe data = unsafe new.assumingMemoryBound(to: UInt8.self)
    bytes = Int32(clamping: configuration.count)
}
