internal import SatchelCore
internal import GRDB
internal import Synchronization

/// Gathers the writes that arrive while a commit is under way into the next transaction: one sync for all of them.
///
/// Each write has a savepoint of its own, so that one that fails takes back only itself; all are answered after
/// the COMMIT, none before.
final class GroupCommit: Sendable {
    /// More would make the first of a group wait for too long.
    static let largestGroup = 512

    private struct Write: Sendable {
        /// False where it was taken back.
        let perform: @Sendable (Database, Instant) -> Bool
        /// Called after the commit, with the error that undid the whole transaction if there was one.
        let finish: @Sendable ((any Error)?) -> Void
    }

    private let connections: any DatabaseWriter
    private let clock: @Sendable () -> Instant
    private let revocations: RevocationCounter?
    let webhooks = WebhookNotifier()
    private let waiting = Mutex<[Write]>([])
    private let count = Atomic<Int>(0)

    /// - Parameter revocations: Raised after each commit that takes access back, before its writes are answered.
    init(
        _ connections: any DatabaseWriter, revocations: RevocationCounter?, clock: @escaping @Sendable () -> Instant
    ) {
        self.connections = connections
        self.revocations = revocations
        self.clock = clock
    }

    /// Transactions that changed something.
    var commits: Int { count.load(ordering: .relaxed) }

    /// Performs a write at the store's time; durable on return.
    func write<Value: Sendable>(_ body: @escaping @Sendable (Database, Instant) throws -> Value) async throws -> Value {
        let answer = Answer<Value>()
        return try await withCheckedThrowingContinuation { continuation in
            let write = Write(
                perform: { database, now in
                    answer.set {
                        var value: Value?
                        try database.inSavepoint {
                            value = try body(database, now)
                            return .commit
                        }
                        guard let value else { throw DatabaseError(message: "a write was interrupted") }
                        return value
                    }
                },
                finish: { error in
                    if let error {
                        continuation.resume(throwing: error)
                    } else {
                        continuation.resume(with: answer.get())
                    }
                })
            waiting.withLock { $0.append(write) }
            connections.asyncWriteWithoutTransaction { database in
                self.commitWaiting(database)
            }
        }
    }

    /// Every write asks for a turn of the writer; the first of a group takes all that wait, the others' turns
    /// find nothing.
    private func commitWaiting(_ database: Database) {
        let group = waiting.withLock { waiting in
            let group = Array(waiting.prefix(Self.largestGroup))
            waiting.removeFirst(group.count)
            return group
        }
        guard !group.isEmpty else { return }
        var takesBack = false
        do {
            try WebhookNotifier.$current.withValue(webhooks) {
                try database.inTransaction(.immediate) {
                    let before = database.totalChangesCount
                    let revoked = try database.revocations()
                    let now = try database.time(at: clock())
                    let tallies = try perform(group, in: database, at: now)
                    // A group that changed nothing costs no sync.
                    guard database.totalChangesCount != before else { return .commit }
                    try database.add(tallies)
                    try database.keepTime(now)
                    try database.dateTombstones(now)
                    takesBack = try database.revocations() != revoked
                    count.add(1, ordering: .relaxed)
                    return .commit
                }
            }
            if takesBack { revocations?.increment() }
            webhooks.notify()
            for write in group { write.finish(nil) }
        } catch {
            for write in group { write.finish(error) }
        }
    }
}

extension GroupCommit {
    /// Performs writes one after the other.
    ///
    /// - Returns: What those that came to an end have to add to the tallies.
    private func perform(_ group: [Write], in database: Database, at now: Instant) throws -> TallySheet {
        let gathered = GatheredTallies()
        try GatheredTallies.$current.withValue(gathered) {
            for write in group {
                let before = gathered.sheet
                if !write.perform(database, now) { gathered.sheet = before }
                // A full disk makes SQLite take back the whole transaction by itself.
                guard database.isInsideTransaction else {
                    throw DatabaseError(resultCode: .SQLITE_FULL, message: "the transaction was rolled back")
                }
            }
        }
        return gathered.sheet
    }
}

/// What a write came to, kept until its transaction is durable.
private final class Answer<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, any Error>?>(nil)

    /// - Returns: Whether it is a value.
    func set(_ body: () throws -> Value) -> Bool {
        let value = Result { try body() }
        result.withLock { $0 = value }
        return (try? value.get()) != nil
    }

    func get() -> Result<Value, any Error> {
        result.withLock { $0 } ?? .failure(DatabaseError(message: "a write was not performed"))
    }
}

extension Database {
    /// The later of `clock` and every instant that the store ever gave to a write.
    func time(at clock: Instant) throws -> Instant {
        let last = try number("SELECT last_instant FROM store") ?? 0
        return max(clock, Instant(milliseconds: last))
    }

    fileprivate func revocations() throws -> Int64? {
        try number("SELECT revocations FROM store")
    }

    /// Of blobs that this transaction deleted: made by a trigger, which has no clock.
    fileprivate func dateTombstones(_ now: Instant) throws {
        try run("UPDATE tombstones SET made_at = ? WHERE made_at = 0", [now.milliseconds])
    }

    fileprivate func keepTime(_ now: Instant) throws {
        try run("UPDATE store SET last_instant = ? WHERE last_instant < ?", [now.milliseconds, now.milliseconds])
    }
}
