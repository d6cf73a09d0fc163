extension FileFormat {
    /// Opus, Vorbis, FLAC and Speex in Ogg.
    static let ogg = FileFormat(
        .ogg, "Ogg", fileExtension: "ogg", uti: "org.xiph.ogg-audio",
        otherNames: ["oga", "opus", "audio/opus", "audio/vorbis", "application/ogg", "spx", "audio/speex"],
        container: .ogg)

    /// Theora in Ogg.
    static let ogv = FileFormat(
        .ogv, "Ogg video", fileExtension: "ogv", uti: "org.xiph.ogg-video", otherNames: ["video/theora"],
        container: .ogg)
}

extension ContainerFormat {
    public static let ogg = ContainerFormat(
        "ogg", sniffed: ["audio/ogg", "video/ogg", "application/ogg"], hasSignature: true,
        length: .pages, types: Types(.ogv, audio: .ogg))
}
