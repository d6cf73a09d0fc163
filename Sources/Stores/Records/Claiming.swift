public import Attachments
internal import FoundationEssentials
internal import GRDB

extension SQLiteRecordStore {
    public func claim(
        _ count: Int, from queue: JobQueue, by worker: WorkerID, for duration: Duration
    ) async throws(AttachmentError) -> [Claim] {
        guard count > 0 else { return [] }
        return try await claim(from: queue, by: worker, for: duration) { database, now, most in
            try database.waiting(min(count, most), in: queue, at: now)
        }
    }

    public func claim(
        _ room: ClaimRoom, from lane: JobLane, by worker: WorkerID, for duration: Duration
    ) async throws(AttachmentError) -> [Claim] {
        guard !room.isNone else { return [] }
        return try await claim(from: .service(lane), by: worker, for: duration) { database, now, most in
            try database.waiting(room, in: lane, at: now, most: most)
        }
    }

    /// - Parameter find: The rows of the jobs to take next, in order; no more than its last argument says.
    private func claim(
        from queue: JobQueue, by worker: WorkerID, for duration: Duration,
        _ find: @escaping @Sendable (Database, Instant, Int) throws -> [Row]
    ) async throws(AttachmentError) -> [Claim] {
        if case .service = queue {
            // Workers that look again and again must not keep each other from writing. A run looks when it knows why.
            let isWorthwhile = try await read { [workers] database, now in
                try !find(database, now, 1).isEmpty
                    || !database.interrupted(in: queue, at: now, lives: workers.lives).isEmpty
            }
            guard isWorthwhile else { return [] }
        }
        do { try workers.register(worker) } catch { throw AttachmentError(error) }
        return try await write { [workers, keys] database, now in
            for key in try database.interrupted(in: queue, at: now, lives: workers.lives) {
                try database.interrupt(key: key)
            }
            let rows = try find(database, now, .max)
            if case .service(let lane) = queue { try database.advance(lane, past: rows) }
            return try rows.map { row in
                try database.claim(row, by: worker, until: now + duration, at: now, keys: keys)
            }
        }
    }

    public func heartbeat(_ claim: Claim, for duration: Duration) async throws -> Instant {
        try await writeUnderClaim { database, now in
            let job = try database.held(claim, at: now)
            let end = now + duration
            try database.run(
                "UPDATE jobs SET claimed_until = ? WHERE key = ?", [end.milliseconds, job["key"] as Int64])
            return end
        }
    }

    public func release(_ claim: Claim, after delay: Duration, countsAttempt: Bool) async throws {
        try await writeUnderClaim { database, now in
            let job = try database.held(claim, at: now)
            let key: Int64 = job["key"]
            // Handed back unbegun, it gets a fresh budget like one that was interrupted.
            try database.run(
                """
                UPDATE jobs SET state = 'pending', worker = NULL, claimed_until = NULL, due_at = ?,
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
            let job = try database.held(claim, at: now)
            let key: Int64 = job["key"]
            let rank = try database.rank(of: try database.submission(job), in: lane)
            try database.run(
                """
                UPDATE jobs SET state = 'pending', lane = ?, rank = ?, worker = NULL, claimed_until = NULL,
                    attempt = attempt - 1, fence = fence + 1
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
                try database.enqueueCallback(submission, of: row, at: now)
                try database.run(
                    """
                    UPDATE jobs SET state = 'cancelled', fence = fence + 1, worker = NULL, claimed_until = NULL,
                        submission = NULL, headers = NULL, headers_kid = NULL, finished_at = ?, expires_at = ?
                    WHERE key = ?
                    """, [now.milliseconds, submission.recordExpiry(from: now)?.milliseconds, key])
                try database.run(
                    """
                    UPDATE attachments SET state = 'cancelled', finished_at = ?, spool = NULL
                    WHERE job = ? AND state IN ('pending', 'running')
                    """, [now.milliseconds, key])
            }
            return try database.jobRecord(key: key)
        }
    }
}

extension JobQueue {
    /// The value of the column `run`.
    var run: String {
        switch self {
        case .service: ""
        case .run(let run): run.rawValue
        }
    }
}

