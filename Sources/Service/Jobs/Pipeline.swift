public import SatchelCore
public import Stores
public import CodecPool
public import Ingest
import Platform
import Synchronization

/// The way of one claimed job: its sources are opened, processed in codec processes, committed in the store, and recorded
/// in one transaction.
public struct Pipeline: Sendable {
    /// What bounds the work.
    public struct Configuration: Sendable {
        public var limits: Limits
        public var ceilings: Ceilings
        /// For each source, from the start of its processing; nil for none. For a batch, whose results must not
        /// depend on load, this and not a deadline bounds the work.
        public var timeLimit: Duration?
        public var backoff: Backoff
        /// Whose files the sources are, where one person made them all: those may share a codec process.
        public var owner: CodecPool.Owner?
        /// How long a claim lasts without a heartbeat.
        public var claimDuration: Duration
        /// Who is told what happens.
        public var events: JobEvents?
        /// What lets identical attachments be worked on once.
        public var sharing: RequestCoalescer?
        /// Processor seconds, by the codec's estimate, from which a source is for the expensive lane; nil where there are
        /// no lanes.
        public var costlyFrom: Double?
        /// Sources that are open or being worked on at once, over all jobs; nil for any number. One that is being fetched
        /// isn't among them.
        public var sourcesAtOnce: Int?
        /// Sources that are fetched at once, over all jobs; nil for any number.
        public var fetchConcurrency: FetchConcurrency?
        /// How sources are scanned; nil where they aren't.
        public var scanning: Scanning?
        /// A job that the store failed is due again after a random part of this, longer with each attempt.
        public var storePause: Duration = .zero
        /// Since its submission, how long a job without a deadline waits for a failing store; `nil` for no limit.
        public var storePatience: Duration?

        public init(
            limits: Limits = .service, ceilings: Ceilings = Ceilings(), timeLimit: Duration? = nil,
            backoff: Backoff = Backoff(), owner: CodecPool.Owner? = nil, claimDuration: Duration = .seconds(30)
        ) {
            self.limits = limits
            self.ceilings = ceilings
            self.timeLimit = timeLimit
            self.backoff = backoff
            self.owner = owner
            self.claimDuration = claimDuration
        }

        /// Whether there are jobs of others beside each, whose owners wait.
        var isShared: Bool { costlyFrom != nil }

        func isCostly(_ probeResult: ProbeResult) -> Bool {
            costlyFrom.map { probeResult.estimate.cpuSeconds >= $0 } ?? false
        }
    }

    let records: RecordStore
    let blobs: any BlobStore
    let staging: any StagingArea
    let codecs: CodecPool
    let sources: SourceOpener
    let configuration: Configuration
    let commitTime = CommitTime()
    let fetchedSources = FetchedSourceCache()
    /// Nil where any number of sources may be open.
    let openSources: AsyncSemaphore?
    /// Nil where any number of sources may be fetched.
    let fetches: FetchPlaces?

    public init(
        records: RecordStore, blobs: any BlobStore, staging: any StagingArea, codecs: CodecPool,
        sources: SourceOpener, configuration: Configuration = Configuration()
    ) {
        self.records = records
        self.blobs = blobs
        self.staging = staging
        self.codecs = codecs
        self.sources = sources
        self.configuration = configuration
        openSources = configuration.sourcesAtOnce.map { width in
            AsyncSemaphore(capacity: Int64(width), kept: Int64(width - ReservedPlaces.bulk(of: width)))
        }
        fetches = configuration.fetchConcurrency.map(FetchPlaces.init)
    }

    /// The same with another configuration.
    func with(_ change: (inout Configuration) -> Void) -> Pipeline {
        var configuration = configuration
        change(&configuration)
        return Pipeline(
            records: records, blobs: blobs, staging: staging, codecs: codecs, sources: sources,
            configuration: configuration)
    }

    func publish(_ what: JobEvent.What, of claim: Claim) {
        configuration.events?.publish(
            JobEvent(tenant: claim.tenant, job: claim.job, generation: claim.generation, what: what))
    }

    /// Waits until one more source may be opened; false where the time is up or the task was cancelled.
    func takeSource(for attempt: AttachmentAttempt) async -> Bool {
        guard let openSources else { return true }
        return await openSources.acquire(
            1, until: attempt.deadline?.end, sparing: attempt.isBulk, for: attempt.claim.tenant.rawValue) == .granted
    }

    /// Carries a claimed job out and records what it came to.
    ///
    /// - Throws: ``ClaimError/lost`` when another worker has the job or it was cancelled; an ``AttachmentError`` when
    ///   the store failed, in which case the job was handed back, pending; where there are lanes, ``NeedsExpensiveLane`` when it
    ///   belongs to the expensive one: it is still claimed.
    public func run(_ claim: Claim) async throws -> JobRecord {
        publish(.started(attempt: claim.attempt), of: claim)
        do {
            let outcomes = try await whileHolding(claim) { try await attempt(claim) }
            let record = try await deliver(outcomes, under: claim)
            publish(.finished(record.state), of: claim)
            return record
        } catch let error as AttachmentError {
            // With a pause it is another attempt, whose time goes on; without one, the same made up for. A node without room
            // claims nothing itself: others may have the job at once.
            let pause = configuration.storePause
            let longest = error.code == .storeFull ? .zero : pause * min(claim.attempt, Self.longestPause)
            await handBack(claim, after: longest * Double.random(in: 0...1), countsAttempt: pause > .zero)
            throw error
        } catch is CancellationError {
            await handBack(claim, after: .zero, countsAttempt: false)
            throw CancellationError()
        }
    }

