/// A name from a set that may grow: a service newer than this library can send others, which compare and print like the rest.
public protocol OpenName: RawRepresentable<String>, Hashable, Sendable, Codable, ExpressibleByStringLiteral {
    init(rawValue: String)
}

extension OpenName {
    public init(stringLiteral value: String) {
        self.init(rawValue: value)
    }
}

/// The state of a job or an attachment.
public struct WorkState: OpenName {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let pending: WorkState = "pending"
    public static let running: WorkState = "running"
    public static let delivered: WorkState = "delivered"
    public static let failed: WorkState = "failed"
    public static let cancelled: WorkState = "cancelled"

    /// Whether nothing more will happen.
    public var isFinished: Bool { self != .pending && self != .running }
}

/// The role of a rendition.
public struct RenditionRole: OpenName, CodingKeyRepresentable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let main: RenditionRole = "main"
    public static let thumbnail: RenditionRole = "thumbnail"
    /// A still image of a video.
    public static let poster: RenditionRole = "poster"
    /// An image of a sound.
    public static let waveform: RenditionRole = "waveform"
    /// The unchanged source, if the profile keeps it.
    public static let original: RenditionRole = "original"
}

/// How complete the result is, compared with the profile.
public struct Fidelity: OpenName {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let full: Fidelity = "full"
    /// Made at reduced quality or size, or incomplete.
    public static let reduced: Fidelity = "reduced"
    /// Only a thumbnail or poster.
    public static let partial: Fidelity = "partial"
    /// The unchanged source.
    public static let original: Fidelity = "original"
}

/// What a source turned out to be.
public struct MediaKind: OpenName {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let image: MediaKind = "image"
    /// A picture with several frames.
    public static let animation: MediaKind = "animation"
    public static let audio: MediaKind = "audio"
    public static let video: MediaKind = "video"
}