extension Database {
    /// The row of the job that a claim holds right now.
    func held(_ claim: Claim, at now: Instant) throws -> Row {
        let row = try row(
            """
            SELECT * FROM jobs
            WHERE tenant = ? AND id = ? AND generation = ? AND fence = ? AND state = 'running' AND claimed_until > ?
            """,
            [
                claim.tenant.rawValue, claim.job.rawValue, claim.generation, claim.fence.rawValue, now.milliseconds,
            ])
        guard let row else { throw ClaimError.lost }
        return row
    }

    /// The running jobs whose claim ran out or whose worker is gone.
    fileprivate func interrupted(
        in queue: JobQueue, at now: Instant, lives: (WorkerID) -> Bool
    ) throws -> Set<Int64> {
        let dead = try texts(
            "SELECT DISTINCT worker FROM jobs WHERE \(Self.isOfRun) AND state = 'running'", [queue.run]
        )
        .filter { !lives(WorkerID(rawValue: $0)) }
        var keys = try Int64.fetchAll(
            cachedStatement(
                sql: "SELECT key FROM jobs WHERE \(Self.isOfRun) AND state = 'running' AND claimed_until <= ?"),
            arguments: [queue.run, now.milliseconds])
        for worker in dead {
            keys += try Int64.fetchAll(
                cachedStatement(
                    sql: "SELECT key FROM jobs WHERE \(Self.isOfRun) AND state = 'running' AND worker = ?"),
                arguments: [queue.run, worker])
        }
        return Set(keys)
    }

    /// The jobs to take next, whatever they are: interactive before bulk, then by rank.
    fileprivate func waiting(_ count: Int, in queue: JobQueue, at now: Instant) throws -> [Row] {
        var found: [Row] = []
        for priority in JobPriority.inOrder where found.count < count {
            let left = count - found.count
            switch queue {
            case .service(let lane):
                let lines = try [false, true].flatMap { isFetching in
                    try line(lane, priority, fetching: isFetching, at: now, limit: left)
                }
                found += lines.sorted { ($0["rank"] as Int64, $0["key"] as Int64) < ($1["rank"], $1["key"]) }
                    .prefix(left)
            case .run(let run):
                found += try rows(Self.jobsWaitingInRun, [run.rawValue, priority.rank, now.milliseconds, left])
            }
        }
        return found
    }

    /// The jobs to take next for so many places of each kind, but no more than `most`.
    fileprivate func waiting(_ room: ClaimRoom, in lane: JobLane, at now: Instant, most: Int) throws -> [Row] {
        var found: [Row] = []
        var room = room
        for priority in JobPriority.inOrder {
            for isFetching in [false, true] {
                let free = priority == .bulk ? room[fetching: isFetching].bulk : room[fetching: isFetching].all
                let limit = min(free, most - found.count)
                guard limit > 0 else { continue }
                let busy = isFetching ? room.busy[priority, default: []] : []
                let next =
                    try busy.isEmpty
                    ? line(lane, priority, fetching: isFetching, at: now, limit: limit)
                    : line(lane, priority, except: busy, at: now, limit: limit)
                let places = room[fetching: isFetching]
                room[fetching: isFetching] = ClaimRoom.Places(all: places.all - next.count, bulk: places.bulk)
                found += next
            }
        }
        return found
    }

    /// The first jobs of a line.
    private func line(
        _ lane: JobLane, _ priority: JobPriority, fetching isFetching: Bool, at now: Instant, limit: Int
    ) throws -> [Row] {
        try rows(
            Self.jobsWaitingInLine, [lane.rawValue, priority.rank, isFetching, now.milliseconds, limit])
    }

