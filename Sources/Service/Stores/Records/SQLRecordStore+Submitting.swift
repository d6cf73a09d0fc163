public import SatchelCore
internal import FoundationEssentials
internal import Postgres

extension SQLRecordStore {
    public func submit(
        _ jobs: [JobSubmission], _ options: SubmissionOptions
    ) async throws(AttachmentError) -> [SubmissionAnswer] {
        for job in jobs { try job.validate() }
        let new: [NewJob]
        do {
            if options.offer != nil { try await node.live() }
            new = try jobs.map { try NewJob($0, keys: keys) }
        } catch {
            throw AttachmentError(storing: error)
        }
        var offered: Set<ClaimID> = []
        if let offer = options.offer {
            offered = Set(new.map(\.claim))
            node.expect(Array(offered), for: offer.duration)
        }
        do throws(AttachmentError) {
            let answers = try await submit(new.map { SubmittedJob(new: $0, options: options) })
            for case .claimed(_, let claim) in answers { offered.remove(claim.id) }
            node.forget(offered)
            return answers
        } catch {
            node.forget(offered)
            throw error
        }
    }

    /// One alone is recorded together with others' that come while the last are under way.
    private func submit(_ jobs: [SubmittedJob]) async throws(AttachmentError) -> [SubmissionAnswer] {
        if jobs.count == 1, let job = jobs.first {
            if !engine.hasOneWriter {
                do {
                    let answer = try await submissions(job) { [self] requests in
                        try await writeTogether(requests) { work, requests in try work.submit(together: requests) }
                    }
                    if let answer { return [answer] }
                } catch {
                    // What the server refuses may be refused for a reason that its own transaction sees.
                    guard case PostgresError.statement? = error as? PostgresError else {
                        throw AttachmentError(storing: error)
                    }
                }
            }
            return try await write { work in [try work.submit(job.new, job.options)] }
        }
        return try await write { work in
            let usual = try work.submit(together: jobs)
            var answers: [SubmissionAnswer] = []
            for (job, answer) in zip(jobs, usual) {
                if let answer {
                    answers.append(answer)
                } else {
                    answers.append(try work.submit(job.new, job.options))
                }
            }
            return answers
        }
    }

    public func admit(_ tenant: TenantID, _ options: SubmissionOptions) async throws(AttachmentError) {
        try await read { work in try work.admit(tenant, options) }
    }

    public func job(
        submittedWith idempotencyKey: String, of tenant: TenantID
    ) async throws(AttachmentError) -> JobRecord? {
        try await read { work in
            guard let use = try work.use(of: idempotencyKey, of: tenant) else { return nil }
            return try work.jobRecord(use.job)
        }
    }

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
            work.wakes.insert(.work)
            return .accepted(try work.renew(job, as: new))
        }
    }

    public func acknowledge(_ id: JobID, of tenant: TenantID) async throws(AttachmentError) {
        try await write { work in
            _ = try work.run(
                "UPDATE jobs SET work_key = NULL WHERE tenant = $1 AND id = $2",
                [.text(tenant.rawValue), .text(id.rawValue)])
        }
    }
}

/// A submission with all that the node names, so that the transaction may be done again and finds its own first try.
struct NewJob {
    var submission: JobSubmission
    var stored: StoredSubmission
    var attachments: [AttachmentID]
    var claim = ClaimID.generate()

    init(_ submission: JobSubmission, keys: KeyRing) throws {
        self.submission = submission
        stored = try StoredSubmission(submission, keys: keys)
        attachments = submission.attachments.map { _ in .generate() }
    }
}

