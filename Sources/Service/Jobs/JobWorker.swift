public import SatchelCore
public import Stores
import Platform
import Synchronization

/// Claims the jobs of one queue and carries them out, several side by side: all that a batch does, and what a service does
/// for each of its lanes.
///
/// More jobs are underway than there are codecs: while one job's results are made durable, the codecs work on others.
public final class JobWorker: Sendable {
    /// A job that is being carried out.
    struct StartedJob: Sendable {
        /// Of ``RunningJobs``.
        var number: Int
        var claim: Claim
        var claimedAt: Instant
    }

    /// Whether more jobs come, and are taken.
    private enum Supply: Hashable {
        case open
        /// No more will be submitted: the work ends with the last that is in the queue.
        case closed
        /// Nothing more is taken, whatever waits: the work ends with the last that is underway.
        case stopped
    }

    private struct State {
        var supply = Supply.open
        /// Whether ``run(_:)`` is there for what is begun.
        var isAttended = false
        /// Begun as they were submitted, and not attended to yet.
        var begun: [StartedJob] = []

        var takesMore: Bool { isAttended && supply != .stopped }
    }

    let running: RunningJobs
    private let records: RecordStore
    private let pipeline: Pipeline
    private let id: WorkerID
    private let source: ClaimSource
    private let capacity: @Sendable (RunningJobs) -> ClaimCapacity
    private let health: StoreHealth?
    private let signal = AsyncSignal()
    private let state = Mutex(State())

    /// The longest pause after the store failed.
    private static let longestPause: Duration = .seconds(5)

    /// - Parameters:
    ///   - running: What is underway, with that of other workers which share their places with this one.
    ///   - capacity: How many more may be claimed now.
    ///   - health: It hears how the store does, and work waits for the store. If it is nil, the first failure ends the work.
    init(
        records: RecordStore, pipeline: Pipeline, id: WorkerID, source: ClaimSource, running: RunningJobs,
        health: StoreHealth?, capacity: @escaping @Sendable (RunningJobs) -> ClaimCapacity
    ) {
        self.records = records
        self.pipeline = pipeline
        self.id = id
        self.source = source
        self.running = running
        self.health = health
        self.capacity = capacity
    }

    /// The worker has a process of its own.
    ///
    /// - Parameters:
    ///   - width: Jobs underway at once.
    ///   - health: It hears how the store does, and work waits for the store. If it is nil, the first failure ends the work.
    public convenience init(
        records: RecordStore, pipeline: Pipeline, id: WorkerID, source: ClaimSource, width: Int,
        health: StoreHealth? = nil
    ) {
        self.init(
            records: records, pipeline: health == nil ? pipeline : pipeline.with { $0.storePause = Self.longestPause },
            id: id, source: source, running: RunningJobs(), health: health
        ) { running in
            guard health?.takesJobs ?? true else { return ClaimCapacity(0) }
            let free = width - running.count
            // A claim is a transaction, and its sync, for all of them.
            return ClaimCapacity(free >= max(1, width / 3) ? free : 0)
        }
    }

    // MARK: What others tell it

    /// Jobs were added to the queue, or are to be looked for.
    public func added() { signal.give() }

    /// No more jobs will come: ``run(_:)`` returns when the queue is empty and what is underway is finished.
    public func close() {
        state.withLock { if $0.supply == .open { $0.supply = .closed } }
        signal.give()
    }

    /// Nothing more is to be claimed, whatever waits: ``run(_:)`` returns when what is underway is finished.
    public func stop() {
        state.withLock { $0.supply = .stopped }
        signal.give()
    }

    /// Whether what is begun now is attended to.
    var isWorking: Bool { state.withLock { $0.takesMore } }

    /// Begins with a job that was claimed as it was submitted; false, and nothing is begun, where nobody would attend to
    /// it.
    func begin(_ claim: Claim) -> Bool {
        let isBegun = state.withLock { state in
            guard state.takesMore else { return false }
            state.begun.append(start(claim))
            return true
        }
        if isBegun { signal.give() }
        return isBegun
    }

    // MARK: Working

    /// Works until it is closed or stopped and what was underway is finished.
    ///
    /// - Parameter finished: Called with every job that came to its end here, one call at a time.
    /// - Throws: What ended it: a failing store, what `finished` threw, or the task's cancellation. What was underway is
    ///   handed back.
    public func run(_ finished: @escaping @Sendable (JobRecord) async throws -> Void) async throws {
        let turn = AsyncSemaphore(capacity: 1)
        try await run { [health] result, _ in
            switch result {
            case .success(let record):
                health?.works()
                guard await turn.acquire(1, until: nil) == .granted else { throw CancellationError() }
                defer { turn.release(1) }
                try await finished(record)
            case .failure(is ClaimError):
                // It is another worker's, or was cancelled.
                break
            case .failure(let error as AttachmentError) where health != nil: health?.failed(error)
            case .failure(let error): throw error
            }
        }
    }

    /// - Parameter conclude: Called with what became of each job; several calls at a time.
    func run(
        _ conclude: @escaping @Sendable (Result<JobRecord, any Error>, StartedJob) async throws -> Void
    ) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            func attend(_ jobs: [StartedJob]) {
                for job in jobs {
                    group.addTask {
                        defer { self.signal.give() }
                        try await conclude(await self.running.end(of: job.number), job)
                    }
                }
            }
            state.withLock { $0.isAttended = true }
            var failures = 0
            while !Task.isCancelled, !group.isCancelled {
                // Asked before the claim: what was added before the close is then seen by the claim.
                let (supply, begun) = state.withLock { state in
                    defer { state.begun = [] }
                    return (state.supply, state.begun)
                }
                attend(begun)
                if supply == .stopped { break }
                do throws(AttachmentError) {
                    let claims = try await claim()
                    if failures > 0 { health?.works() }
                    failures = 0
                    attend(claims.map(start))
                    guard claims.isEmpty else { continue }
                } catch {
                    guard let health else { throw error }
                    health.failed(error)
                    failures += 1
                    try? await Task.sleep(for: Self.pause(after: failures))
                    continue
                }
                if supply == .closed, running.isEmpty { break }
                await signal.wait()
            }
            attend(
                state.withLock { state in
                    state.isAttended = false
                    defer { state.begun = [] }
                    return state.begun
                })
        }
        try Task.checkCancellation()
    }

    private func claim() async throws(AttachmentError) -> [Claim] {
        let capacity = capacity(running)
        guard capacity.all > 0 else { return [] }
        return try await records.claim(capacity, from: source, by: id, for: pipeline.configuration.claimDuration)
    }

    /// It counts from now on, before the next claim.
    private func start(_ claim: Claim) -> StartedJob {
        let number = running.start(claim) { [pipeline] in try await pipeline.run(claim) }
        return StartedJob(number: number, claim: claim, claimedAt: .wallClock())
    }

    private static func pause(after failures: Int) -> Duration {
        min(.milliseconds(100) * (1 << min(failures, 10)), longestPause) * Double.random(in: 0.5...1)
    }
}