    /// The first job with a source to fetch of each of the other tenants, as many as may be; who asks again gets the next.
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
        let isFetching = job.needsFetching
        return FairRank.rank(
            reached: try number(Self.claimedRank, [lane.rawValue, job.priority.rank, isFetching]) ?? 0,
            last: try number(
                Self.lastRank, [job.tenant.rawValue, lane.rawValue, job.priority.rank, isFetching, key]),
            size: job.attachments.count)
    }

    /// Notes how far the lines of a lane have got when these jobs are claimed.
    fileprivate func advance(_ lane: JobLane, past jobs: [Row]) throws {
        struct Line: Hashable {
            var priority: Int
            var fetches: Bool
        }
        let lines = Dictionary(grouping: jobs) { Line(priority: $0["priority"], fetches: $0["fetches"]) }
        for (line, jobs) in lines {
            let rank = jobs.map { $0["rank"] as Int64 }.max() ?? 0
            try run(
                """
                UPDATE lines SET claimed_rank = ?
                WHERE lane = ? AND priority = ? AND fetches = ? AND claimed_rank < ?
                """, [rank, lane.rawValue, line.priority, line.fetches, rank])
        }
    }

    /// With a plain `run = ?`, SQLite compiles the statement anew for each value, to see whether the value lets it use an
    /// index that has `run = ''` as its condition.
    private static let isOfRun = "run = CAST(? AS TEXT)"

    /// Without the plus SQLite would take the index by `due_at`, and sort all that is due.
    static let jobsWaitingInLine = """
        SELECT * FROM jobs
        WHERE run = '' AND lane = ? AND priority = ? AND fetches = ? AND state = 'pending' AND +due_at <= ?
        ORDER BY rank, key LIMIT ?
        """

    private static let isUnfinishedInLine = """
        run = '' AND state IN ('pending', 'running') AND lane = :lane AND priority = :priority AND fetches = 1
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

    static let claimedRank = "SELECT claimed_rank FROM lines WHERE lane = ? AND priority = ? AND fetches = ?"

    static let lastRank = """
        SELECT rank FROM jobs
        WHERE run = '' AND state IN ('pending', 'running')
            AND tenant = ? AND lane = ? AND priority = ? AND fetches = ? AND key <> ?
        ORDER BY rank DESC LIMIT 1
        """

    /// Claims a job that was recorded just now; nil where another one comes before it.
    func claimAtOnce(
        _ job: JobRecord, fetching isFetching: Bool, for offer: ClaimOffer, at now: Instant, keys: KeyRing
    ) throws -> (job: JobRecord, claim: Claim)? {
        var first: Row?
        for priority in JobPriority.inOrder where first == nil && priority.rank <= job.priority.rank {
            first = try line(.quick, priority, fetching: isFetching, at: now, limit: 1).first
        }
        guard let next = first, next["tenant"] as String == job.tenant.rawValue, next["id"] as String == job.id.rawValue
        else { return nil }
        try advance(.quick, past: [next])
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
            try SealedHeaders(kid: kid, box: box).open(into: &submission, keys: keys)
        }
        let isLate = row["interrupted"] as Bool
        let deadline =
            isLate ? submission.deadline.map { now + .seconds(fraction: $0) } : row.instant("deadline_at")
        try run(
            """
            UPDATE jobs SET state = 'running', worker = ?, claimed_until = ?, attempt = attempt + 1, fence = fence + 1,
                deadline_at = ?, interrupted = 0
            WHERE key = ? AND state = 'pending'
            """, [worker.rawValue, end.milliseconds, deadline?.milliseconds, key])
        try run("UPDATE attachments SET state = 'running' WHERE job = ? AND state = 'pending'", [key])
        // An attachment that was deleted meanwhile is no longer wanted.
        let wanted = try rows(
            "SELECT id, ordinal FROM attachments WHERE job = ? AND generation = ? ORDER BY ordinal", [key, generation])
        submission.attachments = wanted.map { submission.attachments[$0["ordinal"]] }
        return Claim(
            tenant: submission.tenant, job: submission.id, generation: generation,
            fence: Fence(rawValue: (row["fence"] as Int) + 1), attempt: (row["attempt"] as Int) + 1,
            claimedUntil: end, deadlineAt: deadline, isLate: isLate, lane: try row.choice("lane"),
            submission: submission,
            attachments: wanted.map { AttachmentID(rawValue: $0["id"]) })
    }
}