extension RecordTransaction {
    func submit(_ new: NewJob, _ options: SubmissionOptions) throws -> SubmissionAnswer {
        let job = new.submission
        if let key = options.idempotency, let earlier = try use(of: key.text, of: job.tenant) {
            let record = try jobRecord(earlier.job)
            guard earlier.digest == key.bodyDigest else { return .conflict }
            return isOwnFirstTry(record, new) ? .accepted(record) : .unchanged(record)
        }
        do {
            let answer = try answer(to: new, options)
            if let key = options.idempotency { try remember(key, for: job) }
            return answer
        } catch let error as AttachmentError where error.code == .quotaExceeded || error.code == .queueFull {
            // What is in the way may be the same submission, which came a moment before.
            var isKnown = try known(new) != nil
            if let key = options.idempotency {
                let use = try use(of: key.text, of: job.tenant)
                isKnown = isKnown || use != nil
            }
            if isKnown, !tookKnownPlace { throw TransactionConflict() }
            throw error
        }
    }

    private func known(_ new: NewJob) throws -> (job: Job, isSameWork: Bool)? {
        let job = new.submission
        if let work = job.workKey,
            let row = try run(
                "SELECT key FROM jobs WHERE tenant = $1 AND work_key = $2", [.text(job.tenant.rawValue), .text(work)]
            ).first
        {
            guard let found = try lock(row.int64("key")) else { throw TransactionConflict() }
            return (found, true)
        }
        return try lock(job.id, of: job.tenant).map { ($0, false) }
    }

    private func isOwnFirstTry(_ record: JobRecord, _ new: NewJob) -> Bool {
        mayHaveCommitted && record.attachments.first?.id == new.attachments.first
    }

    private func answer(to new: NewJob, _ options: SubmissionOptions) throws -> SubmissionAnswer {
        let job = new.submission
        let found = try known(new)
        var state: KnownJob?
        if let found { state = try knownJob(found.job, isSameWork: found.isSameWork, for: job) }
        let decision = job.decision(about: state, digest: new.stored.digest, retriesFailed: options.retriesFailed)
        switch (decision, found?.job) {
        case (.keep, let known?):
            let record = try jobRecord(known.key)
            return isOwnFirstTry(record, new) ? .accepted(record) : .unchanged(record)
        case (.adopt, let known?):
            wakes.insert(.work)
            return .adopted(try adopt(known, as: job))
        case (_, let known):
            if job.run == nil {
                tookKnownPlace = known != nil
                try admit(job.tenant, options, replacing: state?.state)
            }
            let key: Int64
            if let known { key = try renew(known, with: new) } else { key = try insert(new) }
            if let offer = options.offer, let claim = try claimAtOnce(key, new, for: offer) {
                return .claimed(try jobRecord(key), claim)
            }
            wakes.insert(.work)
            return .accepted(try jobRecord(key))
        }
    }

    private func knownJob(_ found: Job, isSameWork: Bool, for job: JobSubmission) throws -> KnownJob {
        var known = KnownJob(
            state: found.workState, bodyDigest: found.digest, isSameWork: isSameWork, isHeld: false, isWhole: true)
        // The rest is asked of a command's unfinished work alone.
        guard job.workKey != nil, let queue = found.queue else { return known }
        if queue.state == .running {
            let isAlive = try !run(
                "SELECT 1 WHERE $1::uuid = $2::uuid OR \(store.node.lives("$1::uuid"))",
                [.uuid(queue.node), .uuid(store.node.id)]
            ).isEmpty
            known.isHeld = queue.claimedUntil.map { $0 > now } ?? false && isAlive
        } else if !found.run.isEmpty {
            known.isHeld = try !run(
                "SELECT 1 FROM run_nodes WHERE run_nodes.run = $1 AND \(store.node.lives("run_nodes.node"))",
                [.text(found.run)]
            ).isEmpty
        }
        let ordinals = try run(
            "SELECT ordinal FROM attachments WHERE job = $1 AND generation = $2 ORDER BY ordinal",
            [.int(found.key), .int(found.generation)]
        ).map { try $0.int("ordinal") }
        known.isWhole = ordinals == Array(job.attachments.indices)
        return known
    }

    /// - Parameter state: Of the job whose place the submission takes.
    fileprivate func admit(
        _ tenant: TenantID, _ options: SubmissionOptions, replacing state: WorkState? = nil
    ) throws {
        let used = try options.asksForUsage ? total(of: tenant) : TenantUsage()
        var waiting = 0
        if let limit = options.queueLimit {
            waiting = try self.waiting(under: limit, before: 1)
        }
        try options.admit(used, replacing: state) { waiting }
    }

