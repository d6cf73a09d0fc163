extension FileFormat {
    /// APNG too.
    static let png = FileFormat(
        .png, "PNG", fileExtension: "png", uti: "public.png", otherNames: ["apng", "image/apng"],
        picture: .png,
        still: StillOutput(
            saver: VipsOperation("pngsave_buffer", of: "VipsForeignSavePng", "VipsForeignSaveSpng"),
            hasTransparency: true,
            // libpng's PNG_USER_WIDTH_MAX.
            longestSide: 1_000_000, headerBytes: 80, paletteBytes: 770))
}

extension PictureFormat {
    public static let png = PictureFormat(
        "PNG", .png, sniffed: ["image/png", "image/apng", "image/vnd.mozilla.apng"],
        loader: VipsOperation("pngload_source", of: "VipsForeignLoadPng"), needs: .common, isReadInPieces: true,
        cost: DecodingCost(nanoseconds: 20), inSeveralScans: DecodingCost(bytesPerByte: 1, nanoseconds: 24),
        // libvips knows the first frame only: FFmpeg's decoder.
        animation: AnimationReading(name: "APNG", nanoseconds: 20))
}
