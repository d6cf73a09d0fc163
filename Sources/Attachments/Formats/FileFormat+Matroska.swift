extension FileFormat {
    static let webm = FileFormat(
        .webm, "WebM", fileExtension: "webm", uti: "org.webmproject.webm", otherNames: ["audio/webm"])

    static let matroska = FileFormat(
        .matroska, "MKV", fileExtension: "mkv", uti: "org.matroska.mkv",
        otherNames: ["video/matroska", "mka", "audio/x-matroska"])
}
