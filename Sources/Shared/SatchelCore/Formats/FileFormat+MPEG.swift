extension FileFormat {
    /// MPEG program stream.
    static let mpeg = FileFormat(
        .mpeg, "MPEG-PS", fileExtension: "mpg", uti: "public.mpeg", otherNames: ["mpeg", "vob", "m2v"], container: .mpeg
    )
}

extension ContainerFormat {
    public static let mpeg = ContainerFormat(
        // A sequence of pictures without a container, as an .m2v is, has the same name for libmagic.
        "mpeg", otherDemuxers: ["mpegts", "mpegvideo"], sniffed: ["video/mpeg"], length: .open, types: Types(.mpeg))
}
