public import SatchelCore

/// What became of a medium.
public typealias MediumOutcome = Result<DeliveredMedium, MediumFailure>

/// A medium that is ready for whoever gets the payload.
public struct DeliveredMedium: Hashable, Sendable {
    /// Of the rendition to show; takes the place of the medium's own.
    public var url: String
    public var type: MediaType
    /// Of the rendition to show.
    public var bytes: Int64
    public var width: Int?
    public var height: Int?
    /// With what the rendition is encrypted, for whoever opens it; nil where it isn't.
    public var encryption: JSONValue?
    /// A small picture to show until the rendition is there.
    public var previewURL: String?
    /// With what that one is encrypted.
    public var previewEncryption: JSONValue?
    /// Base64 of the ThumbHash.
    public var thumbhash: String?
    /// In terms of the rendition.
    public var options: DisplayOptions
    /// What may stand for the rendition where only pictures are shown, the best first.
    public var standIns: [File]

    /// A rendition that may be shown.
    public struct File: Hashable, Sendable {
        public var url: String
        public var type: MediaType
        public var bytes: Int64

        public init(url: String, type: MediaType, bytes: Int64) {
            self.url = url
            self.type = type
            self.bytes = bytes
        }

        var isPicture: Bool { type.format.picture != nil }
    }

    var file: File { File(url: url, type: type, bytes: bytes) }

    public init(
        url: String, type: MediaType, bytes: Int64, width: Int? = nil, height: Int? = nil,
        encryption: JSONValue? = nil, previewURL: String? = nil, previewEncryption: JSONValue? = nil,
        thumbhash: String? = nil, options: DisplayOptions = DisplayOptions(), standIns: [File] = []
    ) {
        self.url = url
        self.type = type
        self.bytes = bytes
        self.width = width
        self.height = height
        self.encryption = encryption
        self.previewURL = previewURL
        self.previewEncryption = previewEncryption
        self.thumbhash = thumbhash
        self.options = options
        self.standIns = standIns
    }
}

/// Something that was left out because the payload would have been too long.
public struct DroppedPart: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable {
        case previewURL = "preview_url"
        case thumbhash
        /// Where responses go.
        case respond
        /// The medium's entry under `satchel`; its place has the new URL.
        case attachment
        /// The key `satchel` itself.
        case satchel
        /// The medium: it is treated as one that failed.
        case medium
    }

    public var kind: Kind
    /// The identifier of the medium; nil for what belongs to all.
    public var medium: String?

    public init(_ kind: Kind, of medium: String? = nil) {
        self.kind = kind
        self.medium = medium
    }

    /// As a record shows it: `preview_url of photo`.
    public var text: String { medium.map { "\(kind.rawValue) of \($0)" } ?? kind.rawValue }
}

/// A place that can't show the medium which it names, though that is ready.
public struct UnfitPlace: Hashable, Sendable {
    /// The identifier of the medium.
    public var medium: String
    public var pointer: JSONPointer
    public var failure: MediumFailure
}

/// A payload as it leaves.
public struct EnrichedPayload: Hashable, Sendable {
    public var bytes: [UInt8]
    /// What was left out for size, in the order in which it was.
    public var dropped: [DroppedPart] = []
    /// Places that are treated as those of media which failed.
    public var unfit: [UnfitPlace] = []
    /// Whether it says where responses go.
    public var takesResponses = false
}
