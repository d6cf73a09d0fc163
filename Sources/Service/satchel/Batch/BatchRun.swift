import SatchelCore
import Foundation
import Glibc
import Ingest
import Jobs
import Platform
import Stores

/// One run over many files. It submits them, processes the jobs, and returns a line for each.
struct BatchRun: Sendable {
    let context: ProcessingContext
    let profile: Profile
    let mirror: Mirror?
    let retrying: FailureRetry
    let removesSources: Bool
    let maximumFailures: Int?
    /// The number of jobs to run at once.
    let width: Int

    /// The number of files submitted in one transaction.
    private static let group = 32
    /// The maximum number of unfinished files: enough to keep the codecs busy, without using much memory.
    private static let ahead = 256
    /// The time between two checks of the jobs of other runs.
    private static let pause: Duration = .milliseconds(200)

    /// - Parameter write: Called with the line of each file, also concurrently.
    /// - Returns: Also what was done before the task was cancelled, after which unfinished jobs are pending again.
    /// - Throws: ``AttachmentError`` if the store fails.
    func process(
        _ files: any SourceSupply, showsProgress: Bool, write: @escaping @Sendable (ResultLine) throws -> Void
    ) async throws -> Summary {
        let run = RunID.generate()
        try await context.store.records.announce(run)
        let progress = BatchProgress(write)
        let room = AsyncSemaphore(capacity: Int64(Self.ahead))
        let worker = JobWorker(
            records: context.store.records, pipeline: context.pipeline, id: context.worker, source: .run(run),
            width: width)
        let submitting = Task {
            defer { worker.close() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await submit(files, run: run, to: worker, progress, room)
                    progress.submittedAll()
                }
                group.addTask { try await follow(worker, progress, room) }
                // Awaits each task, so that an error of one ends the other.
                while try await group.next() != nil {}
            }
        }
        // A progress bar needs the number of files in advance.
        let counting = Task {
            guard showsProgress && Console.showsProgress else { return }
            try await files.forEach { _ in
                progress.counted()
                await Task.yield()
            }
            progress.foundAll()
        }
        if showsProgress {
            Console.beginProgress { width in
                Interruption.wasAsked
                    ? Interruption.stopping.shortened(to: width) : progress.line(at: .now).text(in: width)
            }
        }
        defer {
            submitting.cancel()
            counting.cancel()
            Console.endProgress()
        }
        do {
            try await worker.run { job in
                if let file = progress.finished(job) {
                    try await finish(job, file, isUnchanged: false, progress)
                    room.release(1)
                }
                if let maximumFailures, progress.summary.failedNow >= maximumFailures { throw TooManyFailures() }
            }
            try await submitting.value
        } catch is TooManyFailures {
        } catch  where Task.isCancelled {
            // Unfinished jobs are pending again. The caller tells what was done.
        }
        return progress.summary
    }

    private struct TooManyFailures: Error {}

    // MARK: Submitting

    private func submit(
        _ files: any SourceSupply, run: RunID, to worker: JobWorker, _ progress: BatchProgress, _ room: AsyncSemaphore
    ) async throws {
        let digest = try profile.digest
        var group: [(JobSubmission, BatchProgress.Pending)] = []
        try await files.forEach { entry in
            progress.found(1)
            switch entry {
            case .refused(let line):
                try progress.add(line)
            case .source(let file):
                _ = await room.acquire(1, until: nil)
                let job = file.job(under: profile, digest, run: run)
                group.append((job, BatchProgress.Pending(location: file.location, shown: file.shown)))
                if group.count == Self.group {
                    try await accept(group, retrying, worker, progress, room)
                    group = []
                }
            }
        }
        if !group.isEmpty { try await accept(group, retrying, worker, progress, room) }
        progress.foundAll()
    }

    /// Waits for files that other runs are processing, so that each has a line here too, and takes over the jobs of runs that
    /// end early.
    private func follow(_ worker: JobWorker, _ progress: BatchProgress, _ room: AsyncSemaphore) async throws {
        while let group = progress.elsewhere() {
            // A failure of another run just now is not retried.
            if !group.isEmpty { try await accept(group, .none, worker, progress, room) }
            // Without such files the store is not asked, and the run ends without delay.
            try await Task.sleep(for: group.isEmpty ? Self.pause / 10 : Self.pause)
        }
    }

    private func accept(
        _ group: [(job: JobSubmission, pending: BatchProgress.Pending)], _ retrying: FailureRetry, _ worker: JobWorker,
        _ progress: BatchProgress, _ room: AsyncSemaphore
    ) async throws {
        // Registers files before submitting, because the worker may finish a job before this returns. Jobs of earlier runs
        // and retried jobs have other ids, which are known only afterwards.
        for (job, pending) in group { progress.submitted(job.id, pending) }
        let answers = try await context.store.records.submit(
            group.map(\.job), SubmissionOptions(retriesFailed: retrying == .all))
        var isAdded = false
        var again: [(job: JobSubmission, pending: BatchProgress.Pending)] = []
        for (answer, (job, pending)) in zip(answers, group) {
            switch answer {
            case .accepted(let record) where record.id == job.id:
                isAdded = true
                progress.takeBack(job.id)
            case .accepted(let record), .adopted(let record):
                isAdded = true
                progress.takeBack(job.id)
                guard let (file, ended) = progress.adopted(record.id, for: job.id) else { continue }
                try await finish(ended, file, isUnchanged: false, progress)
                room.release(1)
            case .claimed, .conflict:
                preconditionFailure("a run offers no worker and has no idempotency key")
            case .unchanged(let record) where !record.state.isFinished:
                progress.leave(job)
            case .unchanged(let record) where retrying.includes(record):
                again.append((job, pending))
            case .unchanged(let record):
                // A file that this run waited for was not done by an earlier run.
                let wasElsewhere = progress.takeBack(job.id)
                guard let file = progress.withdrawn(job.id) else { continue }
                try await finish(record, file, isUnchanged: !wasElsewhere, progress)
                room.release(1)
            }
        }
        if isAdded { worker.added() }
        if !again.isEmpty { try await accept(again, .all, worker, progress, room) }
    }

    // MARK: Finishing

    private func finish(
        _ job: JobRecord, _ file: BatchProgress.Pending, isUnchanged: Bool, _ progress: BatchProgress
    ) async throws {
        guard let attachment = job.attachments.first else { return }
        var line = ResultLine(path: file.shown, record: attachment, attempt: job.attempt, isUnchanged: isUnchanged)
        if let mirror, attachment.state == .delivered {
            let written = try await mirror.write(
                attachment.renditions, of: attachment.id, at: file.shown, isNew: !isUnchanged,
                from: context.store.records)
            line.files = written.files
            if let failure = written.failure { line.fail(failure) }
        }
        // Also removes sources that an interrupted run had recorded but not removed. If the output failed, the source stays
        // for the next run.
        if removesSources && line.error == nil && attachment.renditions[.original] != nil,
            let failure = Self.removal(of: file.location)
        {
            line.fail(failure)
        }
        try progress.add(line)
    }

    /// Removes a source whose original is stored, unless it has changed.
    ///
    /// - Returns: The error if the source could not be removed.
    private static func removal(of location: SourceLocation) -> LineError? {
        guard case .file(let root, let path, let state) = location else { return nil }
        do throws(AttachmentError) {
            try SourceRoot(root).remove(path, in: state)
            return nil
        } catch {
            let reason = if case .invalidSource(let reason) = error { reason } else { error.message }
            return LineError(
                .removalFailed,
                message:
                    "The original is stored, but the source could not be deleted: \(reason). Delete it, or fix the problem and run the command again."
            )
        }
    }
}
