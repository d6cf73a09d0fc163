/// How many attachments of a tenant came to one end in one minute, and how long they took.
public struct Tally: Hashable, Sendable {
    /// What is counted together.
    public struct Key: Hashable, Sendable {
        public var tenant: TenantID
        /// Its beginning.
        public var minute: Instant
        public var lane: JobLane
        public var state: WorkState
        /// With which they failed.
        public var code: ErrorCode?

        public init(tenant: TenantID, minute: Instant, lane: JobLane, state: WorkState, code: ErrorCode?) {
            self.tenant = tenant
            self.minute = minute
            self.lane = lane
            self.state = state
            self.code = code
        }
    }

    public var count: Int64
    /// Until somebody began.
    public var waiting: Histogram
    /// From then to the end.
    public var work: Histogram

    public init(count: Int64 = 0, waiting: Histogram = Histogram(), work: Histogram = Histogram()) {
        self.count = count
        self.waiting = waiting
        self.work = work
    }

    public mutating func add(_ other: Tally) {
        count += other.count
        waiting.add(other.waiting)
        work.add(other.work)
    }
}

/// What a transaction has to add to the tallies: gathered, and written once for each key.
public struct TallySheet: Sendable {
    public private(set) var tallies: [Tally.Key: Tally] = [:]

    public init() {}

    public var isEmpty: Bool { tallies.isEmpty }

    /// Counts what a job comes to.
    ///
    /// - Parameter submittedAt: When its attachments were: what they didn't take to be worked on, they waited.
    public mutating func add(
        _ conclusion: JobConclusion, of tenant: TenantID, in lane: JobLane, submittedAt: Instant, at now: Instant
    ) {
        let time = (now - submittedAt).inSeconds
        for attachment in conclusion.attachments {
            let outcome = attachment.outcome
            var (state, code): (WorkState, ErrorCode?) = (.delivered, nil)
            if case .failure(let error) = outcome.result { (state, code) = (.failed, error.code) }
            let work = outcome.steps.reduce(0) { $0 + ($1.isWork ? $1.seconds : 0) }
            let key = Tally.Key(tenant: tenant, minute: now.minute, lane: lane, state: state, code: code)
            tallies[key, default: Tally()].count += 1
            tallies[key]?.waiting.add(max(time - work, 0))
            // What nobody began took no work.
            if work > 0 { tallies[key]?.work.add(work) }
        }
    }

    /// Counts attachments that were called off, which took no time that says anything.
    public mutating func add(cancelled count: Int, of tenant: TenantID, in lane: JobLane, at now: Instant) {
        guard count > 0 else { return }
        let key = Tally.Key(tenant: tenant, minute: now.minute, lane: lane, state: .cancelled, code: nil)
        tallies[key, default: Tally()].count += Int64(count)
    }
}

extension Step {
    /// Whether something was done in it: else it is waiting for a place, or for another attempt.
    fileprivate var isWork: Bool { name != "wait" && name != "retry" }
}

extension Instant {
    /// The beginning of its minute.
    public var minute: Instant {
        Instant(milliseconds: milliseconds - (milliseconds % 60_000 + 60_000) % 60_000)
    }
}
