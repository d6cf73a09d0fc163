public import SatchelCore
internal import FoundationEssentials
internal import GRDB

extension SQLiteRecordStore {
    public func claim(
        _ capacity: ClaimCapacity, from source: ClaimSource, by worker: WorkerID, for duration: Duration
    ) async throws(AttachmentError) -> [Claim] {
        guard capacity.all > 0 else { return [] }
        if case .lane = source {
            // Workers that look again and again must not keep each other from writing. A run looks when it knows why.
            let isWorthwhile = try await read { [workers] database, now in
                try !database.waiting(capacity, in: source, at: now, most: 1).isEmpty
                    || !database.interrupted(in: source, at: now, lives: workers.lives).isEmpty
            }
            guard isWorthwhile else { return [] }
        }
        try workers.register(worker)
        return try await write { [workers, keys] database, now in
            for key in try database.interrupted(in: source, at: now, lives: workers.lives) {
                try database.interrupt(key: key)
            }
            let rows = try database.waiting(capacity, in: source, at: now)
            if case .lane(let lane) = source { try database.advance(lane, past: rows) }
            return try rows.map { row in
                try database.claim(row, by: worker, until: now + duration, at: now, keys: keys)
            }
        }
    }

    public func heartbeat(_ claim: Claim, for duration: Duration) async throws -> Instant {
        try await writeUnderClaim { database, now in
            let job = try database.held(claim)
            let end = now + duration
            try database.run(
                "UPDATE jobs SET claimed_until = ? WHERE key = ?", [end.milliseconds, job["key"] as Int64])
            return end
        }
    }

    public func release(_ claim: Claim, after delay: Duration, countsAttempt: Bool) async throws {
        try await writeUnderClaim { database, now in
            let job = try database.held(claim)
            let key: Int64 = job["key"]
            // Handed back unbegun, it gets a fresh budget like one that was interrupted.
            try database.run(
                """
                UPDATE jobs SET state = 'pending', claim = NULL, worker = NULL, claimed_until = NULL, due_at = ?,
                    attempt = attempt - ?, interrupted = max(interrupted, ?)
                WHERE key = ?
                """,
                [(now + delay).milliseconds, countsAttempt ? 0 : 1, countsAttempt ? 0 : 1, key])
            try database.run(
                "UPDATE attachments SET state = 'pending' WHERE job = ? AND state = 'running'", [key])
        }
    }

    public func move(_ claim: Claim, to lane: JobLane) async throws {
        try await writeUnderClaim { database, now in
            let job = try database.held(claim)
            let key: Int64 = job["key"]
            let rank = try database.rank(of: try database.submission(job), in: lane)
            try database.run(
                """
                UPDATE jobs SET state = 'pending', lane = ?, rank = ?, claim = NULL, worker = NULL, claimed_until = NULL,
                    attempt = attempt - 1
                WHERE key = ?
                """, [lane.rawValue, rank, key])
            try database.run(
                "UPDATE attachments SET state = 'pending' WHERE job = ? AND state = 'running'", [key])
        }
    }

    public func cancel(_ id: JobID, of tenant: TenantID) async throws(AttachmentError) -> JobRecord? {
        try await write { database, now in
            guard
                let row = try database.row(
                    "SELECT * FROM jobs WHERE tenant = ? AND id = ?", [tenant.rawValue, id.rawValue])
            else { return nil }
            let state: WorkState = try row.choice("state")
            let key: Int64 = row["key"]
            if !state.isFinished {
                let submission = try database.submission(row)
                try database.retain(submission, of: row, at: now)
                try database.enqueueWebhook(submission, of: row, at: now)
                try database.run(
                    """
                    UPDATE jobs SET state = 'cancelled', claim = NULL, worker = NULL, claimed_until = NULL,
                        submission = NULL, headers = NULL, headers_kid = NULL, finished_at = ?, expires_at = ?
                    WHERE key = ?
                    """, [now.milliseconds, submission.recordExpiry(from: now)?.milliseconds, key])
                try database.run(
                    """
                    UPDATE attachments SET state = 'cancelled', finished_at = ?, spool = NULL
                    WHERE job = ? AND state IN ('pending', 'running')
                    """, [now.milliseconds, key])
                let (count, lane): (Int, JobLane) = (database.changesCount, try row.choice("lane"))
                GatheredTallies.current?.add { $0.add(cancelled: count, of: tenant, in: lane, at: now) }
            }
            return try database.jobRecord(key: key)
        }
    }
}

extension ClaimSource {
    /// The value of the column `run`.
    var run: String {
        switch self {
        case .lane: ""
        case .run(let run): run.rawValue
        }
    }
}

