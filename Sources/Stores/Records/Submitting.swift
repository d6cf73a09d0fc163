public import Attachments
internal import FoundationEssentials
internal import GRDB

extension SQLiteRecordStore {
    /// How long a failed or cancelled job can be tried again: a day.
    static let retryable: Duration = .seconds(86_400)

    public func submit(
        _ job: JobSubmission, idempotency: IdempotencyKey?, within quotas: Quotas, queueLimit: Int, offer: ClaimOffer?
    ) async throws(AttachmentError) -> SubmissionAnswer {
        try Self.check(job)
        if let offer {
            do { try workers.register(offer.worker) } catch { throw AttachmentError(error) }
        }
        return try await write { [keys] database, now in
            let stored = try StoredSubmission(job, keys: keys)
            if let idempotency, let earlier = try database.use(of: idempotency.text, of: job.tenant, at: now) {
                return earlier.digest == idempotency.bodyDigest
                    ? .same(try database.jobRecord(key: earlier.job)) : .conflict
            }
            let known = try database.row(
                "SELECT * FROM jobs WHERE tenant = ? AND id = ?", [job.tenant.rawValue, job.id.rawValue])
            let answer: SubmissionAnswer
            if let known, known["body_digest"] as String == stored.digest {
                answer = .same(try database.jobRecord(known))
            } else {
                try database.admit(job.tenant, replacing: known, within: quotas, queueLimit: queueLimit)
                let record =
                    try known.map { try database.renew($0, as: job, stored, at: now) }
                    ?? database.insert(job, stored, at: now)
                if let offer,
                    let begun = try database.claimAtOnce(
                        record, in: job.lane, for: offer, at: now, keys: keys)
                {
                    answer = .claimed(begun.job, begun.claim)
                } else {
                    answer = .accepted(record)
                }
            }
            if let idempotency { try database.remember(idempotency, for: job, at: now) }
            return answer
        }
    }

    public func admit(_ tenant: TenantID, within quotas: Quotas, queueLimit: Int) async throws(AttachmentError) {
        try await read { database, _ in
            try database.admit(tenant, replacing: nil, within: quotas, queueLimit: queueLimit)
        }
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
    /// - Parameter known: The job whose place the submission takes.
    fileprivate func admit(
        _ tenant: TenantID, replacing known: Row?, within quotas: Quotas, queueLimit: Int
    ) throws {
        let usage = try usage(of: tenant)
        if let limit = quotas.storedBytes, usage.storedBytes >= limit {
            throw AttachmentError.quotaExceeded(what: "stored bytes")
        }
        let state = try known.map { row -> WorkState in try row.choice("state") }
        let isUnfinished = state.map { !$0.isFinished } ?? false
        if let limit = quotas.pendingJobs, !isUnfinished, usage.pendingJobs >= limit {
            throw AttachmentError.quotaExceeded(what: "pending jobs")
        }
        if state != .pending, try number("SELECT sum(pending) FROM lanes") ?? 0 >= queueLimit {
            throw AttachmentError.queueFull
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
        var slim = submission.withoutHeaders
        slim.profile = Profile(name: submission.profile.name)
        try run(
            """
            INSERT INTO retained_submissions (job, generation, submission, kept_until) VALUES (?, ?, ?, ?)
            """,
            [
                key, job["generation"] as Int, Column.text(slim),
                (now + SQLiteRecordStore.retryable).milliseconds,
            ])
        for name in Set(submission.attachments.compactMap(\.location.spoolName)) {
            try run("INSERT INTO retained_spool (job, name) VALUES (?, ?)", [key, name])
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
