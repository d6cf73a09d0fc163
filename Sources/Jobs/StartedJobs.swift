import Attachments
import Synchronization

/// Jobs that were begun as they were submitted, until the loop of their lane attends to their end.
final class StartedJobs: Sendable {
    struct Job: Sendable {
        /// Of ``RunningJobs``.
        var number: Int
        var claim: Claim
        var claimedAt: Instant
    }

    /// None of a lane before the first of it and after the last is attended to.
    private let jobs = Mutex<[JobLane: [Job]]>([:])

    func isOpen(_ lane: JobLane) -> Bool { jobs.withLock { $0[lane] != nil } }

    /// Somebody will attend to what is begun in a lane, until ``close(_:)``.
    func open(_ lane: JobLane) {
        jobs.withLock { $0[lane, default: []] += [] }
    }

    /// Begins with a job; false, and nothing is begun, where nobody would attend to it.
    func add(in lane: JobLane, _ begin: () -> Job) -> Bool {
        jobs.withLock { jobs in
            guard jobs[lane] != nil else { return false }
            jobs[lane]?.append(begin())
            return true
        }
    }

    /// Those of a lane that nobody attends to yet.
    func take(_ lane: JobLane) -> [Job] {
        jobs.withLock { jobs in
            guard let taken = jobs[lane] else { return [] }
            jobs[lane] = []
            return taken
        }
    }

    /// The last of a lane; no more are begun there.
    func close(_ lane: JobLane) -> [Job] {
        jobs.withLock { $0.removeValue(forKey: lane) ?? [] }
    }
}
