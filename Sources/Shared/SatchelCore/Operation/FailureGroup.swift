/// Attachments of a tenant that failed with one code and cause, and are still there.
public struct FailureGroup: Hashable, Sendable {
    /// Failures of a code that are counted, at most: then there may be more.
    public static let most = 10_000
    /// Jobs that are named, at most.
    public static let examples = 5
    /// Attachments that a job has, at most: so many failures may be one job's.
    public static let mostOfJob = 10

    public var code: ErrorCode
    public var count: Int
    /// Of the latest failure.
    public var error: ErrorReport
    public var firstAt: Instant
    public var lastAt: Instant
    /// Of those that were counted, as far as they are known.
    public var kinds: [MediaKind]
    /// The latest that it happened to.
    public var jobs: [JobID]

    public init(
        code: ErrorCode, count: Int, error: ErrorReport, firstAt: Instant, lastAt: Instant, kinds: [MediaKind],
        jobs: [JobID]
    ) {
        self.code = code
        self.count = count
        self.error = error
        self.firstAt = firstAt
        self.lastAt = lastAt
        self.kinds = kinds
        self.jobs = jobs
    }

    /// One of the failures that groups are made of.
    public typealias Failure = (at: Instant, job: JobID, kind: MediaKind?, error: ErrorReport)

    /// Groups failures of one code by what caused them.
    public static func byCause(_ failures: [Failure]) -> [FailureGroup] {
        Dictionary(grouping: failures, by: { $0.error.cause }).values.compactMap { failures in
            let failures = failures.sorted { ($1.at, $1.job.rawValue) < ($0.at, $0.job.rawValue) }
            guard let last = failures.first, let first = failures.last else { return nil }
            let counted = failures.prefix(most)
            return FailureGroup(
                code: last.error.code, count: counted.count, error: last.error, firstAt: first.at, lastAt: last.at,
                kinds: MediaKind.allCases.filter { kind in counted.contains { $0.kind == kind } },
                jobs: examples(of: failures.map { $0.job }))
        }
    }

    /// As they are listed: the latest first.
    public static func inOrder(_ groups: [FailureGroup]) -> [FailureGroup] {
        groups.sorted { ($1.lastAt, $0.label) < ($0.lastAt, $1.label) }
    }

    private var label: String { "\(code.rawValue) \(error.cause?.description ?? "")" }

    /// The first few of these, each once.
    public static func examples(of jobs: some Sequence<JobID>) -> [JobID] {
        var known: Set<JobID> = []
        return Array(jobs.lazy.filter { known.insert($0).inserted }.prefix(examples))
    }
}