    /// What an idempotency key stands for, if it is still remembered.
    fileprivate func use(of key: String, of tenant: TenantID) throws -> (job: Int64, digest: String)? {
        let row = try run(
            "SELECT job, body_digest FROM idempotency_keys WHERE tenant = $1 AND key = $2 AND created_at > $3",
            [.text(tenant.rawValue), .text(key), .int((now - IdempotencyKey.lifetime).milliseconds)]
        ).first
        return try row.map { (try $0.int64("job"), try $0.text("body_digest")) }
    }

    private func remember(_ key: IdempotencyKey, for job: JobSubmission) throws {
        let rows = try run(
            """
            INSERT INTO idempotency_keys (tenant, key, body_digest, job, created_at)
            SELECT tenant, $3, $4, key, $5 FROM jobs WHERE tenant = $1 AND id = $2
            ON CONFLICT (tenant, key) DO UPDATE SET body_digest = excluded.body_digest, job = excluded.job,
                created_at = excluded.created_at
            WHERE idempotency_keys.created_at <= $6
            """,
            [
                .text(job.tenant.rawValue), .text(job.id.rawValue), .text(key.text), .text(key.bodyDigest),
                .int(now.milliseconds), .int((now - IdempotencyKey.lifetime).milliseconds),
            ])
        // Somebody came first with the same key, or the same work keeps another id, of which none is remembered.
        if rows.changes == 0, try use(of: key.text, of: job.tenant) != nil { throw TransactionConflict() }
    }

    /// Above which rank a tenant's last job in a line counts for its next: ``FairRank`` takes the greater of where the line has got
    /// to, and of the last one's rank and the next one's size, which is ten attachments at most. What lies below has no say, and
    /// much of it may be dead.
    static func deciding(lane: String, priority: String) -> String {
        """
        coalesce((SELECT max(rank) FROM virtual_time AS time
            WHERE time.lane = \(lane) AND time.priority = \(priority)), 0) - \(mostAttachments)
        """
    }

    private static let mostAttachments = 10

    /// Where a new job stands in its line; a run is a line of its own, in the order of keys.
    ///
    /// - Parameter key: Of the job.
    func rank(of job: JobSubmission, in lane: JobLane, key: Int64, beside own: Int64? = nil) throws -> Int64 {
        guard job.run == nil else { return key }
        let row = try run(
            """
            SELECT (SELECT max(rank) FROM virtual_time WHERE lane = $1 AND priority = $2) AS reached,
                (SELECT max(rank) FROM queue
                 WHERE tenant = $3 AND run = '' AND lane = $1 AND priority = $2 AND job <> $4
                     AND rank > \(Self.deciding(lane: "$1", priority: "$2"))) AS last
            """,
            [.text(lane.rawValue), .int(job.priority.rank), .text(job.tenant.rawValue), .int(own ?? key)]
        ).first
        return FairRank.rank(
            reached: try row?.optionalInt("reached") ?? 0, last: try row?.optionalInt("last"),
            size: job.attachments.count)
    }

    private func insert(_ new: NewJob) throws -> Int64 {
        let job = new.submission
        try takeUploads(of: job)
        let profile = try profileKey(job.profile, body: new.stored.profile)
        let row = try run(
            """
            INSERT INTO jobs (tenant, id, work_key, run, generation, body_digest, profile, mode, priority, metadata, state,
                created_at, deadline_at)
            VALUES ($1, $2, $3, $4, 1, $5, $6, $7, $8, $9, 'pending', $10, $11) RETURNING key
            """,
            [
                .text(job.tenant.rawValue), .text(job.id.rawValue), .text(job.workKey), .text(job.run?.rawValue ?? ""),
                .text(new.stored.digest), .int(profile), .text(job.mode.rawValue), .int(job.priority.rank),
                .text(try Column.text(job.metadata)), .int(now.milliseconds),
                .int(job.deadline(from: now)?.milliseconds),
            ]
        ).first
        guard let key = try row?.int64("key") else { throw TransactionConflict() }
        _ = try send(labelling(key, of: job.tenant, with: job.metadata, isNew: true))
        try enqueue(new, as: key, generation: 1)
        if job.run == nil { change(job.tenant, jobs: 1) }
        return key
    }

