/// An attachment as it stands in the store.
public struct AttachmentRecord: Hashable, Sendable, Codable {
    public var id: AttachmentID
    public var tenant: TenantID
    public var job: JobID
    public var identifier: String
    public var state: WorkState
    @Nullable public var fidelity: Fidelity?
    @Nullable public var kind: MediaKind?
    /// The rendition to show.
    @Nullable public var best: RenditionRole?
    public var source: SourceFacts
    public var renditions: [RenditionRole: Rendition]
    public var options: DisplayOptions
    @Nullable public var trim: TrimReport?
    /// Height ÷ width of the best rendition.
    @Nullable public var contentSizeRatio: Double?
    @Nullable public var placeholder: Placeholder?
    public var steps: [Step]
    public var createdAt: Instant
    @Nullable public var finishedAt: Instant?
    @Nullable public var expiresAt: Instant?
    @Nullable public var error: ErrorReport?

    public init(
        id: AttachmentID, tenant: TenantID, job: JobID, identifier: String, state: WorkState, source: SourceFacts,
        options: DisplayOptions, createdAt: Instant
    ) {
        self.id = id
        self.tenant = tenant
        self.job = job
        self.identifier = identifier
        self.state = state
        self.source = source
        renditions = [:]
        self.options = options
        steps = []
        self.createdAt = createdAt
    }

    /// What it came to, as one phrase for people; nil until it is finished.
    public var result: String? { Diagnosis.result(fidelity, error: error?.code, diagnosis: source.diagnosis) }
}

/// A job as it stands in the store, with its attachments in the order in which they were submitted.
public struct JobRecord: Hashable, Sendable, Codable {
    public var id: JobID
    public var tenant: TenantID
    public var state: WorkState
    /// The profile's name.
    public var profile: String
    public var mode: JobMode
    public var priority: JobPriority
    public var metadata: [String: String]
    /// Counts up when another body is submitted under the same id.
    public var generation: Int
    /// Attempts that were started.
    public var attempt: Int
    public var createdAt: Instant
    @Nullable public var deadlineAt: Instant?
    @Nullable public var finishedAt: Instant?
    public var attachments: [AttachmentRecord]
    /// Nil where nobody is to be called.
    @Nullable public var callback: WebhookReport?

    public init(
        id: JobID, tenant: TenantID, state: WorkState, profile: String, mode: JobMode, priority: JobPriority,
        metadata: [String: String], generation: Int, attempt: Int, createdAt: Instant, deadlineAt: Instant?,
        finishedAt: Instant?, attachments: [AttachmentRecord]
    ) {
        self.id = id
        self.tenant = tenant
        self.state = state
        self.profile = profile
        self.mode = mode
        self.priority = priority
        self.metadata = metadata
        self.generation = generation
        self.attempt = attempt
        self.createdAt = createdAt
        self.deadlineAt = deadlineAt
        self.finishedAt = finishedAt
        self.attachments = attachments
    }
}

/// How far a call is, such as the one that tells a job's sender of its end.
public struct WebhookReport: Hashable, Sendable, Codable {
    public enum State: String, Hashable, Sendable, Codable, CaseIterable {
        /// For the job's end, for the next attempt, or for the answer to one.
        case waiting
        /// The receiver took it.
        case delivered
        /// No more attempts.
        case failed
        /// It was called off: what it told of doesn't hold any more. No job's is.
        case cancelled
    }

    public var state: State
    /// Attempts that were begun.
    public var attempts: Int
    /// When the next attempt is due; nil where none is.
    @Nullable public var nextAt: Instant?
    /// Why the last attempt was not the end, or the end was a failure: a clause, or `blocked_address`.
    @Nullable public var reason: String?

    public init(state: State, attempts: Int = 0, nextAt: Instant? = nil, reason: String? = nil) {
        self.state = state
        self.attempts = attempts
        self.nextAt = nextAt
        self.reason = reason
    }
}
