extension FileFormat {
    static let mp4 = FileFormat(
        .mp4, "MP4", fileExtension: "mp4", uti: "public.mpeg-4", container: .movie,
        // Its encoder keeps pictures as references.
        animation: AnimationOutput(
            shares: [1, 0.6, 0.36, 0.18], nanoseconds: 70, bytesPerPixel: 200, hasEvenSides: true), muxer: "mp4")

    static let quicktime = FileFormat(
        .quicktime, "MOV", fileExtension: "mov", uti: "com.apple.quicktime-movie", otherNames: ["qt"], container: .movie
    )

    static let m4v = FileFormat(.m4v, "M4V", fileExtension: "m4v", uti: "com.apple.m4v-video", container: .movie)

    static let threeGP = FileFormat(
        .threeGP, "3GP", fileExtension: "3gp", uti: "public.3gpp", otherNames: ["3gpp", "3g2", "video/3gpp2"],
        container: .movie)

    static let m4a = FileFormat(
        .m4a, "M4A", fileExtension: "m4a", uti: "com.apple.m4a-audio",
        otherNames: ["video/x-m4a", "audio/x-m4a", "audio/m4a", "m4b"], container: .movie, muxer: "ipod")
}

extension ContainerFormat {
    /// ISO base media (ISO/IEC 14496-12) and QuickTime.
    public static let movie = ContainerFormat(
        "mov",
        sniffed: [
            "video/mp4", "video/quicktime", "video/x-m4v", "video/3gpp", "video/3gpp2", "audio/mp4", "audio/x-m4a",
            "audio/3gpp", "application/mp4",
        ],
        isForced: true, hasSignature: true, hasSampleTable: true, countsSamples: true,
        protection: .sampleDescriptions, types: Types(.mp4, audio: .m4a),
        typesByBrand: [
            Brand("3g", Types(.threeGP)), Brand("qt", Types(.quicktime)), Brand("M4V", Types(.m4v, audio: .m4a)),
        ],
        // QuickTime's before there were brands.
        typesWithoutBrand: Types(.quicktime))
}
