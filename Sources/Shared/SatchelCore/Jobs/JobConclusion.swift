/// What a job comes to, decided of its outcomes before any of it is recorded: a store writes down what stands here.
public struct JobConclusion: Sendable {
    /// What one attachment comes to.
    public struct Attachment: Sendable {
        public var outcome: AttachmentOutcome
        /// When what is delivered has outlived its retention; nil for never.
        public var expiresAt: Instant?
    }

    public var state: WorkState
    public var attachments: [Attachment]
    /// The attachments that are delivered.
    public var delivered: [AttachmentID] {
        attachments.compactMap { if case .success = $0.outcome.result { $0.outcome.id } else { nil } }
    }

    /// Blobs that were made for nothing: withheld, or of attachments that were deleted meanwhile.
    public var unwanted: Set<BlobName>
    /// When the record of a job that came to nothing has outlived its retention; nil for never.
    public var expiresAt: Instant?
    /// What it takes to try it again is kept.
    public var isRetained: Bool
    /// What is started on each attachment that is delivered; nil for nothing.
    public var access: JobAccess?

    /// - Parameters:
    ///   - outcomes: One for each attachment that is wanted, perhaps others.
    ///   - wanted: The attachments that were not deleted meanwhile.
    ///   - attachments: Of the submission, in its order.
    /// - Throws: `store_failed` where an outcome is missing or comes twice.
    public init(
        of submission: JobSubmission, _ attachments: [AttachmentID], wanted: Set<AttachmentID>,
        outcomes: [AttachmentOutcome], at now: Instant
    ) throws(AttachmentError) {
        let known = outcomes.filter { wanted.contains($0.id) }
        guard Set(known.map(\.id)).count == wanted.count, known.count == wanted.count else {
            throw .storeFailed(reason: "each attachment of a job needs one outcome")
        }
        let state = JobOutcome.state(of: known, mode: submission.mode)
        self.state = state
        unwanted = Set(outcomes.filter { !wanted.contains($0.id) || state != .delivered }.flatMap(\.blobs))
        self.attachments = known.map { outcome in
            var outcome = outcome
            guard case .success = outcome.result else { return Attachment(outcome: outcome) }
            guard state == .delivered else {
                outcome.result = .failure(Self.withholding(in: known, submission, attachments))
                return Attachment(outcome: outcome)
            }
            let index = attachments.firstIndex(of: outcome.id)
            let profile = index.flatMap { submission.attachments[$0].profile } ?? submission.profile
            return Attachment(outcome: outcome, expiresAt: submission.expiry(under: profile, from: now))
        }
        expiresAt = state == .failed ? submission.recordExpiry(from: now) : nil
        isRetained = state == .failed && submission.mayPassLater(after: known)
        access = state == .delivered ? JobAccess(of: submission, at: now) : nil
    }

    /// Of a pending job whose deadline is over: all its attachments fail.
    public init(
        overdue submission: JobSubmission, _ attachments: [(id: AttachmentID, submission: AttachmentSubmission)],
        createdAt: Instant, at now: Instant
    ) throws(AttachmentError) {
        let outcomes = attachments.map { id, attachment in
            AttachmentOutcome(
                id: id, result: .failure(.deadlineExceeded(seconds: submission.deadline ?? 0)), kind: nil,
                source: SourceFacts(attachment),
                steps: [Step(name: "wait", seconds: (now - createdAt).inSeconds, note: "for a worker with a place")])
        }
        let ids = attachments.map(\.id)
        try self.init(of: submission, ids, wanted: Set(ids), outcomes: outcomes, at: now)
    }

    /// Why a strict job withholds what could have been delivered: its first failure.
    private static func withholding(
        in outcomes: [AttachmentOutcome], _ submission: JobSubmission, _ attachments: [AttachmentID]
    ) -> AttachmentError {
        for (id, attachment) in zip(attachments, submission.attachments) {
            guard case .failure(let error) = outcomes.first(where: { $0.id == id })?.result else { continue }
            return .withheld(identifier: attachment.identifier, code: error.code)
        }
        return .storeFailed(reason: "the job did not deliver")
    }
}

/// The access that a sender asked for with the submission, so that a finished job's answer already opens what it has.
public struct JobAccess: Hashable, Sendable {
    /// A lease, or for a broadcast a link.
    public var kind: AccessEntry.Kind
    public var delivery: DeliveryMode
    public var expiresAt: Instant

    init?(of submission: JobSubmission, at now: Instant) {
        guard let seconds = submission.leaseTTL else { return nil }
        kind = submission.delivery == .shared ? .link : .lease
        delivery = submission.delivery
        expiresAt = AccessLimits.end(of: .seconds(fraction: seconds), from: now)
    }
}
