import FoundationEssentials

/// Names a worker; a store can tell whether the process behind it still lives.
public struct WorkerID: Hashable, Sendable, RawRepresentable, Codable {
    public var rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }
}

/// Names one claim: random, new each time. Every later write names it, and nothing is written under one that was taken
/// away. A number that counts up could come twice, where a database lost commits.
public struct ClaimID: Hashable, Sendable, RawRepresentable, Codable {
    public var rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static func generate() -> ClaimID {
        ClaimID(rawValue: UUID().uuidString.lowercased())
    }
}

/// A worker's hold on a job: what it is to do, and the id that makes its writes count.
///
/// It is lost when it was taken away (the job was rescued, cancelled, deleted or submitted anew), not when its time is up:
/// whoever comes first then has the job.
public struct Claim: Hashable, Sendable {
    public var id: ClaimID
    public var tenant: TenantID
    public var job: JobID
    public var generation: Int
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
        id: ClaimID, tenant: TenantID, job: JobID, generation: Int, attempt: Int, claimedUntil: Instant,
        deadlineAt: Instant?, isLate: Bool, lane: JobLane = .quick, submission: JobSubmission,
        attachments: [AttachmentID]
    ) {
        self.id = id
        self.tenant = tenant
        self.job = job
        self.generation = generation
        self.attempt = attempt
        self.claimedUntil = claimedUntil
        self.deadlineAt = deadlineAt
        self.isLate = isLate
        self.lane = lane
        self.submission = submission
        self.attachments = attachments
    }
}

/// Keeps work that takes long from holding up the rest.
public enum JobLane: String, Hashable, Sendable, Codable, CaseIterable {
    /// Where jobs begin whose sources are here.
    case quick
    /// Where jobs begin that have a source to fetch: they may wait for their origins for long.
    case fetch
    /// For jobs whose sources turned out to be costly, by the codec's own estimate.
    case expensive
}

extension JobSubmission {
    /// The lane in which it begins.
    public var lane: JobLane { needsFetching ? .fetch : .quick }
}

/// Where a worker takes jobs from. Within it interactive ones come before bulk, and of each priority the least
/// ``FairRank`` comes first.
public enum ClaimSource: Hashable, Sendable {
    /// The service's jobs, which came without a run, of one lane.
    case lane(JobLane)
    /// Those of one run of a command, in the order in which they were submitted.
    case run(RunID)
}

/// How many jobs a worker has places for.
public struct ClaimCapacity: Hashable, Sendable {
    public var all: Int
    /// Of them, for jobs of bulk priority.
    public var bulk: Int
    /// By priority, tenants that have as many jobs in this lane as they may: one whose origins are slow leaves places to
    /// others.
    public var busy: [JobPriority: Set<TenantID>]

    public init(all: Int, bulk: Int, busy: [JobPriority: Set<TenantID>] = [:]) {
        self.all = max(0, all)
        self.bulk = min(max(0, bulk), self.all)
        self.busy = busy
    }

    /// Places for jobs of any priority.
    public init(_ count: Int) {
        self.init(all: count, bulk: count)
    }

    /// What is left for jobs of a priority when so many of the places are taken.
    public func places(for priority: JobPriority, taken: Int) -> Int {
        max(0, min(priority == .bulk ? bulk : all, all - taken))
    }
}
