internal import SatchelCore
internal import FoundationEssentials
internal import Postgres
internal import Synchronization

/// A node: one opening of the store, known by an id that is new each time. It lives while its row has a heartbeat; no lock
/// tells, for a node that is cut off holds its locks for as long as it likes.
final class PostgresNode: StoreNode {
    /// When nodes count as dead, and who may say so.
    struct Timing: Sendable {
        var heartbeat: Duration = .seconds(2)
        /// Without a heartbeat for so long, a node is dead.
        var deadAfter: Duration = .seconds(10)
        /// Only who has had all its own heartbeats for so long takes others' jobs: after an outage theirs come first.
        var steadiness: Duration = .seconds(10)
        /// Between two looks at a queue for jobs whose claims are to be taken away, while no node goes: each walks over all that
        /// was ever carried out while something holds back the vacuum.
        var rescue: Duration = .seconds(5)
        /// After so long anybody fires what the node whose share it is has left: it may be dead, and nobody knows yet.
        var firing: Duration = .seconds(2)
        /// Between two looks at the node's own claims, for those that nobody here has.
        var look: Duration = .seconds(10)
        /// Where claims begin to look, and when from the start.
        var lows = ClaimLows()
        /// When it is looked how many jobs wait.
        var room = QueueRoom()
        /// Between two looks whether the server answers; shorter while it does not.
        var probe: Duration = .seconds(1)
        /// This machine's clock, which operators are told about where it is wrong.
        var wallClock: @Sendable () -> Instant = Instant.wallClock
    }

    let id = UUID().uuidString.lowercased()
    /// Of the counts that are kept in several rows.
    let slot: Int
    let timing: Timing
    /// Where others reach it, as ``StoreDatabase/advertises`` has it.
    private let url: String?
    /// The membership's own connection and thread, so that slow statements never make a live node look dead.
    private let pool: PostgresPool
    /// Told how many nodes and commands live, at each heartbeat.
    private let tell: @Sendable (Int) -> Void
    /// Told whether the server is silent.
    private let silence: @Sendable (Bool) -> Void
    private let departures = WebhookNotifier()
    let queue: QueueMemory?
    private let state = Mutex(State())
    private let beating = Mutex<Task<Void, Never>?>(nil)
    private let probing = Mutex<Task<Void, Never>?>(nil)

    private struct State {
        /// Nil for a command.
        var role: NodeRole?
        var isDraining = false
        var census = NodeCensus()
        var share = FiringShare.whole
        /// Counts the shares that it had.
        var shares: Int64 = 0
        /// Since when no heartbeat was late; nil before the first.
        var steadySince: ContinuousClock.Instant?
        var last: ContinuousClock.Instant?
        var server = ServerTime()
        /// Whether heartbeats were ever late.
        var hadGap = false
        /// Claims that are asked for, or that somebody here has.
        var claims: [ClaimID: Held] = [:]
        /// How often nodes were gone that had been there.
        var departures = 0
        var rescues: [String: Rescue] = [:]
        var lookedAt = ContinuousClock.now
        /// Changes to the number of jobs.
        var changes = 0
    }

    /// A look at a queue for jobs of others.
    private struct Rescue {
        var at: ContinuousClock.Instant
        var departures: Int
    }

    private struct Held {
        /// When the record is known to have had it.
        var confirmedAt: ContinuousClock.Instant
        var until: ContinuousClock.Instant
    }

    static let slots = 8

    init(
        _ parameters: PostgresParameters, at url: String? = nil, _ timing: Timing,
        silence: @escaping @Sendable (Bool) -> Void = { _ in }, _ tell: @escaping @Sendable (Int) -> Void
    ) {
        pool = PostgresPool(parameters, writers: 1, readers: 1)
        self.url = url
        self.tell = tell
        self.silence = silence
        self.timing = timing
        queue = QueueMemory(timing.lows, timing.room)
        slot = Int.random(in: 0..<Self.slots)
    }

