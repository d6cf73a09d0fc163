/// What animations are that are written as a format.
public struct AnimationOutput: Hashable, Sendable {
    /// libvips' operation; nil where another library, or we ourselves, write it.
    public let saver: VipsOperation?
    /// What the levels of quality come to, as parts of the best one's bytes; measured with films and with drawings.
    public let shares: [Double]
    /// Processor time for each pixel of each frame.
    public let nanoseconds: Double
    /// Bytes that the encoder holds for each pixel of a frame.
    public let bytesPerPixel: Int64
    /// Whether it keeps all frames, coded, until the end.
    public let keepsFrames: Bool
    /// How often it can say that it plays; nil of what has no loops.
    public let mostPlays: Int?
    /// The unit of its delays, and the least and the most that browsers take from it, in milliseconds.
    public let delayUnit: Int
    public let shortestDelay: Int
    public let longestDelay: Int
    /// Whether sides are even, as it has whole pixels of colour for every four.
    public let hasEvenSides: Bool

    init(
        saver: VipsOperation? = nil, shares: [Double], nanoseconds: Double, bytesPerPixel: Int64,
        keepsFrames: Bool = false, mostPlays: Int? = nil, delayUnit: Int = 1,
        shortestDelay: Int = 1, longestDelay: Int = .max, hasEvenSides: Bool = false
    ) {
        self.saver = saver
        self.shares = shares
        self.nanoseconds = nanoseconds
        self.bytesPerPixel = bytesPerPixel
        self.keepsFrames = keepsFrames
        self.mostPlays = mostPlays
        self.delayUnit = delayUnit
        self.shortestDelay = shortestDelay
        self.longestDelay = longestDelay
        self.hasEvenSides = hasEvenSides
    }
}
