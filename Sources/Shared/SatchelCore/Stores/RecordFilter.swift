/// What a list of jobs or attachments is narrowed to; all that is given must hold.
///
/// What it means is said by ``matches(_:of:)-swift.method`` and its like, which every store comes to, however it searches.
public struct RecordFilter: Hashable, Sendable {
    public var state: WorkState?
    /// Of a job: that one of its attachments has.
    public var kind: MediaKind?
    public var run: RunID?
    /// With which an attachment failed; of a job: one of its attachments.
    public var code: ErrorCode?
    /// The name of the job's profile.
    public var profile: String?
    /// Of a job: that one of its attachments has.
    public var identifier: String?
    /// Created then or later.
    public var since: Instant?
    /// Created earlier.
    public var before: Instant?
    /// The job has all of these among those that are found: see ``JobLabel/found(in:)``.
    public var labels: Set<JobLabel>

    public init(
        state: WorkState? = nil, kind: MediaKind? = nil, run: RunID? = nil, code: ErrorCode? = nil,
        profile: String? = nil, identifier: String? = nil, since: Instant? = nil, before: Instant? = nil,
        labels: Set<JobLabel> = []
    ) {
        self.state = state
        self.kind = kind
        self.run = run
        self.code = code
        self.profile = profile
        self.identifier = identifier
        self.since = since
        self.before = before
        self.labels = labels
    }
}

extension RecordFilter {
    /// - Parameter run: Of the job; nil for the service's.
    public func matches(_ job: JobRecord, of run: RunID?) -> Bool {
        func holds(_ property: (AttachmentRecord) -> Bool) -> Bool { job.attachments.contains(where: property) }
        return state.map { $0 == job.state } ?? true
            && isOf(run: run, profile: job.profile, metadata: job.metadata, createdAt: job.createdAt)
            && kind.map { kind in holds { $0.kind == kind } } ?? true
            && code.map { code in holds { $0.error?.code == code } } ?? true
            && identifier.map { identifier in holds { $0.identifier == identifier } } ?? true
    }

    /// - Parameters:
    ///   - run: Of the attachment's job; nil for the service's.
    ///   - profile: The name of its job's profile.
    ///   - metadata: Of its job.
    public func matches(
        _ attachment: AttachmentRecord, of run: RunID?, profile: String, metadata: [String: String]
    ) -> Bool {
        state.map { $0 == attachment.state } ?? true
            && isOf(run: run, profile: profile, metadata: metadata, createdAt: attachment.createdAt)
            && kind.map { $0 == attachment.kind } ?? true && code.map { $0 == attachment.error?.code } ?? true
            && identifier.map { $0 == attachment.identifier } ?? true
    }

    private func isOf(run: RunID?, profile: String, metadata: [String: String], createdAt: Instant) -> Bool {
        self.run.map { $0 == run } ?? true && self.profile.map { $0 == profile } ?? true
            && since.map { $0 <= createdAt } ?? true && before.map { createdAt < $0 } ?? true
            && (labels.isEmpty || labels.isSubset(of: JobLabel.found(in: metadata)))
    }
}
