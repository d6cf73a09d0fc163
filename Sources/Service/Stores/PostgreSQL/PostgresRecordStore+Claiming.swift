public import SatchelCore
internal import FoundationEssentials
internal import Postgres

/// A claim's wish to last longer.
struct Heartbeat: Sendable {
    var claim: ClaimID
    var duration: Duration
    /// The store's time, where a test has one.
    var now: Instant?
}

extension PostgresRecordStore {
    public func claim(
        _ capacity: ClaimCapacity, from source: ClaimSource, by worker: WorkerID, for duration: Duration
    ) async throws(AttachmentError) -> [Claim] {
        guard capacity.all > 0 else { return [] }
        do {
            // A run that claims lives; a lane's jobs belong to the node.
            if case .run(let run) = source { try await announce(run.rawValue) } else { try await node.live() }
        } catch {
            throw AttachmentError(postgres: error)
        }
        let ids = (0..<capacity.all).map { _ in ClaimID.generate() }
        node.expect(ids, for: duration)
        let rescue = node.mayRescue(in: source.run)
        do throws(AttachmentError) {
            let (claims, found) = try await write { work in
                try await work.giveBack(ids)
                if let rescue { try await work.rescue(in: source, within: rescue) }
                return try await work.claim(capacity, from: source, for: duration, as: ids)
            }
            for line in found { node.found(line.ranks, in: line.line, wanted: line.wanted, from: line.low) }
            node.forget(Set(ids).subtracting(claims.map(\.id)))
            if !claims.isEmpty { node.tookWaiting() }
            return claims
        } catch {
            node.forget(ids)
            if rescue != nil { node.failedToRescue(in: source.run) }
            throw error
        }
    }

    public func heartbeat(_ claim: Claim, for duration: Duration) async throws -> Instant {
        var now: Instant?
        if case .fixed(let clock) = clock { now = clock() }
        let since = ContinuousClock.now
        let end: Int64?
        do {
            end = try await heartbeats(Heartbeat(claim: claim.id, duration: duration, now: now)) {
                [pool] requests throws(PostgresError) in try await Self.beat(requests, in: pool)
            }
        } catch {
            throw AttachmentError(postgres: error)
        }
        guard let end = end ?? SeededFault.endOfLost else {
            node.forget([claim.id])
            throw ClaimError.lost
        }
        node.confirm(claim.id, since: since, for: duration)
        return Instant(milliseconds: end)
    }

    /// The ends of claims that were prolonged, nil for those that were lost: one statement for all.
    static func beat(_ requests: [Heartbeat], in pool: PostgresPool) async throws(PostgresError) -> [Int64?] {
        let rows = try await pool.batch([
            PostgresStatement(
                """
                UPDATE queue SET claimed_until = coalesce(beats.now, \(PostgresClock.sql)) + beats.duration
                FROM (
                    SELECT queue.job, beats.* FROM unnest($1::uuid[], $2::bigint[], $3::bigint[])
                        AS beats (claim, duration, now)
                    JOIN queue ON queue.claim = beats.claim ORDER BY queue.job FOR NO KEY UPDATE OF queue
                ) AS beats
                WHERE queue.job = beats.job AND queue.claim = beats.claim
                RETURNING queue.claim, queue.claimed_until
                """,
                [
                    .uuids(requests.map(\.claim.rawValue)), .ints(requests.map { $0.duration.wholeMilliseconds }),
                    .ints(requests.map { $0.now?.milliseconds }),
                ])
        ])[0]
        var ends: [String: Int64] = [:]
        for row in rows { ends[try row.text("claim")] = try row.int64("claimed_until") }
        return requests.map { ends[$0.claim.rawValue.lowercased()] }
    }

    /// Of a job that is handed back. What is due later than that was written before the server's clock was set back.
    static let longestPause: Duration = .seconds(600)

