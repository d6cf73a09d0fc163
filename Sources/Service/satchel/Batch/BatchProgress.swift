import SatchelCore
import Foundation
import Synchronization

/// What the submitting and the running half of a batch share.
final class BatchProgress: Sendable {
    /// A file that was submitted and is not finished.
    struct Pending: Sendable {
        var location: SourceLocation
        var shown: Data
    }

    private struct State {
        var pending: [JobID: Pending] = [:]
        var early: [JobID: JobRecord] = [:]
        /// What another run has in hand, under the id with which it was submitted here.
        var elsewhere: [JobID: JobSubmission] = [:]
        var isSubmitted = false
        var found = 0
        var counted = 0
        var isComplete = false
        var summary = Summary()
        var pace = Pace()
    }

    private let state = Mutex(State())
    private let write: @Sendable (ResultLine) throws -> Void

    /// - Parameter write: Called with each file's line.
    init(_ write: @escaping @Sendable (ResultLine) throws -> Void) {
        self.write = write
    }

    func found(_ count: Int) {
        state.withLock { $0.found += count }
    }

    /// A file that is only counted, ahead of its submission.
    func counted() {
        state.withLock { $0.counted += 1 }
    }

    /// Every file has been found or counted.
    func foundAll() {
        state.withLock { $0.isComplete = true }
    }

    /// Must come before the job can be claimed by anyone.
    func submitted(_ job: JobID, _ pending: Pending) {
        state.withLock { $0.pending[job] = pending }
    }

    /// The file of a job that has ended; nil where the run doesn't know yet that it has adopted the job.
    func finished(_ job: JobRecord) -> Pending? {
        state.withLock { state in
            if let pending = state.pending.removeValue(forKey: job.id) { return pending }
            state.early[job.id] = job
            return nil
        }
    }

    /// The file of a job that is not going to run.
    func withdrawn(_ job: JobID) -> Pending? {
        state.withLock { $0.pending.removeValue(forKey: job) }
    }

    /// The file of `job` belongs to `older`, which an earlier run left.
    ///
    /// - Returns: The file and the record, where `older` has already ended.
    func adopted(_ older: JobID, for job: JobID) -> (Pending, JobRecord)? {
        state.withLock { state in
            guard let pending = state.pending.removeValue(forKey: job) else { return nil }
            if let record = state.early.removeValue(forKey: older) { return (pending, record) }
            state.pending[older] = pending
            return nil
        }
    }

    /// Another run that lives has the work of `job` in hand.
    func leave(_ job: JobSubmission) {
        state.withLock { $0.elsewhere[job.id] = job }
    }

    /// It came to an end there, or it is this run's now.
    ///
    /// - Returns: Whether it was elsewhere.
    @discardableResult
    func takeBack(_ job: JobID) -> Bool {
        state.withLock { $0.elsewhere.removeValue(forKey: job) != nil }
    }

    /// Nothing more will be submitted.
    func submittedAll() {
        state.withLock { $0.isSubmitted = true }
    }

    /// What other runs have in hand, each with its file; nil when there is nothing and nothing will come.
    func elsewhere() -> [(job: JobSubmission, pending: Pending)]? {
        state.withLock { state in
            if state.elsewhere.isEmpty && state.isSubmitted { return nil }
            return state.elsewhere.values.compactMap { job in state.pending[job.id].map { (job, $0) } }
        }
    }

    /// Counts a file's line and writes it.
    func add(_ line: ResultLine) throws {
        state.withLock { $0.summary.add(line) }
        try write(line)
    }

    var summary: Summary { state.withLock { $0.summary } }

    /// How far the run is at `time`.
    func line(at time: ContinuousClock.Instant) -> ProgressLine {
        state.withLock { state in
            let done = state.summary.total
            state.pace.note(done, at: time)
            return ProgressLine(
                done: done, found: max(state.found, state.counted), isComplete: state.isComplete,
                failed: state.summary.failed, pace: state.pace.perSecond)
        }
    }
}
