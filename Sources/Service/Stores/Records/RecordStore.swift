public import SatchelCore
internal import Platform
internal import Postgres

/// Keeps jobs, attachments, the queue, access, keys, calls, categories, notifications, responses, uploads, tenants, the audit list
/// and the console's sessions in a database of either engine; the source of instants.
///
/// What is deleted goes in this order: the record first, with all access to it, then the blob's row at zero references,
/// then the bytes. The store removes those, and sources that no job needs any more, by itself.
///
/// Each deciding row is locked by the statement that decides, and what must be
/// seen behind a lock is read by a later statement; locks are taken in one order (queue, jobs, attachments, access with
/// parents first, blobs by hash, usage). SQLite has one writer, and needs none of them.
public struct RecordStore: Sendable {
    let engine: any RecordEngine
    let keys: KeyRing
    let garbage: any GarbageCollector
    /// How long bytes outlive their last record, so that a failover that lost its deletion finds them.
    let garbageDelay: Duration
    /// Rows that a page of a list looks at, at most.
    var longestSearch = 10_000
    let notifier = WebhookNotifier()
    let heartbeats = PostgresGroup<Heartbeat, Int64?>()
    let lookups = PostgresGroup<AccessLookup, AccessLookupAnswer>()
    let tickets = PostgresGroup<String, TicketAnswer>()
    let deliveries = PostgresGroup<Delivery, JobRecord?>()
    let submissions = PostgresGroup<SubmittedJob, SubmissionAnswer?>()

    /// - Parameters:
    ///   - garbage: Removes what a commit made superfluous.
    ///   - garbageDelay: How long that waits; zero: not at all.
    init(
        _ engine: any RecordEngine, keys: KeyRing, garbage: any GarbageCollector, garbageDelay: Duration = .zero
    ) {
        self.engine = engine
        self.keys = keys
        self.garbage = garbage
        self.garbageDelay = garbageDelay
    }

    /// Opens records in PostgreSQL: see ``PostgresEngine``.
    init(
        _ pool: PostgresPool, keys: KeyRing, garbage: any GarbageCollector, garbageDelay: Duration = .seconds(60),
        notifies: Bool = true, clock: PostgresClock = .server, timing: PostgresNode.Timing = PostgresNode.Timing(),
        advertising url: String? = nil
    ) {
        self.init(
            PostgresEngine(pool, notifies: notifies, clock: clock, timing: timing, advertising: url), keys: keys,
            garbage: garbage, garbageDelay: garbageDelay)
    }

    var node: any StoreNode { engine.node }

    /// The store's time, which all workers share. It never goes back.
    public func now() async throws(AttachmentError) -> Instant {
        try await read { work in work.now }
    }

    /// Reads from one snapshot, at the store's time.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (RecordTransaction) throws -> Value
    ) async throws(AttachmentError) -> Value {
        do {
            return try await engine.read { sender, now in
                try body(RecordTransaction(sender, of: self, at: now, by: AuditActor(.service)))
            }
        } catch {
            throw AttachmentError(reading: error)
        }
    }

    /// Writes in one transaction; durable on return.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (RecordTransaction) throws -> Value
    ) async throws(AttachmentError) -> Value {
        do {
            return try await performWrite(for: .current, body)
        } catch {
            throw AttachmentError(storing: error)
        }
    }

    /// Like ``write(_:)``, for a write that ends a claim, which can be lost.
    func writeUnderClaim<Value: Sendable>(
        _ claim: Claim, _ body: @escaping @Sendable (RecordTransaction) throws -> Value
    ) async throws -> Value {
        do {
            let value = try await performWrite(body)
            node.forget([claim.id])
            return value
        } catch let error as ClaimError {
            node.forget([claim.id])
            throw error
        } catch {
            throw AttachmentError(storing: error)
        }
    }

    /// Carries out a request: together with others that come meanwhile, where the engine gains by that.
    ///
    /// - Parameter body: An answer for each, or nothing for all.
    func together<Request: Sendable, Answer: Sendable>(
        _ request: Request, _ group: PostgresGroup<Request, Answer>,
        _ body: @escaping @Sendable ([Request]) async throws -> [Answer]
    ) async throws(AttachmentError) -> Answer {
        do {
            return try await engine.hasOneWriter ? body([request])[0] : group(request, by: body)
        } catch {
            throw AttachmentError(storing: error)
        }
    }

    /// Writes for a request in one transaction with others that come meanwhile, where the engine gains by that.
    ///
    /// - Returns: The answer; nil for a request that needs a transaction of its own, for which nothing was changed.
    func inGroup<Request: Sendable, Answer: Sendable>(
        _ request: Request, _ group: PostgresGroup<Request, Answer?>,
        _ body: @escaping @Sendable (RecordTransaction, [Request]) throws -> [Answer?]
    ) async throws(AttachmentError) -> Answer? {
        guard !engine.hasOneWriter else { return nil }
        do {
            return try await group(request) { requests in try await writeTogether(requests, body) }
        } catch {
            // What the server refuses may be refused for a reason that its own transaction sees.
            guard case PostgresError.statement? = error as? PostgresError else { throw AttachmentError(storing: error) }
            return nil
        }
    }

    /// Attempts at a write that another write overtook.
    private static let mostAttempts = 20

    /// Writes what several asked for in one transaction.
    ///
    /// - Returns: An answer for each request; nil for an unusual one, for which nothing was changed, and which needs a
    ///   transaction of its own.
    private func writeTogether<Request: Sendable, Answer: Sendable>(
        _ requests: [Request], _ body: @escaping @Sendable (RecordTransaction, [Request]) throws -> [Answer?]
    ) async throws -> [Answer?] {
        do {
            return try await performWrite(attempts: 1) { work in try body(work, requests) }
        } catch let error as PostgresError {
            throw error
        } catch {
            return requests.map { _ in nil }
        }
    }

    /// - Parameter reading: Of the request that the write is for; nil for none, or for several that check by themselves.
    private func performWrite<Value: Sendable>(
        attempts: Int = mostAttempts, for reading: RequestReading? = nil,
        _ body: @escaping @Sendable (RecordTransaction) throws -> Value
    ) async throws -> Value {
        let actor = AuditActor.current
        // A client that reset the connection wants nothing any more.
        if reading != nil, Task.isCancelled { throw AttachmentError.staleRequest }
        var attempt = 0
        while true {
            attempt += 1
            do {
                let (value, waste) = try await engine.write { sender, now in
                    let work = RecordTransaction(sender, of: self, at: now, by: actor)
                    let value = try body(work)
                    // Behind the body, which finds out first whether an earlier attempt was committed.
                    if work.hasChanges, !(reading?.isInTime(at: now) ?? true) { throw AttachmentError.staleRequest }
                    return Written(value: (value, try work.finish()), takesBack: work.takesBack)
                }
                engine.committed(waste)
                await remove(waste)
                if waste.ringsBell { notifier.notify() }
                return value
            } catch  where attempt < attempts && Self.wasOvertaken(error) {
                continue
            }
        }
    }

    /// Another write recorded the same a moment before: the next attempt finds it.
    private static func wasOvertaken(_ error: any Error) -> Bool {
        if error is TransactionConflict { return true }
        guard let error = error as? PostgresError else { return false }
        return error.isFailure(PostgresFailure.uniqueViolation) || error.isFailure(PostgresFailure.foreignKeyViolation)
    }
}

