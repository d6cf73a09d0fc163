extension FileFormat {
    static let webp = FileFormat(.webp, "WebP", fileExtension: "webp", uti: "org.webmproject.webp")
}
