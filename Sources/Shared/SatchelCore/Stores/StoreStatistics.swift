/// How much there is, at one moment; cheap enough to be asked every few seconds.
public struct StoreStatistics: Hashable, Sendable {
    public struct Queue: Hashable, Sendable {
        public var pending = 0
        public var running = 0
        /// How long the oldest of the ten pending jobs that are claimed next has been due.
        public var oldestAges: [JobPriority: Duration] = [:]

        public init() {}
    }

    /// The service's jobs that are not finished.
    public var queues: [JobLane: Queue] = [:]
    public var liveLeases = 0
    /// The leases that ended by themselves since the store was made, and were never stopped.
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
