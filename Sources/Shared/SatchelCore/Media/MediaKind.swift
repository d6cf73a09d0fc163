/// What a source turned out to be.
public enum MediaKind: String, Hashable, Sendable, Codable, CaseIterable {
    /// One still picture.
    case image
    /// A picture with two frames or more: GIF, APNG, animated WebP.
    case animation
    case audio
    case video

    /// For messages: `images`, `audio recordings`.
    public var plural: String {
        switch self {
        case .image: "images"
        case .animation: "animations"
        case .audio: "audio recordings"
        case .video: "videos"
        }
    }
}
