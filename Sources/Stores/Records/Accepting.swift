public import Attachments
internal import FoundationEssentials
internal import GRDB

extension SQLiteRecordStore {
    public func accept(
        _ jobs: [JobSubmission], retryFailed: Bool
    ) async throws(AttachmentError) -> [Acceptance] {
        for job in jobs { try Self.check(job) }
        return try await write { [workers, keys] database, now in
            try jobs.map { job in
                try database.accept(job, retryFailed: retryFailed, at: now, lives: workers.lives, keys: keys)
            }
        }
    }

    /// Lets others know that a run lives, until this process ends: what it has submitted is left to it.
    public func announce(_ run: RunID) throws(AttachmentError) {
        do { try workers.register(WorkerID(rawValue: run.rawValue)) } catch { throw AttachmentError(error) }
    }

    public func acknowledge(_ id: JobID, of tenant: TenantID) async throws(AttachmentError) {
        try await write { database, _ in
            try database.run(
                "UPDATE jobs SET work_key = NULL WHERE tenant = ? AND id = ?", [tenant.rawValue, id.rawValue])
        }
    }

    static func check(_ job: JobSubmission) throws(AttachmentError) {
        guard (1...JobSubmission.maximumAttachments).contains(job.attachments.count) else {
            throw .invalidSource(
                reason: "a job has 1 to \(JobSubmission.maximumAttachments) attachments, not \(job.attachments.count)")
        }
        guard Set(job.attachments.map(\.identifier)).count == job.attachments.count else {
            throw .invalidSource(reason: "two attachments of one job have the same identifier")
        }
        guard !job.id.rawValue.isEmpty, !job.tenant.rawValue.isEmpty else {
            throw .invalidSource(reason: "the job's id is empty")
        }
    }
}

extension Database {
    fileprivate func accept(
        _ job: JobSubmission, retryFailed: Bool, at now: Instant, lives: (WorkerID) -> Bool, keys: KeyRing
    ) throws -> Acceptance {
        let stored = try StoredSubmission(job, keys: keys)
        let byWork = try job.workKey.flatMap { work in
            try row("SELECT * FROM jobs WHERE tenant = ? AND work_key = ?", [job.tenant.rawValue, work])
        }
        let known =
            try byWork
            ?? row("SELECT * FROM jobs WHERE tenant = ? AND id = ?", [job.tenant.rawValue, job.id.rawValue])
        guard let row = known else { return .accepted(try insert(job, stored, at: now)) }

        let isSameWork = byWork != nil || row["body_digest"] as String == stored.digest
        guard isSameWork else { return .accepted(try renew(row, as: job, stored, at: now)) }
        let state: WorkState = try row.choice("state")
        switch state {
        case .delivered:
            return .unchanged(try jobRecord(row))
        case .failed:
            return retryFailed ? .accepted(try renew(row, as: job, stored, at: now)) : .unchanged(try jobRecord(row))
        case .cancelled:
            return .accepted(try renew(row, as: job, stored, at: now))
        case .running:
            guard row["claimed_until"] <= now.milliseconds || !lives(WorkerID(rawValue: row["worker"])) else {
                return .unchanged(try jobRecord(row))
            }
            try interrupt(key: row["key"])
            return .adopted(try adopt(row, as: job, stored, keys: keys, at: now))
        case .pending:
            let run: String = row["run"]
            guard run.isEmpty || !lives(WorkerID(rawValue: run)) else { return .unchanged(try jobRecord(row)) }
            return .adopted(try adopt(row, as: job, stored, keys: keys, at: now))
        }
    }

