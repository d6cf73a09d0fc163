import SatchelCore
import Foundation
import Synchronization

/// State shared by the submitting and the processing part of a batch.
final class BatchProgress: Sendable {
    /// A submitted, unfinished file.
    struct Pending: Sendable {
        var location: SourceLocation
        var shown: Data
    }

    private struct State {
        var pending: [JobID: Pending] = [:]
        var early: [JobID: JobRecord] = [:]
        /// Jobs that another run is processing, by the id under which they were submitted here.
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

    /// Counts a file ahead of its submission.
    func counted() {
        state.withLock { $0.counted += 1 }
    }

    /// Notes that all files have been found or counted.
    func foundAll() {
        state.withLock { $0.isComplete = true }
    }

    /// Registers the file of a job. Call it before the job can be claimed.
    func submitted(_ job: JobID, _ pending: Pending) {
        state.withLock { $0.pending[job] = pending }
    }

    /// Returns the file of a finished job; `nil` if the job's adoption has not been noted yet.
    func finished(_ job: JobRecord) -> Pending? {
        state.withLock { state in
            if let pending = state.pending.removeValue(forKey: job.id) { return pending }
            state.early[job.id] = job
            return nil
        }
    }

    /// Returns the file of a job that will not run.
    func withdrawn(_ job: JobID) -> Pending? {
        state.withLock { $0.pending.removeValue(forKey: job) }
    }

    /// Assigns the file of `job` to `older`, an unfinished job of an earlier run.
    ///
    /// - Returns: The file and the record if `older` has already finished.
    func adopted(_ older: JobID, for job: JobID) -> (Pending, JobRecord)? {
        state.withLock { state in
            guard let pending = state.pending.removeValue(forKey: job) else { return nil }
            if let record = state.early.removeValue(forKey: older) { return (pending, record) }
            state.pending[older] = pending
            return nil
        }
    }

    /// Notes that another active run is processing the file of `job`.
    func leave(_ job: JobSubmission) {
        state.withLock { $0.elsewhere[job.id] = job }
    }

    /// Notes that the other run has finished the job, or that it belongs to this run now.
    ///
    /// - Returns: Whether another run was processing it.
    @discardableResult
    func takeBack(_ job: JobID) -> Bool {
        state.withLock { $0.elsewhere.removeValue(forKey: job) != nil }
    }

    /// Notes that nothing more will be submitted.
    func submittedAll() {
        state.withLock { $0.isSubmitted = true }
    }

    /// Returns the jobs that other runs are processing; `nil` if there are none and none can follow.
    func elsewhere() -> [(job: JobSubmission, pending: Pending)]? {
        state.withLock { state in
            if state.elsewhere.isEmpty && state.isSubmitted { return nil }
            return state.elsewhere.values.compactMap { job in state.pending[job.id].map { (job, $0) } }
        }
    }

    /// Counts and writes the line of a file.
    func add(_ line: ResultLine) throws {
        state.withLock { $0.summary.add(line) }
        try write(line)
    }

    var summary: Summary { state.withLock { $0.summary } }

    /// Returns the progress at `time`.
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
