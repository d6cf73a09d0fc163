/// The purpose of one derived file.
public enum RenditionRole: String, Hashable, Sendable, Codable, CaseIterable, CodingKeyRepresentable {
    case main
    case thumbnail
    /// A still of a video.
    case poster
    /// A picture of a sound.
    case waveform
    /// The source as it came, where the profile keeps it.
    case original
}

/// One derived file of an attachment, as the record shows it.
public struct Rendition: Hashable, Sendable, Codable {
    public var uti: String
    public var mediaType: MediaType
    @Nullable public var width: Int?
    @Nullable public var height: Int?
    /// Seconds.
    @Nullable public var duration: Double?
    public var bytes: Int64
    /// Lower-case hexadecimal.
    public var sha256: String
    /// With what it is encrypted; then bytes and hash are those of the ciphertext, and all else is what it holds. Nil where it
    /// isn't.
    public var encryption: SealedEncryption?

    public init(
        mediaType: MediaType, width: Int?, height: Int?, duration: Double?, bytes: Int64, sha256: String,
        encryption: SealedEncryption? = nil
    ) {
        uti = mediaType.uti
        self.mediaType = mediaType
        self.width = width
        self.height = height
        self.duration = duration
        self.bytes = bytes
        self.sha256 = sha256
        self.encryption = encryption
    }
}

/// How much of the promise was kept.
public enum Fidelity: String, Hashable, Sendable, Codable, CaseIterable {
    case full
    /// Cheaper settings, or something is missing that the profile would have kept.
    case reduced
    /// A thumbnail or a poster only.
    case partial
    /// The source as it came.
    case original
}

/// What to show until the bytes are there.
public struct Placeholder: Hashable, Sendable, Codable {
    /// Base64 of the ThumbHash.
    @Nullable public var thumbhash: String?
    @Nullable public var blurhash: String?
    /// The dominant colour as `#rrggbb`.
    @Nullable public var color: String?
    /// Audio: loudness peaks, 0…255, evenly spaced over the delivered duration.
    @Nullable public var peaks: [UInt8]?

    public init(
        thumbhash: String? = nil, blurhash: String? = nil, color: String? = nil, peaks: [UInt8]? = nil
    ) {
        self.thumbhash = thumbhash
        self.blurhash = blurhash
        self.color = color
        self.peaks = peaks
    }
}

/// One stage of the way of a source, in the record.
public struct Step: Hashable, Sendable, Codable {
    public var name: String
    public var seconds: Double
    @Nullable public var note: String?

    public init(name: String, seconds: Double, note: String? = nil) {
        self.name = name
        self.seconds = (seconds * 1000).rounded() / 1000
        self.note = note
    }
}

/// The three opinions on a type and the facts of the source.
public struct SourceFacts: Hashable, Sendable, Codable {
    @Nullable public var name: String?
    /// The host of a URL, without its port.
    @Nullable public var host: String?
    /// Of what the command line took: as it was given, or in a batch relative to its directory. Absent elsewhere.
    public var path: String?
    @Nullable public var bytes: Int64?
    /// Upright.
    @Nullable public var width: Int?
    @Nullable public var height: Int?
    /// Seconds.
    @Nullable public var duration: Double?
    /// The type hint, else the origin's Content-Type, else the extension's.
    @Nullable public var declaredType: String?
    /// libmagic's.
    @Nullable public var sniffedType: String?
    /// The decoder's: the one that counts.
    @Nullable public var decodedType: MediaType?
    /// Absent of what no codec process has looked at, and of records of an older version.
    public var diagnosis: Diagnosis?

    public init(
        name: String? = nil, bytes: Int64? = nil, width: Int? = nil, height: Int? = nil, duration: Double? = nil,
        declaredType: String? = nil, sniffedType: String? = nil, decodedType: MediaType? = nil
    ) {
        self.name = name
        self.bytes = bytes
        self.width = width
        self.height = height
        self.duration = duration
        self.declaredType = declaredType
        self.sniffedType = sniffedType
        self.decodedType = decodedType
    }

    /// What is known before the source is opened.
    public init(_ submission: AttachmentSubmission) {
        let label: URLLabel? = if case .url(let url, _) = submission.location { URLLabel(url) } else { nil }
        self.init(name: submission.name ?? label?.fileName, declaredType: submission.declaredType)
        host = label?.host
        path = submission.path
    }
}
