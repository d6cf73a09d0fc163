/// How a container of pictures and sound is read: one for each of FFmpeg's demuxers that sources may use.
public struct ContainerFormat: Hashable, Sendable {
    /// FFmpeg's, by the first of its names.
    public let demuxer: String
    /// Other demuxers for what libmagic calls by the same names.
    public let otherDemuxers: [String]
    /// libmagic's media types.
    public let sniffed: Set<String>
    /// Whether it is taken where libmagic named it, though FFmpeg's own guess is another.
    public let isForced: Bool
    /// Whether every file begins with bytes that hardly anything else begins with.
    public let hasSignature: Bool
    /// Whether a table says where each sample lies and when it is shown (ISO/IEC 14496-12), so that a seek finds its way
    /// without reading on.
    public let hasSampleTable: Bool
    /// Whether its header says how many samples there are, be it none.
    public let countsSamples: Bool
    /// What a file says of its own length; nil for nothing.
    public let length: Length?
    /// How its packets are encrypted; nil where they never are.
    public let protection: Protection?
    /// What its files are, with pictures and without.
    public let types: Types
    /// The same where a file's brand begins so; the first that fits counts.
    public let typesByBrand: [Brand]
    /// The same where it has no brand, though others have.
    public let typesWithoutBrand: Types

    init(
        _ demuxer: String, otherDemuxers: [String] = [], sniffed: Set<String>, isForced: Bool = false,
        hasSignature: Bool = false, hasSampleTable: Bool = false, countsSamples: Bool = false, length: Length? = nil,
        protection: Protection? = nil, types: Types, typesByBrand: [Brand] = [], typesWithoutBrand: Types? = nil
    ) {
        self.demuxer = demuxer
        self.otherDemuxers = otherDemuxers
        self.sniffed = sniffed
        self.isForced = isForced
        self.hasSignature = hasSignature
        self.hasSampleTable = hasSampleTable
        self.countsSamples = countsSamples
        self.length = length
        self.protection = protection
        self.types = types
        self.typesByBrand = typesByBrand
        self.typesWithoutBrand = typesWithoutBrand ?? types
    }

    /// Each has a demuxer of its own.
    public static func == (one: ContainerFormat, other: ContainerFormat) -> Bool { one.demuxer == other.demuxer }

    public func hash(into hasher: inout Hasher) { hasher.combine(demuxer) }

    /// One for each demuxer.
    public static let all: [ContainerFormat] = FileFormat.all.reduce(into: []) { all, format in
        if let container = format.container, !all.contains(container) { all.append(container) }
    }

    /// The one that libmagic's media type names.
    public init?(sniffed type: String) {
        guard let format = Self.all.first(where: { $0.sniffed.contains(type) }) else { return nil }
        self = format
    }

    /// The one that a demuxer reads, by all of its names: `mov,mp4,m4a,3gp,3g2,mj2`.
    public init?(demuxer names: String) {
        let name = String(names.prefix { $0 != "," })
        // MPEG's other demuxers are another format's own, or read its pictures without the container.
        let format =
            Self.all.first { $0.demuxer == name } ?? Self.all.first { $0.otherDemuxers.contains(name) }
        guard let format else { return nil }
        self = format
    }

    /// The type of a file with this brand, if it has any.
    public func type(brand: String?, isAudio: Bool) -> MediaType {
        let types = brand.map { brand in typesByBrand.first { brand.hasPrefix($0.prefix) }?.types ?? self.types }
        return (types ?? typesWithoutBrand)[isAudio: isAudio]
    }

    public struct Types: Hashable, Sendable {
        let pictures: MediaType
        let audio: MediaType

        init(_ pictures: MediaType, audio: MediaType? = nil) {
            self.pictures = pictures
            self.audio = audio ?? pictures
        }

        subscript(isAudio isAudio: Bool) -> MediaType { isAudio ? audio : pictures }
    }

    public struct Brand: Hashable, Sendable {
        let prefix: String
        let types: Types

        init(_ prefix: String, _ types: Types) {
            self.prefix = prefix
            self.types = types
        }
    }

    /// Where a file says how long it is.
    public enum Length: Hashable, Sendable {
        /// The size of the one chunk of RIFF, and of IFF with its other order of bytes.
        case riff, iff
        /// The size of Matroska's segment.
        case segment
        /// What LAME's first frame says.
        case firstFrame
        /// The size of each of Ogg's pages.
        case pages
        /// Packets of one size.
        case packets
        /// The size that a header's object has (ASF).
        case fileObject
        /// Nothing: one packet follows the other, and a file that is cut off ends within one.
        case open
        /// Samples alone.
        case samples
    }

    /// How encryption shows.
    public enum Protection: Hashable, Sendable {
        /// Sample descriptions of their own (ISO/IEC 14496-12, 8.12, and Apple's stores).
        case sampleDescriptions
        /// A key of a track (Matroska).
        case trackKeys
        /// Objects of the header (ASF).
        case headerObjects
        /// Packets whose payload is scrambled, and types of streams (ISO/IEC 13818-1, 2.4.3.3).
        case scrambledPackets
    }
}
