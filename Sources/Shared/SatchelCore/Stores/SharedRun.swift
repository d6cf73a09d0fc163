/// A run that several machines share: which of them lists its sources, how far that is, and whether all is done.
public struct SharedRun: Hashable, Sendable {
    public var id: RunID
    /// What it was begun for, in the words of whoever began it.
    public var source: String
    /// Where the list goes on, in the words of whoever lists; nil at its beginning.
    public var position: String?
    /// Sources that were listed.
    public var listed: Int
    /// Whether the list has come to its end.
    public var isWhole: Bool
    /// What was counted beside the list, in the words of whoever lists.
    public var counts: String
    /// Jobs of the run that nobody has begun.
    public var waiting: Int
    /// Jobs of the run that aren't finished, those that wait among them.
    public var unfinished: Int
    /// Machines that take part and live.
    public var machines: Int
    /// Whether one went without a word, so that what it did after a job's record may be missing.
    public var hasLostMachines: Bool
    /// All was done and said to be; the same command begins a new run.
    public var hasEnded: Bool

    public init(
        id: RunID, source: String = "", position: String? = nil, listed: Int = 0, isWhole: Bool = false,
        counts: String = "",
        waiting: Int = 0, unfinished: Int = 0, machines: Int = 0, hasLostMachines: Bool = false,
        hasEnded: Bool = false
    ) {
        self.id = id
        self.source = source
        self.position = position
        self.listed = listed
        self.isWhole = isWhole
        self.counts = counts
        self.waiting = waiting
        self.unfinished = unfinished
        self.machines = machines
        self.hasLostMachines = hasLostMachines
        self.hasEnded = hasEnded
    }

    /// So many wait before the list goes on: enough for every machine, and few to look through.
    public static let mostWaiting = 10_000

    /// What its leader does next.
    public enum Step: Hashable, Sendable {
        case list
        /// Some of what waits has to be taken, or the last machine to leave.
        case wait
        case end
    }

    /// Whether nothing is left to be claimed, nor will come.
    public var isDone: Bool { hasEnded || isWhole && unfinished == 0 }

    public var nextStep: Step {
        if !isWhole && !hasEnded { return waiting < Self.mostWaiting ? .list : .wait }
        return isDone && machines == 0 ? .end : .wait
    }
}

/// A part of the list of a shared run's sources.
public struct RunPage: Sendable {
    /// Where it begins: the run's position, or nobody takes the page.
    public var start: String?
    /// Where the next one begins.
    public var end: String?
    /// The list begins anew with it, and what was counted before doesn't count.
    public var isFirst: Bool
    public var isLast: Bool
    /// Sources in it, also those without a job.
    public var listed: Int
    /// Of one tenant, under one profile, each known by a work key.
    public var jobs: [JobSubmission]

    public init(start: String?, end: String?, isFirst: Bool, isLast: Bool, listed: Int, jobs: [JobSubmission]) {
        self.start = start
        self.end = end
        self.isFirst = isFirst
        self.isLast = isLast
        self.listed = listed
        self.jobs = jobs
    }
}

/// What became of a job of a page.
public enum RunAnswer: Hashable, Sendable {
    /// The run has it, or has done it.
    case taken
    /// It came to its end before this run.
    case earlier(JobRecord)
    /// Another run, or a worker of one, has it in hand.
    case elsewhere
}