extension Database {
    /// The row of the job that a claim holds, unless it was taken away.
    func held(_ claim: Claim) throws -> Row {
        let row = try row(
            "SELECT * FROM jobs WHERE tenant = ? AND id = ? AND claim = ?",
            [claim.tenant.rawValue, claim.job.rawValue, claim.id.rawValue])
        guard let row else { throw ClaimError.lost }
        return row
    }

    /// The running jobs whose claim ran out or whose worker is gone.
    fileprivate func interrupted(
        in source: ClaimSource, at now: Instant, lives: (WorkerID) -> Bool
    ) throws -> Set<Int64> {
        let dead = try texts(
            "SELECT DISTINCT worker FROM jobs WHERE \(Self.isOfRun) AND state = 'running'", [source.run]
        )
        .filter { !lives(WorkerID(rawValue: $0)) }
        var keys = try Int64.fetchAll(
            cachedStatement(
                sql: "SELECT key FROM jobs WHERE \(Self.isOfRun) AND state = 'running' AND claimed_until <= ?"),
            arguments: [source.run, now.milliseconds])
        for worker in dead {
            keys += try Int64.fetchAll(
                cachedStatement(
                    sql: "SELECT key FROM jobs WHERE \(Self.isOfRun) AND state = 'running' AND worker = ?"),
                arguments: [source.run, worker])
        }
        return Set(keys)
    }

    /// The jobs to take next for so many places, but no more than `most`.
    fileprivate func waiting(
        _ capacity: ClaimCapacity, in source: ClaimSource, at now: Instant, most: Int = .max
    ) throws -> [Row] {
        var found: [Row] = []
        for priority in JobPriority.inOrder {
            let limit = min(capacity.places(for: priority, taken: found.count), most - found.count)
            guard limit > 0 else { continue }
            switch source {
            case .run(let run):
                found += try rows(Self.jobsWaitingInRun, [run.rawValue, priority.rank, now.milliseconds, limit])
            case .lane(let lane):
                let busy = capacity.busy[priority, default: []]
                found +=
                    try busy.isEmpty
                    ? line(lane, priority, at: now, limit: limit)
                    : line(lane, priority, except: busy, at: now, limit: limit)
            }
        }
        return found
    }

    /// The first jobs of a line.
    private func line(_ lane: JobLane, _ priority: JobPriority, at now: Instant, limit: Int) throws -> [Row] {
        try rows(Self.jobsWaitingInLine, [lane.rawValue, priority.rank, now.milliseconds, limit])
    }

    /// The first job of each of the other tenants, as many as may be; who asks again gets the next.
    private func line(
        _ lane: JobLane, _ priority: JobPriority, except busy: Set<TenantID>, at now: Instant, limit: Int
    ) throws -> [Row] {
        try rows(
            Self.jobsOfOthers,
            [
                "lane": lane.rawValue, "priority": priority.rank, "now": now.milliseconds,
                "busy": Column.text(busy), "limit": limit,
            ])
    }

    /// Where a new job stands in its line; a run is a line of its own, in the order of keys.
    ///
    /// - Parameter key: Of a job that makes way for it.
    func rank(of job: JobSubmission, in lane: JobLane, except key: Int64 = 0) throws -> Int64 {
        guard job.run == nil else { return 0 }
        return FairRank.rank(
            reached: try number(Self.claimedRank, [lane.rawValue, job.priority.rank]) ?? 0,
            last: try number(Self.lastRank, [job.tenant.rawValue, lane.rawValue, job.priority.rank, key]),
            size: job.attachments.count)
    }

    /// Notes how far the lines of a lane have got when these jobs are claimed.
    fileprivate func advance(_ lane: JobLane, past jobs: [Row]) throws {
        for (priority, jobs) in Dictionary(grouping: jobs, by: { $0["priority"] as Int }) {
            let rank = jobs.map { $0["rank"] as Int64 }.max() ?? 0
            try run(
                "UPDATE lines SET claimed_rank = ? WHERE lane = ? AND priority = ? AND claimed_rank < ?",
                [rank, lane.rawValue, priority, rank])
        }
    }

    /// With a plain `run = ?`, SQLite compiles the statement anew for each value, to see whether the value lets it use an
    /// index that has `run = ''` as its condition.
    private static let isOfRun = "run = CAST(? AS TEXT)"

    /// Without the plus SQLite would take the index by `due_at`, and sort all that is due.
    static let jobsWaitingInLine = """
        SELECT * FROM jobs
        WHERE run = '' AND lane = ? AND priority = ? AND state = 'pending' AND +due_at <= ?
        ORDER BY rank, key LIMIT ?
        """

