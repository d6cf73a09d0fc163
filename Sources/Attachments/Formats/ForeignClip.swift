/// Pictures and sound that are known and not taken: what they are, and what to do.
public struct ForeignClip: Hashable, Sendable {
    /// With an article where people say one: `RealMedia`, `a MIDI file`.
    public let name: String
    /// What its files have at `place`.
    let sign: [UInt8]
    let place: Int
    let advice: String

    private init(
        _ name: String, at place: Int = 0, sign: [UInt8], hasPictures: Bool = true, advice: String? = nil
    ) {
        self.name = name
        self.sign = sign
        self.place = place
        self.advice = advice ?? (hasPictures ? "Convert it to MP4." : "Convert it to M4A, MP3 or FLAC.")
    }

    /// Bytes that the longest sign takes.
    public static let headBytes = 16

    /// The one as which `head` begins.
    public init?(head: [UInt8]) {
        guard let kind = Self.all.first(where: { head.dropFirst($0.place).starts(with: $0.sign) }) else { return nil }
        self = kind
    }

    public var refusal: AttachmentError {
        .unsupportedFeature(reason: "this is \(name), which is not taken", advice: advice)
    }

    private static let segmentAdvice = "Send the whole stream as one file, beginning with its first part."

    private static let all = [
        // The key of a header partition (SMPTE 377).
        ForeignClip("MXF", sign: [0x06, 0x0e, 0x2b, 0x34, 0x02, 0x05, 0x01, 0x01, 0x0d, 0x01, 0x02]),
        // What a player loads piece by piece (ISO/IEC 14496-12, clause 8.16): how it is coded stands elsewhere.
        ForeignClip("a segment of a stream", at: 4, sign: Array("styp".utf8), advice: segmentAdvice),
        ForeignClip("a segment of a stream", at: 4, sign: Array("moof".utf8), advice: segmentAdvice),
        ForeignClip("RealMedia", sign: Array(".RMF".utf8)),
        ForeignClip("RealAudio", sign: Array(".ra".utf8) + [0xfd], hasPictures: false),
        // The first block's header, of 60 and of 50 fields a second (IEC 61834).
        ForeignClip("raw DV", sign: [0x1f, 0x07, 0x00, 0x3f]), ForeignClip("raw DV", sign: [0x1f, 0x07, 0x00, 0xbf]),
        ForeignClip(
            "a WTV recording",
            sign: [
                0xb7, 0xd8, 0x00, 0x20, 0x37, 0x49, 0xda, 0x11, 0xa6, 0x4e, 0x00, 0x07, 0xe9, 0x5e, 0xad, 0x8d,
            ]),
        ForeignClip("a MIDI file", sign: Array("MThd".utf8), hasPictures: false),
        ForeignClip("Monkey's Audio", sign: Array("MAC ".utf8), hasPictures: false),
        ForeignClip("WavPack", sign: Array("wvpk".utf8), hasPictures: false),
        ForeignClip("Musepack", sign: Array("MPCK".utf8), hasPictures: false),
        ForeignClip("Musepack", sign: Array("MP+".utf8), hasPictures: false),
        ForeignClip("DSD", sign: Array("DSD ".utf8), hasPictures: false),
        ForeignClip("AU sound", sign: Array(".snd".utf8), hasPictures: false),
    ]
}
