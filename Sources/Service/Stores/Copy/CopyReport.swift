public import SatchelCore
internal import Synchronization

/// How much there is to copy, or was copied.
public struct CopyAmount: Hashable, Sendable {
    /// Of a tenant and a hash there is one.
    public var blobs = 0
    public var bytes: Int64 = 0
    /// Sources of jobs that wait or can be tried again.
    public var sources = 0
    /// By the table at the target.
    public var rows: [String: Int] = [:]
    /// Jobs that a process had in hand which is gone: they are given out anew.
    public var interruptedJobs = 0

    public var jobs: Int { rows["jobs", default: 0] }
    public var unfinishedJobs: Int { rows["queue", default: 0] }
    public var attachments: Int { rows["attachments", default: 0] }
    /// Grants, leases and links.
    public var access: Int { rows["access", default: 0] }
    public var keys: Int { rows["api_keys", default: 0] }
}

/// What a copy came to.
public struct CopyReport: Hashable, Sendable {
    public var amount = CopyAmount()
    /// Whether all of it had been done before.
    public var wasDone = false
    /// Blobs that records refer to and that the store doesn't have, or not whole.
    public var missing: [BlobName] = []
    public var damaged: [BlobName] = []
    /// Likewise sources; what is left of damaged ones was copied.
    public var missingSources: [SourceName] = []
    public var damagedSources: [SourceName] = []
    /// Keys that the records need and that aren't where the store looks for them.
    public var missingKeys: Set<String> = []

    /// Whether everything that a record promises was there and whole.
    public var isSound: Bool {
        missing.isEmpty && damaged.isEmpty && missingSources.isEmpty && damagedSources.isEmpty
    }
}

/// How far a copy is.
public struct CopyProgress: Hashable, Sendable {
    public enum Stage: Hashable, Sendable {
        case sources
        case blobs
        case records
    }

    public var stage: Stage
    public var done: Int
    public var total: Int
}

/// What is done of a stage, told each time that it rises.
final class CopyTally: Sendable {
    private let done: Mutex<Int>
    private let tell: @Sendable (Int) -> Void

    init(
        _ stage: CopyProgress.Stage, _ done: Int?, of total: Int,
        _ progress: @escaping @Sendable (CopyProgress) -> Void
    ) {
        self.done = Mutex(done ?? 0)
        tell = { done in progress(CopyProgress(stage: stage, done: done, total: total)) }
    }

    func add(_ count: Int) {
        tell(
            done.withLock { done in
                done += count
                return done
            })
    }
}
