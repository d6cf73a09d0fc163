/// What became of a submission.
public enum Acceptance: Hashable, Sendable {
    /// Recorded, pending.
    case accepted(JobRecord)
    /// A pending or interrupted job of the same work key was taken over by the submission's run.
    case adopted(JobRecord)
    /// The same work was finished before, or a worker or a run that lives has it in hand; nothing is to do.
    case unchanged(JobRecord)
}

/// A part of a list, and where the next part starts.
public struct Page<Element: Sendable>: Sendable {
    public var elements: [Element]
    /// Nil at the end.
    public var next: String?

    public init(elements: [Element], next: String?) {
        self.elements = elements
        self.next = next
    }
}

/// What a list is narrowed to.
public struct RecordFilter: Hashable, Sendable {
    public var state: WorkState?
    public var kind: MediaKind?
    public var run: RunID?

    public init(state: WorkState? = nil, kind: MediaKind? = nil, run: RunID? = nil) {
        self.state = state
        self.kind = kind
        self.run = run
    }
}

/// Why a write under a claim did not count.
public enum ClaimError: Error, Hashable, Sendable {
    /// The claim ran out, or another worker has the job, or it was cancelled or replaced. Nothing was written.
    case lost
}

/// Keeps jobs, attachments, the queue and access; the source of instants.
///
/// The order of a job's life: **accept** (the sources are durable before), **claim**, **deliver** (the blobs are
/// durable before; one transaction for attachments, renditions, references and the job's state), **delete** (the
/// record first, revoking all access, then the blob's row at zero references, then the file).
public protocol RecordStore: Sendable {
    // MARK: Time

    /// The store's time, which all workers share.
    func now() async throws(AttachmentError) -> Instant

    // MARK: Jobs

    /// Records jobs as pending in one transaction; durable on return.
    ///
    /// - Parameter retryFailed: A finished job of the same work key that failed is tried again.
    func accept(_ jobs: [JobSubmission], retryFailed: Bool) async throws(AttachmentError) -> [Acceptance]

    /// The sender knows what a job came to: the same work submitted again is new work from now on. For a command that
    /// makes something new each time, but after an interruption must not make it twice.
    func acknowledge(_ id: JobID, of tenant: TenantID) async throws(AttachmentError)

    func job(_ id: JobID, of tenant: TenantID) async throws(AttachmentError) -> JobRecord?

