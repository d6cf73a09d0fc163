/// Names a worker; a store can tell whether the process behind it still lives.
public struct WorkerID: Hashable, Sendable, RawRepresentable, Codable {
    public var rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }
}

/// Counts the claims of a job: a write that carries an older one fails.
public struct Fence: Hashable, Comparable, Sendable, RawRepresentable, Codable {
    public var rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    public static func < (left: Fence, right: Fence) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// A worker's hold on a job: what it is to do, and the number that makes its writes count.
public struct Claim: Hashable, Sendable {
    public var tenant: TenantID
    public var job: JobID
    public var generation: Int
    public var fence: Fence
    /// 1 for the first.
    public var attempt: Int
    /// The store's time; a heartbeat moves it on.
    public var claimedUntil: Instant
    public var deadlineAt: Instant?
    /// True when an earlier attempt was interrupted, so that this one runs with a fresh budget, marked late.
    public var isLate: Bool
    public var lane: JobLane
    public var submission: JobSubmission
    /// The ids under which the attachments of the submission were recorded, in its order.
    public var attachments: [AttachmentID]

    public init(
        tenant: TenantID, job: JobID, generation: Int, fence: Fence, attempt: Int, claimedUntil: Instant,
        deadlineAt: Instant?, isLate: Bool, lane: JobLane = .quick, submission: JobSubmission,
        attachments: [AttachmentID]
    ) {
        self.tenant = tenant
        self.job = job
        self.generation = generation
        self.fence = fence
        self.attempt = attempt
        self.claimedUntil = claimedUntil
        self.deadlineAt = deadlineAt
        self.isLate = isLate
        self.lane = lane
        self.submission = submission
        self.attachments = attachments
    }
}

/// Keeps costly work from holding up the rest.
public enum JobLane: String, Hashable, Sendable, Codable, CaseIterable {
    /// Where every job begins.
    case quick
    /// For jobs whose sources turned out to be costly, by the codec's own estimate.
    case expensive
}

/// Which jobs a worker takes.
///
/// What the service has comes in lines, each of which gives out the least ``FairRank`` first: a lane's jobs of one
/// priority, those with a source to fetch apart from the rest.
public enum JobQueue: Hashable, Sendable {
    /// Those that came without a run.
    case service(JobLane)
    /// Those of one run of a command.
    case run(RunID)
}

/// How many jobs a worker of the service has places for.
///
/// A job with a source to fetch may wait for its origin for long, so such jobs have places of their own.
public struct ClaimRoom: Hashable, Sendable {
    /// Free places of one kind.
    public struct Places: Hashable, Sendable {
        public var all: Int
        /// Of them, for jobs of bulk priority.
        public var bulk: Int

        public init(all: Int, bulk: Int) {
            self.all = max(0, all)
            self.bulk = min(max(0, bulk), self.all)
        }
    }

    /// For jobs whose sources are here.
    public var present: Places
    /// For jobs with a source that has to be fetched.
    public var fetched: Places
    /// By priority, tenants that have as many jobs of that kind as they may: one whose origins are slow leaves places to
    /// others.
    public var busy: [JobPriority: Set<TenantID>]

    public init(present: Places, fetched: Places, busy: [JobPriority: Set<TenantID>] = [:]) {
        self.present = present
        self.fetched = fetched
        self.busy = busy
    }

    public var isNone: Bool { present.all == 0 && fetched.all == 0 }

    /// Places for jobs whose sources have to be fetched, or are here.
    public subscript(fetching isFetching: Bool) -> Places {
        get { isFetching ? fetched : present }
        set {
            if isFetching { fetched = newValue } else { present = newValue }
        }
    }
}
