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
        /// Whether access was taken back.
        let perform: @Sendable (Database, Instant) -> Bool
        /// Called after the commit, with the error that undid the whole transaction if there was one.
        let finish: @Sendable ((any Error)?) -> Void
    }

    private let database: any DatabaseWriter
    private let clock: @Sendable () -> Instant
    private let revocations: RevocationCounter?
    private let statements: SQLiteStatements
    private let waiting = Mutex<[Write]>([])
    private let count = Atomic<Int>(0)

    /// - Parameter revocations: Raised after each commit that takes access back, before its writes are answered.
    init(
        _ database: any DatabaseWriter, revocations: RevocationCounter?, statements: SQLiteStatements,
        clock: @escaping @Sendable () -> Instant
    ) {
        self.database = database
        self.revocations = revocations
        self.statements = statements
        self.clock = clock
    }

    /// Transactions that changed something.
    var commits: Int { count.load(ordering: .relaxed) }

    /// Performs a write at the store's time; durable on return.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StatementSender, Instant) throws -> Written<Value>
    ) async throws -> Value {
        let answer = Mutex<Result<Value, any Error>?>(nil)
        return try await withCheckedThrowingContinuation { continuation in
            let write = Write(
                perform: { [statements] database, now in
                    var takesBack = false
                    let result = Result {
                        var value: Value?
                        try database.inSavepoint {
                            let written = try body(SQLiteSender(database: database, statements: statements), now)
                            value = written.value
                            takesBack = written.takesBack
                            return .commit
                        }
                        guard let value else { throw DatabaseError(message: "a write was interrupted") }
                        return value
                    }
                    answer.withLock { $0 = result }
                    return takesBack
                },
                finish: { error in
                    let failure = error ?? DatabaseError(message: "a write was not performed")
                    continuation.resume(
                        with: error == nil ? answer.withLock(\.self) ?? .failure(failure) : .failure(failure))
                })
            waiting.withLock { $0.append(write) }
            database.asyncWriteWithoutTransaction { database in
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
            try database.inTransaction(.immediate) {
                let before = database.totalChangesCount
                let now = try database.time(at: clock())
                for write in group {
                    takesBack = write.perform(database, now) || takesBack
                    // A full disk makes SQLite take back the whole transaction by itself.
                    guard database.isInsideTransaction else {
                        throw DatabaseError(resultCode: .SQLITE_FULL, message: "the transaction was rolled back")
                    }
                }
                // A group that changed nothing costs no sync.
                guard database.totalChangesCount != before else { return .commit }
                try database.keepTime(now)
                count.add(1, ordering: .relaxed)
                return .commit
            }
            if takesBack { revocations?.increment() }
            for write in group { write.finish(nil) }
        } catch {
            for write in group { write.finish(error) }
        }
    }
}

extension Database {
    /// The later of `clock` and every instant that the store ever gave to a write.
    func time(at clock: Instant) throws -> Instant {
        let statement = try cachedStatement(sql: "SELECT last_instant FROM store")
        return max(clock, Instant(milliseconds: try Int64.fetchOne(statement) ?? 0))
    }

    fileprivate func keepTime(_ now: Instant) throws {
        try cachedStatement(sql: "UPDATE store SET last_instant = ?1 WHERE last_instant < ?1")
            .execute(arguments: [now.milliseconds])
    }
}