    func jobs(
        of tenant: TenantID, where filter: RecordFilter, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<JobRecord>

    /// Takes as many jobs as there is room for: pending ones that are due, and running ones whose claim's time is up or
    /// whose worker no longer lives. Each gets `attempt + 1` and a claim of its own.
    func claim(
        _ room: ClaimRoom, from source: ClaimSource, by worker: WorkerID, for duration: Duration
    ) async throws(AttachmentError) -> [Claim]

    /// Moves a claim's end to `duration` from now; call it at a third of that.
    func heartbeat(_ claim: Claim, for duration: Duration) async throws -> Instant

    /// Finishes a job: what its attachments came to, all in one transaction. Delivering twice under the same claim is
    /// the same as once.
    ///
    /// A blob whose bytes another rendition already holds is not needed: the store discards its file after the
    /// commit. In strict mode one failure withholds all, and none of the blobs is referred to.
    ///
    /// - Throws: ``ClaimError/lost``, or an ``AttachmentError`` of the store.
    func deliver(_ outcomes: [AttachmentOutcome], under claim: Claim) async throws -> JobRecord

    /// Hands a job back: pending again, due after `delay`. With `countsAttempt` false the attempt is taken back, as
    /// when a worker stops before it began.
    func release(_ claim: Claim, after delay: Duration, countsAttempt: Bool) async throws

    /// Cancels a pending or running job; a finished one stays as it is.
    func cancel(_ id: JobID, of tenant: TenantID) async throws(AttachmentError) -> JobRecord?

    /// Deletes a job with all that it holds, access first; an unfinished one is cancelled by it.
    ///
    /// - Returns: The blobs that nothing refers to any more; remove their files. Nil where there is no such job.
    func deleteJob(_ id: JobID, of tenant: TenantID) async throws(AttachmentError) -> [BlobName]?

    // MARK: Attachments

    func attachment(_ id: AttachmentID, of tenant: TenantID) async throws(AttachmentError) -> AttachmentRecord?

    func attachments(
        of tenant: TenantID, where filter: RecordFilter, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<AttachmentRecord>

    /// The blob that holds a rendition.
    func blob(
        of role: RenditionRole, of attachment: AttachmentID, tenant: TenantID
    ) async throws(AttachmentError) -> BlobName?

    /// Deletes an attachment: all its access is revoked when this returns. A job goes with its last attachment, so
    /// that the same work can be submitted again.
    ///
    /// - Returns: The blobs that nothing refers to any more; remove their files. Nil where there is no such
    ///   attachment.
    func delete(_ id: AttachmentID, of tenant: TenantID) async throws(AttachmentError) -> [BlobName]?

    /// Deletes what has outlived its retention and is held by no live lease or link, and access that has ended.
    func deleteExpired(limit: Int) async throws(AttachmentError) -> [BlobName]

    // MARK: Blobs

    /// Which of these blobs no record refers to.
    func unreferenced(among names: [BlobName]) async throws(AttachmentError) -> [BlobName]

    /// Which of these blobs no record refers to; from then on no delivery can refer to them, so that their files can
    /// be removed.
    func markRemoved(_ names: [BlobName]) async throws(AttachmentError) -> [BlobName]

    /// Every blob that a record refers to, with its hash and size.
    func referencedBlobs() async throws(AttachmentError) -> [SealedBlob]

    // MARK: Access

    /// A new grant on an attachment; nil where the tenant has no such attachment.
    func grant(
        on attachment: AttachmentID, of tenant: TenantID, renditions: [RenditionRole]?, for duration: Duration,
        leaseLimit: Int
    ) async throws(AttachmentError) -> (GrantRecord, AccessToken)?

    /// A grant derived from another: never wider in renditions, time or leases. Nil where the token opens nothing.
    func narrow(
        _ parent: AccessToken, renditions: [RenditionRole]?, for duration: Duration, leaseLimit: Int?
    ) async throws(AttachmentError) -> (GrantRecord, AccessToken)?

    /// Starts access as the owner; nil where the tenant has no such attachment or it has no such rendition.
    func startLease(
        on attachment: AttachmentID, of tenant: TenantID, renditions: [RenditionRole]?, for duration: Duration
    ) async throws(AttachmentError) -> (LeaseRecord, AccessToken)?

    /// Starts access under a grant; nil where the token opens nothing.
    ///
    /// - Throws: `quota_exceeded` at the grant's limit of live leases.
    func startLease(
        under grant: AccessToken, renditions: [RenditionRole]?, for duration: Duration
    ) async throws(AttachmentError) -> (LeaseRecord, AccessToken)?

    func lease(_ id: String, of tenant: TenantID) async throws(AttachmentError) -> LeaseRecord?

    /// Moves the end of a live lease to `duration` from now, within its grant; nil where it isn't live.
    func renewLease(
        _ id: String, of tenant: TenantID, for duration: Duration
    ) async throws(AttachmentError) -> LeaseRecord?

    /// A reusable link; nil where the tenant has no such attachment.
    func link(
        to attachment: AttachmentID, of tenant: TenantID, renditions: [RenditionRole]?, for duration: Duration
    ) async throws(AttachmentError) -> (LinkRecord, AccessToken)?

    /// Stops a lease, or revokes a link or a grant with all that was derived from it. Idempotent: false where the
    /// tenant has nothing of that id.
    func revoke(_ id: String, of tenant: TenantID) async throws(AttachmentError) -> Bool

    /// What a lease or link token opens right now; nil for a malformed, unknown, expired, stopped or revoked one,
    /// at the same cost.
    func resolve(
        _ token: AccessToken, role: RenditionRole
    ) async throws(AttachmentError) -> (AttachmentRecord, BlobName)?

    /// The token of a live grant, lease or link, made again for its owner; nothing secret is stored.
    func token(_ id: String, of tenant: TenantID) async throws(AttachmentError) -> AccessToken?
}
