public import Attachments

/// Carries out the service's jobs, in a lane for quick and a lane for expensive ones, until it is cancelled.
public final class JobService: Sendable {
    /// How much is done at once.
    public struct Widths: Hashable, Sendable {
        /// Jobs underway in the quick lane.
        public var quick: Int
        /// Jobs underway in the expensive lane.
        public var expensive: Int

        public init(quick: Int, expensive: Int) {
            self.quick = quick
            self.expensive = expensive
        }
    }

    public let events: JobEvents
    private let records: any ServiceRecords
    private let pipeline: Pipeline
    private let worker: WorkerID
    private let widths: Widths
    private let supplies: [JobLane: JobSupply] = [.quick: JobSupply(), .expensive: JobSupply()]

    /// - Parameter pipeline: Its events should go to `events`.
    public init(
        records: any ServiceRecords, pipeline: Pipeline, events: JobEvents, worker: WorkerID, widths: Widths
    ) {
        self.records = records
        self.pipeline = pipeline
        self.events = events
        self.worker = worker
        self.widths = widths
    }

    /// Jobs were submitted, here or by another process: looks for them at once.
    public func submitted() {
        for supply in supplies.values { supply.added() }
    }

    /// No more jobs are claimed; ``run()`` returns when those underway are finished.
    public func drain() {
        for supply in supplies.values { supply.stop() }
    }

    /// A job was cancelled or deleted: what is underway for it ends now, not at its next heartbeat.
    public func cancelled(_ job: JobID, of tenant: TenantID) {}

    /// Works until it is drained, or the task is cancelled; what is underway then is handed back.
    ///
    /// - Throws: What stopped it: a failing store, or the cancellation.
    public func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (lane, width) in [(JobLane.quick, widths.quick), (.expensive, widths.expensive)] {
                guard let supply = supplies[lane] else { continue }
                let runner = JobRunner(
                    records: records, pipeline: pipeline, queue: .service(lane), worker: worker, width: width)
                group.addTask { try await runner.run(supply: supply) { _ in } }
            }
            try await group.waitForAll()
        }
    }
}
