public import SatchelCore
internal import FoundationEssentials
internal import GRDB

extension SQLiteRecordStore {
    public func announce(_ run: RunID) async throws(AttachmentError) {
        try workers.register(WorkerID(rawValue: run.rawValue))
    }

    public func forgetEndedWorkers() async throws(AttachmentError) {
        try workers.forgetEnded()
    }

    public func acknowledge(_ id: JobID, of tenant: TenantID) async throws(AttachmentError) {
        try await write { database, _ in
            try database.run(
                "UPDATE jobs SET work_key = NULL WHERE tenant = ? AND id = ?", [tenant.rawValue, id.rawValue])
        }
    }
}

extension Database {
    func insert(_ job: JobSubmission, _ stored: StoredSubmission, at now: Instant) throws -> JobRecord {
        try takeUploads(of: job, at: now)
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
                job.deadline(from: now)?.milliseconds, stored.secrets?.box, stored.secrets?.kid,
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
                    ordinal, attachment.identifier, attachment.location.sourceName?.rawValue, Column.text(details),
                    now.milliseconds,
                ])
        }
    }

    /// Another body, or another try: a new generation, which takes the claim of the old one away. What that
    /// delivered stays until the new one delivers.
    func renew(
        _ row: Row, as job: JobSubmission, _ stored: StoredSubmission, at now: Instant
    ) throws -> JobRecord {
        try takeUploads(of: job, at: now)
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
                stored.secrets?.box, stored.secrets?.kid, job.lane.rawValue,
                rank(of: job, in: job.lane, except: key), key,
            ])
        try insertAttachments(of: job, into: key, generation: generation, at: now)
        return try jobRecord(key: key)
    }

    /// The same work for another run: that run's name, paths and deadline, the old ids.
    func adopt(
        _ row: Row, as job: JobSubmission, keys: KeyRing, at now: Instant
    ) throws -> JobRecord {
        let key: Int64 = row["key"]
        try interrupt(key: key)
        let generation: Int = row["generation"]
        let known = try rows(
            "SELECT ordinal, identifier FROM attachments WHERE job = ? AND generation = ? ORDER BY ordinal",
            [key, generation])
        // The identifiers were given to the client: they stay.
        var adopted = job
        adopted.id = JobID(rawValue: row["id"])
        for (index, row) in known.enumerated() { adopted.attachments[index].identifier = row["identifier"] }
        let body = try StoredSubmission(adopted, keys: keys)
        let name = job.run?.rawValue ?? ""
        let before: JobLane = try row.choice("lane")
        let lane = job.lane(after: before)
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
                job.deadline(from: now)?.milliseconds, body.secrets?.box, body.secrets?.kid, lane.rawValue, rank, key,
            ])
        for (ordinal, attachment) in adopted.attachments.enumerated() {
            try run(
                "UPDATE attachments SET run = ?, spool = ? WHERE job = ? AND generation = ? AND ordinal = ?",
                [name, attachment.location.sourceName?.rawValue, key, generation, ordinal])
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

extension SourceLocation {
    /// What was handed in.
    var sourceName: SourceName? {
        if case .spool(let name) = self { name } else { nil }
    }
}