    public func release(_ claim: Claim, after delay: Duration, countsAttempt: Bool) async throws {
        try await writeUnderClaim(claim) { work in
            let job = try await work.held(claim)
            work.wakes.insert(.work)
            node.lookFromTheStart()
            try await work.forgo(claim.id.rawValue, of: job.key)
            // Handed back unbegun, it gets a fresh budget like one that was interrupted.
            try await work.run(
                """
                UPDATE queue SET state = 'pending', claim = NULL, node = NULL, claimed_until = NULL, due_at = $2,
                    attempt = attempt - $3, interrupted = interrupted OR $4
                WHERE job = $1
                """,
                [
                    .int(job.key), .int((work.now + min(delay, Self.longestPause)).milliseconds),
                    .int(countsAttempt ? 0 : 1),
                    .bool(!countsAttempt),
                ])
        }
    }

    public func move(_ claim: Claim, to lane: JobLane) async throws {
        try await writeUnderClaim(claim) { work in
            let job = try await work.held(claim)
            work.wakes.insert(.work)
            node.lookFromTheStart()
            try await work.forgo(claim.id.rawValue, of: job.key)
            let rank = try await work.rank(of: work.submission(job), in: lane, key: job.key, beside: 0)
            try await work.run(
                """
                UPDATE queue SET state = 'pending', lane = $2, rank = $3, claim = NULL, node = NULL, claimed_until = NULL,
                    attempt = attempt - 1
                WHERE job = $1
                """, [.int(job.key), .text(lane.rawValue), .int(rank)])
        }
    }

