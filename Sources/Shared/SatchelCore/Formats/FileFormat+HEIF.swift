extension FileFormat {
    /// HEIF whose pictures are HEVC.
    static let heic = FileFormat(
        .heic, "HEIC", fileExtension: "heic", uti: "public.heic", otherNames: ["image/heic-sequence"], picture: .heif)

    static let heif = FileFormat(
        .heif, "HEIF", fileExtension: "heif", uti: "public.heif", otherNames: ["image/heif-sequence"], picture: .heif)

    /// HEIF whose pictures are AV1.
    static let avif = FileFormat(.avif, "AVIF", fileExtension: "avif", uti: "public.avif", picture: .heif)
}

extension PictureFormat {
    public static let heif = PictureFormat(
        "HEIF", .heif, typesByCoding: ["av1": .avif, "hevc": .heic],
        sniffed: [
            "image/heic", "image/heif", "image/heic-sequence", "image/heif-sequence", "image/avif",
            "image/avif-sequence",
        ],
        signature: .brands(["mif1", "msf1", "heic", "heix", "heim", "heis", "hevc", "hevx", "avif", "avis"]),
        loader: VipsOperation("heifload_source", of: "VipsForeignLoadHeif"),
        // Planes with their reference, the interleaved picture, and the copy that libvips makes.
        cost: DecodingCost(bytesPerPixel: 10, nanoseconds: 45),
        // libheif knows items only: FFmpeg's decoders.
        animation: AnimationReading(nanoseconds: 80, keepsReferences: true))
}