    /// Puts a job into the queue, with the attachments of a generation.
    private func enqueue(_ new: NewJob, as key: Int64, generation: Int) throws {
        let job = new.submission
        let rank = try rank(of: job, in: job.lane, key: key)
        let details = try job.attachments.map {
            try Column.text(AttachmentDetails(source: SourceFacts($0), options: $0.options))
        }
        _ = try send([
            Statement(
                """
                INSERT INTO queue (job, tenant, run, lane, priority, rank, due_at, state, generation, deadline_at, submission,
                    headers, headers_kid, has_callback)
                VALUES ($1, $2, $3, $4, $5, $6, $7, 'pending', $8, $9, $10, $11, $12, $13)
                """,
                [
                    .int(key), .text(job.tenant.rawValue), .text(job.run?.rawValue ?? ""), .text(job.lane.rawValue),
                    .int(job.priority.rank), .int(rank), .int(now.milliseconds), .int(generation),
                    .int(job.deadline(from: now)?.milliseconds), .text(new.stored.body),
                    .bytes(new.stored.secrets.map { Array($0.box) }), .text(new.stored.secrets?.kid),
                    .bool(job.callback != nil),
                ]),
            Statement(
                """
                INSERT INTO attachments (tenant, id, job, run, generation, ordinal, identifier, source, state, details,
                    created_at)
                SELECT $1, id, $2, $3, $4, ordinal - 1, identifier, source, 'pending', details, $5
                FROM unnest($6::uuid[], $7::text[], $8::text[], $9::text[]) WITH ORDINALITY
                    AS new (id, identifier, source, details, ordinal)
                """,
                [
                    .text(job.tenant.rawValue), .int(key), .text(job.run?.rawValue ?? ""), .int(generation),
                    .int(now.milliseconds), .uuids(new.attachments.map(\.rawValue)),
                    .texts(job.attachments.map(\.identifier)),
                    .texts(job.attachments.map { $0.location.sourceName?.rawValue }), .texts(details),
                ]),
        ])
    }

    func renew(_ job: Job, as new: NewJob) throws -> JobRecord {
        try jobRecord(try renew(job, with: new))
    }

    /// Another body, or another try: a new generation, which takes the claim of the old one away. What that delivered stays
    /// until the new one delivers.
    private func renew(_ known: Job, with new: NewJob) throws -> Int64 {
        let job = new.submission
        try takeUploads(of: job)
        try release(sourcesOf: known.key)
        try forgetRetained([known.key])
        try forgo(known.queue?.claim, of: known.key)
        let profile = try profileKey(job.profile, body: new.stored.profile)
        _ = try send(
            [
                Statement("DELETE FROM queue WHERE job = $1", [.int(known.key)]),
                Statement("DELETE FROM attachments WHERE job = $1 AND state <> 'delivered'", [.int(known.key)]),
                Statement(
                    """
                    UPDATE jobs SET work_key = $2, run = $3, generation = generation + 1, body_digest = $4, profile = $5,
                        mode = $6, priority = $7, metadata = $8, state = 'pending', attempt = 0, delivered_claim = NULL,
                        deadline_at = $9, finished_at = NULL, expires_at = NULL
                    WHERE key = $1
                    """,
                    [
                        .int(known.key), .text(job.workKey), .text(job.run?.rawValue ?? ""), .text(new.stored.digest),
                        .int(profile), .text(job.mode.rawValue), .int(job.priority.rank),
                        .text(try Column.text(job.metadata)), .int(job.deadline(from: now)?.milliseconds),
                    ]),
            ] + labelling(known.key, of: job.tenant, with: job.metadata))
        try enqueue(new, as: known.key, generation: known.generation + 1)
        change(
            known.tenant, jobs: (job.run == nil ? 1 : 0) - (known.queue != nil && known.run.isEmpty ? 1 : 0))
        return known.key
    }