    private static let isUnfinishedInLine = """
        run = '' AND state IN ('pending', 'running') AND lane = :lane AND priority = :priority
        """

    /// From tenant to tenant, so that the many jobs of one cost nothing.
    static let jobsOfOthers = """
        WITH RECURSIVE tenants(tenant) AS (
            SELECT * FROM (SELECT tenant FROM jobs WHERE \(isUnfinishedInLine) ORDER BY tenant LIMIT 1)
            UNION ALL
            SELECT (
                SELECT jobs.tenant FROM jobs WHERE \(isUnfinishedInLine) AND jobs.tenant > tenants.tenant
                ORDER BY jobs.tenant LIMIT 1)
            FROM tenants WHERE tenants.tenant IS NOT NULL)
        SELECT jobs.* FROM tenants CROSS JOIN jobs ON jobs.key = (
            SELECT key FROM jobs
            WHERE \(isUnfinishedInLine) AND jobs.tenant = tenants.tenant AND state = 'pending' AND +due_at <= :now
            ORDER BY rank, key LIMIT 1)
        WHERE tenants.tenant IS NOT NULL AND tenants.tenant NOT IN (SELECT value FROM json_each(:busy))
        ORDER BY jobs.rank, jobs.key LIMIT :limit
        """

    static let jobsWaitingInRun = """
        SELECT * FROM jobs
        WHERE run <> '' AND \(isOfRun) AND priority = ? AND state = 'pending' AND due_at <= ?
        ORDER BY key LIMIT ?
        """

    static let claimedRank = "SELECT claimed_rank FROM lines WHERE lane = ? AND priority = ?"

    static let lastRank = """
        SELECT rank FROM jobs
        WHERE run = '' AND state IN ('pending', 'running')
            AND tenant = ? AND lane = ? AND priority = ? AND key <> ?
        ORDER BY rank DESC LIMIT 1
        """

    /// Claims a job that was recorded just now; nil where another one comes before it.
    func claimAtOnce(
        _ job: JobRecord, in lane: JobLane, for offer: ClaimOffer, at now: Instant, keys: KeyRing
    ) throws -> (job: JobRecord, claim: Claim)? {
        var first: Row?
        for priority in JobPriority.inOrder where first == nil && priority.rank <= job.priority.rank {
            first = try line(lane, priority, at: now, limit: 1).first
        }
        guard let next = first, next["tenant"] as String == job.tenant.rawValue, next["id"] as String == job.id.rawValue
        else { return nil }
        try advance(lane, past: [next])
        let claim = try claim(next, by: offer.worker, until: now + offer.duration, at: now, keys: keys)
        return (try jobRecord(key: next["key"]), claim)
    }

    fileprivate func claim(_ row: Row, by worker: WorkerID, until end: Instant, at now: Instant, keys: KeyRing) throws
        -> Claim
    {
        let key: Int64 = row["key"]
        let generation: Int = row["generation"]
        var submission = try submission(row)
        if let box = row["headers"] as Data?, let kid = row["headers_kid"] as String? {
            try SealedSecrets(kid: kid, box: box).open(into: &submission, keys: keys)
        }
        let id = ClaimID.generate()
        let isLate = row["interrupted"] as Bool
        let deadline =
            isLate ? submission.deadline.map { now + .seconds(fraction: $0) } : row.instant("deadline_at")
        try run(
            """
            UPDATE jobs SET state = 'running', claim = ?, worker = ?, claimed_until = ?, attempt = attempt + 1,
                deadline_at = ?, interrupted = 0
            WHERE key = ? AND state = 'pending'
            """, [id.rawValue, worker.rawValue, end.milliseconds, deadline?.milliseconds, key])
        try run("UPDATE attachments SET state = 'running' WHERE job = ? AND state = 'pending'", [key])
        // An attachment that was deleted meanwhile is no longer wanted.
        let wanted = try rows(
            "SELECT id, ordinal FROM attachments WHERE job = ? AND generation = ? ORDER BY ordinal", [key, generation])
        submission.attachments = wanted.map { submission.attachments[$0["ordinal"]] }
        return Claim(
            id: id, tenant: submission.tenant, job: submission.id, generation: generation,
            attempt: (row["attempt"] as Int) + 1, claimedUntil: end, deadlineAt: deadline, isLate: isLate,
            lane: try row.choice("lane"),
            submission: submission,
            attachments: wanted.map { AttachmentID(rawValue: $0["id"]) })
    }
}
