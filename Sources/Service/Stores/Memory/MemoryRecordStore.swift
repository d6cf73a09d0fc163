public import SatchelCore
internal import Synchronization

/// Records in the memory of this process: nothing of them outlives it. For tests, and to try the service without a trace.
///
/// Each opening is like a process of its own: its workers live until it ends.
public struct MemoryRecordStore: RecordStore {
    let shared: Shared
    let presence: Presence
    let tokens: KeyRing
    let clock: @Sendable () -> Instant
    let garbage: any GarbageCollector

    /// What all openings have in common.
    final class Shared: Sendable {
        let tables = Mutex(MemoryTables())
        let revocations = Atomic<UInt64>(0)
        let countsRevocations: Bool
        /// Whether it can be asked what was taken back: not, as a database that is away.
        let isSilent = Atomic(false)
        let notifier = WebhookNotifier()
        fileprivate let living = Mutex<[WorkerID: ObjectIdentifier]>([:])

        init(countsRevocations: Bool = true) {
            self.countsRevocations = countsRevocations
        }
    }

    /// The workers of one opening.
    final class Presence: WorkerLiveness {
        private let shared: Shared

        init(in shared: Shared) {
            self.shared = shared
        }

        deinit {
            let me = ObjectIdentifier(self)
            shared.living.withLock { living in living = living.filter { $0.value != me } }
        }

        func register(_ worker: WorkerID) throws(AttachmentError) {
            let me = ObjectIdentifier(self)
            let isMine = shared.living.withLock { living in
                if living[worker] == nil { living[worker] = me }
                return living[worker] == me
            }
            guard isMine else { throw .storeFailed(reason: "the worker '\(worker.rawValue)' is already running") }
        }

        func lives(_ worker: WorkerID) -> Bool {
            shared.living.withLock { $0[worker] != nil }
        }

        /// An opening takes its workers along when it ends.
        func forgetEnded() {}
    }

    init(
        _ shared: Shared = Shared(), tokens: KeyRing, garbage: any GarbageCollector,
        clock: @escaping @Sendable () -> Instant = Instant.wallClock
    ) {
        self.shared = shared
        presence = Presence(in: shared)
        self.tokens = tokens
        self.garbage = garbage
        self.clock = clock
    }

    /// One of several machines has to ask.
    public var pace: QueuePace {
        shared.countsRevocations ? QueuePace() : QueuePace(work: .milliseconds(100), ends: .milliseconds(50))
    }

    public func now() async throws(AttachmentError) -> Instant {
        read { _, now in now }
    }

    /// Reads at the store's time.
    func read<Value>(_ body: (MemoryTables, Instant) throws -> Value) rethrows -> Value {
        let tables = shared.tables.withLock(\.self)
        return try body(tables, max(clock(), tables.lastInstant))
    }

    /// Changes everything or, where `body` throws, nothing.
    func write<Value: Sendable>(
        _ body: (inout MemoryTables, Instant) throws -> Value
    ) async throws(AttachmentError) -> Value {
        do { return try await writeUnderClaim(body) } catch { throw AttachmentError(storing: error) }
    }

    /// Like ``write(_:)``, for a write under a claim, which can be lost.
    func writeUnderClaim<Value: Sendable>(
        _ body: (inout MemoryTables, Instant) throws -> Value
    ) async throws -> Value {
        let (value, released) = try shared.tables.withLock { tables in
            var draft = tables
            let now = max(clock(), tables.lastInstant)
            draft.lastInstant = now
            let value = try body(&draft, now)
            let released = draft.released.filter { !draft.needs($0) }
            // Before anybody else can see the change.
            if draft.takesAccessBack { shared.revocations.add(1, ordering: .acquiringAndReleasing) }
            if draft.hasNewCall { shared.notifier.markDue() }
            draft.released = []
            draft.takesAccessBack = false
            draft.hasNewCall = false
            tables = draft
            return (value, released)
        }
        shared.notifier.notify()
        await garbage.collect(Array(released))
        return value
    }
}
