public import FoundationEssentials

/// Names an upload: a UUIDv7 in lower case.
public struct UploadID: Hashable, Sendable, RawRepresentable, Codable {
    public var rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// A new one, unlike every other.
    public static func generate() -> UploadID {
        UploadID(rawValue: UUID.version7().lowercase)
    }
}

/// Names one request that writes to an upload: a random id, compared at every write, so that one which was overtaken by
/// another writes nothing any more.
public struct UploadWriterID: Hashable, Sendable, RawRepresentable, Codable {
    public var rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static func generate() -> UploadWriterID {
        UploadWriterID(rawValue: UUID().lowercase)
    }
}

/// How far an upload is.
public enum UploadState: String, Hashable, Sendable, Codable, CaseIterable {
    /// It takes bytes.
    case open
    /// All bytes are there, and belong to no job yet.
    case complete
    /// A job has it.
    case consumed
    /// Its time was over, or room was needed, before a job had it.
    case expired
    /// Its bytes are not what was announced, or were lost.
    case failed
    /// Deleted.
    case cancelled

    /// Whether the upload itself has bytes.
    public var holdsBytes: Bool { self == .open || self == .complete }

    /// Whether its URL still tells something.
    public var isKnown: Bool { holdsBytes || self == .consumed }
}

/// What whoever sends an upload says of it as it begins; what was said before stands.
public struct UploadDescription: Hashable, Sendable {
    public var name: String?
    public var typeHint: String?
    public var sha256: String?
    public var metadata: String?

    public init(name: String? = nil, typeHint: String? = nil, sha256: String? = nil, metadata: String? = nil) {
        self.name = name
        self.typeHint = typeHint
        self.sha256 = sha256
        self.metadata = metadata
    }
}

/// What an upload was opened for.
public struct UploadTerms: Hashable, Sendable, Codable {
    /// A file name for people.
    public var name: String?
    public var typeHint: String?
    /// SHA-256 that its bytes have to have, lower-case hexadecimal.
    public var sha256: String?
    /// tus' `Upload-Metadata`, as it came: said again by `HEAD`.
    public var metadata: String?
    /// What is submitted once all bytes are there. The attachment that is the upload names it in ``AttachmentSubmission/upload``.
    public var job: JobSubmission?
    /// The secrets of ``job``, encrypted by a store that keeps them outside of it; nil where there are none.
    public var jobSecrets: Data?
    /// Told of its end.
    public var callback: String?
    public var traceparent: String?

    public init(
        name: String? = nil, typeHint: String? = nil, sha256: String? = nil, metadata: String? = nil,
        job: JobSubmission? = nil, callback: String? = nil, traceparent: String? = nil
    ) {
        self.name = name
        self.typeHint = typeHint
        self.sha256 = sha256
        self.metadata = metadata
        self.job = job
        self.callback = callback
        self.traceparent = traceparent
    }

    /// Neither the headers for its job's origins nor the keys of its sources are kept beyond the submission.
    mutating func forgetSecrets() {
        job = job?.withoutSecrets
        jobSecrets = nil
    }

    func completed(by description: UploadDescription) -> UploadTerms {
        var terms = self
        terms.name = name ?? description.name
        terms.typeHint = typeHint ?? description.typeHint
        terms.sha256 = sha256 ?? description.sha256
        terms.metadata = metadata ?? description.metadata
        return terms
    }
}

/// An upload as it stands in the store: bytes that come in as many requests as it takes, by a URL that is a ticket.
public struct UploadRecord: Hashable, Sendable {
    public var id: UploadID
    public var tenant: TenantID
    /// The id in its token, and the key that this is derived with.
    public var ticket: String
    public var kid: String
    public var terms: UploadTerms
    /// Where its bytes are, and stay for the job that has it.
    public var source: SourceName
    public var state = UploadState.open
    /// Bytes of the whole; nil while nobody knows.
    public var length: Int64?
    /// Bytes that a power cut would leave. It never shrinks.
    public var offset: Int64 = 0
    /// Where those bytes are, while they aren't one object; nil where ``source`` says it.
    public var parts: UploadParts?
    /// Who writes, or wrote last.
    public var writer: UploadWriterID?
    /// The one job or notification that has it: see ``UploadUse``.
    public var usedBy: String?
    /// Whether its URL was given up while a job had it.
    public var isClosed = false
    public var createdAt: Instant
    /// When it last got bytes, or was made.
    public var touchedAt: Instant
    public var expiresAt: Instant
    public var finishedAt: Instant?
    /// Of its bytes, once all are there.
    public var sha256: String?
    public var error: ErrorReport?

    /// - Parameter token: Made for it.
    public init(
        id: UploadID = .generate(), _ token: NewToken, tenant: TenantID, terms: UploadTerms, length: Int64?,
        source: SourceName, createdAt: Instant, expiresAt: Instant
    ) {
        self.id = id
        self.tenant = tenant
        ticket = token.id
        kid = token.kid
        self.terms = terms
        self.length = length
        self.source = source
        self.createdAt = createdAt
        touchedAt = createdAt
        self.expiresAt = expiresAt
    }

    /// Read back by a store.
    public init(
        id: UploadID, tenant: TenantID, ticket: String, kid: String, terms: UploadTerms, source: SourceName,
        createdAt: Instant, touchedAt: Instant, expiresAt: Instant
    ) {
        self.id = id
        self.tenant = tenant
        self.ticket = ticket
        self.kid = kid
        self.terms = terms
        self.source = source
        self.createdAt = createdAt
        self.touchedAt = touchedAt
        self.expiresAt = expiresAt
    }

    /// Whether its token opens it.
    public func isLive(at now: Instant) -> Bool {
        state.isKnown && !isClosed && expiresAt > now
    }

    /// The job that was submitted for it once it was whole.
    public var submittedJob: JobID? {
        guard let job = terms.job, usedBy == UploadUse.subject(of: job.id) else { return nil }
        return job.id
    }

    /// What it counts against quotas.
    public var usage: UploadUsage {
        guard state.holdsBytes else { return UploadUsage() }
        return UploadUsage(open: state == .open ? 1 : 0, bytes: offset)
    }
}

/// What uploads take up.
public struct UploadUsage: Hashable, Sendable {
    /// Kept free for each open one.
    public static let reserved: Int64 = 8 << 20

    /// Uploads that take bytes.
    public var open: Int
    /// Bytes that have arrived and belong to no job yet.
    public var bytes: Int64

    public init(open: Int = 0, bytes: Int64 = 0) {
        self.open = open
        self.bytes = bytes
    }

    /// What counts: the bytes that have arrived, and some for each open one.
    public var counted: Int64 { bytes + Int64(open) * Self.reserved }

    public static func - (left: UploadUsage, right: UploadUsage) -> UploadUsage {
        UploadUsage(open: left.open - right.open, bytes: left.bytes - right.bytes)
    }

    public static func += (left: inout UploadUsage, right: UploadUsage) {
        left.open += right.open
        left.bytes += right.bytes
    }
}

/// That an attachment is made of an upload.
public struct UploadUse: Hashable, Sendable, Codable {
    public var upload: UploadID
    /// Whose it is from then on: a job's or a notification's. Another gets `upload_consumed`.
    public var subject: String

    public init(_ upload: UploadID, by subject: String) {
        self.upload = upload
        self.subject = subject
    }

    public static func subject(of job: JobID) -> String { "job/\(job.rawValue)" }

    public static func subject(of notification: NotificationID) -> String { "notification/\(notification.rawValue)" }
}
