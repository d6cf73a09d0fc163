extension FileFormat {
    static let bmp = FileFormat(
        .bmp, "BMP", fileExtension: "bmp", uti: "com.microsoft.bmp", otherNames: ["image/x-ms-bmp", "image/x-bmp"],
        picture: .bmp)
}

extension PictureFormat {
    /// Of libvips only ImageMagick would load it: FFmpeg's decoder.
    public static let bmp = PictureFormat(
        "BMP", .bmp, sniffed: ["image/bmp", "image/x-ms-bmp", "image/x-bmp"], loader: nil,
        // What is shown, and its copies for libvips. Through FFmpeg's scaler, and copied twice.
        cost: DecodingCost(bytesPerPixel: 12, nanoseconds: 40))
}
