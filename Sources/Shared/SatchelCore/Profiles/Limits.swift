/// What a source may ask of the machine. Checked with the decoder that will decode, before any pixel is decoded.
public struct Limits: Hashable, Sendable, Codable {
    /// Bytes of an image or an animation.
    public var imageBytes: Int64 = 50_000_000
    /// Bytes of a clip; also what ingest stops at.
    public var clipBytes: Int64 = 1_000_000_000
    /// Pixels of a still, whatever its format: half as many again as the largest camera of a phone gives (200 megapixels).
    /// Below it the memory decides that decoding is estimated to take, which differs by format.
    public var stillPixels: Int64 = 300_000_000
    /// Pixels of one frame of an animation or a video: 8K has 33 million.
    public var framePixels: Int64 = 40_000_000
    /// Pixels along a side of any picture.
    public var side: Int = 1_000_000
    /// Pixels of all frames of an animation.
    public var animationPixels: Int64 = 1_000_000_000
    /// Frames of an animation: more than six minutes at 50 a second. What frames cost is their pixels, which
    /// ``animationPixels`` bounds; this bounds what each has besides: some hundred bytes, and microseconds.
    public var animationFrames: Int = 20_000
    /// Tracks of a clip that decoders look at; what else it carries is left out.
    public var streams: Int = 8
    /// Bytes of an embedded colour profile: those of printers and scanners have up to 3 MiB of tables.
    public var iccBytes: Int64 = 4 << 20

    public init() {}

    /// Over HTTP: clips up to 1 GB.
    public static let service = Limits()

    /// On the command line: clips up to 4 GB.
    public static let commandLine: Limits = {
        var limits = Limits()
        limits.clipBytes = 4_000_000_000
        return limits
    }()
}
