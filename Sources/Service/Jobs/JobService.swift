public import SatchelCore
public import Stores
import CodecPool
public import Ingest
import Platform
import Synchronization

/// Carries out the service's jobs, lane by lane, until it is cancelled or drained.
///
/// Several processes may serve the same store: jobs that others add or hand back are found as soon as the store's
/// ``QueuePace`` says, at the latest.
public final class JobService: Sendable {
    /// How much is done at once. Of each number a quarter is kept for interactive jobs.
    public struct Concurrency: Hashable, Sendable {
        /// Jobs underway in the quick lane whose sources are here.
        public var quick: Int
        /// Jobs underway of one tenant in the expensive lane: enough that the next one's source is there when a codec is
        /// free.
        public var expensive: Int
        /// Jobs underway with a source to fetch. They may wait for their origins for long, and take no
        /// place from the others meanwhile; each costs some kilobytes and a heartbeat.
        public var fetching: Int
        /// Sources that are fetched at once.
        public var fetches: FetchConcurrency

        /// - Parameter fetching: Eight times as many as in the quick lane, where it is left out.
        public init(quick: Int, expensive: Int, fetching: Int? = nil, fetches: FetchConcurrency = FetchConcurrency()) {
            self.quick = max(1, quick)
            self.expensive = max(1, expensive)
            self.fetching = max(1, fetching ?? self.quick * 8)
            self.fetches = fetches
        }

        func places(in lane: JobLane) -> Int {
            switch lane {
            case .quick: quick
            case .fetch: fetching
            // Where an origin lets the second fetch of a costly source wait, others don't.
            case .expensive: expensive * 4
            }
        }

        /// Of the places in a lane, those that one tenant may have, where a job may wait for its origin: others find some
        /// although nothing comes from that. Nil where nothing is waited for.
        func share(in lane: JobLane) -> Int? { lane == .quick ? nil : max(1, places(in: lane) / 4) }

        /// For a pool of so many codecs.
        public init(codecs: Int) {
            self.init(quick: max(64, codecs * 8), expensive: max(8, codecs * 2))
        }
    }

    /// Processor seconds, by the codec's estimate, from which a source goes to the expensive lane.
    ///
    /// The largest photograph of a phone (48 megapixels of HEIC) is estimated at 2.2 s and a clip of 10 s in 720p at 5.4 s
    /// (in 4K at 24 s): between them is where holding a place begins to hurt whoever waits behind.
    public static let costlyFrom: Double = 2.5

    public let events: JobEvents
    private let records: RecordStore
    private let pipeline: Pipeline
    private let worker: WorkerID
    private let concurrency: Concurrency
    private let workers: [JobLane: JobWorker]
    private let finished: (@Sendable (JobReport) -> Void)?
    private let underway = RunningJobs()
    private let store: StoreHealth
    /// Wakes whoever ends pending jobs at their deadlines.
    private let deadlines = AsyncSignal()
    /// Nil where whoever waits looks for himself.
    private let ends: EndWatch?
    private let due = Mutex<(@Sendable () -> Void)?>(nil)

    /// Between two looks at a record that somebody waits for, where nothing happens here: what another process did.
    private static let interval: Duration = .seconds(1)
    /// The longest pause of a job after the store failed it once.
    private static let pause: Duration = .seconds(5)
    /// How long a job without a deadline waits for the store.
    private static let storePatience: Duration = .seconds(6 * 3600)
    /// Pending jobs that are ended in one transaction.
    private static let endedAtOnce = 100

    /// - Parameters:
    ///   - pipeline: Does the work; it is given the lanes, the events and what is shared.
    ///   - sharing: How long identical work serves others; nil: each attachment is worked on for itself.
    ///   - health: Told how the store does.
    ///   - onFinished: Told of every job that came to its end here, for the log. Must not block.
    public init(
        records: RecordStore, pipeline: Pipeline, events: JobEvents, worker: WorkerID, concurrency: Concurrency,
        sharing: RequestCoalescer.Settings? = RequestCoalescer.Settings(), costlyFrom: Double = JobService.costlyFrom,
        health: StoreHealth = StoreHealth(),
        onFinished: (@Sendable (JobReport) -> Void)? = nil
    ) {
        let pipeline = pipeline.with { configuration in
            configuration.events = events
            configuration.sharing = sharing.map(RequestCoalescer.init)
            configuration.costlyFrom = costlyFrom
            if configuration.storePause == .zero { configuration.storePause = Self.pause }
            configuration.storePatience = configuration.storePatience ?? Self.storePatience
            // A few attachments for each job, but not all ten of all of them: each holds descriptors.
            configuration.sourcesAtOnce = configuration.sourcesAtOnce ?? (concurrency.quick + concurrency.expensive) * 2
            configuration.fetchConcurrency = configuration.fetchConcurrency ?? concurrency.fetches
        }
        self.records = records
        self.pipeline = pipeline
        self.events = events
        self.worker = worker
        self.concurrency = concurrency
        finished = onFinished
        store = health
        let (underway, store) = (underway, health)
        let workers = JobLane.allCases.map { lane in
            let worker = JobWorker(
                records: records, pipeline: pipeline, id: worker, source: .lane(lane), running: underway, health: store
            ) { store.takesJobs ? $0.capacity(in: lane, of: concurrency) : ClaimCapacity(0) }
            return (lane, worker)
        }
        self.workers = Dictionary(uniqueKeysWithValues: workers)
        ends = records.pace.ends.map { EndWatch(records: records, events: events, every: $0) }
        if let ends { events.whenWatched { [weak ends] in ends?.begin() } }
        records.listen { [weak self] event in
            switch event {
            case .work: self?.submitted()
            case .ended: self?.ends?.look()
            case .due: self?.due.withLock(\.self)?()
            }
        }
    }

