public import Attachments
internal import FoundationEssentials
internal import Postgres

/// Records in PostgreSQL, for many nodes. Each deciding row is locked by the statement that decides, and what must be seen
/// behind a lock is read by a later statement; locks are taken in one order (queue, jobs, attachments, access with parents
/// first, blobs by hash, usage).
public struct PostgresRecordStore: RecordStore {
    let pool: PostgresPool
    let node: PostgresNode
    let keys: KeyRing
    let clock: PostgresClock
    let garbage: any GarbageCollector
    let bell = WebhookBell()
    let heartbeats: PostgresGroup<Heartbeat, Int64?>
    let looks: PostgresGroup<Look, LookAnswer>

    /// Uses a database whose schema was made.
    ///
    /// - Parameters:
    ///   - garbage: Takes what a commit made superfluous.
    ///   - clock: Where instants come from; the server, but in tests.
    init(
        _ pool: PostgresPool, keys: KeyRing, garbage: any GarbageCollector, clock: PostgresClock = .server,
        timing: PostgresNode.Timing = PostgresNode.Timing()
    ) {
        self.pool = pool
        self.keys = keys
        self.clock = clock
        self.garbage = garbage
        node = PostgresNode(pool, timing)
        // The pool alone: what holds the store would never let it go.
        heartbeats = PostgresGroup { [pool] requests throws(PostgresError) in
            try await Self.beat(requests, in: pool)
        }
        looks = PostgresGroup { [pool] requests throws(PostgresError) in
            try await Self.look(requests, in: pool)
        }
    }

    public func now() async throws(AttachmentError) -> Instant {
        do { return try await instant() } catch { throw AttachmentError(postgres: error) }
    }

    func instant() async throws(PostgresError) -> Instant {
        switch clock {
        case .fixed(let clock): return clock()
        case .server:
            let rows = try await pool.rows("SELECT \(PostgresClock.sql) AS now")
            guard let row = rows.first else { throw .unexpectedColumn("now") }
            return Instant(milliseconds: try row.int64("now"))
        }
    }

    /// Reads from one snapshot, at the store's time.
    func read<Value: Sendable>(
        _ body: (PostgresWork) async throws -> Value
    ) async throws(AttachmentError) -> Value {
        do {
            return try await pool.transaction(.snapshot, on: .read) { transaction in
                try await body(PostgresWork(transaction, of: self, at: try await now(in: transaction)))
            }
        } catch {
            throw AttachmentError(postgres: error)
        }
    }

    /// Writes in one transaction; durable on return.
    func write<Value: Sendable>(
        _ body: (PostgresWork) async throws -> Value
    ) async throws(AttachmentError) -> Value {
        do {
            return try await performWrite(body)
        } catch {
            throw AttachmentError(postgres: error)
        }
    }

    /// Like ``write(_:)``, for a write under a claim, which can be lost.
    func writeUnderClaim<Value: Sendable>(_ body: (PostgresWork) async throws -> Value) async throws -> Value {
        do {
            return try await performWrite(body)
        } catch let error as ClaimError {
            throw error
        } catch {
            throw AttachmentError(postgres: error)
        }
    }

    /// Attempts at a write that found out too late that somebody was first.
    private static let mostAttempts = 20

    private func performWrite<Value: Sendable>(_ body: (PostgresWork) async throws -> Value) async throws -> Value {
        var attempt = 0
        while true {
            attempt += 1
            do {
                let (value, waste) = try await pool.transaction { transaction in
                    let work = PostgresWork(transaction, of: self, at: try await now(in: transaction))
                    let value = try await body(work)
                    return (value, try await work.finish())
                }
                await remove(waste)
                if waste.ringsBell {
                    bell.pull()
                    bell.ring()
                }
                return value
            } catch  where attempt < Self.mostAttempts && Self.wasOvertaken(error) {
                continue
            }
        }
    }

    /// Somebody else recorded the same a moment before: the next attempt finds it.
    private static func wasOvertaken(_ error: any Error) -> Bool {
        if error is Overtaken { return true }
        guard let error = error as? PostgresError else { return false }
        return error.isFailure(PostgresFailure.uniqueViolation) || error.isFailure(PostgresFailure.foreignKeyViolation)
    }

    private func now(in transaction: PostgresTransaction) async throws(PostgresError) -> Instant {
        if case .fixed(let clock) = clock { return clock() }
        guard let row = try await transaction.run("SELECT \(PostgresClock.sql) AS now").first else {
            throw .unexpectedColumn("now")
        }
        return Instant(milliseconds: try row.int64("now"))
    }

    /// Removes what a commit made superfluous. Where that is cut off, its rows are found by ``removeGarbage(limit:)``.
    func remove(_ waste: PostgresWork.Waste) async {
        guard !waste.rows.isEmpty else { return }
        await garbage.collect(blobs: waste.blobs, sources: waste.sources)
        _ = try? await pool.batch([
            PostgresStatement("DELETE FROM garbage WHERE id = ANY($1::bigint[])", [.ints(waste.rows.map { $0 })])
        ])
    }
}

/// What was decided on is no longer so; the transaction is to be done again.
struct Overtaken: Error {}

extension AttachmentError {
    /// What an error of the database means for the attachment.
    init(postgres error: any Error) {
        switch error {
        case let error as AttachmentError: self = error
        case PostgresError.statement(let failure) where failure.isOutOfSpace: self = .storeFull
        case let error as PostgresError: self = .storeFailed(reason: "the records: \(error)")
        default: self = .storeFailed(reason: "the records: \(type(of: error))")
        }
    }
}
