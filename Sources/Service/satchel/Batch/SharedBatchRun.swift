import SatchelCore
import Foundation
import Jobs
import Stores
import Synchronization

/// One machine's part of a run that several machines share. All process jobs, and the current leader lists the sources. The
/// records have all results, so that each machine can summarize the whole run.
struct SharedBatchRun: Sendable {
    let context: ProcessingContext
    let runs: SharedRuns
    let profile: Profile
    let mirror: Mirror?
    let retrying: FailureRetry
    /// The number of jobs to run at once on this machine.
    let width: Int
    let write: @Sendable (ResultLine) throws -> Void
    let health = StoreHealth { error in
        Console.printError("Warning: the run waits for an outage to end. \(error.message)")
    }

    /// The time between two checks of the run's progress.
    private static let pause: Duration = .milliseconds(250)
    /// The time between two attempts during an outage.
    private static let outagePause: Duration = .seconds(1)

    /// The state of the run on this machine.
    private final class Progress: Sendable {
        private struct State {
            var run: SharedRun
            var failed = 0
            var unwritten = RunCounts.Unwritten()
            var pace = Pace()
        }

        private let state: Mutex<State>

        init(_ run: SharedRun) {
            state = Mutex(State(run: run))
        }

        var run: SharedRun {
            get { state.withLock(\.run) }
            set { state.withLock { $0.run = newValue } }
        }

        var unwritten: RunCounts.Unwritten { state.withLock(\.unwritten) }

        func add(_ line: ResultLine, isUnwritten: Bool) {
            state.withLock { state in
                if line.isFailure { state.failed += 1 }
                if isUnwritten, let error = line.error {
                    state.unwritten.add(line.shownPath, error)
                }
            }
        }

        func line(at time: ContinuousClock.Instant, isWaiting: Bool) -> ProgressLine {
            state.withLock { state in
                let done = max(0, state.run.listed - state.run.unfinished)
                state.pace.note(done, at: time)
                return ProgressLine(
                    done: done, found: state.run.listed, isComplete: state.run.isWhole, failed: state.failed,
                    isWaiting: isWaiting, pace: state.pace.perSecond)
            }
        }
    }

    /// Works until all machines are done.
    ///
    /// - Parameters:
    ///   - name: The name by which machines find the run.
    ///   - source: The description of the run, which must be the same on all machines.
    /// - Returns: The summary of the whole run.
    /// - Throws: ``CommandFailure``.
    func process(
        _ supply: any SourceSupply, as name: String, for source: String, showsProgress: Bool
    ) async throws -> Summary {
        do {
            let run = try await runs.join(name, source: source, tenant: .local)
            guard run.source == source else {
                throw CommandFailure(
                    "the run '\(name)' is in progress with other sources or options. Use the same command on each machine, or another name for a new run.",
                    status: .usage)
            }
            let progress = Progress(run)
            if showsProgress {
                Console.beginProgress { [health] width in
                    Interruption.wasAsked
                        ? Interruption.stopping.shortened(to: width)
                        : progress.line(at: .now, isWaiting: health.isFailing).text(in: width)
                }
            }
            defer { Console.endProgress() }
            do { try await work(on: supply, progress) } catch {
                // Runs in a task of its own, because the store rejects writes of a cancelled task.
                await Task { try? await runs.abandon(run.id) }.value
                guard Task.isCancelled else { throw error }
            }
            return try await Task { try await enduring { try await summary(of: run.id) } }.value
        } catch let error as AttachmentError {
            throw CommandFailure(error)
        }
    }

