import Attachments
import Synchronization

/// Jobs that were begun as they were submitted, until somebody attends to their end.
final class Begun: Sendable {
    struct Job: Sendable {
        /// Of ``Underway``.
        var number: Int
        var claim: Claim
        var claimedAt: Instant
    }

    /// Nil before the first and after the last is attended to.
    private let jobs = Mutex<[Job]?>(nil)

    var isOpen: Bool { jobs.withLock { $0 != nil } }

    /// Somebody will attend to what is begun, until ``close()``.
    func open() {
        jobs.withLock { $0 = $0 ?? [] }
    }

    /// Begins with a job; false, and nothing is begun, where nobody would attend to it.
    func add(_ begin: () -> Job) -> Bool {
        jobs.withLock { jobs in
            guard jobs != nil else { return false }
            jobs?.append(begin())
            return true
        }
    }

    /// Those that nobody attends to yet.
    func take() -> [Job] {
        jobs.withLock { jobs in
            guard jobs != nil else { return [] }
            defer { jobs = [] }
            return jobs ?? []
        }
    }

    /// The last of them; no more are begun.
    func close() -> [Job] {
        jobs.withLock { jobs in
            defer { jobs = nil }
            return jobs ?? []
        }
    }
}
