/// What became of a submission to the service.
public enum SubmissionAnswer: Hashable, Sendable {
    /// Recorded, pending; under an id that was in use, as a new generation.
    case accepted(JobRecord)
    /// The same, and already claimed by the worker that offered itself.
    case claimed(JobRecord, Claim)
    /// The same body, or the same idempotency key with the same body, was submitted before.
    case same(JobRecord)
    /// The idempotency key came with another body before.
    case conflict
}

/// A worker with a free place in the quick lane, while a job is being submitted.
public struct ClaimOffer: Hashable, Sendable {
    public var worker: WorkerID
    /// How long the claim lasts without a heartbeat.
    public var duration: Duration

    public init(worker: WorkerID, duration: Duration) {
        self.worker = worker
        self.duration = duration
    }
}

/// Pending jobs that came to their deadline.
public struct OverdueJobs: Hashable, Sendable {
    /// As they ended just now.
    public var ended: [JobRecord]
    /// Until the next deadline of a pending job; nil where none has one.
    public var next: Duration?

    public init(ended: [JobRecord] = [], next: Duration? = nil) {
        self.ended = ended
        self.next = next
    }
}

/// What became of the wish to try a job again.
public enum RetryAnswer: Hashable, Sendable {
    /// Pending, as a new generation.
    case accepted(JobRecord)
    /// It is not finished yet, or was delivered.
    case unneeded(JobRecord)
    /// Its sources are no longer kept: it has to be submitted again.
    case forgotten(JobRecord)
}

/// A call to a job's callback that is due.
public struct CallbackDelivery: Hashable, Sendable {
    /// The message's id, the same at each attempt.
    public var id: String
    public var tenant: TenantID
    public var job: JobID
    public var url: String
    /// The URL's scheme, host and port, which tell receivers apart.
    public var origin: String
    /// 1 for the first.
    public var attempt: Int
    /// When the job came to its end.
    public var createdAt: Instant
    /// Of the submission, for the call's own header.
    public var traceparent: String?

    public init(
        id: String, tenant: TenantID, job: JobID, url: String, origin: String, attempt: Int, createdAt: Instant,
        traceparent: String? = nil
    ) {
        self.id = id
        self.tenant = tenant
        self.job = job
        self.url = url
        self.origin = origin
        self.attempt = attempt
        self.createdAt = createdAt
        self.traceparent = traceparent
    }

    public var receiver: CallbackReceiver { CallbackReceiver(tenant: tenant, origin: origin) }
}

/// What became of a call to a callback.
public enum CallbackOutcome: Hashable, Sendable {
    /// The receiver answered 2xx.
    case delivered
    /// Another attempt is due after this.
    case again(after: Duration, reason: String)
    /// No more attempts.
    case failed(reason: String)
}

/// A call, and what became of it.
public struct CallbackResult: Hashable, Sendable {
    public var callback: CallbackDelivery
    public var outcome: CallbackOutcome

    public init(_ outcome: CallbackOutcome, of callback: CallbackDelivery) {
        self.callback = callback
        self.outcome = outcome
    }
}

/// Calls to make now.
public struct CallbackBatch: Hashable, Sendable {
    public var calls: [CallbackDelivery]
    /// Until it is worth asking again, where no call comes to its end before; nil where nothing is to be called.
    public var next: Duration?
    /// For ``CallbackPlaces/turn``.
    public var turn: CallbackReceiver?

    public init(calls: [CallbackDelivery] = [], next: Duration? = nil, turn: CallbackReceiver? = nil) {
        self.calls = calls
        self.next = next
        self.turn = turn
    }
}

/// How much there is, at one moment; cheap enough to be asked every few seconds.
public struct StoreStatistics: Hashable, Sendable {
    public struct Queue: Hashable, Sendable {
        public var pending: Int
        public var running: Int
        /// Since the oldest pending job that is due became so.
        public var oldestAges: [JobPriority: Duration]

        public init(pending: Int = 0, running: Int = 0, oldestAges: [JobPriority: Duration] = [:]) {
            self.pending = pending
            self.running = running
            self.oldestAges = oldestAges
        }
    }

