extension FileFormat {
    static let webm = FileFormat(
        .webm, "WebM", fileExtension: "webm", uti: "org.webmproject.webm", otherNames: ["audio/webm"],
        container: .matroska)

    static let matroska = FileFormat(
        .matroska, "MKV", fileExtension: "mkv", uti: "org.matroska.mkv",
        otherNames: ["video/matroska", "mka", "audio/x-matroska"], container: .matroska)
}

extension ContainerFormat {
    public static let matroska = ContainerFormat(
        "matroska", sniffed: ["video/webm", "video/x-matroska", "audio/webm", "audio/x-matroska"], isForced: true,
        hasSignature: true, length: .segment, protection: .trackKeys, types: Types(.matroska),
        typesByBrand: [Brand("webm", Types(.webm))])
}
