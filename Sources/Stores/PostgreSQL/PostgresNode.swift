internal import Attachments
internal import FoundationEssentials
internal import Postgres
internal import Synchronization

/// A node: one opening of the store, known by an id that is new each time. It lives while its row has a heartbeat; no lock
/// tells, for a node that is cut off holds its locks for as long as it likes.
final class PostgresNode: Sendable {
    /// When nodes count as dead, and who may say so.
    struct Timing: Sendable {
        var heartbeat: Duration = .seconds(2)
        /// Without a heartbeat for so long, a node is dead.
        var deadAfter: Duration = .seconds(10)
        /// Only who has had all its own heartbeats for so long takes others' jobs: after an outage theirs come first.
        var steadiness: Duration = .seconds(10)
    }

    let id = UUID().uuidString.lowercased()
    /// Of the counts that are kept in several rows.
    let slot: Int
    let timing: Timing
    private let pool: PostgresPool
    private let state = Mutex(State())
    private let beating = Mutex<Task<Void, Never>?>(nil)

    private struct State {
        /// Since when no heartbeat was late; nil before the first.
        var steadySince: ContinuousClock.Instant?
        var last: ContinuousClock.Instant?
    }

    static let slots = 8

    init(_ pool: PostgresPool, _ timing: Timing) {
        self.pool = pool
        self.timing = timing
        slot = Int.random(in: 0..<Self.slots)
    }

    deinit {
        beating.withLock(\.self)?.cancel()
        // Its jobs are free at once; where that fails, its heartbeats stay out.
        Task { [pool, id] in
            _ = try? await pool.batch([PostgresStatement("DELETE FROM nodes WHERE id = $1", [.uuid(id)])])
            await pool.close()
        }
    }

    /// Lives from now on. To be called before anything is done that others look at the node for.
    func live() async throws(PostgresError) {
        if state.withLock({ $0.last != nil }) { return }
        try await beat()
        beating.withLock { task in
            guard task == nil else { return }
            let interval = timing.heartbeat
            task = Task { [weak self] in
                while !Task.isCancelled {
                    try? await Task.sleep(for: interval)
                    // What fails is tried again with the next; that others notice is what heartbeats are for.
                    _ = try? await self?.beat()
                }
            }
        }
    }

    private func beat() async throws(PostgresError) {
        let now = ContinuousClock.now
        _ = try await pool.batch([
            PostgresStatement(
                """
                INSERT INTO nodes (id, name, version, slot, started_at, heartbeat_at)
                VALUES ($1, $2, $3, $4, \(PostgresClock.sql), \(PostgresClock.sql))
                ON CONFLICT (id) DO UPDATE SET heartbeat_at = excluded.heartbeat_at
                """,
                [.uuid(id), .text(ProcessInfo.processInfo.hostName), .text("\(PostgresSchema.version)"), .int(slot)])
        ])
        state.withLock { state in
            if state.last.map({ now - $0 > timing.deadAfter }) ?? true { state.steadySince = now }
            state.last = now
        }
    }

    /// Whether it may take others' jobs.
    var isSteady: Bool {
        state.withLock { state in
            guard let since = state.steadySince, let last = state.last else { return false }
            let now = ContinuousClock.now
            return now - last <= timing.deadAfter && now - since >= timing.steadiness
        }
    }

    /// A condition on a node's heartbeat, which is the server's time whatever the store's instants are.
    var isAlive: String {
        "heartbeat_at > \(PostgresClock.sql) - \(timing.deadAfter.wholeMilliseconds)"
    }
}
