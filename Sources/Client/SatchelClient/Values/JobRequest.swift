public import Foundation

/// One source of a job, and what is wanted of it.
public struct Source: Sendable, Hashable {
    enum Bytes: Sendable, Hashable {
        case url(URL, headers: [String: String])
        case data(Data)
        case file(URL)
        case upload(String)
    }

    let bytes: Bytes
    /// A file name for people.
    public var name: String?
    /// Unique in its job; a generated one where empty.
    public var identifier = ""
    /// A UTI, a media type or a file extension. What counts is the decoder's word.
    public var typeHint: String?
    /// Stands in for the job's profile.
    public var profile: String?
    public var crop: Crop?
    public var trim: Trim?
    public var thumbnailHidden = false
    public var thumbnailClippingRect: UnitRect?
    /// Seconds of a video.
    public var thumbnailTime: TimeInterval?
    /// A frame of an animation.
    public var thumbnailFrame: Int?
    /// With what it is encrypted; nil where it isn't. The service keeps the key only while the job runs.
    public var encryption: Encryption?

    /// Fetched by the service. `headers` go to that origin alone, and are kept only while the job runs.
    public static func url(_ url: URL, headers: [String: String] = [:]) -> Source {
        Source(bytes: .url(url, headers: headers), name: nil)
    }

    /// Uploaded from memory.
    public static func data(_ data: Data, name: String? = nil) -> Source {
        Source(bytes: .data(data), name: name)
    }

    /// Uploaded from the disk, piece by piece, however large it is.
    public static func file(_ file: URL) -> Source {
        Source(bytes: .file(file), name: file.lastPathComponent)
    }

    /// What was uploaded before; complete, and no other job's.
    ///
    /// - Parameter id: ``Upload/id``.
    public static func upload(_ id: String) -> Source {
        Source(bytes: .upload(id), name: nil)
    }

    private init(bytes: Bytes, name: String?) {
        self.bytes = bytes
        self.name = name
    }
}

/// A submission of 1 to 10 sources.
public struct JobRequest: Sendable, Hashable {
    public enum Mode: String, Sendable, Hashable, Codable {
        /// Delivers what it can.
        case lenient
        /// All or nothing.
        case strict
    }

    /// Which jobs are done first.
    public enum Priority: String, Sendable, Hashable, Codable {
        case interactive
        case bulk
    }

    public enum Delivery: String, Sendable, Hashable, Codable {
        /// For one reader: ends at once when it is taken back.
        case `private`
        /// For broadcasts: taking it back is as fast as the caches.
        case shared
    }

    /// By which scheme what is made is encrypted.
    public enum Scheme: String, Sendable, Hashable, Codable {
        case matrix
        case aesgcm
    }

    public var sources: [Source]
    /// `notification` where nil.
    public var profile: String?
    public var mode: Mode?
    /// Seconds from acceptance; the profile's where nil.
    public var deadline: TimeInterval?
    public var priority: Priority?
    /// Seconds that the URLs of the finished job's answer are good; 0 for no URLs.
    public var leaseTTL: TimeInterval?
    public var delivery: Delivery?
    /// Keeps and delivers what is made as ciphertext: ``Rendition/encryption``.
    public var encrypt: Scheme?
    /// Yours; handed back as it is.
    public var metadata: [String: String]
    /// Called when the job has come to an end.
    public var callback: URL?

    public init(
        _ sources: [Source], profile: String? = nil, mode: Mode? = nil, deadline: TimeInterval? = nil,
        priority: Priority? = nil, leaseTTL: TimeInterval? = nil, delivery: Delivery? = nil,
        encrypt: Scheme? = nil, metadata: [String: String] = [:], callback: URL? = nil
    ) {
        self.sources = sources
        self.profile = profile
        self.mode = mode
        self.deadline = deadline
        self.priority = priority
        self.leaseTTL = leaseTTL
        self.delivery = delivery
        self.encrypt = encrypt
        self.metadata = metadata
        self.callback = callback
    }
}

/// A submission as it travels.
struct JobBody: Encodable {
    struct Attachment: Encodable {
        var identifier: String?
        var url: String?
        var headers: [String: String]?
        var encryption: Encryption?
        var part: String?
        var upload: String?
        var name: String?
        var typeHint: String?
        var profile: String?
        var crop: Crop?
        var trim: Trim?
        var thumbnailHidden: Bool
        var thumbnailClippingRect: UnitRect?
        var thumbnailTime: TimeInterval?
        var thumbnailFrame: Int?
    }

    struct Callback: Encodable {
        var url: String
    }

    var profile: String?
    var mode: JobRequest.Mode?
    var deadline: TimeInterval?
    var priority: JobRequest.Priority?
    var leaseTTL: TimeInterval?
    var delivery: JobRequest.Delivery?
    var encrypt: JobRequest.Scheme?
    var metadata: [String: String]
    var callback: Callback?
    var attachments: [Attachment]

    init(_ request: JobRequest) {
        profile = request.profile
        mode = request.mode
        deadline = request.deadline
        priority = request.priority
        leaseTTL = request.leaseTTL
        delivery = request.delivery
        encrypt = request.encrypt
        metadata = request.metadata
        callback = request.callback.map { Callback(url: $0.absoluteString) }
        attachments = request.sources.enumerated().map { index, source in
            var attachment = Attachment(
                identifier: source.identifier.isEmpty ? nil : source.identifier, encryption: source.encryption,
                name: source.name,
                typeHint: source.typeHint, profile: source.profile, crop: source.crop, trim: source.trim,
                thumbnailHidden: source.thumbnailHidden, thumbnailClippingRect: source.thumbnailClippingRect,
                thumbnailTime: source.thumbnailTime, thumbnailFrame: source.thumbnailFrame)
            switch source.bytes {
            case .url(let url, let headers):
                attachment.url = url.absoluteString
                attachment.headers = headers.isEmpty ? nil : headers
            case .data, .file: attachment.part = Self.part(index)
            case .upload(let id): attachment.upload = id
            }
            return attachment
        }
    }

    /// The name of the part that holds a source.
    static func part(_ index: Int) -> String { "source-\(index)" }
}
