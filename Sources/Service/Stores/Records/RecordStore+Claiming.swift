public import SatchelCore
internal import FoundationEssentials
internal import Postgres

/// A claim's wish to last longer.
struct Heartbeat: Sendable {
    var claim: ClaimID
    var duration: Duration
}

extension RecordStore {
    /// Takes as many jobs as there is room for: pending ones that are due, and running ones of which the claim is
    /// over or the worker is gone. Each gets `attempt + 1` and a claim of its own.
    public func claim(
        _ capacity: ClaimCapacity, from source: ClaimSource, by worker: WorkerID, for duration: Duration
    ) async throws(AttachmentError) -> [Claim] {
        guard capacity.all > 0 else { return [] }
        // A run that claims lives; a lane's jobs belong to the node.
        if case .run(let run) = source { try await announce(run) } else { try await node.live() }
        let rescue = node.mayRescue(in: source.run)
        // Workers that look again and again must not keep each other from writing. A run looks when it knows why.
        if engine.hasOneWriter, case .lane = source {
            let isWorthwhile = try await read { work in
                try !work.lost(in: source, within: rescue).isEmpty
                    || !work.waiting(capacity, in: source, most: 1).isEmpty
            }
            guard isWorthwhile else { return [] }
        }
        let ids = (0..<capacity.all).map { _ in ClaimID.generate() }
        node.expect(ids, for: duration)
        do throws(AttachmentError) {
            let (claims, found) = try await write { work in
                try work.giveBack(ids)
                try work.rescue(in: source, within: rescue)
                return try work.claim(capacity, from: source, for: duration, as: ids)
            }
            for line in found {
                node.queue?.found(line.ranks, in: line.line, wanted: line.wanted, from: line.low)
            }
            node.forget(Set(ids).subtracting(claims.map(\.id)))
            if !claims.isEmpty { node.queue?.tookWaiting() }
            return claims
        } catch {
            node.forget(ids)
            if rescue != nil { node.failedToRescue(in: source.run) }
            throw error
        }
    }

    /// Moves a claim's end to `duration` from now; call it at a third of that.
    public func heartbeat(_ claim: Claim, for duration: Duration) async throws -> Instant {
        let since = ContinuousClock.now
        let end = try await together(Heartbeat(claim: claim.id, duration: duration), heartbeats) {
            [engine] requests in try await Self.beat(requests, in: engine)
        }
        guard let end = end ?? SeededFault.endOfLost else {
            node.forget([claim.id])
            throw ClaimError.lost
        }
        node.confirm(claim.id, since: since, for: duration)
        return Instant(milliseconds: end)
    }

    /// The ends of claims that were prolonged, nil for those that were lost: one statement for all.
    private static func beat(_ requests: [Heartbeat], in engine: any RecordEngine) async throws -> [Int64?] {
        let ends: [String: Int64] = try await engine.send { now in
            [
                Statement(
                    """
                    UPDATE queue SET claimed_until = coalesce($3::bigint, \(engine.clock("$3"))) + beats.duration
                    FROM (
                        SELECT queue.job, beats.* FROM unnest($1::uuid[], $2::bigint[]) AS beats (claim, duration)
                        JOIN queue ON queue.claim = beats.claim ORDER BY queue.job FOR NO KEY UPDATE OF queue
                    ) AS beats
                    WHERE queue.job = beats.job AND queue.claim = beats.claim
                    RETURNING queue.claim, queue.claimed_until
                    """,
                    [
                        .uuids(requests.map(\.claim.rawValue)), .ints(requests.map { $0.duration.wholeMilliseconds }),
                        .time(now),
                    ])
            ]
        } _: { rows in
            try rows[0].reduce(into: [:]) { ends, row in ends[try row.text("claim")] = try row.int64("claimed_until") }
        }
        return requests.map { ends[$0.claim.rawValue.lowercased()] }
    }

    /// Of a job that is handed back. What is due later than that was written before the server's clock was set back.
    static let longestPause: Duration = .seconds(600)

