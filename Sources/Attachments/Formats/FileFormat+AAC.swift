extension FileFormat {
    /// AAC in ADTS.
    static let aac = FileFormat(
        .aac, "AAC", fileExtension: "aac", uti: "public.aac-audio",
        otherNames: ["audio/x-aac", "audio/aacp", "audio/x-hx-aac-adts"])
}