    deinit {
        beating.withLock(\.self)?.cancel()
        probing.withLock(\.self)?.cancel()
        // Its jobs are free at once; where that fails, its heartbeats stay out.
        Task { [pool, id] in
            _ = try? await pool.batch([
                Statement("DELETE FROM nodes WHERE id = $1", [.uuid(id)]),
                Statement(
                    """
                    DELETE FROM run_nodes WHERE node = $1
                        AND NOT EXISTS (SELECT 1 FROM runs WHERE id = run_nodes.run AND ended_at IS NULL)
                    """, [.uuid(id)]),
            ])
            await pool.close()
        }
    }

    /// Lives from now on. To be called before anything is done that others look at the node for.
    func live() async throws(AttachmentError) {
        if state.withLock({ $0.last != nil }) { return }
        do { try await beat() } catch { throw AttachmentError(storing: error) }
        goOn()
    }

    /// Lives from now on, as a node that does this. Others count it before long where they can't be told now.
    func join(as role: NodeRole) async {
        state.withLock { $0.role = role }
        try? await beat()
        goOn()
        probing.withLock { task in
            task = task ?? Task { [pool, silence, timing] in await Self.probe(pool, every: timing.probe, silence) }
        }
    }

    /// Watches for a server that stays connected and says nothing. The questions have a connection of their own, so that slow
    /// statements are no silence.
    private static func probe(
        _ pool: PostgresPool, every interval: Duration, _ tell: @Sendable (Bool) -> Void
    ) async {
        var answers = 2
        while (try? await Task.sleep(for: answers < 2 ? interval / 4 : interval)) != nil {
            do throws(PostgresError) {
                // With the pause before it this makes ``PostgresPool/longestSilence``.
                _ = try await pool.rows("SELECT 1", within: PostgresPool.longestSilence - interval)
                answers = min(answers + 1, 2)
                if answers == 2 { tell(false) }
            } catch {
                // A server that refuses connections is not silent.
                guard answers < 2 || error.isSilence else { continue }
                answers = 0
                if error.isSilence { tell(true) }
            }
        }
    }

    /// Takes on nothing new: others have its share.
    func retire() async {
        state.withLock { $0.isDraining = true }
        try? await beat()
    }

    private func goOn() {
        beating.withLock { task in
            guard task == nil else { return }
            let interval = timing.heartbeat
            task = Task { [weak self] in
                while !Task.isCancelled {
                    try? await Task.sleep(for: interval)
                    // What fails is tried again with the next; that others notice is what heartbeats are for.
                    try? await self?.beat()
                    try? await self?.handBackStrays()
                }
            }
        }
    }

    private func beat() async throws(PostgresError) {
        let now = ContinuousClock.now
        let (role, isDraining) = state.withLock { ($0.role, $0.isDraining) }
        let rows = try await pool.batch([
            Statement(
                """
                INSERT INTO nodes (id, name, version, slot, url, role, draining, started_at, heartbeat_at, clock_ahead)
                VALUES ($1, $2, $3, $4, $5, $6, $7, \(PostgresClock.sql), \(PostgresClock.sql), $8 - \(PostgresClock.sql))
                ON CONFLICT (id) DO UPDATE SET heartbeat_at = excluded.heartbeat_at, role = excluded.role,
                    draining = excluded.draining, clock_ahead = excluded.clock_ahead
                RETURNING heartbeat_at
                """,
                [
                    .uuid(id), .text(ProcessInfo.processInfo.hostName), .text("\(Schema.version)"), .int(slot),
                    .text(url), .text(role?.rawValue ?? NodeCensus.command), .bool(isDraining),
                    .int(timing.wallClock().milliseconds),
                ]),
            Statement("SELECT id, role, draining FROM nodes WHERE \(isAlive)"),
        ])
        let census = try NodeCensus(rows[1])
        tell(census.ids.count)
        queue?.divide(among: census.takingRequests)
        let time = try rows[0].first?.int64("heartbeat_at")
        let trip = ContinuousClock.now - now
        let hasLeft = state.withLock { state in
            // An answer that took long, such as over a pause of this process, says nothing about the time.
            let isPrompt = trip < PostgresPool.longestSilence || state.server.expected(at: now) == nil
            if let time, isPrompt,
                state.server.note(Instant(milliseconds: time), at: now + trip / 2, tolerance: mostDrift),
                state.steadySince != nil
            {
                // All other nodes' heartbeats and claims have to come anew, by the clock as it is now.
                state.steadySince = now + timing.steadiness
            }
            let isLate = state.last.map { now - $0 > timing.deadAfter }
            if isLate ?? true { state.steadySince = now }
            if isLate ?? false { state.hadGap = true }
            state.last = max(state.last ?? now, now)
            if census.firing != state.census.firing {
                state.share =
                    isDraining && !census.firing.isEmpty ? .none : FiringShare(of: id, among: census.firing)
                state.shares += 1
            }
            let hasLeft = !state.census.ids.isSubset(of: census.ids)
            if hasLeft { state.departures += 1 }
            state.census = census
            return hasLeft
        }
        if hasLeft { departures.notify() }
    }

