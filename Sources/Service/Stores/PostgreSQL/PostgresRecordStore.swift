public import SatchelCore
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
    /// How long bytes outlive their last record, so that a failover that lost its deletion finds them.
    let garbageDelay: Duration
    /// Rows that a page of a list looks at, at most.
    var longestSearch = 10_000
    let notifier = WebhookNotifier()
    let wakeups: PostgresWakeups
    let heartbeats = PostgresGroup<Heartbeat, Int64?>()
    let lookups = PostgresGroup<AccessLookup, AccessLookupAnswer>()
    let tickets = PostgresGroup<String, TicketAnswer>()
    let deliveries = PostgresGroup<Delivery, JobRecord?>()
    let submissions = PostgresGroup<SubmittedJob, SubmissionAnswer?>()

    /// Uses a database whose schema was made.
    ///
    /// - Parameters:
    ///   - garbage: Removes what a commit made superfluous.
    ///   - garbageDelay: How long that waits; zero: not at all.
    ///   - notifies: Whether nodes wake each other; else they look more often.
    ///   - clock: Where instants come from; the server, but in tests.
    ///   - url: Where other nodes reach this one, as ``StoreDatabase/advertises`` has it.
    init(
        _ pool: PostgresPool, keys: KeyRing, garbage: any GarbageCollector, garbageDelay: Duration = .seconds(60),
        notifies: Bool = true, clock: PostgresClock = .server, timing: PostgresNode.Timing = PostgresNode.Timing(),
        advertising url: String? = nil
    ) {
        self.pool = pool
        self.keys = keys
        self.clock = clock
        self.garbage = garbage
        self.garbageDelay = garbageDelay
        let wakeups = PostgresWakeups(pool.parameters, areWanted: notifies)
        self.wakeups = wakeups
        node = PostgresNode(pool, at: url, timing) { wakeups.divide(among: $0) }
    }

    /// As of the last heartbeat.
    public var nodes: Int { node.census.takingRequests }

    public var workers: Int { max(1, node.census.firing.count) }

    public func join(as role: NodeRole) async { await node.join(as: role) }

    public func retire() async { await node.retire() }

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

    /// Like ``write(_:)``, for a write that ends a claim, which can be lost.
    func writeUnderClaim<Value: Sendable>(
        _ claim: Claim, _ body: (PostgresWork) async throws -> Value
    ) async throws -> Value {
        do {
            let value = try await performWrite(body)
            node.forget([claim.id])
            return value
        } catch let error as ClaimError {
            node.forget([claim.id])
            throw error
        } catch {
            throw AttachmentError(postgres: error)
        }
    }

    /// Attempts at a write that found out too late that somebody was first.
    private static let mostAttempts = 20

    /// Writes what several asked for in one transaction.
    ///
    /// - Returns: An answer for each; nil for those that are unusual, of whom nothing was changed, and who want a transaction
    ///   of their own.
    func writeTogether<Request, Answer: Sendable>(
        _ requests: [Request], _ body: (PostgresWork, [Request]) async throws -> [Answer?]
    ) async throws(PostgresError) -> [Answer?] {
        do {
            return try await performWrite(attempts: 1) { work in try await body(work, requests) }
        } catch let error as PostgresError {
            throw error
        } catch {
            return requests.map { _ in nil }
        }
    }

    private func performWrite<Value: Sendable>(
        attempts: Int = mostAttempts, _ body: (PostgresWork) async throws -> Value
    ) async throws -> Value {
        var attempt = 0
        while true {
            attempt += 1
            do {
                let (value, waste) = try await pool.transaction { transaction in
                    let work = PostgresWork(transaction, of: self, at: try await now(in: transaction))
                    let value = try await body(work)
                    return (value, try await work.finish())
                }
                node.changed(jobs: waste.jobs)
                wakeups.send(waste.wakes)
                await remove(waste)
                if waste.ringsBell {
                    notifier.markDue()
                    notifier.notify()
                }
                return value
            } catch  where attempt < attempts && Self.wasOvertaken(error) {
                continue
            }
        }
    }

    /// Somebody else recorded the same a moment before: the next attempt finds it.
    private static func wasOvertaken(_ error: any Error) -> Bool {
        if error is TransactionConflict { return true }
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
}

/// What was decided on is no longer so; the transaction is to be done again.
struct TransactionConflict: Error {}

extension AttachmentError {
    /// What an error of the database means for the attachment.
    init(postgres error: any Error) {
        switch error {
        case let error as AttachmentError: self = error
        case PostgresError.statement(let failure) where failure.isOutOfSpace: self = .storeFull
        case PostgresError.statement(let failure) where failure.isOfDamage:
            self = .storeUnusable(
                reason: "its database is damaged (\(failure.code)). Its operator must restore it from a backup")
        case let error as PostgresError:
            // A sentence within a sentence.
            let reason = error.description
            self = .storeFailed(reason: "the records: \(reason.hasSuffix(".") ? String(reason.dropLast()) : reason)")
        default: self = .storeFailed(reason: "the records: \(type(of: error))")
        }
    }
}