    /// The service's jobs that are not finished.
    public var queues: [JobLane: Queue]
    public var liveLeases: Int
    /// Since the store was made: leases that ended by themselves, never stopped.
    public var leasesLeftToExpire: Int
    public var liveLinks: Int
    public var liveGrants: Int
    /// Bytes of all blobs, each counted once.
    public var blobBytes: Int64
    public var blobs: Int
    public var pendingCallbacks: Int

    public init(
        queues: [JobLane: Queue] = [:], liveLeases: Int = 0, leasesLeftToExpire: Int = 0, liveLinks: Int = 0,
        liveGrants: Int = 0,
        blobBytes: Int64 = 0, blobs: Int = 0, pendingCallbacks: Int = 0
    ) {
        self.queues = queues
        self.liveLeases = liveLeases
        self.leasesLeftToExpire = leasesLeftToExpire
        self.liveLinks = liveLinks
        self.liveGrants = liveGrants
        self.blobBytes = blobBytes
        self.blobs = blobs
        self.pendingCallbacks = pendingCallbacks
    }
}

/// What the service asks of the records beyond ``RecordStore``: submissions that can be repeated, access on the wire,
/// API keys and callbacks. Every call that touches a tenant's things takes the tenant, and finds nothing of another's.
public protocol ServiceRecords: RecordStore {
    // MARK: Submissions

    /// Records a job of the service as pending; durable on return.
    ///
    /// Under an id that is in use: the same ``JobSubmission/bodyDigest`` is the same job, whatever became of it; another
    /// one starts a new generation. The files of the spool that the submission names belong to the store where it
    /// answers `accepted` or `claimed`: it removes each when no attempt needs it any more. Where it answers anything else or throws,
    /// they are superfluous, and the caller removes them.
    ///
    /// - Parameter offer: A worker that would begin at once: where no other job comes first, it has the new one's claim by
    ///   the same transaction.
    /// - Throws: `quota_exceeded` over the tenant's bytes or pending jobs; `queue_full` where `queueLimit` jobs of all
    ///   tenants wait.
    func submit(
        _ job: JobSubmission, idempotency: IdempotencyKey?, within quotas: Quotas, queueLimit: Int, offer: ClaimOffer?
    ) async throws(AttachmentError) -> SubmissionAnswer

    /// Whether a submission of this tenant would be taken now; asked before a body is read.
    ///
    /// - Throws: As ``submit(_:idempotency:within:queueLimit:offer:)``.
    func admit(_ tenant: TenantID, within quotas: Quotas, queueLimit: Int) async throws(AttachmentError)

    /// The answer to an idempotency key that was used before; nil for a new one. The digest is not compared.
    func job(submittedWith idempotencyKey: String, of tenant: TenantID) async throws(AttachmentError) -> JobRecord?

    /// Tries a failed or cancelled job again; nil where there is none. What it needs is kept for a day, but for uploads
    /// that would fail again; credentials for an origin are not.
    func retry(_ id: JobID, of tenant: TenantID) async throws(AttachmentError) -> RetryAnswer?

    /// Ends up to `limit` pending jobs of the service whose deadline is over: their attachments fail with
    /// `deadline_exceeded`. One that was interrupted isn't among them: it gets its time anew with its next claim.
    func endOverdue(_ limit: Int) async throws(AttachmentError) -> OverdueJobs

    /// Hands a job over to a lane: pending again, the attempt taken back, its deadline as it was, at the end of what its
    /// tenant has there.
    func move(_ claim: Claim, to lane: JobLane) async throws

    // MARK: Access

    /// The access that a job started when it delivered and that still lives, with tokens made again.
    func access(openedBy job: JobID, of tenant: TenantID) async throws(AttachmentError) -> [OpenedAccess]

    /// What a lease or link token opens right now; nil for a malformed, unknown, expired, stopped or revoked one, at the
    /// same cost.
    func open(_ token: AccessToken, role: RenditionRole) async throws(AttachmentError) -> ContentAccess?

    /// Changes with everything that takes access back, in whatever process, before the call that did it returns. What
    /// was opened at the same count is still open, up to its expiry.
    var revocations: UInt64 { get }

