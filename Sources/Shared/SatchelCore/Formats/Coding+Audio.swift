extension Coding {
    /// What sound may be coded in.
    public static let audio =
        [
            Coding("aac", "AAC", decoders: ["aac"]),
            Coding("aac_latm", "AAC", decoders: ["aac_latm"]),
            Coding("mp3", "MP3", decoders: ["mp3float", "mp3"]),
            Coding("mp2", "MPEG audio layer 2", decoders: ["mp2float", "mp2"]),
            Coding("mp1", "MPEG audio layer 1", decoders: ["mp1float", "mp1"]),
            Coding("ac3", "AC-3", decoders: ["ac3"]),
            Coding("eac3", "E-AC-3", decoders: ["eac3"]),
            Coding("dts", "DTS", decoders: ["dca"]),
            Coding("truehd", "TrueHD", decoders: ["truehd"]),
            Coding("mlp", decoders: ["mlp"]),
            Coding("opus", "Opus", decoders: ["opus"]),
            Coding("vorbis", decoders: ["vorbis"]),
            // FFmpeg 7.1's own decoder gives two or four times as many samples as wide bands have, most of them silent:
            // the first one that is there is used.
            Coding("speex", "Speex", decoders: ["libspeex", "speex"]),
            Coding("flac", "FLAC", decoders: ["flac"]),
            Coding("alac", "Apple Lossless", decoders: ["alac"]),
            Coding("amr_nb", "AMR", decoders: ["amrnb"]),
            Coding("amr_wb", "AMR-WB", decoders: ["amrwb"]),
            Coding("gsm", "GSM", decoders: ["gsm"]),
            Coding("gsm_ms", "GSM", decoders: ["gsm_ms"]),
            Coding("wmav1", "Windows Media Audio", decoders: ["wmav1"]),
            Coding("wmav2", "Windows Media Audio", decoders: ["wmav2"]),
            Coding("wmapro", decoders: ["wmapro"]),
            Coding("wmalossless", decoders: ["wmalossless"]),
            Coding("wmavoice", decoders: ["wmavoice"]),
        ]
        + ["ima_wav", "ima_qt", "ms"].map { Coding("adpcm_\($0)", "ADPCM", decoders: ["adpcm_\($0)"]) }
        + [
            "s16le", "s16be", "s24le", "s24be", "s32le", "s32be", "f32le", "f32be", "f64le", "f64be", "s8", "u8",
            "mulaw", "alaw", "bluray", "dvd",
        ].map { Coding("pcm_\($0)", "PCM", decoders: ["pcm_\($0)"]) }

    /// What is refused by a name that senders have heard of.
    public static let refusedAudio = [
        Coding("ac4", "AC-4", tags: ["ac-4"]), Coding("ape", "Monkey's Audio"), Coding("cook", "RealAudio"),
        Coding("qdm2", "QDesign Music 2"), Coding("iamf", "IAMF", tags: ["iamf"]), Coding("lc3", "LC3", tags: ["lc3 "]),
        Coding(
            "mpegh_3d_audio", "MPEG-H 3D Audio", tags: ["mha1", "mha2", "mhm1", "mhm2"],
            transportTypes: [0x2d, 0x2e]),
    ]
}
