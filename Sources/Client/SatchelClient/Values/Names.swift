// Names that may grow: a service newer than this library can send others, which compare and print like the rest.

/// Where a job or an attachment stands.
public struct WorkState: RawRepresentable, Hashable, Sendable, Codable, ExpressibleByStringLiteral {
    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    public init(stringLiteral value: String) {
        rawValue = value
    }

    public static let pending: WorkState = "pending"
    public static let running: WorkState = "running"
    public static let delivered: WorkState = "delivered"
    public static let failed: WorkState = "failed"
    public static let cancelled: WorkState = "cancelled"

    /// Whether nothing more will happen.
    public var isFinished: Bool { self != .pending && self != .running }
}

/// What a derived file is for.
public struct RenditionRole: RawRepresentable, Hashable, Sendable, Codable, ExpressibleByStringLiteral,
    CodingKeyRepresentable
{
    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    public init(stringLiteral value: String) {
        rawValue = value
    }

    public static let main: RenditionRole = "main"
    public static let thumbnail: RenditionRole = "thumbnail"
    /// A still of a video.
    public static let poster: RenditionRole = "poster"
    /// A picture of a sound.
    public static let waveform: RenditionRole = "waveform"
    /// The source as it came, where the profile keeps it.
    public static let original: RenditionRole = "original"
}

/// How much of the promise was kept.
public struct Fidelity: RawRepresentable, Hashable, Sendable, Codable, ExpressibleByStringLiteral {
    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    public init(stringLiteral value: String) {
        rawValue = value
    }

    public static let full: Fidelity = "full"
    /// Cheaper settings.
    public static let reduced: Fidelity = "reduced"
    /// A thumbnail or a poster only.
    public static let partial: Fidelity = "partial"
    /// The source as it came.
    public static let original: Fidelity = "original"
}

/// What a source turned out to be.
public struct MediaKind: RawRepresentable, Hashable, Sendable, Codable, ExpressibleByStringLiteral {
    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    public init(stringLiteral value: String) {
        rawValue = value
    }

    public static let image: MediaKind = "image"
    /// A picture with several frames.
    public static let animation: MediaKind = "animation"
    public static let audio: MediaKind = "audio"
    public static let video: MediaKind = "video"
}
