public import Foundation

/// One source of a job and how to prepare it.
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
    /// Your identifier, unique in the job; generated if empty.
    public var identifier = ""
    /// A UTI, media type or file extension. The decoder decides the type.
    public var typeHint: String?
    /// Replaces the job's profile for this source.
    public var profile: String?
    public var crop: Crop?
    public var trim: Trim?
    public var thumbnailHidden = false
    public var thumbnailClippingRect: UnitRect?
    /// The time in a video, in seconds.
    public var thumbnailTime: TimeInterval?
    /// The number of an animation's frame.
    public var thumbnailFrame: Int?
    /// The encryption; `nil` if the source is not encrypted. The service keeps the key only while the job runs.
    public var encryption: Encryption?

    /// A URL that the service fetches. `headers` are sent to this origin only, and kept only while the job runs.
    public static func url(_ url: URL, headers: [String: String] = [:]) -> Source {
        Source(bytes: .url(url, headers: headers), name: nil)
    }

    /// A source uploaded from memory.
    public static func data(_ data: Data, name: String? = nil) -> Source {
        Source(bytes: .data(data), name: name)
    }

    /// A file uploaded in pieces, so it may be large.
    public static func file(_ file: URL) -> Source {
        Source(bytes: .file(file), name: file.lastPathComponent)
    }

    /// A complete upload that no other job uses.
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
        /// Delivers the attachments that succeed.
        case lenient
        /// Delivers all attachments or none.
        case strict
    }

    /// The priority of jobs.
    public enum Priority: String, Sendable, Hashable, Codable {
        case interactive
        case bulk
    }

    public enum Delivery: String, Sendable, Hashable, Codable {
        /// For one reader. Access ends immediately when it is revoked.
        case `private`
        /// For many readers. After revocation, caches may serve the file until their copies expire.
        case shared
    }

    /// The scheme for encrypting renditions.
    public enum Scheme: String, Sendable, Hashable, Codable {
        case matrix
        case aesgcm
    }

    public var sources: [Source]
    /// The profile; `nil` for `notification`.
    public var profile: String?
    public var mode: Mode?
    /// The deadline in seconds from acceptance; `nil` for that of the profile.
    public var deadline: TimeInterval?
    public var priority: Priority?
    /// The lifetime of the URLs in the response for a finished job, in seconds; 0 for no URLs.
    public var leaseTTL: TimeInterval?
    public var delivery: Delivery?
    /// Encrypts the renditions: see ``Rendition/encryption``.
    public var encrypt: Scheme?
    /// Your own data, returned unchanged.
    public var metadata: [String: String]
    /// The URL to call when the job has finished.
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

/// A submission as JSON.
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