    func insert(_ job: JobSubmission, _ stored: StoredSubmission, at now: Instant) throws -> JobRecord {
        try run(
            """
            INSERT INTO jobs (tenant, id, work_key, run, generation, submission, body_digest, profile, mode, priority,
                metadata, state, due_at, created_at, deadline_at, headers, headers_kid, lane, rank)
            VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, 'pending', ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                job.tenant.rawValue, job.id.rawValue, job.workKey, job.run?.rawValue ?? "", stored.body,
                stored.digest, profileKey(job.profile, body: stored.profile), job.mode.rawValue, job.priority.rank,
                Column.text(job.metadata), now.milliseconds, now.milliseconds,
                job.deadline(from: now)?.milliseconds, stored.headers?.box, stored.headers?.kid,
                job.lane.rawValue, rank(of: job, in: job.lane),
            ])
        let key = lastInsertedRowID
        try insertAttachments(of: job, into: key, generation: 1, at: now)
        return try jobRecord(key: key)
    }

    private func insertAttachments(of job: JobSubmission, into key: Int64, generation: Int, at now: Instant) throws {
        for (ordinal, attachment) in job.attachments.enumerated() {
            let details = AttachmentDetails(
                source: SourceFacts(attachment), options: attachment.options)
            try run(
                """
                INSERT INTO attachments (tenant, id, job, run, generation, ordinal, identifier, spool, state, details,
                    created_at)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?)
                """,
                [
                    job.tenant.rawValue, AttachmentID.generate().rawValue, key, job.run?.rawValue ?? "", generation,
                    ordinal, attachment.identifier, attachment.location.spoolName, Column.text(details),
                    now.milliseconds,
                ])
        }
    }

    /// Another body, or another try: a new generation, which takes the claim of the old one away. What that
    /// delivered stays until the new one delivers.
    func renew(
        _ row: Row, as job: JobSubmission, _ stored: StoredSubmission, at now: Instant
    ) throws -> JobRecord {
        let key: Int64 = row["key"]
        let generation = (row["generation"] as Int) + 1
        try run("DELETE FROM attachments WHERE job = ? AND state <> 'delivered'", [key])
        try run("DELETE FROM retained_submissions WHERE job = ?", [key])
        try run(
            """
            UPDATE jobs SET work_key = ?, run = ?, generation = ?, submission = ?, body_digest = ?, profile = ?,
                mode = ?, priority = ?, metadata = ?, state = 'pending', attempt = 0, claim = NULL,
                delivered_claim = NULL, interrupted = 0, worker = NULL, claimed_until = NULL, due_at = ?,
                deadline_at = ?, finished_at = NULL, expires_at = NULL, headers = ?, headers_kid = ?,
                lane = ?, rank = ?
            WHERE key = ?
            """,
            [
                job.workKey, job.run?.rawValue ?? "", generation, stored.body, stored.digest,
                profileKey(job.profile, body: stored.profile), job.mode.rawValue, job.priority.rank,
                Column.text(job.metadata), now.milliseconds, job.deadline(from: now)?.milliseconds,
                stored.headers?.box, stored.headers?.kid, job.lane.rawValue,
                rank(of: job, in: job.lane, except: key), key,
            ])
        try insertAttachments(of: job, into: key, generation: generation, at: now)
        return try jobRecord(key: key)
    }

    /// The same work for another run: that run's name, paths and deadline, the old ids.
    private func adopt(
        _ row: Row, as job: JobSubmission, _ stored: StoredSubmission, keys: KeyRing, at now: Instant
    ) throws -> JobRecord {
        let key: Int64 = row["key"]
        let generation: Int = row["generation"]
        let known = try rows(
            "SELECT ordinal, identifier FROM attachments WHERE job = ? AND generation = ? ORDER BY ordinal",
            [key, generation])
        // Where some were deleted, it is no longer the same work.
        guard known.map({ $0["ordinal"] }) == Array(job.attachments.indices) else {
            return try renew(row, as: job, stored, at: now)
        }
        // The identifiers were given to the client: they stay.
        var adopted = job
        adopted.id = JobID(rawValue: row["id"])
        for (index, row) in known.enumerated() { adopted.attachments[index].identifier = row["identifier"] }
        let body = try StoredSubmission(adopted, keys: keys)
        let name = job.run?.rawValue ?? ""
        let before: JobLane = try row.choice("lane")
        let lane = before == .expensive ? before : job.lane
        let staysInLine = row["run"] as String == name && row["priority"] == job.priority.rank && lane == before
        let rank = try staysInLine ? row["rank"] as Int64 : rank(of: job, in: lane, except: key)
        try run(
            """
            UPDATE jobs SET run = ?, submission = ?, body_digest = ?, profile = ?, mode = ?, priority = ?, metadata = ?,
                due_at = ?, deadline_at = ?, headers = ?, headers_kid = ?, lane = ?, rank = ?
            WHERE key = ?
            """,
            [
                name, body.body, body.digest, profileKey(job.profile, body: body.profile),
                job.mode.rawValue, job.priority.rank, Column.text(job.metadata), now.milliseconds,
                job.deadline(from: now)?.milliseconds, body.headers?.box, body.headers?.kid, lane.rawValue, rank, key,
            ])
        for (ordinal, attachment) in adopted.attachments.enumerated() {
            try run(
                "UPDATE attachments SET run = ?, spool = ? WHERE job = ? AND generation = ? AND ordinal = ?",
                [name, attachment.location.spoolName, key, generation, ordinal])
        }
        return try jobRecord(key: key)
    }

    /// Takes a running job from a worker that is gone.
    func interrupt(key: Int64) throws {
        try run(
            """
            UPDATE jobs SET state = 'pending', interrupted = 1, claim = NULL, worker = NULL, claimed_until = NULL
            WHERE key = ? AND state = 'running'
            """, [key])
        try run("UPDATE attachments SET state = 'pending' WHERE job = ? AND state = 'running'", [key])
    }
}

extension JobPriority {
    /// As they are claimed.
    static let inOrder = allCases.sorted { $0.rank < $1.rank }

    /// The lower is claimed first.
    var rank: Int {
        switch self {
        case .interactive: 0
        case .bulk: 1
        }
    }
}

extension JobSubmission {
    fileprivate func deadline(from now: Instant) -> Instant? {
        deadline.map { now + .seconds(fraction: $0) }
    }
}

extension SourceLocation {
    /// The file of the spool that holds it.
    var spoolName: String? {
        if case .spool(let name) = self { name } else { nil }
    }
}
