extension FileFormat {
    static let gif = FileFormat(
        .gif, "GIF", fileExtension: "gif", uti: "com.compuserve.gif", picture: .gif,
        animation: AnimationOutput(
            saver: VipsOperation("gifsave_buffer", of: "VipsForeignSaveCgif"), shares: [1, 0.75, 0.55, 0.36],
            nanoseconds: 70, bytesPerPixel: 32, mostPlays: 65_536,
            // Browsers show a frame of less than 20 ms for 100.
            delayUnit: 10, shortestDelay: 20))
}

extension PictureFormat {
    /// Read by our own `GIF`: libvips stops at some 4,097 frames and shows what there is of a file that ends early, and
    /// says neither.
    public static let gif = PictureFormat(
        "GIF", .gif, sniffed: ["image/gif"], loader: VipsOperation("gifload_source", of: "VipsForeignLoadNsgif"),
        // What is shown, and its copies for libvips.
        cost: DecodingCost(bytesPerPixel: 12, nanoseconds: 15), animation: AnimationReading(nanoseconds: 12))
}
