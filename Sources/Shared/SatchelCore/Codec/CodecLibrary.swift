/// A library that codec processes decode with, and its version.
public struct CodecLibrary: Hashable, Sendable, Codable {
    public enum Name: String, Hashable, Sendable, Codable, CaseIterable {
        case libvips
        case ffmpeg = "FFmpeg"
        case libheif
        case libjxl
        case libjpegTurbo = "libjpeg-turbo"
    }

    /// Why libjpeg-turbo decodes Huffman codes itself, which takes it longer than Satchel's own decoder, with the same results.
    public enum HuffmanFallback: String, Hashable, Sendable, Codable, CaseIterable {
        case turnedOff
        /// The decoder relies on what is private to the library, and wasn't tried with this version.
        case untriedVersion
        /// The two came to different results with the picture that a zygote checks the decoder with.
        case differs

        /// A clause.
        public var reason: String {
            switch self {
            case .turnedOff: "Satchel's decoder is turned off"
            case .untriedVersion: "Satchel's decoder is not tested with this version"
            case .differs:
                "Satchel's decoder failed its self-test; please report this"
            }
        }
    }

    public var name: Name
    /// As the library gives it: `8.14.1`, `5.1.9-0+deb12u1`.
    public var version: String
    /// Nil where Satchel's decoder is used, and of other libraries.
    public var huffmanFallback: HuffmanFallback?

    public init(_ name: Name, version: String, huffmanFallback: HuffmanFallback? = nil) {
        self.name = name
        self.version = version
        self.huffmanFallback = huffmanFallback
    }

    /// Whether it is `other` or newer, by the numbers that a version begins with. What gives no number is older than all.
    public func isAtLeast(_ other: String) -> Bool {
        !Self.numbers(version).lexicographicallyPrecedes(Self.numbers(other))
    }

    private static func numbers(_ version: String) -> [Int] {
        version.prefix { $0.isNumber || $0 == "." }.split(separator: ".").compactMap { Int($0) }
    }
}

/// What only newer versions of a library read: the differences that somebody notices between what Debian 12 and 13 bring.
public struct NewerFeature: Hashable, Sendable {
    public var library: CodecLibrary.Name
    /// The first version that reads it.
    public var since: String
    /// Names it, as the subject of a sentence in the singular.
    public var subject: String
    /// How older versions report it, in small letters; none where they don't.
    public var messages: [String]
    /// What whoever sent it can do; a clause.
    public var advice: String
    /// Where a version comes from that reads it; a clause.
    public var help: String

    public static let all = [newestHEIC, animatedJXL]

    /// A gain map or depth that belongs to how the picture is tone mapped, or to that and the picture: libheif's issues 1190 and 1213.
    public static let newestHEIC = NewerFeature(
        library: .libheif, since: "1.18", subject: "HEIC of the newest phones",
        messages: [
            "too many auxiliary image references", "non-existing aux image referenced",
            "non-existing alpha image referenced", "non-existing depth image referenced",
        ], advice: "Export it as JPEG",
        help: "install libheif 1.19 from bookworm-backports with ./install-dependencies.sh backports")

    /// Older ones show the first frame, and say nothing.
    public static let animatedJXL = NewerFeature(
        library: .libvips, since: "8.16", subject: "animated JPEG XL", messages: [],
        advice: "Convert it to WebP or GIF", help: "use libvips 8.16 or newer, as in Debian 13")

    /// Those that `library` lacks.
    public static func missing(in library: CodecLibrary) -> [NewerFeature] {
        all.filter { $0.library == library.name && !library.isAtLeast($0.since) }
    }

    /// The refusal of what a library reported so; nil where it is about something else.
    public static func refusal(of message: String) -> AttachmentError? {
        let text = message.lowercased()
        return all.first { $0.messages.contains(where: text.contains) }?.refusal
    }

    /// What whoever sent a file of this is told where it can't be read.
    public var refusal: AttachmentError {
        .unsupportedFeature(
            reason: "\(subject) needs \(library.rawValue) \(since) or newer",
            advice: "\(advice). The operator can find with satchel doctor what would read it.")
    }
}
