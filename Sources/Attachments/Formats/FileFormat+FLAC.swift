extension FileFormat {
    static let flac = FileFormat(
        .flac, "FLAC", fileExtension: "flac", uti: "org.xiph.flac", otherNames: ["audio/x-flac"])
}
