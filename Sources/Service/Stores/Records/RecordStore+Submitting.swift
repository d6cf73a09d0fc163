public import SatchelCore
internal import FoundationEssentials
internal import Platform
internal import Postgres

extension RecordStore {
    /// Records jobs as pending, all or none; durable on return.
    ///
    /// A job is known by its id (or the options' idempotency key): with the same ``JobSubmission/bodyDigest`` it is the
    /// same job, whatever became of it; another body starts a new generation. A command's jobs are known by their work key
    /// too: what was done before stays, what no process has in hand any more is taken over.
    ///
    /// The sources that a submission names belong to the records where they answer `accepted`, `claimed` or `adopted`:
    /// each is removed when no attempt needs it any more. Where they answer anything else or throw, the sources are
    /// superfluous, and the caller removes them.
    ///
    /// - Throws: `quota_exceeded` over the tenant's bytes or pending jobs; `queue_full` beyond the tenant's
    ///   ``TenantShare`` of `queueLimit` waiting jobs.
    public func submit(
        _ jobs: [JobSubmission], _ options: SubmissionOptions
    ) async throws(AttachmentError) -> [SubmissionAnswer] {
        for job in jobs { try job.validate() }
        let submitted: [SubmittedJob]
        do {
            if options.offer != nil { try await node.live() }
            submitted = try jobs.map {
                SubmittedJob(new: try NewJob($0, keys: keys), options: options, reading: .current)
            }
        } catch {
            throw AttachmentError(storing: error)
        }
        var offered: Set<ClaimID> = []
        if let offer = options.offer {
            offered = Set(submitted.map(\.new.claim))
            node.expect(Array(offered), for: offer.duration)
        }
        defer { node.forget(offered) }
        let answers = try await submit(submitted)
        for case .claimed(_, let claim) in answers { offered.remove(claim.id) }
        return answers
    }

    /// Records one job.
    public func submit(
        _ job: JobSubmission, _ options: SubmissionOptions = SubmissionOptions()
    ) async throws(AttachmentError) -> SubmissionAnswer {
        // One is asked for, one is answered.
        try await submit([job], options)[0]
    }

    /// Submits one job together with others that come while the last are under way, else in a transaction of their own.
    private func submit(_ jobs: [SubmittedJob]) async throws(AttachmentError) -> [SubmissionAnswer] {
        if jobs.count == 1, let job = jobs.first,
            let answer = try await inGroup(job, submissions, { work, jobs in try work.submit(jobs, isAlone: false) })
        {
            return [answer]
        }
        return try await write { work in try work.submit(jobs, isAlone: true).compactMap(\.self) }
    }

    /// Whether a submission of this tenant to the service would be taken now; asked before a body is read.
    ///
    /// - Throws: As ``submit(_:_:)``.
    public func admit(_ tenant: TenantID, _ options: SubmissionOptions) async throws(AttachmentError) {
        try await read { work in
            try options.admit(try work.total(of: tenant)) {
                try options.queueLimit.map { try work.waiting(under: $0, before: 1) } ?? 0
            }
        }
    }

    /// Tries a failed or cancelled job again; nil where there is none. What it needs is kept for a day, but for uploads
    /// that would fail again; credentials for an origin are not.
    public func retry(_ id: JobID, of tenant: TenantID) async throws(AttachmentError) -> RetryAnswer? {
        try await write { work in
            guard let job = try work.lock(id, of: tenant) else { return nil }
            guard job.workState == .failed || job.workState == .cancelled else {
                return .unneeded(try work.jobRecord(job.key))
            }
            guard let submission = try work.retained(job) else {
                return .forgotten(try work.jobRecord(job.key))
            }
            var new = try NewJob(submission, keys: keys)
            // The same work, however it is tried again: a repeated submission still finds it.
            new.stored.digest = job.digest
            try work.record([work.prepare(new, replacing: job)])
            return .accepted(try work.jobRecord(job.key))
        }
    }

    /// The sender knows what a job came to: the same work submitted again is new work from now on. For a command that
    /// makes something new each time, but after an interruption must not make it twice.
    public func acknowledge(_ id: JobID, of tenant: TenantID) async throws(AttachmentError) {
        try await write { work in
            _ = try work.run(
                "UPDATE jobs SET work_key = NULL WHERE tenant = $1 AND id = $2",
                [.raw(tenant), .raw(id)])
        }
    }
}

extension RecordTransaction {
    /// Keeps what it takes to try a job of the service again, without any header for an origin.
    func retention(of submission: JobSubmission, _ job: Job) throws -> [Statement] {
        guard job.run.isEmpty else { return [] }
        let names = Set(submission.attachments.compactMap(\.location.sourceName)).map(\.rawValue).sorted()
        return [
            .insert(
                into: "retained_submissions",
                [
                    "job": .int(job.key), "generation": .int(job.generation), "submission": try .json(submission.slim),
                    "kept_until": .time(now + Retention.retry),
                ]),
            Statement(
                "INSERT INTO retained_sources (job, name) SELECT $1, name FROM unnest($2::text[]) AS kept (name)",
                [.int(job.key), .texts(names)]),
        ]
    }

    /// What was kept of a job to try it again, but for attachments that were deleted meanwhile.
    fileprivate func retained(_ job: Job) throws -> JobSubmission? {
        let row = try run(
            "SELECT submission FROM retained_submissions WHERE job = $1 AND generation = $2 AND kept_until > $3",
            [.int(job.key), .int(job.generation), .time(now)]
        ).first
        guard let row else { return nil }
        var submission = try submission(row.text("submission"), of: job)
        let wanted = Set(
            try run(
                "SELECT identifier FROM attachments WHERE job = $1 AND generation = $2",
                [.int(job.key), .int(job.generation)]
            ).map { try $0.text("identifier") })
        submission.attachments.removeAll { !wanted.contains($0.identifier) }
        return submission.attachments.isEmpty ? nil : submission
    }
}
