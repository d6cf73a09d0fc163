extension FileFormat {
    /// APNG too.
    static let png = FileFormat(
        .png, "PNG", fileExtension: "png", uti: "public.png", otherNames: ["apng", "image/apng"])
}