    // MARK: Asking

    /// Submits a job. Where a place is free and no other job comes first, it is begun at once, without a look at the queue.
    ///
    /// - Parameter options: Without an offer, which is made here.
    /// - Throws: As ``RecordStore/submit(_:_:)``.
    public func submit(
        _ job: JobSubmission, _ options: SubmissionOptions
    ) async throws(AttachmentError) -> SubmissionAnswer {
        let kind = RunningJobs.Kind(lane: job.lane, priority: job.priority)
        let hasPlace =
            store.takesJobs && workers[job.lane]?.isWorking ?? false
            && underway.keepPlace(kind, for: job.tenant, of: concurrency)
        defer { if hasPlace { underway.giveBackPlace(kind, of: job.tenant) } }
        var options = options
        if hasPlace {
            options.offer = ClaimOffer(worker: worker, duration: pipeline.configuration.claimDuration)
        }
        let answer = try await records.submit(job, options)
        switch answer {
        case .conflict, .unchanged: break
        case .accepted(let record), .adopted(let record):
            publishAccepted(record)
            submitted()
            // Sooner than the next look at deadlines.
            if let end = record.deadlineAt, end < records.time + Self.interval { deadlines.give() }
        case .claimed(let record, let claim):
            publishAccepted(record)
            await begin(claim)
        }
        return answer
    }

    /// A job was recorded together with what it is made of: it is told of and begun.
    public func accepted(_ job: JobRecord) {
        publishAccepted(job)
        submitted()
        if job.deadlineAt != nil { deadlines.give() }
    }

    private func publishAccepted(_ job: JobRecord) {
        events.publish(JobEvent(tenant: job.tenant, job: job.id, generation: job.generation, what: .accepted))
    }

    /// Starts to carry out a job that was claimed as it was submitted.
    private func begin(_ claim: Claim) async {
        if workers[claim.lane]?.begin(claim) ?? false { return }
        // Drained meanwhile. If this fails too, the end of this worker is noticed.
        try? await records.release(claim, after: .zero, countsAttempt: false)
    }

    /// A job is tried again: its followers are told, and it is looked for at once.
    public func retried(_ job: JobRecord) {
        publishAccepted(job)
        submitted()
    }

    /// Jobs were submitted, here or by another process: looks for them at once.
    public func submitted() {
        for worker in workers.values { worker.added() }
    }

    /// Has `heed` called where another process put a notification that is due soon: one process hears for all that works in it.
    func whenDue(_ heed: @escaping @Sendable () -> Void) {
        due.withLock { $0 = heed }
    }

    /// A job was cancelled: what is underway for it ends now, not at its next heartbeat, and its followers and the log
    /// are told.
    public func cancelled(_ job: JobRecord) {
        underway.stop(job.id, of: job.tenant)
        events.publish(
            JobEvent(tenant: job.tenant, job: job.id, generation: job.generation, what: .finished(.cancelled)))
        let report = JobReport(job)
        report.count(steps: [])
        finished?(report)
    }

    /// A job was deleted: another may come under its id.
    public func deleted(_ job: JobID, of tenant: TenantID) {
        events.forget(job, of: tenant)
    }

    /// Waits for a job to come to its end, wherever it is carried out: at once by what is told here, and within a second
    /// where another process has it.
    ///
    /// - Parameter known: The record as it was read a moment before, which then isn't read again.
    /// - Returns: The record as it is then, or as it is when the time is up or the task is cancelled; nil where the
    ///   tenant has no such job.
    public func finished(
        _ job: JobID, of tenant: TenantID, within limit: Duration, known: JobRecord? = nil
    ) async throws(AttachmentError) -> JobRecord? {
        let end = ContinuousClock.now + limit
        var latest = known
        while true {
            if latest == nil { latest = try await records.job(job, of: tenant) }
            guard let record = latest else { return nil }
            latest = nil
            let left = end - .now
            if record.state.isFinished || left <= .zero || Task.isCancelled { return record }
            let wasTold = await events.waitForEnd(
                of: job, generation: record.generation, tenant: tenant, within: min(left, Self.interval))
            if wasTold {
                guard let record = try await records.job(job, of: tenant) else { return nil }
                if record.state.isFinished { return record }
                // Deleted and submitted anew by another process, which nobody told here.
                try? await Task.sleep(for: min(max(end - .now, .zero), Self.interval))
            }
        }
    }

    // MARK: Working