    /// Hands a job back: pending again, due after `delay`, of at most 10 min. With `countsAttempt` false the attempt is taken back, as
    /// when a worker stops before it began.
    public func release(_ claim: Claim, after delay: Duration, countsAttempt: Bool) async throws {
        try await handBack(claim) { work, job in
            // Handed back unbegun, it gets a fresh budget like one that was interrupted.
            .update(
                "queue", ["due_at": .time(work.now + min(delay, Self.longestPause))],
                (countsAttempt ? "" : "attempt = attempt - 1, interrupted = true, ") + RecordTransaction.handedBack,
                where: "job = $", .int(job.key))
        }
    }

    /// Hands a job over to a lane: pending again, the attempt taken back, its deadline as it was, at the end of what its
    /// tenant has there.
    public func move(_ claim: Claim, to lane: JobLane) async throws {
        try await handBack(claim) { work, job in
            let rank = try work.rank(of: work.submission(job), in: lane, key: job.key, beside: 0)
            if job.run.isEmpty, let old = job.queue?.lane {
                work.change(job.tenant, jobs: -1, in: old)
                work.change(job.tenant, jobs: 1, in: lane)
            }
            return .update(
                "queue", ["lane": .raw(lane), "rank": .int(rank)],
                "attempt = attempt - 1, \(RecordTransaction.handedBack)", where: "job = $", .int(job.key))
        }
    }

    /// Gives up the claim on a job, by a statement.
    private func handBack(
        _ claim: Claim, _ statement: @escaping @Sendable (RecordTransaction, RecordTransaction.Job) throws -> Statement
    ) async throws {
        try await writeUnderClaim(claim) { work in
            let job = try work.held(claim)
            work.wakes.insert(.work)
            node.queue?.lookFromTheStart()
            _ = try work.send(work.forgoing(claim.id.rawValue, of: job.key) + [statement(work, job)])
        }
    }

    /// Cancels a pending or running job; a finished one stays as it is.
    public func cancel(_ id: JobID, of tenant: TenantID) async throws(AttachmentError) -> JobRecord? {
        try await write { work in
            guard let job = try work.lock(id, of: tenant) else { return nil }
            if let queue = job.queue {
                let submission = try work.submission(job)
                try work.release(sourcesOf: job.key)
                try work.forgo(queue.claim, of: job.key)
                let kept = try work.retention(of: submission, job) + work.webhook(submission, of: job)
                let answers = try work.send(
                    kept + [
                        Statement("DELETE FROM queue WHERE job = $1", [.int(job.key)]),
                        work.ending(
                            job, as: .cancelled, expiresAt: submission.recordExpiry(from: work.now)),
                        Statement(
                            """
                            UPDATE attachments SET state = 'cancelled', finished_at = $2, source = NULL
                            WHERE job = $1 AND state = 'pending'
                            """, [.int(job.key), .time(work.now)]),
                    ])
                work.tallies.add(
                    cancelled: answers.last?.changes ?? 0, of: tenant, in: queue.lane, at: work.now)
                work.wakes.insert(.ended)
                if job.run.isEmpty { work.change(tenant, jobs: -1, in: queue.lane) }
            }
            return try work.jobRecord(job.key)
        }
    }
}

/// What a claim found in a line.
private struct FoundLine: Sendable {
    var line: ClaimLows.Line
    var low: Int64
    var wanted: Int
    var ranks: [Int64] = []
}

extension RecordTransaction {
    /// Takes the jobs of a source from claims that ran out and from nodes that are dead. A claim from before the server's clock
    /// was set back needs no look: its node is dead, or prolongs it, or hands it back.
    ///
    /// - Parameter time: When it has to be by the server's clock; nil where it may not be now.
    fileprivate func rescue(in source: ClaimSource, within time: ClosedRange<Instant>?) throws {
        let lost = try lost(in: source, within: time)
        guard !lost.isEmpty else { return }
        let jobs = try lost.map { Optional(try $0.int64("job")) }
        _ = try send(
            try lost.flatMap { try forgoing($0.optionalText("claim"), of: $0.int64("job")) } + [
                Statement(
                    """
                    UPDATE queue SET interrupted = true, \(Self.handedBack) WHERE job = ANY($1::bigint[])
                    """, [.ints(jobs)])
            ])
        store.node.queue?.lookFromTheStart()
    }

