public import SatchelCore
internal import FoundationEssentials
internal import GRDB

extension SQLiteRecordStore {
    public func submit(
        _ jobs: [JobSubmission], _ options: SubmissionOptions
    ) async throws(AttachmentError) -> [SubmissionAnswer] {
        for job in jobs { try job.validate() }
        if let offer = options.offer {
            try workers.register(offer.worker)
        }
        return try await write { [keys, workers] database, now in
            try jobs.map { job in
                try database.submit(job, options, at: now, lives: workers.lives, keys: keys)
            }
        }
    }

    public func admit(_ tenant: TenantID, _ options: SubmissionOptions) async throws(AttachmentError) {
        try await read { database, _ in try database.admit(tenant, options) }
    }

    public func job(
        submittedWith idempotencyKey: String, of tenant: TenantID
    ) async throws(AttachmentError) -> JobRecord? {
        try await read { database, now in
            try database.use(of: idempotencyKey, of: tenant, at: now).map { try database.jobRecord(key: $0.job) }
        }
    }

    public func retry(_ id: JobID, of tenant: TenantID) async throws(AttachmentError) -> RetryAnswer? {
        try await write { [keys] database, now in
            guard
                let row = try database.row(
                    "SELECT * FROM jobs WHERE tenant = ? AND id = ?", [tenant.rawValue, id.rawValue])
            else { return nil }
            let state: WorkState = try row.choice("state")
            guard state == .failed || state == .cancelled else { return .unneeded(try database.jobRecord(row)) }
            guard let submission = try database.retained(row, at: now) else {
                return .forgotten(try database.jobRecord(row))
            }
            var stored = try StoredSubmission(submission, keys: keys)
            // The same work, however it is tried again: a repeated submission still finds it.
            stored.digest = row["body_digest"]
            return .accepted(try database.renew(row, as: submission, stored, at: now))
        }
    }
}

extension Database {
    func submit(
        _ job: JobSubmission, _ options: SubmissionOptions, at now: Instant, lives: (WorkerID) -> Bool, keys: KeyRing
    ) throws -> SubmissionAnswer {
        if let key = options.idempotency, let earlier = try use(of: key.text, of: job.tenant, at: now) {
            return earlier.digest == key.bodyDigest ? .unchanged(try jobRecord(key: earlier.job)) : .conflict
        }
        let answer = try answer(to: job, options, at: now, lives: lives, keys: keys)
        if let key = options.idempotency { try remember(key, for: job, at: now) }
        return answer
    }

    private func answer(
        to job: JobSubmission, _ options: SubmissionOptions, at now: Instant, lives: (WorkerID) -> Bool, keys: KeyRing
    ) throws -> SubmissionAnswer {
        let stored = try StoredSubmission(job, keys: keys)
        let byWork = try job.workKey.flatMap { work in
            try row("SELECT * FROM jobs WHERE tenant = ? AND work_key = ?", [job.tenant.rawValue, work])
        }
        let known =
            try byWork
            ?? row("SELECT * FROM jobs WHERE tenant = ? AND id = ?", [job.tenant.rawValue, job.id.rawValue])
        let state = try known.map { try knownJob($0, isSameWork: byWork != nil, for: job, at: now, lives: lives) }
        let decision = job.decision(about: state, digest: stored.digest, retriesFailed: options.retriesFailed)
        switch (decision, known) {
        case (.keep, let known?):
            return .unchanged(try jobRecord(known))
        case (.adopt, let known?):
            return .adopted(try adopt(known, as: job, keys: keys, at: now))
        case (_, let known):
            if job.run == nil { try admit(job.tenant, options, replacing: state?.state) }
            let record =
                try known.map { try renew($0, as: job, stored, at: now) } ?? insert(job, stored, at: now)
            if let offer = options.offer,
                let begun = try claimAtOnce(record, in: job.lane, for: offer, at: now, keys: keys)
            {
                return .claimed(begun.job, begun.claim)
            }
            return .accepted(record)
        }
    }

