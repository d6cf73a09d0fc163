/// What became of a submission.
public enum SubmissionAnswer: Hashable, Sendable {
    /// Recorded, pending; under an id or a work key that was in use, as a new generation.
    case accepted(JobRecord)
    /// The same, and already claimed by the worker that offered itself.
    case claimed(JobRecord, Claim)
    /// A pending or interrupted job of the same work key was taken over by the submission's run.
    case adopted(JobRecord)
    /// The same was submitted before, or is in the hands of a worker or a run that lives: nothing is to do.
    case unchanged(JobRecord)
    /// The idempotency key came with another body before.
    case conflict

    /// The job that there is work to do for.
    public var newJob: JobRecord? {
        switch self {
        case .accepted(let job), .claimed(let job, _), .adopted(let job): job
        case .unchanged, .conflict: nil
        }
    }
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

/// The failed work of earlier runs that a run tries again.
public enum FailureRetry: Hashable, Sendable {
    case none
    /// Work that failed for another reason than its bytes.
    case passing
    case all

    public func includes(_ job: JobRecord) -> Bool {
        switch self {
        case .none: false
        case .passing: job.state == .failed && job.attachments.contains { $0.error.map { !$0.code.isVerdict } ?? false }
        case .all: job.state == .failed
        }
    }
}

/// How submissions are to be taken.
public struct SubmissionOptions: Hashable, Sendable {
    /// Work of a run that failed before is tried again.
    public var retriesFailed: Bool
    /// Known by this key, the same submission may come again.
    public var idempotency: IdempotencyKey?
    public var quotas: Quotas
    /// Jobs of all tenants that may wait; nil for any number. A run has a queue of its own.
    public var queueLimit: Int?
    /// A worker that would begin at once: where no other job comes first, it has the new one's claim by the same
    /// transaction.
    public var offer: ClaimOffer?

