/// The part of a clip or of an animation that is wanted; seconds of the untrimmed source, of an animation in whole
/// milliseconds of its first play.
public struct TrimRequest: Hashable, Sendable, Codable {
    /// Nil: as much before ``RenditionRequest/thumbnailTime`` as after it, as far as the source goes.
    public var start: Double?
    /// Nil: to the end, or as long as the profile takes.
    public var duration: Double?

    public init(start: Double?, duration: Double? = nil) {
        self.start = start
        self.duration = duration
    }
}

/// How a clip was cut; an animation's frames are always encoded again.
public enum TrimMethod: String, Hashable, Sendable, Codable, CaseIterable {
    /// The packets are the source's.
    case copy
    /// Only the groups of pictures at the cut were encoded again.
    case smart
    /// All was encoded again.
    case encode
}

/// The cut that was made, as the record shows it; seconds.
public struct TrimReport: Hashable, Sendable, Codable {
    public var start: Double
    public var duration: Double
    public var sourceDuration: Double
    public var method: TrimMethod

    public init(start: Double, duration: Double, sourceDuration: Double, method: TrimMethod) {
        func microseconds(_ value: Double) -> Double { (value * 1e6).rounded() / 1e6 }
        self.start = microseconds(start)
        self.duration = microseconds(duration)
        self.sourceDuration = microseconds(sourceDuration)
        self.method = method
    }
}
