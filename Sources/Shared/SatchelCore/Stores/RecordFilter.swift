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