    public func cancel(_ id: JobID, of tenant: TenantID) async throws(AttachmentError) -> JobRecord? {
        try await write { work in
            guard let job = try await work.lock(id, of: tenant) else { return nil }
            if let queue = job.queue {
                let submission = try await work.submission(job)
                try await work.release(sourcesOf: job.key)
                try await work.forgo(queue.claim, of: job.key)
                let kept = try work.retention(of: submission, job) + work.webhook(submission, of: job)
                let answers = try await work.transaction.send(
                    kept + [
                        PostgresStatement("DELETE FROM queue WHERE job = $1", [.int(job.key)]),
                        PostgresStatement(
                            """
                            UPDATE jobs SET state = 'cancelled', attempt = $2, deadline_at = $3, finished_at = $4, expires_at = $5
                            WHERE key = $1
                            """,
                            [
                                .int(job.key), .int(queue.attempt), .int(queue.deadlineAt?.milliseconds),
                                .int(work.now.milliseconds),
                                .int(submission.recordExpiry(from: work.now)?.milliseconds),
                            ]),
                        PostgresStatement(
                            """
                            UPDATE attachments SET state = 'cancelled', finished_at = $2, source = NULL
                            WHERE job = $1 AND state = 'pending'
                            """, [.int(job.key), .int(work.now.milliseconds)]),
                    ])
                work.tallies.add(
                    cancelled: answers.last?.changes ?? 0, of: tenant, in: queue.lane, at: work.now)
                work.wakes.insert(.ended)
                if job.run.isEmpty { work.change(tenant, jobs: -1) }
            }
            return try await work.jobRecord(job.key)
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

extension PostgresWork {
    /// Takes the jobs of a source from claims that ran out and from nodes that are dead. A claim from before the server's clock
    /// was set back needs no look: its node is dead, or prolongs it, or hands it back.
    ///
    /// - Parameter time: When it has to be by the server's clock.
    fileprivate func rescue(in source: ClaimSource, within time: ClosedRange<Instant>) async throws {
        let rescued = try await run(
            """
            WITH lost AS MATERIALIZED (
                SELECT job, claim FROM queue
                WHERE state = 'running' AND run = $1 AND \(PostgresClock.sql) BETWEEN $4 AND $5
                    AND (claimed_until <= $2
                        OR node <> $3 AND NOT EXISTS (SELECT 1 FROM nodes WHERE nodes.id = queue.node AND \(store.node.isAlive)))
                ORDER BY job FOR NO KEY UPDATE SKIP LOCKED),
            noted AS (\(Self.forgoing("$2")))
            UPDATE queue SET state = 'pending', interrupted = true, claim = NULL, node = NULL, claimed_until = NULL
            FROM lost WHERE queue.job = lost.job
            """,
            [
                .text(source.run), .int(now.milliseconds), .uuid(store.node.id), .int(time.lowerBound.milliseconds),
                .int(time.upperBound.milliseconds),
            ])
        if rescued.changes > 0 { store.node.lookFromTheStart() }
    }

    /// Where an earlier attempt may have been committed whose answer was lost: nobody has begun what it claimed.
    fileprivate func giveBack(_ ids: [ClaimID]) async throws {
        guard transaction.mayHaveCommitted else { return }
        try await run(PostgresNode.handBack, [.uuids(ids.map(\.rawValue))])
    }

    /// As it is planned once for all values, an index gives the order only where it is this very condition's: one of a lane by
    /// equality, and one of runs, whose jobs are in all lanes.
    private static func isWaiting(_ priority: Int, in lane: JobLane?) -> String {
        """
        queue.run = $1 AND \(lane == nil ? "queue.run <> '' AND $2::text IS NULL" : "queue.lane = $2")
            AND queue.priority = \(priority)
            AND queue.state = 'pending' AND queue.rank >= \(priority == 0 ? "$11" : "$12")::bigint
            AND (queue.due_at <= $3 OR queue.due_at > $3 + \(PostgresRecordStore.longestPause.wholeMilliseconds))
        """
    }

    /// The first jobs of a line of one priority, locked. Where some tenants are busy, the first of each other one: who asks
    /// again gets the next.
    private static func line(
        _ priority: Int, in lane: JobLane?, except busy: String, isBusy: Bool, limit: String
    ) -> String {
        guard isBusy else {
            return """
                SELECT job, rank, interrupted FROM queue WHERE \(isWaiting(priority, in: lane))
                ORDER BY rank, job LIMIT \(limit) \(SeededFault.lock)
                """
        }
        return """
            SELECT queue.job, queue.rank, queue.interrupted FROM queue WHERE \(isWaiting(priority, in: lane)) AND queue.job IN (
                WITH RECURSIVE tenants (tenant) AS (
                    (SELECT min(tenant COLLATE "C") FROM queue WHERE run = $1 AND lane = $2 AND priority = \(priority))
                    UNION ALL
                    SELECT (SELECT min(queue.tenant COLLATE "C") FROM queue
                        WHERE run = $1 AND lane = $2 AND priority = \(priority) AND queue.tenant > tenants.tenant)
                    FROM tenants WHERE tenants.tenant IS NOT NULL)
                SELECT first.job FROM tenants CROSS JOIN LATERAL (
                    SELECT job, rank FROM queue
                    WHERE \(isWaiting(priority, in: lane)) AND queue.tenant = tenants.tenant ORDER BY rank, job LIMIT 1) AS first
                WHERE tenants.tenant <> ALL(\(busy)) ORDER BY first.rank, first.job LIMIT \(limit))
            ORDER BY rank, job LIMIT \(limit) \(SeededFault.lock)
            """
    }

    /// Takes the jobs to be done next, by one statement.
    fileprivate func claim(
        _ capacity: ClaimCapacity, from source: ClaimSource, for duration: Duration, as ids: [ClaimID]
    ) async throws -> ([Claim], [FoundLine]) {
        var lane: JobLane?
        if case .lane(let one) = source { lane = one }
        func busy(_ priority: JobPriority) -> [String?] {
            lane == nil ? [] : capacity.busy[priority, default: []].map(\.rawValue)
        }
        let (interactive, bulk) = (busy(.interactive), busy(.bulk))
        var lines = [0, 1].map { priority in
            let line = ClaimLows.Line(run: source.run, lane: lane, priority: priority)
            // Who is passed over for who is busy comes back to the same line.
            let isWhole = priority == 0 ? interactive.isEmpty : bulk.isEmpty
            return FoundLine(
                line: line, low: isWhole ? store.node.low(of: line) : 0, wanted: isWhole ? capacity.all : 0)
        }
        let rows = try await run(
            """
            WITH first AS MATERIALIZED (
                \(Self.line(0, in: lane, except: "$8::text[]", isBusy: !interactive.isEmpty, limit: "$4::int"))),
            second AS MATERIALIZED (
                \(Self.line(
                    1, in: lane, except: "$9::text[]", isBusy: !bulk.isEmpty,
                    limit: "greatest(0, least($5::int, $4::int - (SELECT count(*) FROM first)))"))),
            taken AS (
                SELECT *, row_number() OVER (ORDER BY place, rank, job) AS number
                FROM (SELECT 0 AS place, * FROM first UNION ALL SELECT 1, * FROM second) AS both_lines)
            UPDATE queue SET state = 'running', attempt = attempt + 1, claim = ($6::uuid[])[taken.number], node = $7,
                claimed_until = $10, interrupted = false
            FROM taken WHERE queue.job = taken.job
                -- So that both have a type where no line asks for them.
                AND cardinality($8::text[]) + cardinality($9::text[]) >= 0
            RETURNING queue.*, taken.number, taken.interrupted AS was_interrupted
            """,
            [
                .text(source.run), .text(lane?.rawValue), .int(now.milliseconds), .int(capacity.all),
                .int(capacity.bulk),
                .uuids(ids.map(\.rawValue)), .uuid(store.node.id), .texts(interactive), .texts(bulk),
                .int((now + duration).milliseconds), .int(lines[0].low), .int(lines[1].low),
            ])
        for row in rows { lines[try row.int("priority")].ranks.append(try row.int64("rank")) }
        if lines[1].wanted > 0 { lines[1].wanted = min(capacity.bulk, capacity.all - lines[0].ranks.count) }
        guard !rows.isEmpty else { return ([], lines) }
        let reached = try lane.map { lane in
            try rows.map { (lane: lane, priority: try $0.int("priority"), rank: try $0.int64("rank")) }
        }
        let ordered = try rows.map { (try $0.int("number"), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
        return (try await claims(of: ordered, until: now + duration, advancing(reached ?? [])), lines)
    }

    /// Notes how far lines have got when jobs of these ranks are claimed.
    func advancing(_ claimed: [(lane: JobLane, priority: Int, rank: Int64)]) -> [PostgresStatement] {
        var reached: [String: [Int: Int64]] = [:]
        for (lane, priority, rank) in claimed {
            reached[lane.rawValue, default: [:]][priority] = max(reached[lane.rawValue]?[priority] ?? 0, rank)
        }
        // In one order, so that no two wait for each other.
        return reached.sorted { $0.key < $1.key }.flatMap { lane, ranks in
            ranks.sorted { $0.key < $1.key }.map { priority, rank in
                PostgresStatement(
                    """
                    INSERT INTO virtual_time (lane, priority, slot, rank) VALUES ($1, $2, $3, $4)
                    ON CONFLICT (lane, priority, slot) DO UPDATE SET rank = greatest(virtual_time.rank, excluded.rank)
                    """, [.text(lane), .int(priority), .int(store.node.slot), .int(rank)])
            }
        }
    }

    /// All that the work needs, of rows of the queue that were claimed just now.
    ///
    /// - Parameter statements: Sent with what asks for it.
    private func claims(
        of rows: [PostgresRow], until end: Instant, _ statements: [PostgresStatement]
    ) async throws -> [Claim] {
        let keys = PostgresValue.ints(try rows.map { try $0.int64("job") })
        let facts = try await transaction.send(
            [
                PostgresStatement(
                    """
                    SELECT jobs.key, jobs.tenant, jobs.id, jobs.run, profiles.body FROM jobs
                        JOIN profiles ON profiles.key = jobs.profile
                    WHERE jobs.key = ANY($1::bigint[])
                    """, [keys]),
                PostgresStatement(
                    """
                    SELECT attachments.job, attachments.id, attachments.ordinal FROM attachments
                        JOIN queue ON queue.job = attachments.job AND queue.generation = attachments.generation
                    WHERE attachments.job = ANY($1::bigint[]) ORDER BY attachments.job, attachments.ordinal
                    """, [keys]),
            ] + statements)
        var jobs: [Int64: PostgresRow] = [:]
        for row in facts[0] { jobs[try row.int64("key")] = row }
        // An attachment that was deleted meanwhile is no longer wanted.
        var wanted: [Int64: [(id: AttachmentID, ordinal: Int)]] = [:]
        for row in facts[1] {
            wanted[try row.int64("job"), default: []].append(
                (AttachmentID(rawValue: try row.text("id")), try row.int("ordinal")))
        }
        var claims: [Claim] = []
        var late: [(key: Int64, deadline: Int64?)] = []
        for row in rows {
            let key = try row.int64("job")
            guard let job = jobs[key] else { continue }
            let queued = try Queued(row)
            var submission = try JobSubmission(
                stored: queued.submission, profile: job.text("body"), of: TenantID(rawValue: job.text("tenant")),
                JobID(rawValue: job.text("id")), run: job.text("run"))
            try queued.secrets?.open(into: &submission, keys: store.keys)
            let isLate = try row.bool("was_interrupted")
            var deadline = queued.deadlineAt
            if isLate {
                deadline = submission.deadline(from: now)
                late.append((key, deadline?.milliseconds))
            }
            let attachments = wanted[key] ?? []
            submission.attachments = attachments.map { submission.attachments[$0.ordinal] }
            claims.append(
                Claim(
                    id: ClaimID(rawValue: try row.text("claim")), tenant: submission.tenant, job: submission.id,
                    generation: try row.int("generation"), attempt: queued.attempt, claimedUntil: end,
                    deadlineAt: deadline, isLate: isLate, lane: queued.lane, submission: submission,
                    attachments: attachments.map(\.id)))
        }
        if !late.isEmpty {
            try await run(
                """
                UPDATE queue SET deadline_at = late.deadline FROM unnest($1::bigint[], $2::bigint[]) AS late (job, deadline)
                WHERE queue.job = late.job
                """, [.ints(late.map(\.key)), .ints(late.map(\.deadline))])
        }
        return claims
    }

    /// Claims a job that was recorded just now; nil where another one comes before it.
    func claimAtOnce(_ key: Int64, _ new: NewJob, for offer: ClaimOffer) async throws -> Claim? {
        let lane = new.submission.lane
        for priority in JobPriority.inOrder where priority.rank <= new.submission.priority.rank {
            let line = ClaimLows.Line(run: "", lane: lane, priority: priority.rank)
            let low = store.node.low(of: line)
            let first = try await run(
                """
                SELECT job FROM queue
                WHERE run = '' AND lane = $1 AND priority = $2 AND state = 'pending' AND due_at <= $3 AND rank >= $4
                ORDER BY rank, job LIMIT 1
                """,
                [.text(lane.rawValue), .int(priority.rank), .int(now.milliseconds), .int(low)]
            ).first
            guard let first else { continue }
            guard try first.int64("job") == key else { return nil }
            let end = now + offer.duration
            let rows = try await run(
                """
                UPDATE queue SET state = 'running', attempt = attempt + 1, claim = $2, node = $3, claimed_until = $4
                WHERE job = $1 AND state = 'pending' RETURNING *, false AS was_interrupted
                """, [.int(key), .uuid(new.claim.rawValue), .uuid(store.node.id), .int(end.milliseconds)])
            let reached = try rows.map { (lane: lane, priority: try $0.int("priority"), rank: try $0.int64("rank")) }
            store.node.found(reached.map(\.rank), in: line, wanted: 1, from: low)
            return try await claims(of: Array(rows), until: end, advancing(reached)).first
        }
        return nil
    }
}
