import CFFmpeg

/// The decoders that sources may use; whatever else FFmpeg has is out of reach.
enum Decoders {
    /// `msmpeg4` is the third version; all three are in the AVIs of the years around 2000, and share most of their code
    /// with `h263`, as do `wmv1` and `wmv2`. `wmv3` and `vc1` are what most WMVs hold. `rawvideo` is what simple cameras
    /// and capture programs write. What only films and discs of the nineties have (Cinepak, Indeo, Sorenson) stays out:
    /// much old code for files that nobody sends.
    static let video = [
        "h264", "hevc", "mpeg4", "msmpeg4", "msmpeg4v2", "msmpeg4v1", "mpeg2video", "mpeg1video", "h263", "vp8", "vp9",
        "libdav1d", "mjpeg", "prores", "dvvideo", "rawvideo", "wmv1", "wmv2", "wmv3", "vc1",
    ]

    static let audio = [
        "aac", "aac_latm", "mp3float", "mp3", "mp2float", "mp2", "mp1float", "mp1", "ac3", "eac3", "dca", "truehd",
        "mlp",
        "opus", "vorbis", "speex", "libspeex", "flac", "alac", "amrnb", "amrwb", "wmav1", "wmav2", "wmapro",
        "wmalossless", "wmavoice", "adpcm_ima_wav", "adpcm_ima_qt", "adpcm_ms", "pcm_s16le", "pcm_s16be", "pcm_s24le",
        "pcm_s24be", "pcm_s32le",
        "pcm_s32be", "pcm_f32le", "pcm_f32be", "pcm_f64le", "pcm_f64be", "pcm_s8", "pcm_u8", "pcm_mulaw", "pcm_alaw",
        "pcm_bluray", "pcm_dvd",
    ]

    /// Cover art, BMP and APNG.
    static let stills = ["mjpeg", "png", "apng", "bmp"]

    static let names = video + audio + stills

    /// As FFmpeg's `codec_whitelist` takes it.
    static let allowList = names.joined(separator: ",")

    /// The allowed decoder for `codec`; nil where there is none.
    static func decoder(for codec: AVCodecID) -> UnsafePointer<AVCodec>? {
        // FFmpeg 7.1's own decoder gives two or four times as many samples as wide bands have, most of them silent.
        if codec == AV_CODEC_ID_SPEEX, let found = unsafe avcodec_find_decoder_by_name("libspeex") {
            return unsafe found
        }
        guard let found = unsafe avcodec_find_decoder(codec), let name = unsafe found.pointee.name else { return nil }
        return names.contains(unsafe String(cString: name)) ? unsafe found : nil
    }

    /// The name of the allowed decoder for `codec`.
    static func name(for codec: AVCodecID) -> String? {
        unsafe decoder(for: codec).flatMap { unsafe $0.pointee.name }.map { unsafe String(cString: $0) }
    }
}
