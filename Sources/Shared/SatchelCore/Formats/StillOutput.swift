/// What stills are that are written as a format.
public struct StillOutput: Hashable, Sendable {
    /// libvips' operation; nil where we call the library ourselves.
    public let saver: VipsOperation?
    public let hasTransparency: Bool
    /// The most pixels that a side may have.
    public let longestSide: Int
    /// Bytes of a file that are no pixels', and those that a palette takes besides.
    public let headerBytes: Double
    public let paletteBytes: Double
    /// The logarithm of the bytes at a quality, relative to those at 82; empty where there is no quality to choose.
    ///
    /// Medians over 315 scaled pictures (photographs, screenshots, text, lines, gradients, noise; 64 to 1,600 pixels), with
    /// libvips 8.14.
    public let levels: [Level]

    public struct Level: Hashable, Sendable {
        public let quality: Int
        public let logarithm: Double
    }

    init(
        saver: VipsOperation? = nil, hasTransparency: Bool, longestSide: Int, headerBytes: Double,
        paletteBytes: Double = 0, levels: [Int: Double] = [:]
    ) {
        self.saver = saver
        self.hasTransparency = hasTransparency
        self.longestSide = longestSide
        self.headerBytes = headerBytes
        self.paletteBytes = paletteBytes
        self.levels = levels.map { Level(quality: $0, logarithm: $1) }.sorted { $0.quality < $1.quality }
    }
}