    /// Without a heartbeat beside it: one between a commit and its answer would find the claim gone, and take who has just delivered
    /// for one who may not. Two thirds of the claim's time are left at least.
    private func deliver(_ outcomes: [AttachmentOutcome], under claim: Claim) async throws -> JobRecord {
        do {
            return try await commitTime.measure {
                try await records.deliver(outcomes, under: claim)
            }
        } catch {
            await abandon(outcomes.flatMap(\.blobs))
            throw error
        }
    }

    /// After so many attempts ``Configuration/storePause`` grows no more.
    private static let longestPause = 6

    /// Makes a job pending again. If that fails too, its claim runs out or its worker's end is noticed.
    private func handBack(_ claim: Claim, after pause: Duration, countsAttempt: Bool) async {
        // In a task of its own: the current one may be cancelled, and the store would refuse its writes.
        let isPending = await Task {
            do {
                try await records.release(claim, after: pause, countsAttempt: countsAttempt)
                return true
            } catch {
                return false
            }
        }.value
        if isPending { publish(.postponed, of: claim) }
    }

    /// Gives up blobs that were committed and won't be recorded. If that fails, a sweep removes them.
    func abandon(_ names: [BlobName]) async {
        guard !names.isEmpty else { return }
        // In a task of its own, as above, whose time isn't up.
        await Task.detached { _ = try? await records.discard(names) }.value
    }

    /// All attachments of a job side by side; the thumbnail of each is the first thing its codec makes.
    private func attempt(_ claim: Claim) async throws -> [AttachmentOutcome] {
        let deadline = try await budget(of: claim)
        let scratch = ScratchNeed()
        return try await withThrowingTaskGroup(of: (Int, AttachmentOutcome).self) { group in
            for (index, submission) in claim.submission.attachments.enumerated() {
                group.addTask {
                    try await StoreTime.$current.withValue(deadline?.store) {
                        var attempt = AttachmentAttempt(
                            id: claim.attachments[index], submission: submission, claim: claim, deadline: deadline,
                            scratch: scratch, pipeline: self, facts: SourceFacts(submission))
                        return (index, try await attempt.outcome())
                    }
                }
            }
            var outcomes: [(Int, AttachmentOutcome)] = []
            var failure: (any Error)?
            while let result = await group.nextResult() {
                switch result {
                case .success(let outcome): outcomes.append(outcome)
                case .failure(let error):
                    // The first is the reason; the others end because of it.
                    failure = failure ?? error
                    group.cancelAll()
                }
            }
            if let failure {
                await abandon(outcomes.flatMap(\.1.blobs))
                throw failure
            }
            return outcomes.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    /// The moment at which new work stops: the job's deadline less the time that a commit takes. After an interruption
    /// the attempt gets a fresh budget.
    private func budget(of claim: Claim) async throws -> Budget? {
        guard let seconds = claim.submission.deadline else { return nil }
        let whole = Duration.seconds(fraction: seconds)
        var left = whole
        if let deadline = claim.deadlineAt, !claim.isLate { left = deadline - (try await records.now()) }
        return Budget(left: left - commitTime.estimate, seconds: seconds)
    }

    /// Runs `body` with the claim's heart beating; its cancellation when the claim is lost.
    private func whileHolding<Value: Sendable>(
        _ claim: Claim, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                while !Task.isCancelled {
                    try await Task.sleep(for: configuration.claimDuration / 3)
                    do {
                        _ = try await records.heartbeat(claim, for: configuration.claimDuration)
                    } catch is AttachmentError {
                        // The claim outlasts a short outage: the next beat tells more.
                    }
                }
                return nil
            }
            defer { group.cancelAll() }
            while let value = try await group.next() {
                if let value { return value }
            }
            throw CancellationError()
        }
    }
}

/// The time that one source has.
struct Budget: Sendable {
    /// New work stops.
    var end: ContinuousClock.Instant
    /// No source is worth opening later. What was made in time is, somewhat late, worth keeping.
    var store: StoreTime { StoreTime(reading: end, writing: end + Self.storeGrace) }
    /// For a slow answer, and a second try.
    private static let storeGrace: Duration = .seconds(5)
    /// A codec should be done by itself, before it is killed at the end: what it stops by itself is more than what is left
    /// of it then.
    var finish: ContinuousClock.Instant
    /// As it was asked for, for the error.
    var seconds: Double

    /// - Parameter left: Until the end, from now on.
    init(left: Duration, seconds: Double) {
        end = .now + left
        // A codec looks at the time every few milliseconds, and then has a message to send.
        finish = end - min(max(left / 20, .milliseconds(5)), .milliseconds(100))
        self.seconds = seconds
    }
}

/// Bytes of scratch that the sources of one job take, or would take.
final class ScratchNeed: Sendable {
    private let bytes = Mutex<[AttachmentID: Int64]>([:])

    var total: Int64 { bytes.withLock { $0.values.reduce(0, +) } }

    func note(_ needed: Int64, for attachment: AttachmentID) {
        bytes.withLock { $0[attachment] = needed }
    }
}
