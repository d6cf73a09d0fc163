/// What animations are that are written as a format.
public struct AnimationOutput: Hashable, Sendable {
    /// libvips' operation; nil where another library, or we ourselves, write it.
    public var saver: VipsOperation?
    /// What the levels of quality come to, as parts of the best one's bytes; measured with films and with drawings.
    public let shares: [Double]
    /// Processor time for each pixel of each frame.
    public let nanoseconds: Double
    /// Bytes that the encoder holds for each pixel of a frame.
    public let bytesPerPixel: Int64
    /// Whether it keeps all frames, coded, until the end.
    public var keepsFrames = false
    /// How often it can say that it plays; nil of what has no loops.
    public var mostPlays: Int?
    /// The unit of its delays, and the least and the most that browsers take from it, in milliseconds.
    public var delayUnit = 1
    public var shortestDelay = 1
    public var longestDelay = Int.max
    /// Whether sides are even, as it has whole pixels of colour for every four.
    public var hasEvenSides = false
}