    /// Jobs whose claims are to be taken away.
    fileprivate func lost(in source: ClaimSource, within time: ClosedRange<Instant>?) throws -> RecordRows {
        guard let time else { return RecordRows() }
        return try run(
            """
            SELECT job, claim FROM queue
            WHERE state = 'running' AND run = CAST($1 AS text) AND \(store.engine.clock("$4")) BETWEEN $4 AND $5
                AND (claimed_until <= $2 OR node <> $3 AND NOT \(store.node.lives("queue.node")))
            FOR NO KEY UPDATE SKIP LOCKED
            """, [.text(source.run), .time(now), .uuid(store.node.id), .time(time.lowerBound), .time(time.upperBound)])
    }

    /// Changes that take a job from its claim.
    static let handedBack = "state = 'pending', claim = NULL, node = NULL, claimed_until = NULL"

    /// No work under these claims has begun.
    static let handBack = """
        UPDATE queue SET attempt = attempt - 1, interrupted = true, \(handedBack) WHERE claim = ANY($1::uuid[])
        """

    /// Where an earlier attempt may have been committed whose answer was lost: nobody has begun what it claimed.
    fileprivate func giveBack(_ ids: [ClaimID]) throws {
        guard mayHaveCommitted else { return }
        try run(Self.handBack, [.uuids(ids.map(\.rawValue))])
    }

    /// As it is planned once for all values, an index gives the order only where it is this very condition's: one of a lane by
    /// equality, and one of runs, whose jobs are in all lanes.
    private static func isWaiting(_ priority: Int, in lane: JobLane?) -> String {
        """
        \(lane == nil ? "queue.run = CAST($1 AS text) AND queue.run <> '' AND $2::text IS NULL" : "queue.run = '' AND $1 = '' AND queue.lane = $2")
            AND queue.priority = \(priority)
            AND queue.state = 'pending' AND queue.rank >= \(priority == 0 ? "$6" : "$7")::bigint
            AND (queue.due_at <= $3 OR queue.due_at > $3 + \(RecordStore.longestPause.wholeMilliseconds))
        """
    }

    /// The first jobs of a line of one priority, locked. Where some tenants are busy, the first of each other one: who asks
    /// again gets the next.
    private static func line(
        _ priority: Int, in lane: JobLane?, except busy: String, isBusy: Bool, limit: String
    ) -> String {
        guard isBusy else {
            return """
                SELECT * FROM queue WHERE \(isWaiting(priority, in: lane))
                ORDER BY rank, job LIMIT \(limit) \(SeededFault.lock)
                """
        }
        let line = "run = '' AND lane = $2 AND priority = \(priority)"
        return """
            SELECT * FROM queue WHERE \(isWaiting(priority, in: lane)) AND queue.job IN (
                WITH RECURSIVE tenants (tenant) AS (
                    SELECT min(tenant COLLATE "C") FROM queue WHERE \(line)
                    UNION ALL
                    SELECT (SELECT min(queue.tenant COLLATE "C") FROM queue WHERE \(line) AND queue.tenant > tenants.tenant)
                    FROM tenants WHERE tenants.tenant IS NOT NULL)
                SELECT (
                    SELECT job FROM queue WHERE \(isWaiting(priority, in: lane)) AND queue.tenant = tenants.tenant
                    ORDER BY rank, job LIMIT 1)
                FROM tenants WHERE tenants.tenant <> ALL(\(busy)))
            ORDER BY rank, job LIMIT \(limit) \(SeededFault.lock)
            """
    }

