extension FileFormat {
    /// HEIF whose pictures are HEVC.
    static let heic = FileFormat(
        .heic, "HEIC", fileExtension: "heic", uti: "public.heic", otherNames: ["image/heic-sequence"])

    static let heif = FileFormat(
        .heif, "HEIF", fileExtension: "heif", uti: "public.heif", otherNames: ["image/heif-sequence"])

    /// HEIF whose pictures are AV1.
    static let avif = FileFormat(.avif, "AVIF", fileExtension: "avif", uti: "public.avif")
}
