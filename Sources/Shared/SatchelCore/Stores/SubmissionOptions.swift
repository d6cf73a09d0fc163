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