    public init(
        retriesFailed: Bool = false, idempotency: IdempotencyKey? = nil, quotas: Quotas = Quotas(),
        queueLimit: Int? = nil, offer: ClaimOffer? = nil
    ) {
        self.retriesFailed = retriesFailed
        self.idempotency = idempotency
        self.quotas = quotas
        self.queueLimit = queueLimit
        self.offer = offer
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

/// How soon what another process did with the queue is seen.
public struct QueuePace: Hashable, Sendable {
    /// Between two looks at the queue, where nothing happens here.
    public var work: Duration
    /// Between two looks at the jobs that somebody here waits for or follows, all of them at once; nil where whoever waits
    /// looks for himself now and then.
    public var ends: Duration?

    public init(work: Duration = .seconds(1), ends: Duration? = nil) {
        self.work = work
        self.ends = ends
    }
}

/// What may have happened in another process: it is to be looked for.
public enum QueueEvent: Hashable, Sendable {
    /// There is work to do.
    case work
    /// A job came to its end.
    case ended
    /// A notification is due sooner than whoever fires it would look.
    case due
}

/// Why a write under a claim did not count.
public enum ClaimError: Error, Hashable, Sendable {
    /// The claim ran out, or another worker has the job, or it was cancelled or replaced. Nothing was written.
    case lost
}

/// The queue: jobs come in, are claimed, and come to their end.
///
/// The order of a job's life: **submit** (the sources are durable before), **claim**, **deliver** (the blobs are durable
/// before; one transaction for attachments, renditions, references and the job's state). What to decide on the way is
/// decided in `Jobs`, the same for every store.
public protocol JobQueue: Sendable {
    var pace: QueuePace { get }

    /// Has `handler` called where something may have happened in another process, sooner than ``pace`` says; the latest one
    /// alone. A wake-up, not truth: some are missed. It must not block.
    func listen(_ handler: @escaping @Sendable (QueueEvent) -> Void)

    /// The store's time, which all workers share. It never goes back.
    func now() async throws(AttachmentError) -> Instant

    /// Records jobs as pending, all or none; durable on return.
    ///
    /// A job is known by its id (or the options' idempotency key): with the same ``JobSubmission/bodyDigest`` it is the
    /// same job, whatever became of it; another body starts a new generation. A command's jobs are known by their work key
    /// too: what was done before stays, what nobody has in hand any more is taken over.
    ///
    /// The sources that a submission names belong to the records where they answer `accepted`, `claimed` or `adopted`:
    /// each is removed when no attempt needs it any more. Where they answer anything else or throw, the sources are
    /// superfluous, and the caller removes them.
    ///
    /// - Throws: `quota_exceeded` over the tenant's bytes or pending jobs; `queue_full` beyond the tenant's
    ///   ``TenantShare`` of `queueLimit` waiting jobs.
    func submit(
        _ jobs: [JobSubmission], _ options: SubmissionOptions
    ) async throws(AttachmentError) -> [SubmissionAnswer]

    /// Whether a submission of this tenant to the service would be taken now; asked before a body is read.
    ///
    /// - Throws: As ``submit(_:_:)``.
    func admit(_ tenant: TenantID, _ options: SubmissionOptions) async throws(AttachmentError)

    /// Lets others know that a run lives, until this process ends: what it has submitted is left to it.
    func announce(_ run: RunID) async throws(AttachmentError)

    /// Forgets workers that have ended, and whose jobs have been taken from them.
    func forgetEndedWorkers() async throws(AttachmentError)

    /// The sender knows what a job came to: the same work submitted again is new work from now on. For a command that
    /// makes something new each time, but after an interruption must not make it twice.
    func acknowledge(_ id: JobID, of tenant: TenantID) async throws(AttachmentError)

    /// Takes as many jobs as there is room for: pending ones that are due, and running ones whose claim's time is up or
    /// whose worker no longer lives. Each gets `attempt + 1` and a claim of its own.
    func claim(
        _ capacity: ClaimCapacity, from source: ClaimSource, by worker: WorkerID, for duration: Duration
    ) async throws(AttachmentError) -> [Claim]

    /// Moves a claim's end to `duration` from now; call it at a third of that.
    func heartbeat(_ claim: Claim, for duration: Duration) async throws -> Instant

    /// Finishes a job: what its attachments came to, all in one transaction. Delivering twice under the same claim is
    /// the same as once.
    ///
    /// A blob whose bytes another rendition already holds is not needed, and is removed after the commit. In strict mode one failure withholds all, and none of the blobs is referred to.
    ///
    /// - Throws: ``ClaimError/lost``, or an ``AttachmentError`` of the store.
    func deliver(_ outcomes: [AttachmentOutcome], under claim: Claim) async throws -> JobRecord

    /// Hands a job back: pending again, due after `delay`, of at most 10 min. With `countsAttempt` false the attempt is taken back, as
    /// when a worker stops before it began.
    func release(_ claim: Claim, after delay: Duration, countsAttempt: Bool) async throws

    /// Cancels a pending or running job; a finished one stays as it is.
    func cancel(_ id: JobID, of tenant: TenantID) async throws(AttachmentError) -> JobRecord?

    /// Tries a failed or cancelled job again; nil where there is none. What it needs is kept for a day, but for uploads
    /// that would fail again; credentials for an origin are not.
    func retry(_ id: JobID, of tenant: TenantID) async throws(AttachmentError) -> RetryAnswer?

    /// Ends up to `limit` pending jobs of the service whose deadline is over: their attachments fail with
    /// `deadline_exceeded`. One that was interrupted isn't among them: it gets its time anew with its next claim.
    func endOverdue(_ limit: Int) async throws(AttachmentError) -> OverdueJobs

    /// Hands a job over to a lane: pending again, the attempt taken back, its deadline as it was, at the end of what its
    /// tenant has there.
    func move(_ claim: Claim, to lane: JobLane) async throws
}

extension JobQueue {
    /// One job.
    public func submit(
        _ job: JobSubmission, _ options: SubmissionOptions = SubmissionOptions()
    ) async throws(AttachmentError) -> SubmissionAnswer {
        // One is asked for, one is answered.
        try await submit([job], options)[0]
    }
}