    /// Works until it is drained and what was underway has finished, or until the task is cancelled: then what is underway
    /// is handed back. A failing store doesn't end it.
    ///
    /// - Throws: The cancellation.
    public func run() async throws {
        await withTaskGroup(of: Void.self) { group in
            let ticking = Task {
                while !Task.isCancelled {
                    tellPlaces()
                    try? await Task.sleep(for: Self.interval)
                }
            }
            let looking = Task {
                while !Task.isCancelled {
                    try? await Task.sleep(for: records.pace.work)
                    submitted()
                }
            }
            let ending = Task { await self.endAtDeadlines() }
            for worker in workers.values {
                group.addTask {
                    // What it throws is the cancellation, which is looked at below.
                    try? await worker.run { result, job in
                        await self.settle(result, of: job.claim, claimedAt: job.claimedAt)
                    }
                }
            }
            await group.waitForAll()
            ticking.cancel()
            looking.cancel()
            ending.cancel()
        }
        try Task.checkCancellation()
    }

    /// No more jobs are claimed; ``run()`` returns when those underway are finished.
    public func drain() {
        for worker in workers.values { worker.stop() }
    }

    /// Takes no more jobs, lets those underway finish for so long, then hands back the rest, so that ``run()`` returns.
    public func drain(within grace: Duration) async {
        drain()
        let end = ContinuousClock.now + grace
        while !underway.isEmpty, .now < end, !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(20))
        }
        underway.stopAll()
    }

    /// Ends pending jobs as their deadlines pass, so that whoever waits for one has its answer in time although nobody
    /// had a place for it.
    private func endAtDeadlines() async {
        while !Task.isCancelled {
            var pause = Self.interval
            do throws(AttachmentError) {
                let overdue = try await records.endOverdue(Self.endedAtOnce)
                for job in overdue.ended { ended(job) }
                if let next = overdue.next { pause = min(pause, next) }
            } catch {
                store.failed(error)
            }
            guard pause > .zero else { continue }
            let alarm = Task { [pause] in
                do { try await Task.sleep(for: pause) } catch { return }
                deadlines.give()
            }
            await deadlines.wait()
            alarm.cancel()
        }
    }

    /// A pending job came to its deadline.
    private func ended(_ job: JobRecord) {
        events.publish(
            JobEvent(tenant: job.tenant, job: job.id, generation: job.generation, what: .finished(job.state)))
        let report = JobReport(job)
        report.count(steps: [])
        finished?(report)
    }

    /// Tells who fetches, and who has been waiting for any place for longer than between two calls.
    private func tellPlaces() {
        let now = ContinuousClock.now
        for priority in JobPriority.allCases {
            let isBulk = priority == .bulk
            if let fetches = pipeline.fetches {
                for (state, count) in [
                    ("used", fetches.used(bulk: isBulk)), ("waiting", fetches.waiting(bulk: isBulk)),
                ] {
                    JobMetrics.gauge("fetch_places", Int64(count), [("state", state), ("priority", priority.rawValue)])
                }
            }
            let waits = [
                "fetch": pipeline.fetches?.waitingSince(bulk: isBulk),
                "work": pipeline.openSources?.waitingSince(patiently: isBulk),
                "codec": pipeline.codecs.waitingSince(patiently: isBulk),
            ]
            for (place, since) in waits {
                let isStarved = since.map { now - $0 > Self.interval } ?? false
                JobMetrics.count(
                    "starved_seconds_total", [("place", place), ("priority", priority.rawValue)],
                    by: isStarved ? 1 : 0)
            }
        }
    }

    /// What is to do after an attempt at a job.
    private func settle(_ result: Result<JobRecord, any Error>, of claim: Claim, claimedAt: Instant) async {
        switch result {
        case .success(let record):
            store.works()
            let report = JobReport(record, claim, claimedAt: claimedAt)
            report.count(steps: record.attachments.flatMap(\.steps))
            finished?(report)
        case .failure(is NeedsExpensiveLane):
            await move(claim)
        case .failure(is ClaimError):
            // Another worker tells how it goes on, unless there is none.
            let record = try? await records.job(claim.job, of: claim.tenant)
            guard let record, record.generation == claim.generation, record.state.isFinished else { return }
            pipeline.publish(.finished(record.state), of: claim)
        case .failure(let error as AttachmentError):
            if let pause = store.failed(error) {
                Task { [weak self] in
                    try? await Task.sleep(for: pause)
                    self?.submitted()
                }
            }
            JobMetrics.count("jobs_postponed_total", [("reason", "store")])
        case .failure:
            JobMetrics.count("jobs_postponed_total", [("reason", "stopped")])
        }
    }

    /// Hands a job that is too costly for the quick lane to the other.
    private func move(_ claim: Claim) async {
        do {
            try await records.move(claim, to: .expensive)
        } catch {
            // Lost, or the store fails: the claim runs out, and whoever has it next finds the same.
            if let error = error as? AttachmentError { store.failed(error) }
            return
        }
        JobMetrics.count("jobs_postponed_total", [("reason", "expensive")])
        pipeline.publish(.postponed, of: claim)
        workers[.expensive]?.added()
    }
}
