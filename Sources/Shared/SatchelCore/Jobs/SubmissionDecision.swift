/// What a store knows of the job whose place a submission would take.
public struct KnownJob: Hashable, Sendable {
    public var state: WorkState
    public var bodyDigest: String
    /// It was found by the submission's work key.
    public var isSameWork: Bool
    /// A worker that lives carries it out, or a run that lives will have it carried out.
    public var isHeld: Bool
    /// None of its attachments was deleted.
    public var isWhole: Bool

    public init(state: WorkState, bodyDigest: String, isSameWork: Bool, isHeld: Bool, isWhole: Bool) {
        self.state = state
        self.bodyDigest = bodyDigest
        self.isSameWork = isSameWork
        self.isHeld = isHeld
        self.isWhole = isWhole
    }
}

/// What is to be done about a submission.
public enum SubmissionDecision: Hashable, Sendable {
    /// Nothing is known of it: it is recorded.
    case insert
    /// Another body, or another try: a new generation, which takes the claim of the old one away. What that delivered
    /// stays until the new one delivers.
    case renew
    /// The same work for another run: that run's name, paths and deadline, the old ids.
    case adopt
    /// Nothing is to do.
    case keep
}

extension JobSubmission {
    /// - Parameters:
    ///   - known: Found by the work key, else by the id.
    ///   - digest: Of this submission's body.
    public func decision(
        about known: KnownJob?, digest: String, retriesFailed: Bool
    ) -> SubmissionDecision {
        guard let known else { return .insert }
        guard known.isSameWork || known.bodyDigest == digest else { return .renew }
        // Whoever repeats a submission to the service asks what became of it; to try again is a call of its own.
        guard workKey != nil else { return .keep }
        return switch known.state {
        case .delivered: .keep
        case .failed: retriesFailed ? .renew : .keep
        case .cancelled: .renew
        case .pending, .running: known.isHeld ? .keep : known.isWhole ? .adopt : .renew
        }
    }

    /// - Throws: `invalid_source` for what no store takes.
    public func validate() throws(AttachmentError) {
        guard (1...Self.maximumAttachments).contains(attachments.count) else {
            throw .invalidSource(
                reason: "a job must have 1 to \(Self.maximumAttachments) attachments, not \(attachments.count)")
        }
        guard Set(attachments.map(\.identifier)).count == attachments.count else {
            throw .invalidSource(reason: "two attachments of one job have the same identifier")
        }
        guard !id.rawValue.isEmpty, !tenant.rawValue.isEmpty else {
            throw .invalidSource(reason: "the job's id is empty")
        }
    }

    /// The lane in which it goes on when a run takes it over: what turned out costly stays so.
    public func lane(after before: JobLane) -> JobLane {
        before == .expensive ? before : lane
    }

    public func deadline(from now: Instant) -> Instant? {
        deadline.map { now + .seconds(fraction: $0) }
    }
}

extension SubmissionOptions {
    /// Whether there is room for a job of the service.
    ///
    /// - Parameters:
    ///   - usage: Of its tenant.
    ///   - state: Of the job whose place it takes.
    ///   - waiting: Jobs of all tenants that are pending; asked only where it matters.
    /// - Throws: `quota_exceeded`; `queue_full` beyond the tenant's ``TenantShare`` of the queue; what `waiting` throws.
    public func admit(_ usage: TenantUsage, replacing state: WorkState? = nil, waiting: () throws -> Int) throws {
        if let limit = quotas.storedBytes, usage.storedBytes >= limit {
            throw AttachmentError.quotaExceeded(.storedBytes, used: usage.storedBytes, allowed: limit)
        }
        let isUnfinished = state.map { !$0.isFinished } ?? false
        if let limit = quotas.pendingJobs, !isUnfinished {
            try QuotaSubject.pendingJobs.admit(usage.pendingJobs, of: limit)
        }
        guard let queueLimit, state != .pending else { return }
        guard TenantShare.allows(1, beside: usage.pendingJobs, of: try queueLimit - waiting()) else {
            throw AttachmentError.queueFull
        }
    }
}
