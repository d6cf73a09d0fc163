public import Attachments
internal import FoundationEssentials
internal import GRDB

extension SQLiteRecordStore {
    public func claim(
        _ count: Int, from queue: JobQueue, by worker: WorkerID, for duration: Duration
    ) async throws(AttachmentError) -> [Claim] {
        guard count > 0 else { return [] }
        if case .service = queue {
            // Workers that look again and again must not keep each other from writing. A run looks when it knows why.
            let isWorthwhile = try await read { [workers] database, now in
                try !database.waiting(1, in: queue, at: now).isEmpty
                    || !database.interrupted(in: queue, at: now, lives: workers.lives).isEmpty
            }
            guard isWorthwhile else { return [] }
        }
        do { try workers.register(worker) } catch { throw AttachmentError(error) }
        return try await write { [workers, keys] database, now in
            for key in try database.interrupted(in: queue, at: now, lives: workers.lives) {
                try database.interrupt(key: key)
            }
            return try database.waiting(count, in: queue, at: now).map { row in
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
            // Still due when it was: it keeps its place among those who came when it did.
            try database.run(
                """
                UPDATE jobs SET state = 'pending', lane = ?, worker = NULL, claimed_until = NULL,
                    attempt = attempt - 1, fence = fence + 1
                WHERE key = ?
                """, [lane.rawValue, key])
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

    /// The jobs to take next: interactive before bulk, then by the time they are due.
    fileprivate func waiting(_ count: Int, in queue: JobQueue, at now: Instant) throws -> [Row] {
        var found: [Row] = []
        for priority in JobPriority.allCases.map(\.rank).sorted() where found.count < count {
            let (sql, name) =
                switch queue {
                case .service(let lane): (Self.jobsWaitingInLane, lane.rawValue)
                case .run(let run): (Self.jobsWaitingInRun, run.rawValue)
                }
            found += try rows(sql, [name, priority, now.milliseconds, count - found.count])
        }
        return found
    }

    /// With a plain `run = ?`, SQLite compiles the statement anew for each value, to see whether the value lets it use an
    /// index that has `run = ''` as its condition.
    private static let isOfRun = "run = CAST(? AS TEXT)"

    static let jobsWaitingInLane = """
        SELECT * FROM jobs
        WHERE run = '' AND lane = ? AND priority = ? AND state = 'pending' AND due_at <= ?
        ORDER BY due_at, key LIMIT ?
        """

    static let jobsWaitingInRun = """
        SELECT * FROM jobs
        WHERE run <> '' AND \(isOfRun) AND priority = ? AND state = 'pending' AND due_at <= ?
        ORDER BY due_at, key LIMIT ?
        """

    /// Claims a job that was recorded just now; nil where another one comes before it.
    func claimAtOnce(
        _ job: JobRecord, for offer: ClaimOffer, at now: Instant, keys: KeyRing
    ) throws -> (job: JobRecord, claim: Claim)? {
        guard let next = try waiting(1, in: .service(.quick), at: now).first,
            next["tenant"] as String == job.tenant.rawValue, next["id"] as String == job.id.rawValue
        else { return nil }
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
