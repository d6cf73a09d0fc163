public import FoundationEssentials

/// Where a source's bytes are.
public enum SourceLocation: Hashable, Sendable, Codable {
    /// A file that is opened in place, read-only: `path` relative to the directory `root`, an absolute path. Both are
    /// bytes (base64 in JSON) that need not be UTF-8. Links are followed in `root`, which a person named, never in
    /// `path`. The state it had when it was submitted must be the one it has when it is opened.
    case file(root: Data, path: Data, state: FileState)
    /// Fetched by the worker. `headers` go to that origin alone.
    case url(String, headers: [String: String])
    /// Bytes that were handed in and are durable.
    case spool(name: SourceName)
    /// An object of somebody's bucket, which is read where it lies: `key` is all of its key. The state in which it was listed
    /// must be the one it has when it is read.
    case object(bucket: String, key: String, state: ObjectState)
}

/// What tells one state of an object from another.
public struct ObjectState: Hashable, Sendable, Codable {
    /// As the bucket writes it, in quotes.
    public var etag: String
    public var bytes: Int64

    public init(etag: String, bytes: Int64) {
        self.etag = etag
        self.bytes = bytes
    }
}

/// What tells one state of a file from another.
public struct FileState: Hashable, Sendable, Codable {
    public var inode: UInt64
    public var device: UInt64
    public var bytes: Int64
    /// Nanoseconds since 1970.
    public var modified: Int64

    public init(inode: UInt64, device: UInt64, bytes: Int64, modified: Int64) {
        self.inode = inode
        self.device = device
        self.bytes = bytes
        self.modified = modified
    }
}

/// One source and what is wanted of it.
public struct AttachmentSubmission: Hashable, Sendable, Codable {
    /// The client's name for it, unique in its job; a generated uppercase UUID when empty.
    public var identifier: String
    public var location: SourceLocation
    /// SHA-256 of the source's bytes, lower-case hexadecimal, where they were hashed as they came: the same bytes need
    /// not be worked on twice.
    public var sha256: String?
    /// A file name for people.
    public var name: String?
    /// Where a person finds the file: see ``SourceFacts/path``.
    public var path: String?
    /// The type hint, else the origin's Content-Type, else the extension's.
    public var declaredType: String?
    public var request: RenditionRequest
    public var options: DisplayOptions
    /// Stands in for the job's profile.
    public var profile: Profile?
    /// The upload that its bytes came by; nil for none.
    public var upload: UploadUse?
    /// With what its bytes are encrypted; nil where they aren't.
    public var encryption: MediaEncryption?

    public init(
        identifier: String = "", location: SourceLocation, sha256: String? = nil, name: String? = nil,
        path: String? = nil, declaredType: String? = nil, request: RenditionRequest = RenditionRequest(),
        options: DisplayOptions = DisplayOptions(),
        profile: Profile? = nil, upload: UploadUse? = nil, encryption: MediaEncryption? = nil
    ) {
        self.identifier = identifier.isEmpty ? UUID().uuidString : identifier
        self.location = location
        self.sha256 = sha256
        self.name = name
        self.path = path
        self.declaredType = declaredType
        self.request = request
        self.options = options
        self.profile = profile
        self.upload = upload
        self.encryption = encryption
    }
}

/// A client's key for one submission, so that it can be repeated without being done twice.
public struct IdempotencyKey: Hashable, Sendable {
    /// How long a key is remembered: a day.
    public static let lifetime: Duration = .seconds(86_400)

    public var text: String
    /// Of the body it came with: another one is a conflict.
    public var bodyDigest: String

    public init(text: String, bodyDigest: String) {
        self.text = text
        self.bodyDigest = bodyDigest
    }
}

/// A job as it was asked for.
public struct JobSubmission: Hashable, Sendable, Codable {
    /// A job has at least 1 attachment and at most this many.
    public static let maximumAttachments = 10

    public var tenant: TenantID
    public var id: JobID
    public var profile: Profile
    public var mode: JobMode
    public var priority: JobPriority
    /// Seconds from acceptance; nil for none.
    public var deadline: Double?
    public var metadata: [String: String]
    /// The run that alone claims it; nil for the service's jobs.
    public var run: RunID?
    /// What tells that the same work was already done: over path, size, modification time and profile for a batch.
    /// Unique within a tenant.
    public var workKey: String?
    /// What tells that another submission of the same id has the same body; nil: this value's own contents do.
    public var bodyDigest: String?
    /// Seconds of the leases (or, where `delivery` is shared, links) that are started when the job delivers; nil for
    /// none.
    public var leaseTTL: Double?
    public var delivery: DeliveryMode
    /// By which scheme what is made is encrypted; nil where it isn't.
    public var encrypt: EncryptionScheme?
    /// Told when the job has come to an end.
    public var callback: String?
    /// Where the submission stands in a trace, for what is done on its behalf: W3C Trace Context.
    public var traceparent: String?
    public var attachments: [AttachmentSubmission]

    public init(
        tenant: TenantID, id: JobID = .generate(), profile: Profile, mode: JobMode = .lenient,
        priority: JobPriority = .interactive, deadline: Double? = nil, metadata: [String: String] = [:],
        run: RunID? = nil, workKey: String? = nil, bodyDigest: String? = nil, leaseTTL: Double? = nil,
        delivery: DeliveryMode = .private, encrypt: EncryptionScheme? = nil, callback: String? = nil,
        traceparent: String? = nil, attachments: [AttachmentSubmission]
    ) {
        self.tenant = tenant
        self.id = id
        self.profile = profile
        self.mode = mode
        self.priority = priority
        self.deadline = deadline
        self.metadata = metadata
        self.run = run
        self.workKey = workKey
        self.bodyDigest = bodyDigest
        self.leaseTTL = leaseTTL
        self.delivery = delivery
        self.encrypt = encrypt
        self.callback = callback
        self.traceparent = traceparent
        self.attachments = attachments
    }
    /// Whether a source of it has to be fetched.
    public var needsFetching: Bool {
        attachments.contains { attachment in
            if case .url = attachment.location { true } else { false }
        }
    }
}