    /// The jobs to be done next, in their order, locked.
    ///
    /// - Parameters:
    ///   - lows: Where each line's ranks begin.
    ///   - most: At most so many.
    fileprivate func waiting(
        _ capacity: ClaimCapacity, in source: ClaimSource, from lows: [Int64] = [0, 0], most: Int = .max
    ) throws -> [RecordRow] {
        var lane: JobLane?
        if case .lane(let one) = source { lane = one }
        let busy = [JobPriority.interactive, .bulk].map { priority -> [String?] in
            lane == nil ? [] : capacity.busy[priority, default: []].map(\.rawValue)
        }
        let rows = try run(
            """
            WITH first AS MATERIALIZED (
                \(Self.line(0, in: lane, except: "$8::text[]", isBusy: !busy[0].isEmpty, limit: "$4::int"))),
            second AS MATERIALIZED (
                \(Self.line(
                    1, in: lane, except: "$9::text[]", isBusy: !busy[1].isEmpty,
                    limit: "greatest(0, least($5::int, $4::int - (SELECT count(*) FROM first)))")))
            SELECT * FROM first UNION ALL SELECT * FROM second
            -- So that all values have a type where no line asks for them.
            WHERE $3::bigint IS NOT NULL AND ($8::text[] IS NOT NULL OR $9::text[] IS NOT NULL)
            """,
            [
                .text(source.run), .raw(lane), .time(now), .int(min(capacity.all, most)),
                .int(min(capacity.bulk, most)), .int(lows[0]), .int(lows[1]), .texts(busy[0]), .texts(busy[1]),
            ])
        // Neither language promises the order of a union.
        return try rows.map {
            (priority: try $0.int("priority"), rank: try $0.int64("rank"), job: try $0.int64("job"), $0)
        }
        .sorted { ($0.priority, $0.rank, $0.job) < ($1.priority, $1.rank, $1.job) }.map(\.3)
    }

    /// Takes the jobs to be done next.
    fileprivate func claim(
        _ capacity: ClaimCapacity, from source: ClaimSource, for duration: Duration, as ids: [ClaimID]
    ) throws -> ([Claim], [FoundLine]) {
        var lane: JobLane?
        if case .lane(let one) = source { lane = one }
        var lines = [JobPriority.interactive, .bulk].map { priority in
            let line = ClaimLows.Line(run: source.run, lane: lane, priority: priority.rank)
            // A tenant that is passed over for a busy one returns to the same line.
            let isWhole = lane == nil || capacity.busy[priority, default: []].isEmpty
            return FoundLine(
                line: line, low: isWhole ? store.node.queue?.low(of: line) ?? 0 : 0, wanted: isWhole ? capacity.all : 0)
        }
        let rows = try waiting(capacity, in: source, from: lines.map(\.low))
        for row in rows { lines[try row.int("priority")].ranks.append(try row.int64("rank")) }
        if lines[1].wanted > 0 { lines[1].wanted = min(capacity.bulk, capacity.all - lines[0].ranks.count) }
        guard !rows.isEmpty else { return ([], lines) }
        let reached = try lane.map { lane in
            try rows.map { (lane: lane, priority: try $0.int("priority"), rank: try $0.int64("rank")) }
        }
        let end = now + duration
        let taking = Statement(
            """
            UPDATE queue SET state = 'running', attempt = attempt + 1, claim = taken.claim, node = $3, claimed_until = $4,
                interrupted = false
            FROM unnest($1::bigint[], $2::uuid[]) AS taken (job, claim) WHERE queue.job = taken.job
            """,
            [
                .ints(try rows.map { try $0.int64("job") }), .uuids(ids.prefix(rows.count).map(\.rawValue)),
                .uuid(store.node.id), .time(end),
            ])
        return (try claims(of: rows, as: ids, until: end, [taking] + advancing(reached ?? [])), lines)
    }

