extension FileFormat {
    static let flac = FileFormat(
        .flac, "FLAC", fileExtension: "flac", uti: "org.xiph.flac", otherNames: ["audio/x-flac"], container: .flac)
}

extension ContainerFormat {
    public static let flac = ContainerFormat(
        "flac", sniffed: ["audio/flac", "audio/x-flac"], length: .samples, types: Types(.flac))
}
