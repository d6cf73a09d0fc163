/// An audio or video codec's coding, by which a container names what its packets are.
public struct Coding: Hashable, Sendable {
    /// FFmpeg's short name: `h264`.
    public let identifier: String
    /// What people call it; nil where FFmpeg's own long name is what they know.
    public let name: String?
    /// FFmpeg's decoders that sources may use; none of what is known by name only, and refused.
    public let decoders: [String]
    /// Tags in containers that FFmpeg 5.1 has no name for.
    public let tags: [String]
    /// Types of transport streams that FFmpeg takes for data or guesses at (ISO/IEC 13818-1, table 2-34).
    public let transportTypes: [UInt32]

    init(
        _ identifier: String, _ name: String? = nil, decoders: [String] = [], tags: [String] = [],
        transportTypes: [UInt32] = []
    ) {
        self.identifier = identifier
        self.name = name
        self.decoders = decoders
        self.tags = tags
        self.transportTypes = transportTypes
    }

    /// The one of FFmpeg's short name.
    public static func named(_ identifier: String) -> Coding? { byIdentifier[identifier] }

    private static let byIdentifier = Dictionary(uniqueKeysWithValues: all.map { ($0.identifier, $0) })

    /// Everything that has a decoder or a name.
    public static let all = video + audio + pictures + refusedVideo + refusedAudio

    /// Cover art, BMP and APNG, beside what is video as well.
    public static let pictures = [
        Coding("png", decoders: ["png"]), Coding("apng", decoders: ["apng"]), Coding("bmp", decoders: ["bmp"]),
    ]
}
