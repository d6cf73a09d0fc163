/// A part of a list, and where the next part starts.
public struct Page<Element: Sendable>: Sendable {
    public var elements: [Element]
    /// Nil at the end.
    public var next: String?

    public init(elements: [Element], next: String?) {
        self.elements = elements
        self.next = next
    }

    /// Calls `body` with the elements of all pages.
    public static func forEach(
        of page: (_ cursor: String?) async throws -> Page, _ body: (Element) async throws -> Void
    ) async throws {
        var cursor: String?
        repeat {
            let part = try await page(cursor)
            for element in part.elements { try await body(element) }
            cursor = part.next
        } while cursor != nil
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
    public var queues: [JobLane: Queue] = [:]
    public var liveLeases = 0
    /// Since the store was made: leases that ended by themselves, never stopped.
    public var leasesLeftToExpire = 0
    public var liveLinks = 0
    public var liveGrants = 0
    /// Bytes of all blobs, each counted once.
    public var blobBytes: Int64 = 0
    public var blobs = 0
    public var pendingWebhooks = 0
    /// Uploads that take bytes.
    public var openUploads = 0

    public init() {}
}

/// Names a job among all tenants'.
public struct JobName: Hashable, Sendable {
    public var tenant: TenantID
    public var job: JobID

    public init(tenant: TenantID, job: JobID) {
        self.tenant = tenant
        self.job = job
    }
}

/// How far a job is.
public struct JobStatus: Hashable, Sendable {
    public var generation: Int
    public var state: WorkState
    /// Nil where no other node is at it, or the store has no nodes.
    public var remote: RemoteAttempt?

    public init(generation: Int, state: WorkState, remote: RemoteAttempt? = nil) {
        self.generation = generation
        self.state = state
        self.remote = remote
    }
}

/// An attempt at a job that another node is at.
public struct RemoteAttempt: Hashable, Sendable {
    /// 1 for the first.
    public var number: Int
    /// The node's id.
    public var node: String
    /// Where others reach it; nil where it doesn't say.
    public var url: String?

    public init(_ number: Int, on node: String, at url: String?) {
        self.number = number
        self.node = node
        self.url = url
    }
}

/// What is known of jobs and attachments. A tenant's things are found by that tenant alone.
public protocol JobRecords: Sendable {
    func job(_ id: JobID, of tenant: TenantID) async throws(AttachmentError) -> JobRecord?

    /// Of these jobs, those that are there; one that runs may count as pending.
    func status(of jobs: Set<JobName>) async throws(AttachmentError) -> [JobName: JobStatus]

    /// Newest first. A page may have fewer elements than were asked for, or none, with more to come: where few of many fit
    /// the filter, it ends after so many were looked at.
    func jobs(
        of tenant: TenantID, where filter: RecordFilter, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<JobRecord>

    /// What became of work that is known by one of these keys, by its key.
    func states(ofWork keys: [String], of tenant: TenantID) async throws(AttachmentError) -> [String: WorkState]

    /// The profiles of this name under which jobs were submitted, each as it was then.
    func profiles(named name: String) async throws(AttachmentError) -> [Profile]

    func attachment(_ id: AttachmentID, of tenant: TenantID) async throws(AttachmentError) -> AttachmentRecord?

    /// Newest first; a page ends as one of ``jobs(of:where:after:limit:)``.
    func attachments(
        of tenant: TenantID, where filter: RecordFilter, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<AttachmentRecord>

    /// The blob that holds a rendition.
    func blob(
        of role: RenditionRole, of attachment: AttachmentID, tenant: TenantID
    ) async throws(AttachmentError) -> BlobName?

    /// The renditions that are in these blobs.
    func renditions(in blobs: [BlobName]) async throws(AttachmentError) -> [PlacedRendition]

    /// Deletes an attachment: all its access is revoked when this returns. A job goes with its last attachment, so
    /// that the same work can be submitted again.
    ///
    /// - Returns: Whether there was such an attachment.
    func delete(_ id: AttachmentID, of tenant: TenantID) async throws(AttachmentError) -> Bool

    /// Deletes a job with all that it holds, access first; an unfinished one is cancelled by it.
    ///
    /// - Returns: Whether there was such a job.
    func deleteJob(_ id: JobID, of tenant: TenantID) async throws(AttachmentError) -> Bool

    /// One part of an expiry: deletes what has outlived its retention and is held by no live lease or link, access that
    /// has ended, and what nobody needs to know any more; at most `limit` of each kind.
    ///
    /// - Parameter place: Nil for the first part, then what the part before says is next.
    func expire(limit: Int, from place: ExpiryPlace?) async throws(AttachmentError) -> Expiry

    func statistics() async throws(AttachmentError) -> StoreStatistics
}

/// What one part of an expiry brought.
public struct Expiry: Hashable, Sendable {
    /// Attachments that were deleted.
    public var attachments: Int
    /// Blobs that nothing refers to any more.
    public var blobs: Int
    /// Where the next part begins; nil where there is none.
    public var next: ExpiryPlace?

    public init(attachments: Int, blobs: Int, next: ExpiryPlace?) {
        self.attachments = attachments
        self.blobs = blobs
        self.next = next
    }
}

/// How far a look at the attachments whose retention is over has come.
public struct ExpiryPlace: Hashable, Sendable {
    public var expiresAt: Instant
    /// The store's own: of those that end together, which was the last.
    public var key: Int64

    public init(expiresAt: Instant, key: Int64) {
        self.expiresAt = expiresAt
        self.key = key
    }
}

/// A rendition and the blob that has its bytes.
public struct PlacedRendition: Hashable, Sendable {
    public var blob: BlobName
    public var tenant: TenantID
    public var attachment: AttachmentID
    public var role: RenditionRole
    /// The path or name of the source, where it was looked up.
    public var path: String?

    public init(blob: BlobName, tenant: TenantID, attachment: AttachmentID, role: RenditionRole) {
        self.blob = blob
        self.tenant = tenant
        self.attachment = attachment
        self.role = role
    }
}