    /// The server's time, without asking.
    var time: Instant { state.withLock { $0.server.expected(at: .now) } ?? .wallClock() }

    /// Who lives, as of the last heartbeat.
    var census: NodeCensus { state.withLock(\.census) }

    /// What this node fires before others do, and a number that tells it from the share that it had before.
    var share: (share: FiringShare, number: Int64) { state.withLock { ($0.share, $0.shares) } }

    /// Whether it may take others' jobs of a queue now: once in a while, and when a node has gone, and only after enough heartbeats
    /// of its own. Where that comes to nothing ``failedToRescue(in:)`` has to be told.
    ///
    /// - Returns: When it has to be now by the server's clock; where that was set since, it may not. Nil where it may not anyway.
    func mayRescue(in run: String) -> ClosedRange<Instant>? {
        state.withLock { state -> ClosedRange<Instant>? in
            guard let since = state.steadySince, let last = state.last else { return nil }
            let now = ContinuousClock.now
            guard now - last <= timing.deadAfter, now - since >= timing.steadiness,
                state.rescues[run].map({ now - $0.at >= timing.rescue || $0.departures != state.departures }) ?? true,
                let expected = state.server.expected(at: now)
            else { return nil }
            state.rescues[run] = Rescue(at: now, departures: state.departures)
            return expected - mostDrift...expected + mostDrift
        }
    }

    func whenNodesLeave(_ tell: @escaping @Sendable () -> Void) { departures.listen(tell) }

    /// A look for others' jobs wasn't committed: the next is due at once.
    func failedToRescue(in run: String) { state.withLock { $0.rescues[run] = nil } }

    /// What the server's clock may go on more or less than this machine's from one heartbeat to the next. More would make
    /// nodes look dead that live.
    private var mostDrift: Duration { timing.deadAfter / 2 }

    // MARK: Claims

    /// Claims with these ids are about to be asked for.
    func expect(_ ids: [ClaimID], for duration: Duration) {
        let now = ContinuousClock.now
        state.withLock { state in
            for id in ids { state.claims[id] = Held(confirmedAt: now, until: now + duration) }
        }
    }

    /// Of claims that were asked for, those that didn't come: there are none such, or the answer was lost.
    func forget(_ ids: some Sequence<ClaimID>) {
        state.withLock { state in
            for id in ids { state.claims[id] = nil }
        }
    }

    /// Which row counts the next change to the number of jobs. A row serves for some changes, one behind the other, and then the next
    /// does: a change has to find its row's last version behind all that something keeps the vacuum from removing.
    var countingSlot: Int {
        state.withLock { state in
            state.changes += 1
            return (slot * Self.slots + state.changes / Self.changesInTurn) % Self.countingSlots
        }
    }

