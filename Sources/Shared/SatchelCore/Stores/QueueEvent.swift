/// Pending jobs that came to their deadline.
public struct OverdueJobs: Hashable, Sendable {
    /// The jobs that ended just now.
    public var ended: [JobRecord]
    /// The time until the next deadline of a pending job; nil if none has one.
    public var next: Duration?

    public init(ended: [JobRecord] = [], next: Duration? = nil) {
        self.ended = ended
        self.next = next
    }
}

/// What became of the wish to try a job again.
public enum RetryAnswer: Hashable, Sendable {
    /// Pending, as a new generation.
    case accepted(JobRecord)
    /// It is not finished yet, or was delivered.
    case unneeded(JobRecord)
    /// Its sources are no longer kept: it has to be submitted again.
    case forgotten(JobRecord)
}

/// How soon what another process did with the queue is seen.
public struct QueuePace: Hashable, Sendable {
    /// The time between two looks at the queue if nothing happens here.
    public var work: Duration
    /// The time between two looks at all jobs that this process waits for or follows; nil if each task that waits
    /// looks by itself now and then.
    public var ends: Duration?

    public init(work: Duration = .seconds(1), ends: Duration? = nil) {
        self.work = work
        self.ends = ends
    }
}

/// What may have happened in another process: it is to be looked for.
public enum QueueEvent: Hashable, Sendable {
    /// There is work to do.
    case work
    /// A job came to its end.
    case ended
    /// A notification is due sooner than the task that fires it would look.
    case due
}

/// Why a write under a claim did not count.
public enum ClaimError: Error, Hashable, Sendable {
    /// The claim ran out, or another worker has the job, or it was cancelled or replaced. Nothing was written.
    case lost
}