    private func knownJob(
        _ row: Row, isSameWork: Bool, for job: JobSubmission, at now: Instant, lives: (WorkerID) -> Bool
    ) throws -> KnownJob {
        let state: WorkState = try row.choice("state")
        var known = KnownJob(
            state: state, bodyDigest: row["body_digest"], isSameWork: isSameWork, isHeld: false, isWhole: true)
        // The rest is asked of a command's unfinished work alone.
        guard job.workKey != nil, !state.isFinished else { return known }
        if state == .running {
            known.isHeld = row["claimed_until"] > now.milliseconds && lives(WorkerID(rawValue: row["worker"]))
        } else {
            let run: String = row["run"]
            known.isHeld = !run.isEmpty && lives(WorkerID(rawValue: run))
        }
        let ordinals = try Int.fetchAll(
            cachedStatement(sql: "SELECT ordinal FROM attachments WHERE job = ? AND generation = ? ORDER BY ordinal"),
            arguments: [row["key"] as Int64, row["generation"] as Int])
        known.isWhole = ordinals == Array(job.attachments.indices)
        return known
    }

    /// - Parameter state: Of the job whose place the submission takes.
    fileprivate func admit(_ tenant: TenantID, _ options: SubmissionOptions, replacing state: WorkState? = nil) throws {
        try options.admit(try usage(of: tenant), replacing: state) {
            Int(try number("SELECT sum(pending) FROM lanes") ?? 0)
        }
    }

    /// What an idempotency key stands for, if it is still remembered.
    fileprivate func use(
        of key: String, of tenant: TenantID, at now: Instant
    ) throws -> (job: Int64, digest: String)? {
        try row(
            "SELECT job, body_digest FROM idempotency_keys WHERE tenant = ? AND key = ? AND created_at > ?",
            [tenant.rawValue, key, (now - IdempotencyKey.lifetime).milliseconds]
        ).map { ($0["job"], $0["body_digest"]) }
    }

    fileprivate func remember(_ key: IdempotencyKey, for job: JobSubmission, at now: Instant) throws {
        try run(
            """
            INSERT OR REPLACE INTO idempotency_keys (tenant, key, body_digest, job, created_at)
            SELECT tenant, ?, ?, key, ? FROM jobs WHERE tenant = ? AND id = ?
            """,
            [key.text, key.bodyDigest, now.milliseconds, job.tenant.rawValue, job.id.rawValue])
    }

    /// Keeps what it takes to try a job of the service again, without any header for an origin.
    func retain(_ submission: JobSubmission, of job: Row, at now: Instant) throws {
        guard (job["run"] as String).isEmpty else { return }
        let key: Int64 = job["key"]
        try run(
            """
            INSERT INTO retained_submissions (job, generation, submission, kept_until) VALUES (?, ?, ?, ?)
            """,
            [
                key, job["generation"] as Int, Column.text(submission.slim),
                (now + Retention.retry).milliseconds,
            ])
        for name in Set(submission.attachments.compactMap(\.location.sourceName)) {
            try run("INSERT INTO retained_spool (job, name) VALUES (?, ?)", [key, name.rawValue])
        }
    }

    /// What was kept of a job to try it again, but for attachments that were deleted meanwhile.
    fileprivate func retained(_ job: Row, at now: Instant) throws -> JobSubmission? {
        let row = try row(
            "SELECT submission FROM retained_submissions WHERE job = ? AND generation = ? AND kept_until > ?",
            [job["key"] as Int64, job["generation"] as Int, now.milliseconds])
        guard let row else { return nil }
        var submission = try submission(row["submission"], of: job)
        let wanted = Set(
            try texts(
                "SELECT identifier FROM attachments WHERE job = ? AND generation = ?",
                [job["key"] as Int64, job["generation"] as Int]))
        submission.attachments.removeAll { !wanted.contains($0.identifier) }
        return submission.attachments.isEmpty ? nil : submission
    }
}