extension AttachmentError {
    static let staleRequest = storeFailed(
        reason: "the request came too late to be carried out, and nothing was changed")
}

/// What was decided on is no longer so; the transaction is to be done again.
struct TransactionConflict: Error {}

extension RecordStore {
    /// Processes that take requests on the store now, this one among them where it does, as far as it knows. Rates that each
    /// counts for itself are divided by it.
    public var nodes: Int { engine.cluster?.members.census.takingRequests ?? 1 }

    /// The store's time without asking it: the last known one, plus what passed on the monotonic clock since.
    public var time: Instant { engine.time }

    /// Processes that work for the store now, counted likewise. What each has under way at once with others' servers is divided by
    /// it.
    public var workers: Int { max(1, engine.cluster?.members.census.firing.count ?? 1) }

    /// Has others know what this process does from now on, and count it. Where they can't be told now, they are before long.
    public func join(as role: NodeRole) async { await engine.cluster?.members.join(as: role) }

    /// Has others take over what this process shares with them: it takes on nothing new.
    public func retire() async { await engine.cluster?.members.retire() }

    /// Whether what becomes superfluous is written down as it does, and removed by ``collectGarbage()``. Then no sweep has to
    /// look for it among all blobs.
    public var notesGarbage: Bool { !engine.hasOneWriter }

    /// Runs that several machines share; nil where the store is one machine's.
    public var sharedRuns: SharedRuns? {
        engine.cluster.map { SharedRuns(store: self, cluster: $0) }
    }

    /// Whether a task of upkeep is this process's turn, of all that use the store. The process that has it keeps it while it asks again
    /// within ten seconds; that two have it for a moment does no harm.
    public func leads(_ task: UpkeepTask) async throws(AttachmentError) -> Bool {
        // Done once an hour, by the first node that asks.
        try await engine.cluster?.leads(task.rawValue, isRare: task == .sources) ?? true
    }

    public var pace: QueuePace { engine.pace }

    /// Has `handler` called where something may have happened in another process, sooner than ``pace`` says; the latest one
    /// alone. A wake-up, not truth: some are missed. It must not block.
    public func listen(_ handler: @escaping @Sendable (QueueEvent) -> Void) {
        engine.cluster?.wakeups.listen(handler)
    }

    /// Lets others know that a run lives, until this process ends: what it has submitted is left to it.
    public func announce(_ run: RunID) async throws(AttachmentError) {
        do {
            try await node.live()
            guard !node.hasAnnounced(run) else { return }
            try await engine.send { [node] _ in
                [
                    Statement(
                        "INSERT INTO run_nodes (run, node) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                        [.raw(run), .uuid(node.id)])
                ]
            } _: { _ in
            }
            node.announced(run)
        } catch {
            throw AttachmentError(storing: error)
        }
    }

    /// Forgets workers that have ended and have no jobs left.
    public func forgetEndedWorkers() async throws(AttachmentError) {
        do { try await engine.forgetEndedNodes() } catch { throw AttachmentError(storing: error) }
    }
}