    /// Notes how far lines have got when jobs of these ranks are claimed.
    func advancing(_ claimed: [(lane: JobLane, priority: Int, rank: Int64)]) -> [Statement] {
        var reached: [String: [Int: Int64]] = [:]
        for (lane, priority, rank) in claimed {
            reached[lane.rawValue, default: [:]][priority] = max(reached[lane.rawValue]?[priority] ?? 0, rank)
        }
        // In one order, so that no two wait for each other.
        return reached.sorted { $0.key < $1.key }.flatMap { lane, ranks in
            ranks.sorted { $0.key < $1.key }.map { priority, rank in
                Statement(
                    """
                    INSERT INTO virtual_time (lane, priority, slot, rank) VALUES ($1, $2, $3, $4)
                    ON CONFLICT (lane, priority, slot) DO UPDATE SET rank = greatest(virtual_time.rank, excluded.rank)
                    """, [.text(lane), .int(priority), .int(store.node.slot), .int(rank)])
            }
        }
    }

    /// All that the work needs, of rows of the queue as they were before they are claimed.
    ///
    /// - Parameters:
    ///   - ids: Of the claims, in the order of the rows.
    ///   - statements: What claims them, sent with what asks.
    private func claims(
        of rows: [RecordRow], as ids: [ClaimID], until end: Instant, _ statements: [Statement]
    ) throws -> [Claim] {
        let keys = SQLValue.ints(try rows.map { try $0.int64("job") })
        let facts = try send(
            [
                Statement(
                    """
                    SELECT jobs.key, jobs.tenant, jobs.id, jobs.run, profiles.body FROM jobs
                        JOIN profiles ON profiles.key = jobs.profile
                    WHERE jobs.key = ANY($1::bigint[])
                    """, [keys]),
                Statement(
                    """
                    SELECT attachments.job, attachments.id, attachments.ordinal FROM attachments
                        JOIN queue ON queue.job = attachments.job AND queue.generation = attachments.generation
                    WHERE attachments.job = ANY($1::bigint[]) ORDER BY attachments.job, attachments.ordinal
                    """, [keys]),
            ] + statements)
        var jobs: [Int64: RecordRow] = [:]
        for row in facts[0] { jobs[try row.int64("key")] = row }
        // An attachment that was deleted meanwhile is no longer wanted.
        var wanted: [Int64: [(id: AttachmentID, ordinal: Int)]] = [:]
        for row in facts[1] {
            wanted[try row.int64("job"), default: []].append(
                (AttachmentID(rawValue: try row.text("id")), try row.int("ordinal")))
        }
        var claims: [Claim] = []
        var late: [(key: Int64, deadline: Int64?)] = []
        for (row, id) in zip(rows, ids) {
            let key = try row.int64("job")
            guard let job = jobs[key] else { continue }
            let queued = try Queued(row)
            var submission = try JobSubmission(
                stored: queued.submission, profile: job.text("body"), of: TenantID(rawValue: job.text("tenant")),
                JobID(rawValue: job.text("id")), run: job.text("run"))
            try queued.secrets?.open(into: &submission, keys: store.keys)
            let isLate = queued.isInterrupted
            var deadline = queued.deadlineAt
            if isLate {
                deadline = submission.deadline(from: now)
                late.append((key, deadline?.milliseconds))
            }
            let attachments = wanted[key] ?? []
            submission.attachments = attachments.map { submission.attachments[$0.ordinal] }
            claims.append(
                Claim(
                    id: id, tenant: submission.tenant, job: submission.id,
                    generation: try row.int("generation"), attempt: queued.attempt + 1, claimedUntil: end,
                    deadlineAt: deadline, isLate: isLate, lane: queued.lane, submission: submission,
                    attachments: attachments.map(\.id)))
        }
        if !late.isEmpty {
            try run(
                """
                UPDATE queue SET deadline_at = late.deadline FROM unnest($1::bigint[], $2::bigint[]) AS late (job, deadline)
                WHERE queue.job = late.job
                """, [.ints(late.map(\.key)), .ints(late.map(\.deadline))])
        }
        return claims
    }
}