    private func work(on supply: any SourceSupply, _ progress: Progress) async throws {
        let run = progress.run.id
        let worker = JobWorker(
            records: context.store.records, pipeline: context.pipeline, id: context.worker, source: .run(run),
            width: width, health: health)
        context.store.records.listen { event in if event == .work { worker.added() } }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await worker.run { job in try await finish(job, progress) }
                try await enduring { try await leave(run, progress) }
            }
            group.addTask { try await watch(progress, worker) }
            group.addTask { try await lead(supply, progress) }
            // Awaits each task, so that an error of one ends the others.
            while try await group.next() != nil {}
        }
    }

    /// Follows the run to its end, and takes over jobs of machines that are gone.
    private func watch(_ progress: Progress, _ worker: JobWorker) async throws {
        while try await !enduring({ try await look(progress) }).hasEnded {
            worker.added()
            if progress.run.isDone { worker.close() }
            try await Task.sleep(for: Self.pause)
        }
        worker.close()
    }

    /// Repeats `body` while the store or a bucket can't be reached.
    private func enduring<Value>(_ body: () async throws -> Value) async throws -> Value {
        var isWaiting = false
        while true {
            do {
                let value = try await body()
                if isWaiting { health.works() }
                return value
            } catch let error as AttachmentError where error.isOfStore {
                health.failed(error)
            } catch let failure as CommandFailure where failure.status == .unavailable {
                health.failed(.storeFailed(reason: failure.sentence))
            }
            isWaiting = true
            try await Task.sleep(for: Self.outagePause)
        }
    }

    @discardableResult
    private func look(_ progress: Progress) async throws -> SharedRun {
        guard let run = try await runs.status(of: progress.run.id) else {
            throw CommandFailure("the run is no longer in the store. Run the command again to start a new one.")
        }
        progress.run = run
        return run
    }

    private func leave(_ run: RunID, _ progress: Progress) async throws {
        let unwritten = progress.unwritten
        try await runs.leave(run) { text in
            var counts = try RunCounts(text)
            counts.unwritten.add(unwritten)
            return try counts.text
        }
    }

    // MARK: Leading

    /// Does the leader's work while this machine is the leader.
    private func lead(_ supply: any SourceSupply, _ progress: Progress) async throws {
        while try await enduring({ try await takeStep(supply, progress) }) {
            try await Task.sleep(for: Self.pause)
        }
    }

    /// - Returns: `false` once the run has ended.
    private func takeStep(_ supply: any SourceSupply, _ progress: Progress) async throws -> Bool {
        let run = try await look(progress)
        if run.hasEnded { return false }
        guard try await runs.leads(run.id) else { return true }
        do {
            switch run.nextStep {
            case .list: try await list(supply, from: run.position, progress)
            case .end:
                let unwritten = run.hasLostMachines ? try await makeUp(for: run.id) : nil
                try await runs.end(run.id) { text in
                    var counts = try RunCounts(text)
                    if let unwritten { counts.unwritten = unwritten }
                    return try counts.text
                }
            case .wait: break
            }
        } catch is LostLead {}
        return true
    }

    private func list(_ supply: any SourceSupply, from position: String?, _ progress: Progress) async throws {
        let (run, digest) = (progress.run.id, try profile.digest)
        try await supply.forEachPage(from: position) { page in
            health.works()
            while try await look(progress).nextStep == .wait {
                try await Task.sleep(for: Self.pause)
                guard try await runs.leads(run) else { return false }
            }
            guard try await runs.leads(run) else { return false }
            return try await submit(page, of: run, digest)
        }
    }

    /// - Returns: `false` if another machine has become the leader.
    private func submit(_ found: FoundPage, of run: RunID, _ digest: String) async throws -> Bool {
        var sources: [FoundSource] = []
        var refused: [ResultLine] = []
        for entry in found.entries {
            switch entry {
            case .source(let source): sources.append(source)
            case .refused(let line): refused.append(line)
            }
        }
        let page = RunPage(
            start: found.start, end: found.end, isFirst: found.isFirst, isLast: found.isLast,
            listed: found.entries.count, jobs: sources.map { $0.job(under: profile, digest, run: run) })
        let (paths, refusals) = (sources.map(\.shown), refused)
        // A failure of another run while this one waited is not retried.
        var retrying = retrying
        while true {
            let answers = try await runs.submit(page, of: run, retrying: retrying) { text, answers in
                var counts = try RunCounts(text)
                for line in refusals + Self.unchanged(answers, paths) { counts.listed.add(line) }
                return try counts.text
            }
            guard let answers else { return false }
            if !answers.contains(.elsewhere) {
                for line in refusals { try write(line) }
                for (path, answer) in zip(paths, answers) {
                    guard case .earlier(let job) = answer, let attachment = job.attachments.first else { continue }
                    var line = ResultLine(path: path, record: attachment, attempt: job.attempt, isUnchanged: true)
                    try await mirror(attachment, isNew: false, into: &line)
                    try write(line)
                }
                return true
            }
            retrying = .none
            try await Task.sleep(for: Self.pause)
            guard try await runs.leads(run) else { return false }
        }
    }

    private static func unchanged(_ answers: [RunAnswer], _ paths: [Data]) -> [ResultLine] {
        zip(answers, paths).compactMap { answer, path in
            guard case .earlier(let job) = answer, let attachment = job.attachments.first else { return nil }
            return ResultLine(path: path, record: attachment, attempt: job.attempt, isUnchanged: true)
        }
    }

    /// Writes missing outputs of machines that are gone, which may have recorded a job without writing its renditions.
    ///
    /// - Returns: All outputs of the run that could not be written; `nil` without `--output`.
    private func makeUp(for run: RunID) async throws -> RunCounts.Unwritten? {
        guard mirror != nil else { return nil }
        var unwritten = RunCounts.Unwritten()
        try await forEach(of: run) { attachment in
            var line = Self.line(attachment, attempt: 1)
            guard line.error == nil else { return }
            try await mirror(attachment, isNew: false, into: &line)
            if let error = line.error { unwritten.add(line.shownPath, error) }
            // Writing may take so long that another machine becomes the leader.
            guard try await runs.leads(run) else { throw LostLead() }
        }
        return unwritten
    }

    private struct LostLead: Error {}

    // MARK: Finishing

    private func finish(_ job: JobRecord, _ progress: Progress) async throws {
        guard let attachment = job.attachments.first else { return }
        var line = Self.line(attachment, attempt: job.attempt)
        let isRecorded = line.error == nil
        try await mirror(attachment, isNew: true, into: &line)
        progress.add(line, isUnwritten: isRecorded && line.error != nil)
        try write(line)
    }

    private func mirror(_ attachment: AttachmentRecord, isNew: Bool, into line: inout ResultLine) async throws {
        guard let mirror, attachment.state == .delivered else { return }
        let written = try await enduring {
            let written = try await mirror.write(
                attachment.renditions, of: attachment.id, at: line.path, isNew: isNew, from: context.store.records)
            if let reason = written.outage { throw AttachmentError.storeFailed(reason: reason) }
            return written
        }
        line.files = written.files
        if let failure = written.failure { line.fail(failure) }
    }

    private static func line(_ attachment: AttachmentRecord, attempt: Int) -> ResultLine {
        ResultLine(
            path: Data((attachment.source.path ?? attachment.identifier).utf8), record: attachment, attempt: attempt,
            isUnchanged: false)
    }

    /// Returns the summary of all machines.
    private func summary(of run: RunID) async throws -> Summary {
        let counts = try RunCounts(try await runs.status(of: run)?.counts ?? "")
        var summary = counts.listed
        try await forEach(of: run) { summary.add(Self.line($0, attempt: 1)) }
        summary.fail(counts.unwritten)
        return summary
    }

    /// Calls `body` with each finished attachment of the run.
    private func forEach(of run: RunID, _ body: (AttachmentRecord) async throws -> Void) async throws {
        try await Page.forEach {
            try await context.store.records.attachments(
                of: .local, where: RecordFilter(run: run), after: $0, limit: FoundPage.size)
        } _: {
            if $0.state.isFinished { try await body($0) }
        }
    }
}