    static let countingSlots = 64
    private static let changesInTurn = 128

    /// The record had a claim when that was asked.
    func confirm(_ id: ClaimID, since: ContinuousClock.Instant, for duration: Duration) {
        state.withLock { $0.claims[id] = Held(confirmedAt: since, until: since + duration) }
    }

    /// Whether nobody can have taken a claim away for this node's silence. Where that isn't known it is asked, with a
    /// heartbeat first, so that it stays so.
    func holds(_ id: ClaimID) async throws(PostgresError) -> Bool {
        if isSure(of: id) { return true }
        try await beat()
        let since = ContinuousClock.now
        guard try await !pool.rows("SELECT 1 FROM queue WHERE claim = $1", [.uuid(id.rawValue)], on: .write).isEmpty
        else {
            return false
        }
        state.withLock { state in
            state.claims[id] = Held(confirmedAt: since, until: state.claims[id]?.until ?? since + timing.deadAfter)
        }
        return true
    }

    private func isSure(of id: ClaimID) -> Bool {
        state.withLock { state in
            guard let last = state.last, let since = state.steadySince else { return true }
            guard ContinuousClock.now - last <= timing.deadAfter else { return false }
            return state.claims[id].map { $0.confirmedAt >= since } ?? !state.hadGap
        }
    }

    /// Hands back what the record says that this node has, and nobody here knows of: its answer was lost. Each is looked for
    /// after it was read, as it was known before it was asked for.
    private func handBackStrays() async throws(PostgresError) {
        let isTime = state.withLock { state in
            let now = ContinuousClock.now
            guard now - state.lookedAt >= timing.look else { return false }
            state.lookedAt = now
            return true
        }
        guard isTime else { return }
        let claims = try await pool.rows(
            "SELECT claim FROM queue WHERE state = 'running' AND node = $1", [.uuid(id)], on: .write)
        var strays: [String] = []
        for row in claims { strays.append(try row.text("claim")) }
        let now = ContinuousClock.now
        let listed = Set(strays)
        let known = state.withLock { state in
            // What ran out is still held, while the record says so. Of the rest, nobody was told that it was taken away.
            state.claims = state.claims.filter {
                listed.contains($0.key.rawValue) || $0.value.until + Self.memory > now
            }
            return Set(state.claims.keys)
        }
        strays.removeAll { known.contains(ClaimID(rawValue: $0)) }
        guard !strays.isEmpty else { return }
        _ = try await pool.batch([Statement(RecordTransaction.handBack, [.uuids(strays)])])
        queue?.lookFromTheStart()
    }

    /// How long after its end a claim is known that isn't in the record.
    private static let memory: Duration = .seconds(600)

    /// A condition on a node's heartbeat, which is the server's time whatever the store's instants are. One from later than
    /// now is from before the server's clock was set back.
    var isAlive: String { Self.isAlive(within: timing.deadAfter) }

    func lives(_ id: String) -> String {
        "EXISTS (SELECT 1 FROM nodes WHERE nodes.id = \(id) AND \(isAlive))"
    }

    var firingPatience: Duration { timing.firing }

    static func isAlive(within time: Duration) -> String {
        "abs(heartbeat_at - \(PostgresClock.sql)) < \(time.wholeMilliseconds)"
    }
}

/// The server's clock beside this machine's, which nobody sets.
struct ServerTime: Sendable {
    private var last: (server: Instant, own: ContinuousClock.Instant)?

    /// What the server's clock is when nobody sets it; nil before it was ever known.
    func expected(at own: ContinuousClock.Instant) -> Instant? {
        last.map { $0.server + (own - $0.own) }
    }

    /// - Returns: Whether the server's clock was set since the last time.
    mutating func note(_ server: Instant, at own: ContinuousClock.Instant, tolerance: Duration) -> Bool {
        let step = expected(at: own).map { server - $0 } ?? .zero
        last = (server, own)
        return max(step, .zero - step) > tolerance
    }
}
