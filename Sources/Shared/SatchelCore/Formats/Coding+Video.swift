extension Coding {
    /// What pictures may be coded in.
    ///
    /// Of what only films and discs of the nineties have (Cinepak, Indeo, Sorenson) nothing is decoded: much old code for
    /// files that nobody sends.
    public static let video = [
        Coding("h264", "H.264", decoders: ["h264"]),
        Coding("hevc", "HEVC", decoders: ["hevc"]),
        Coding("av1", "AV1", decoders: ["libdav1d"]),
        Coding("vp9", "VP9", decoders: ["vp9"]),
        Coding("vp8", "VP8", decoders: ["vp8"]),
        Coding("mpeg4", "MPEG-4 Visual", decoders: ["mpeg4"]),
        // In the AVIs of the years around 2000; they share most of their code with H.263, as do the first two of WMV.
        Coding("msmpeg4v3", decoders: ["msmpeg4"]),
        Coding("msmpeg4v2", decoders: ["msmpeg4v2"]),
        Coding("msmpeg4v1", decoders: ["msmpeg4v1"]),
        Coding("mpeg2video", "MPEG-2", decoders: ["mpeg2video"]),
        Coding("mpeg1video", "MPEG-1", decoders: ["mpeg1video"]),
        Coding("h263", "H.263", decoders: ["h263"]),
        motionJPEG,
        Coding("prores", "ProRes", decoders: ["prores"]),
        Coding("dvvideo", decoders: ["dvvideo"]),
        // Of simple cameras and capture programs.
        Coding("rawvideo", decoders: ["rawvideo"]),
        Coding("wmv1", decoders: ["wmv1"]),
        Coding("wmv2", decoders: ["wmv2"]),
        // What most WMVs hold.
        Coding("wmv3", "Windows Media Video 9", decoders: ["wmv3"]),
        Coding("vc1", "VC-1", decoders: ["vc1"]),
        Coding("theora", "Theora", decoders: ["theora"]),
    ]

    /// Of cover art too.
    public static let motionJPEG = Coding("mjpeg", "Motion JPEG", decoders: ["mjpeg"])

    /// What is refused by a name that senders have heard of.
    static let refusedVideo = [
        Coding("flv1", "Sorenson H.263"), Coding("svq1", "Sorenson Video"), Coding("svq3", "Sorenson Video 3"),
        Coding("vvc", "H.266", tags: ["vvc1", "vvi1"], transportTypes: [0x33]),
        Coding("ffv1", "FFV1"), Coding("dvh1", "Dolby Vision", tags: ["dvh1"]), Coding("apv", "APV", tags: ["apv1"]),
    ]
}