    /// What a grant token stands for right now; nil where it opens nothing.
    func grant(_ token: AccessToken) async throws(AttachmentError) -> GrantRecord?

    /// A live or ended grant of the tenant.
    func grant(_ id: String, of tenant: TenantID) async throws(AttachmentError) -> GrantRecord?

    /// A lease that was started under the grant or one derived from it.
    func lease(_ id: String, under grant: AccessToken) async throws(AttachmentError) -> LeaseRecord?

    /// As ``RecordStore/renewLease(_:of:for:)``, for the bearer of a grant.
    func renewLease(
        _ id: String, under grant: AccessToken, for duration: Duration
    ) async throws(AttachmentError) -> LeaseRecord?

    /// Stops a lease, or revokes a grant, that was derived from this grant or is it. Idempotent: false where it holds
    /// nothing of that id.
    func revoke(_ id: String, under grant: AccessToken) async throws(AttachmentError) -> Bool

    /// As ``RecordStore/startLease(on:of:renditions:for:)``.
    ///
    /// - Throws: `quota_exceeded` where the tenant has as many live leases as it may.
    func startLease(
        on attachment: AttachmentID, of tenant: TenantID, renditions: [RenditionRole]?, for duration: Duration,
        within quotas: Quotas
    ) async throws(AttachmentError) -> (LeaseRecord, AccessToken)?

    /// As ``RecordStore/startLease(under:renditions:for:)``.
    ///
    /// - Throws: `quota_exceeded` at the grant's limit of live leases, or at its tenant's.
    func startLease(
        under grant: AccessToken, renditions: [RenditionRole]?, for duration: Duration, within quotas: Quotas
    ) async throws(AttachmentError) -> (LeaseRecord, AccessToken)?

    /// A link, for one reader or for a broadcast.
    func link(
        to attachment: AttachmentID, of tenant: TenantID, renditions: [RenditionRole]?, for duration: Duration,
        delivery: DeliveryMode
    ) async throws(AttachmentError) -> (LinkRecord, AccessToken)?

    // MARK: API keys

    /// A new key. The token is shown this once: only its hash is stored.
    func createKey(
        named name: String, for tenant: TenantID, roles: [AccessRole], lasting duration: Duration?
    ) async throws(AttachmentError) -> (APIKeyRecord, AccessToken)

    /// All keys, or a tenant's, newest first.
    func keys(of tenant: TenantID?) async throws(AttachmentError) -> [APIKeyRecord]

    /// Whether there is any key that is good now.
    func hasKeys() async throws(AttachmentError) -> Bool

    /// Takes a key back; false where there is none of that id. Idempotent.
    func revokeKey(_ id: String) async throws(AttachmentError) -> Bool

    /// A new key with the name, tenant, roles and remaining time of an old one, which stays good for `overlap`; nil
    /// where there is none, or it is good no more.
    func rotateKey(
        _ id: String, overlap: Duration
    ) async throws(AttachmentError) -> (APIKeyRecord, AccessToken)?

    /// Whom a key stands for right now; nil for a malformed, unknown, expired or revoked one, at the same cost.
    func authenticate(_ key: AccessToken) async throws(AttachmentError) -> APIKeyRecord?

    // MARK: Callbacks

    /// Records what became of calls, and takes callbacks that are due as far as there are places for them, in one
    /// transaction: what was due first comes first, or, where not all of it can be called at once, whoever has the fewest
    /// calls underway. Nobody else gets what is taken for `duration`.
    func callbacks(
        after results: [CallbackResult], within places: CallbackPlaces, for duration: Duration
    ) async throws(AttachmentError) -> CallbackBatch

    /// Has `tell` called after each commit of this process that made a callback due; it must not block. The last one who
    /// asks is told.
    func whenCallbacksCome(_ tell: @escaping @Sendable () -> Void)

    /// Has a finished job's callback called again, with the same message id; false where there is none.
    func replayCallback(of job: JobID, tenant: TenantID) async throws(AttachmentError) -> Bool

    // MARK: Looking

    /// What a tenant uses right now; nothing where it is unknown.
    func usage(of tenant: TenantID) async throws(AttachmentError) -> TenantUsage

    func statistics() async throws(AttachmentError) -> StoreStatistics
}
