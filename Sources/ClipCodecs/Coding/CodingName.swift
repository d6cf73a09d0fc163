import CFFmpeg

/// What people call codings: `DTS`, `MPEG-H 3D Audio`.
enum CodingName {
    /// Where FFmpeg's own long name isn't what a sender has heard of; by FFmpeg's short names.
    private static let known = [
        "aac": "AAC", "aac_latm": "AAC", "ac3": "AC-3", "ac4": "AC-4", "alac": "Apple Lossless", "amr_nb": "AMR",
        "amr_wb": "AMR-WB", "ape": "Monkey's Audio", "av1": "AV1", "cook": "RealAudio", "dts": "DTS", "eac3": "E-AC-3",
        "flac": "FLAC", "flv1": "Sorenson H.263", "h263": "H.263", "h264": "H.264", "hevc": "HEVC",
        "mjpeg": "Motion JPEG",
        "mp1": "MPEG audio layer 1", "mp2": "MPEG audio layer 2", "mp3": "MP3", "mpeg1video": "MPEG-1",
        "mpeg2video": "MPEG-2", "mpeg4": "MPEG-4 Visual", "opus": "Opus", "prores": "ProRes", "qdm2": "QDesign Music 2",
        "speex": "Speex", "svq1": "Sorenson Video", "svq3": "Sorenson Video 3", "truehd": "TrueHD", "vc1": "VC-1",
        "vp8": "VP8", "vp9": "VP9", "vvc": "H.266", "wmav1": "Windows Media Audio", "wmav2": "Windows Media Audio",
        "wmv3": "Windows Media Video 9",
    ]

    /// Codings that FFmpeg 5.1 has no name for, by the container's tag.
    private static let tagged = [
        "ac-4": "AC-4", "apv1": "APV", "dvh1": "Dolby Vision", "iamf": "IAMF", "lc3 ": "LC3", "mha1": "MPEG-H 3D Audio",
        "mha2": "MPEG-H 3D Audio", "mhm1": "MPEG-H 3D Audio", "mhm2": "MPEG-H 3D Audio", "vvc1": "H.266",
        "vvi1": "H.266",
    ]

    /// Types of a transport stream that FFmpeg takes for data or guesses at: ISO/IEC 13818-1, table 2-34.
    private static let transported: [UInt32: String] = [
        0x2d: "MPEG-H 3D Audio", 0x2e: "MPEG-H 3D Audio", 0x33: "H.266",
    ]

    /// The name of what `parameters` tells.
    ///
    /// - Parameter isTransport: Whether its tag is the type of a transport stream.
    static func of(_ parameters: UnsafeMutablePointer<AVCodecParameters>, isTransport: Bool) -> String {
        let tag = unsafe parameters.pointee.codec_tag
        if isTransport, let name = transported[tag] { return name }
        let identifier = unsafe parameters.pointee.codec_id
        guard identifier == AV_CODEC_ID_NONE else { return of(identifier) }
        let characters = (0..<4).map { UInt8(truncatingIfNeeded: tag >> ($0 * 8)) }
        let text = String(decoding: characters, as: UTF8.self)
        if let name = tagged[text] { return name }
        guard characters.allSatisfy({ (0x20...0x7e).contains($0) }) else { return "of an unknown coding" }
        return "of an unknown coding, “\(text)”"
    }

    /// Whether `parameters` are of sound, whatever FFmpeg takes them for.
    static func isForeignAudio(_ parameters: UnsafeMutablePointer<AVCodecParameters>, isTransport: Bool) -> Bool {
        let tag = unsafe parameters.pointee.codec_tag
        return isTransport && (tag == 0x2d || tag == 0x2e)
    }

    static func of(_ identifier: AVCodecID) -> String {
        let short = unsafe String(cString: avcodec_get_name(identifier))
        if let name = known[short] { return name }
        if short.hasPrefix("pcm_") { return "PCM" }
        if short.hasPrefix("adpcm_") { return "ADPCM" }
        guard let descriptor = unsafe avcodec_descriptor_get(identifier), let long = unsafe descriptor.pointee.long_name
        else { return short }
        // `Musepack SV7`, and `Cinepak` of `Cinepak / CVID`.
        let words = unsafe String(cString: long)
        let end = words.firstRange(of: " (")?.lowerBound ?? words.firstRange(of: " / ")?.lowerBound ?? words.endIndex
        return String(words[..<end])
    }
}
