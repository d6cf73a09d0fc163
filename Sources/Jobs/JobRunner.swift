public import Attachments
import Synchronization

/// Claims jobs from a queue and carries them out, several side by side.
///
/// More jobs are underway than there are codecs: while one job's results are made durable, the codecs work on others.
public struct JobRunner: Sendable {
    let records: any JobQueue
    let pipeline: Pipeline
    let source: ClaimSource
    let worker: WorkerID
    /// Jobs underway at once.
    let width: Int
    /// Places that are free before jobs are claimed for them: a claim is a transaction, and its sync, for all of them.
    private var fewest: Int { max(1, width / 3) }

    public init(
        records: any JobQueue, pipeline: Pipeline, source: ClaimSource, worker: WorkerID, width: Int
    ) {
        self.records = records
        self.pipeline = pipeline
        self.source = source
        self.worker = worker
        self.width = width
    }

    /// Runs until the queue is empty and `supply` says that nothing more will come, or until it is cancelled: then what
    /// is underway is handed back.
    ///
    /// - Parameters:
    ///   - supply: Wakes the runner when jobs were added, and tells when the last has been.
    ///   - finished: Called with every job that came to an end here, one call at a time.
    /// - Throws: What stopped it: a failing store, or what `finished` threw.
    public func run(supply: JobSupply, finished: (JobRecord) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Event.self) { group in
            defer { group.cancelAll() }
            var running = 0
            var isWaiting = false
            while true {
                try Task.checkCancellation()
                // Asked before the claim: what was added before the close is then seen by the claim.
                let wasClosed = supply.isClosed
                if supply.isStopped {
                    if running == 0 { return }
                } else if width - running >= fewest {
                    let claims = try await records.claim(
                        ClaimRoom(width - running), from: source, by: worker, for: pipeline.configuration.claimDuration)
                    running += claims.count
                    for claim in claims {
                        group.addTask { .finished(try await carryOut(claim)) }
                    }
                    if claims.isEmpty && running == 0 && wasClosed { return }
                    if !isWaiting && !wasClosed {
                        isWaiting = true
                        group.addTask {
                            await supply.wait()
                            return .supplied
                        }
                    }
                }
                switch try await group.next() {
                case .finished(let record):
                    running -= 1
                    if let record { try await finished(record) }
                case .supplied:
                    isWaiting = false
                case nil:
                    break
                }
            }
        }
    }

    /// Nil when the claim was lost: the job is another worker's, or cancelled.
    private func carryOut(_ claim: Claim) async throws -> JobRecord? {
        do {
            return try await pipeline.run(claim)
        } catch is ClaimError {
            return nil
        }
    }

    private enum Event: Sendable {
        case finished(JobRecord?)
        case supplied
    }
}

/// Tells a ``JobRunner`` that jobs were added, and when there will be no more.
public final class JobSupply: Sendable {
    private struct State {
        var isClosed = false
        var isStopped = false
        var wasAdded = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    public init() {}

    public var isClosed: Bool { state.withLock { $0.isClosed } }
    var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Jobs were added to the queue.
    public func added() {
        wake { $0.wasAdded = true }
    }

    /// No more will come.
    public func close() {
        wake { $0.isClosed = true }
    }

    /// Nothing more is to be claimed, whatever waits; what is underway is finished.
    public func stop() {
        wake { $0.isStopped = true }
    }

    private func wake(_ change: (inout State) -> Void) {
        let waiting = state.withLock { state in
            change(&state)
            return state.waiting.take()
        }
        waiting?.resume()
    }

    /// Returns when jobs were added since the last call, the supply was closed, or the task was cancelled.
    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if state.wasAdded || state.isClosed || state.isStopped || Task.isCancelled {
                        state.wasAdded = false
                        return true
                    }
                    state.waiting = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            wake { _ in }
        }
    }
}