    /// The same work for another run: that run's name, paths and deadline, the old ids.
    private func adopt(_ known: Job, as job: JobSubmission) throws -> JobRecord {
        guard let queue = known.queue else { throw TransactionConflict() }
        let identifiers = try run(
            "SELECT identifier FROM attachments WHERE job = $1 AND generation = $2 ORDER BY ordinal",
            [.int(known.key), .int(known.generation)]
        ).map { try $0.text("identifier") }
        // The identifiers were given to the client: they stay.
        var adopted = job
        adopted.id = known.id
        for (index, identifier) in identifiers.enumerated() { adopted.attachments[index].identifier = identifier }
        let body = try StoredSubmission(adopted, keys: store.keys)
        let name = job.run?.rawValue ?? ""
        let lane = job.lane(after: queue.lane)
        let staysInLine = known.run == name && known.priority == job.priority.rank && lane == queue.lane
        let rank = try staysInLine ? queue.rank : rank(of: job, in: lane, key: known.key)
        let profile = try profileKey(job.profile, body: body.profile)
        try release(sourcesOf: known.key)
        try forgo(queue.claim, of: known.key)
        let deadline = SQLValue.int(job.deadline(from: now)?.milliseconds)
        _ = try send(
            [
                Statement(
                    """
                    UPDATE queue SET run = $2, submission = $3, priority = $4, due_at = $5, deadline_at = $6, headers = $7,
                        headers_kid = $8, lane = $9, rank = $10, has_callback = $11, state = 'pending',
                        interrupted = interrupted OR state = 'running', claim = NULL, node = NULL, claimed_until = NULL
                    WHERE job = $1
                    """,
                    [
                        .int(known.key), .text(name), .text(body.body), .int(job.priority.rank), .int(now.milliseconds),
                        deadline, .bytes(body.secrets.map { Array($0.box) }), .text(body.secrets?.kid),
                        .text(lane.rawValue),
                        .int(rank), .bool(job.callback != nil),
                    ]),
                Statement(
                    """
                    UPDATE jobs SET run = $2, body_digest = $3, profile = $4, mode = $5, priority = $6, metadata = $7,
                        deadline_at = $8
                    WHERE key = $1
                    """,
                    [
                        .int(known.key), .text(name), .text(body.digest), .int(profile), .text(job.mode.rawValue),
                        .int(job.priority.rank), .text(try Column.text(job.metadata)), deadline,
                    ]),
                Statement(
                    """
                    UPDATE attachments SET run = $3, source = new.source
                    FROM unnest($4::text[]) WITH ORDINALITY AS new (source, ordinal)
                    WHERE job = $1 AND generation = $2 AND attachments.ordinal = new.ordinal - 1
                    """,
                    [
                        .int(known.key), .int(known.generation), .text(name),
                        .texts(adopted.attachments.map { $0.location.sourceName?.rawValue }),
                    ]),
            ] + labelling(known.key, of: job.tenant, with: job.metadata))
        change(known.tenant, jobs: (name.isEmpty ? 1 : 0) - (known.run.isEmpty ? 1 : 0))
        return try jobRecord(known.key)
    }

    /// Keeps what it takes to try a job of the service again, without any header for an origin.
    func retention(of submission: JobSubmission, _ job: Job) throws -> [Statement] {
        guard job.run.isEmpty else { return [] }
        let names = Set(submission.attachments.compactMap(\.location.sourceName)).map(\.rawValue).sorted()
        return [
            Statement(
                "INSERT INTO retained_submissions (job, generation, submission, kept_until) VALUES ($1, $2, $3, $4)",
                [
                    .int(job.key), .int(job.generation), .text(try Column.text(submission.slim)),
                    .int((now + Retention.retry).milliseconds),
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
            [.int(job.key), .int(job.generation), .int(now.milliseconds)]
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
