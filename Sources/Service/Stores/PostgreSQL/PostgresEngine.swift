internal import SatchelCore
internal import Postgres

/// The source of the store's instants: the server's clock, which all nodes share, or a test's own clock.
enum PostgresClock: Sendable {
    case server
    case fixed(@Sendable () -> Instant)

    /// Milliseconds, by the server.
    static let sql = "floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint"
}

/// Records in PostgreSQL, for many nodes.
final class PostgresEngine: RecordEngine {
    let pool: PostgresPool
    let members: PostgresNode
    let wakeups: PostgresWakeups
    private let clock: PostgresClock

    /// Uses a database whose schema was made.
    ///
    /// - Parameters:
    ///   - notifies: Whether nodes wake each other; else they look more often.
    ///   - clock: Where instants come from; the server, but in tests.
    ///   - url: Where other nodes reach this one, as ``StoreDatabase/advertises`` has it.
    init(
        _ pool: PostgresPool, notifies: Bool = true, clock: PostgresClock = .server,
        timing: PostgresNode.Timing = PostgresNode.Timing(), advertising url: String? = nil
    ) {
        self.pool = pool
        self.clock = clock
        let wakeups = PostgresWakeups(pool.parameters, areWanted: notifies)
        self.wakeups = wakeups
        members = PostgresNode(pool.parameters, at: url, timing, silence: pool.readers(areCut:)) {
            wakeups.divide(among: $0)
        }
    }

    var node: any StoreNode { members }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StatementSender, Instant) throws -> Value
    ) async throws -> Value {
        try await pool.transaction(.snapshot, on: .read) { transaction in
            try body(PostgresSender(transaction: transaction), self.now(in: transaction))
        }
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StatementSender, Instant) throws -> Written<Value>
    ) async throws -> Value {
        try await pool.transaction { transaction in
            try body(PostgresSender(transaction: transaction), self.now(in: transaction)).value
        }
    }

    func look<Value: Sendable>(
        _ statement: @escaping @Sendable (Instant?) throws -> Statement,
        _ answer: @escaping @Sendable (RecordRows) throws -> Value
    ) async throws -> Value {
        let statement = try statement(fixedTime)
        return try answer(RecordRows(await pool.rows(statement.sql, statement.values)))
    }

    func send<Value: Sendable>(
        _ statements: @escaping @Sendable (Instant?) throws -> [Statement],
        _ answer: @escaping @Sendable ([RecordRows]) throws -> Value
    ) async throws -> Value {
        let rows = try await pool.batch(statements(fixedTime))
        return try answer(rows.map { RecordRows($0) })
    }

    private var fixedTime: Instant? {
        if case .fixed(let clock) = clock { clock() } else { nil }
    }

    private func now(in transaction: PostgresTransaction) throws(PostgresError) -> Instant {
        if let time = fixedTime { return time }
        guard let row = try transaction.run("SELECT \(PostgresClock.sql) AS now").first else {
            throw .unexpectedColumn("now")
        }
        return Instant(milliseconds: try row.int64("now"))
    }

    var hasOneWriter: Bool { false }
    /// There is no count for all nodes: each look has to ask.
    var revocations: UInt64? { SeededFault.cacheDecides.isOn ? 0 : nil }
    var cluster: PostgresEngine? { self }

    var time: Instant { fixedTime ?? members.time }
    func clock(_ value: String) -> String { PostgresClock.sql }
    var machineTime: Instant? { nil }

    func sum(of column: String) -> String {
        """
        ARRAY(
            SELECT coalesce(old, 0) + coalesce(new, 0)
            FROM unnest(tallies.\(column), excluded.\(column)) WITH ORDINALITY AS bins (old, new, bin) ORDER BY bin)
        """
    }

    func committed(_ waste: RecordTransaction.Waste) {
        members.queue?.changed(jobs: waste.jobs)
        wakeups.send(waste.wakes)
    }

    func guarding(_ blobs: any BlobStore) -> any BlobStore { ClaimCheckingBlobStore(base: blobs, node: members) }

    /// Deletes nodes that are dead and have no jobs left.
    func forgetEndedNodes() async throws {
        _ = try await pool.batch([
            Statement(
                """
                DELETE FROM nodes WHERE NOT (\(members.isAlive))
                    AND NOT EXISTS (SELECT 1 FROM queue WHERE queue.state = 'running' AND queue.node = nodes.id)
                """),
            // A shared run has to know which nodes it lost.
            Statement(
                """
                DELETE FROM run_nodes WHERE NOT EXISTS (SELECT 1 FROM nodes WHERE id = run_nodes.node)
                    AND NOT EXISTS (SELECT 1 FROM runs WHERE id = run_nodes.run AND ended_at IS NULL)
                """),
        ])
    }

    // MARK: What one node does for all

    /// The condition uses the server's time, even if a test sets the store's.
    ///
    /// - Parameter whileAlive: The turn passes as soon as the node that has it is dead; for tasks of nodes that live.
    func leads(
        _ task: String, isRare: Bool = false, whileAlive: Bool = false
    ) async throws(AttachmentError) -> Bool {
        do {
            return try await !pool.batch([
                Statement(
                    """
                    INSERT INTO leaders (task, node, until) VALUES ($1, $2, \(PostgresClock.sql) + $3)
                    ON CONFLICT (task) DO UPDATE SET node = excluded.node, until = excluded.until
                    WHERE leaders.until <= \(PostgresClock.sql) OR NOT $4 AND leaders.node = excluded.node
                        OR $5 AND NOT EXISTS (
                            SELECT 1 FROM nodes WHERE nodes.id = leaders.node AND \(members.isAlive))
                        -- From before the server's clock was set back.
                        OR leaders.until > excluded.until + \(GarbageTiming.lead.wholeMilliseconds)
                    RETURNING task
                    """,
                    [
                        .text(task), .uuid(members.id),
                        .int((isRare ? Store.youth : GarbageTiming.lead).wholeMilliseconds), .bool(isRare),
                        .bool(whileAlive),
                    ])
            ])[0].isEmpty
        } catch {
            throw AttachmentError(storing: error)
        }
    }

    /// Wake-ups come sooner, while they are heard.
    var pace: QueuePace {
        QueuePace(work: .milliseconds(wakeups.status == .works ? 250 : 100), ends: .milliseconds(50))
    }
}

struct PostgresSender: StatementSender {
    let transaction: PostgresTransaction

    var mayHaveCommitted: Bool { transaction.mayHaveCommitted }

    func send(_ statements: [Statement]) throws -> [RecordRows] {
        try transaction.send(statements).map { RecordRows($0) }
    }
}
