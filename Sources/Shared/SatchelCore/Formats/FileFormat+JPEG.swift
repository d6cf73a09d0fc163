extension FileFormat {
    static let jpeg = FileFormat(
        .jpeg, "JPEG", fileExtension: "jpg", uti: "public.jpeg",
        otherNames: ["jpeg", "jpe", "image/jpg", "image/pjpeg"],
        picture: .jpeg,
        still: StillOutput(
            hasTransparency: false,
            // libjpeg's JPEG_MAX_DIMENSION.
            longestSide: 65_500, headerBytes: 350,
            // At 90 chroma keeps its resolution.
            levels: [
                1: -3.06, 5: -2.565, 10: -1.925, 15: -1.55, 20: -1.326, 30: -1.007, 40: -0.803, 50: -0.646,
                60: -0.493, 70: -0.305, 78: -0.114, 82: 0, 86: 0.145, 89: 0.268, 90: 0.558, 92: 0.664, 94: 0.835,
                96: 1.057, 97: 1.177, 98: 1.32, 99: 1.548, 100: 1.744,
            ]))
}

extension PictureFormat {
    public static let jpeg = PictureFormat(
        "JPEG", .jpeg, sniffed: ["image/jpeg"], loader: VipsOperation("jpegload_source", of: "VipsForeignLoadJpeg"),
        needs: .common, isReadInPieces: true, shrinksOnLoad: .divides(by: [8, 4, 2]),
        // Strips. Each halving of the sides in the decoder saves a part of the transform; what is left is Huffman's.
        cost: DecodingCost(
            bytesPerColumn: 600, nanoseconds: 5, nanosecondsPerKept: 24, mostNanosecondsForKept: 6),
        // All coefficients: two bytes for each.
        inSeveralScans: DecodingCost(
            bytesPerSample: 2, nanoseconds: 22, nanosecondsPerKept: 24, mostNanosecondsForKept: 6))
}
