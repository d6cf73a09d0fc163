extension FileFormat {
    /// MPEG transport stream.
    static let mpegTS = FileFormat(
        .mpegTS, "MPEG-TS", fileExtension: "ts", uti: "public.mpeg-2-transport-stream", otherNames: ["m2ts", "mts"],
        container: .mpegTS)
}

extension ContainerFormat {
    public static let mpegTS = ContainerFormat(
        "mpegts", sniffed: ["video/mp2t", "video/MP2T"], hasSignature: true, length: .packets,
        protection: .scrambledPackets,
        types: Types(.mpegTS))
}
