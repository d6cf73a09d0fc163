extension FileFormat {
    static let webp = FileFormat(
        .webp, "WebP", fileExtension: "webp", uti: "org.webmproject.webp",
        picture: .webp,
        still: StillOutput(
            saver: VipsOperation("webpsave_buffer", of: "VipsForeignSaveWebp"), hasTransparency: true,
            // 14 bits (RFC 9649).
            longestSide: 16_383, headerBytes: 60,
            levels: [
                1: -1.622, 5: -1.376, 10: -1.236, 20: -0.997, 30: -0.775, 40: -0.653, 50: -0.52, 60: -0.407,
                70: -0.297, 75: -0.239, 78: -0.138, 82: 0, 86: 0.151, 89: 0.284, 92: 0.442, 95: 0.618, 97: 0.751,
                100: 0.89,
            ]),
        animation: AnimationOutput(
            saver: VipsOperation("webpsave_buffer", of: "VipsForeignSaveWebp"), shares: [1, 0.74, 0.57, 0.38],
            nanoseconds: 250, bytesPerPixel: 64, keepsFrames: true, mostPlays: 65_535,
            // Browsers show a frame of 10 ms for 100. 24 bits.
            shortestDelay: 11, longestDelay: 16_777_215))
}

extension PictureFormat {
    public static let webp = PictureFormat(
        "WebP", .webp, sniffed: ["image/webp"], loader: VipsOperation("webpload_source", of: "VipsForeignLoadWebp"),
        needs: .common, shrinksOnLoad: .scales, cost: DecodingCost(bytesPerPixel: 8, nanoseconds: 25),
        animation: AnimationReading(nanoseconds: 75))
}
