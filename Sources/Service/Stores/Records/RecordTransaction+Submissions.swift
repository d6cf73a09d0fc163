internal import SatchelCore
internal import FoundationEssentials
internal import Platform
internal import Postgres

/// A submission of one job.
struct SubmittedJob: Sendable {
    var new: NewJob
    var options: SubmissionOptions
    /// The request that brought it.
    var reading = RequestReading.current

    var name: JobName { JobName(tenant: new.submission.tenant, job: new.submission.id) }
}

/// A new job, with its place.
struct PlacedJob {
    var new: NewJob
    var profile: Int64
    /// Nil in a run, where it is the job's key.
    var rank: Int64?
    /// Nil where it waits.
    var claimedUntil: Instant?
    var idempotency: IdempotencyKey?
}

/// A line of jobs of the service.
private struct Line: Hashable {
    var lane: JobLane
    var priority: JobPriority

    /// As claims know it.
    var claimed: ClaimLows.Line { ClaimLows.Line(run: "", lane: lane, priority: priority.rank) }
}

/// What there was before several submissions.
private struct SubmissionContext {
    /// A tenant's place in a line.
    struct Place: Hashable {
        var tenant: TenantID
        var line: Line
    }

    /// Of the submissions, those that aren't the first of their kind.
    var known: [Int: Int64] = [:]
    var usage: [TenantID: TenantUsage] = [:]
    /// Jobs of all tenants, and maybe some that are being carried out: who would be refused for these asks again alone.
    var waiting = 0
    /// By their digests.
    var profiles: [String: Int64] = [:]
    var reached: [Line: Int64] = [:]
    /// The least rank that waits.
    var first: [Line: Int64] = [:]
    /// From where that was looked for.
    var lows: [Line: Int64] = [:]
    var last: [Place: Int64] = [:]

    /// Puts a job of the service into its line.
    ///
    /// - Parameter isOffered: Whether somebody would begin at once.
    /// - Returns: Its rank, and whether nothing that waits comes before it and it is begun.
    mutating func place(_ job: JobSubmission, isOffered: Bool) -> (rank: Int64, isBegun: Bool) {
        let line = Line(lane: job.lane, priority: job.priority)
        let place = Place(tenant: job.tenant, line: line)
        let rank = FairRank.rank(reached: reached[line] ?? 0, last: last[place], size: job.attachments.count)
        last[place] = max(last[place] ?? 0, rank)
        usage[job.tenant, default: TenantUsage()].pendingJobs += 1
        let isBegun =
            isOffered
            && JobPriority.inOrder.prefix { $0.rank <= job.priority.rank }.allSatisfy { priority in
                // Its key is the greatest.
                first[Line(lane: job.lane, priority: priority)].map { priority == job.priority && $0 > rank } ?? true
            }
        if isBegun {
            reached[line] = max(reached[line] ?? 0, rank)
        } else {
            first[line] = min(first[line] ?? .max, rank)
            waiting += 1
        }
        return (rank, isBegun)
    }
}

extension SubmissionOptions {
    /// Whether a tenant's usage decides.
    var asksForUsage: Bool { quotas.storedBytes != nil || quotas.pendingJobs != nil || queueLimit != nil }
}

extension RecordTransaction {
    /// Submits jobs together: two round trips for all, whatever their number.
    ///
    /// - Returns: The answers; nil for those that are unusual: what was known before, or twice among these, takes an upload,
    ///   or would be refused.
    func submit(together jobs: [SubmittedJob]) throws -> [SubmissionAnswer?] {
        var answers: [SubmissionAnswer?] = jobs.map { _ in nil }
        var taken: Set<[String]> = []
        let usual = jobs.indices.filter { index in
            let (job, options) = (jobs[index].new.submission, jobs[index].options)
            let tenant = job.tenant.rawValue
            let own = [
                [tenant, "id", job.id.rawValue], job.workKey.map { [tenant, "work", $0] },
                options.idempotency.map { [tenant, "key", $0.text] },
            ].compactMap(\.self)
            guard taken.isDisjoint(with: own), job.attachments.allSatisfy({ $0.upload == nil }) else { return false }
            taken.formUnion(own)
            return true
        }
        guard !usual.isEmpty else { return answers }
        var context = try context(before: jobs, usual)
        if mayHaveCommitted {
            let records = try jobRecords(Array(context.known.values))
            for (index, key) in context.known {
                let isOwn = records[key]?.attachments.first?.id == jobs[index].new.attachments.first
                answers[index] = isOwn ? records[key].map { .accepted($0) } : nil
            }
        }
        var placed: [(index: Int, job: PlacedJob)] = []
        for index in usual where context.known[index] == nil {
            let (new, options) = (jobs[index].new, jobs[index].options)
            guard jobs[index].reading?.isInTime(at: now) ?? true else { continue }
            let digest = Column.digest(new.stored.profile)
            if context.profiles[digest] == nil {
                context.profiles[digest] = try profileKey(new.submission.profile, body: new.stored.profile)
            }
            guard let profile = context.profiles[digest] else { continue }
            var job = PlacedJob(new: new, profile: profile, idempotency: options.idempotency)
            if new.submission.run == nil {
                let usage = context.usage[new.submission.tenant] ?? TenantUsage()
                // Who is refused is told by a transaction of their own.
                guard (try? options.admit(usage) { context.waiting }) != nil else { continue }
                let place = context.place(new.submission, isOffered: options.offer != nil)
                job.rank = place.rank
                if place.isBegun, let offer = options.offer {
                    job.claimedUntil = now + offer.duration
                    let line = Line(lane: new.submission.lane, priority: new.submission.priority)
                    store.node.found([place.rank], in: line.claimed, wanted: 1, from: context.lows[line] ?? 0)
                }
            }
            placed.append((index, job))
        }
        let keys = try insert(placed.map(\.job))
        let records = try jobRecords(keys)
        for ((index, job), key) in zip(placed, keys) {
            guard let record = records[key] else { throw TransactionConflict() }
            answers[index] =
                if let end = job.claimedUntil { .claimed(record, try claim(job.new, until: end)) } else {
                    .accepted(record)
                }
        }
        return answers
    }

    /// Asks for all that decides, in one round trip.
    private func context(before jobs: [SubmittedJob], _ usual: [Int]) throws -> SubmissionContext {
        let submissions = usual.map { jobs[$0].new.submission }
        let tenants = SQLValue.texts(submissions.map(\.tenant.rawValue))
        let own = submissions.filter { $0.run == nil }
        let bounded = usual.filter { jobs[$0].options.asksForUsage }.map { jobs[$0].new.submission.tenant.rawValue }
        let lines = Set(own.map(\.lane)).flatMap { lane in JobPriority.inOrder.map { Line(lane: lane, priority: $0) } }
        let places = Set(
            own.map {
                SubmissionContext.Place(tenant: $0.tenant, line: Line(lane: $0.lane, priority: $0.priority))
            })
        let lows = lines.map { store.node.low(of: $0.claimed) }
        let limit = usual.compactMap { jobs[$0].options.queueLimit }.min()
        let known = limit.flatMap { knownWaiting(under: $0, before: own.count) }
        let look = store.node.lookForRoom()
        let rows = try send(
            [
                Statement(
                    """
                    SELECT new.place, coalesce(
                        (SELECT key FROM jobs WHERE jobs.tenant = new.tenant AND jobs.id = new.id),
                        (SELECT key FROM jobs WHERE jobs.tenant = new.tenant AND jobs.work_key = new.work),
                        (SELECT job FROM idempotency_keys AS used
                            WHERE used.tenant = new.tenant AND used.key = new.key AND used.created_at > $5)) AS job
                    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) WITH ORDINALITY
                        AS new (tenant, id, work, key, place)
                    """,
                    [
                        tenants, .texts(submissions.map(\.id.rawValue)), .texts(submissions.map(\.workKey)),
                        .texts(usual.map { jobs[$0].options.idempotency?.text }),
                        .int((now - IdempotencyKey.lifetime).milliseconds),
                    ]),
                Statement(
                    "SELECT key, digest FROM profiles WHERE digest = ANY($1::text[])",
                    [.texts(Set(usual.map { Column.digest(jobs[$0].new.stored.profile) }).map { $0 })]),
                Statement(
                    """
                    SELECT tenant, sum(stored_bytes)::bigint AS bytes, sum(unfinished_jobs)::bigint AS jobs
                    FROM usage WHERE tenant = ANY($1::text[]) GROUP BY tenant
                    """, [.texts(Set(bounded).map { $0 })]),
                Statement(
                    """
                    SELECT lane, priority,
                        (SELECT max(rank) FROM virtual_time AS time
                            WHERE time.lane = lines.lane AND time.priority = lines.priority) AS reached,
                        (SELECT rank FROM queue WHERE run = '' AND queue.lane = lines.lane AND queue.priority = lines.priority
                            AND queue.state = 'pending' AND due_at <= $3 AND queue.rank >= lines.low
                            ORDER BY rank, job LIMIT 1) AS first
                    FROM unnest($1::text[], $2::smallint[], $4::bigint[]) AS lines (lane, priority, low)
                    """,
                    [
                        .texts(lines.map(\.lane.rawValue)), .ints(lines.map { Int64($0.priority.rank) }),
                        .int(now.milliseconds),
                        .ints(lows),
                    ]),
                Statement(
                    """
                    SELECT places.*, (SELECT max(rank) FROM queue WHERE queue.tenant = places.tenant AND run = ''
                        AND queue.lane = places.lane AND queue.priority = places.priority
                        AND queue.rank > \(Self.deciding(lane: "places.lane", priority: "places.priority"))) AS last
                    FROM unnest($1::text[], $2::text[], $3::smallint[]) AS places (tenant, lane, priority)
                    """,
                    [
                        .texts(places.map(\.tenant.rawValue)), .texts(places.map(\.line.lane.rawValue)),
                        .ints(places.map { Int64($0.line.priority.rank) }),
                    ]),
            ]
                + (known == nil ? limit.map { [waiting(under: $0)] } ?? [] : []))
        var context = SubmissionContext()
        context.lows = Dictionary(uniqueKeysWithValues: zip(lines, lows))
        for row in rows[0] {
            guard let key = try row.optionalInt("job") else { continue }
            context.known[usual[try row.int("place") - 1]] = key
        }
        for row in rows[1] { context.profiles[try row.text("digest")] = try row.int64("key") }
        for row in rows[2] {
            var usage = TenantUsage()
            usage.storedBytes = try row.int64("bytes")
            usage.pendingJobs = try row.int("jobs")
            context.usage[TenantID(rawValue: try row.text("tenant"))] = usage
        }
        func line(_ row: RecordRow) throws -> Line? {
            let rank = try row.int("priority")
            guard let priority = JobPriority.inOrder.first(where: { $0.rank == rank }) else { return nil }
            return Line(lane: try row.choice("lane"), priority: priority)
        }
        for row in rows[3] {
            guard let line = try line(row) else { continue }
            context.reached[line] = try row.optionalInt("reached")
            context.first[line] = try row.optionalInt("first")
        }
        for row in rows[4] {
            guard let line = try line(row) else { continue }
            context.last[SubmissionContext.Place(tenant: TenantID(rawValue: try row.text("tenant")), line: line)] =
                try row.optionalInt("last")
        }
        if let limit { context.waiting = try known ?? note(rows[5], under: limit, by: look) }
        return context
    }

    /// Records new jobs, in one round trip.
    ///
    /// - Returns: Their keys.
    func insert(_ jobs: [PlacedJob]) throws -> [Int64] {
        guard !jobs.isEmpty else { return [] }
        let submissions = jobs.map(\.new.submission)
        let attachments = jobs.flatMap { job in
            job.new.submission.attachments.enumerated().map { ordinal, attachment in
                (job: job.new.submission, id: job.new.attachments[ordinal], ordinal: ordinal, attachment: attachment)
            }
        }
        let labels = submissions.flatMap { job in
            JobLabel.found(in: job.metadata).map { (job: job, key: $0.key, value: $0.value) }
        }
        let remembered = jobs.compactMap { job in job.idempotency.map { (job: job.new.submission, key: $0) } }
        let names: [SQLValue] = [
            .texts(submissions.map(\.tenant.rawValue)), .texts(submissions.map(\.id.rawValue)),
        ]
        let runs = SQLValue.texts(submissions.map { $0.run?.rawValue ?? "" })
        let priorities = SQLValue.ints(submissions.map { Int64($0.priority.rank) })
        let deadlines = SQLValue.ints(submissions.map { $0.deadline(from: now)?.milliseconds })
        var statements = [
            Statement(
                """
                INSERT INTO jobs (tenant, id, work_key, run, generation, body_digest, profile, mode, priority, metadata, state,
                    created_at, deadline_at)
                SELECT tenant, id, work_key, run, 1, digest, profile, mode, priority, metadata, 'pending', $1, deadline
                FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::text[],
                    $9::smallint[], $10::text[], $11::bigint[]) WITH ORDINALITY
                    AS new (tenant, id, work_key, run, digest, profile, mode, priority, metadata, deadline, place)
                ORDER BY place RETURNING key, tenant, id
                """,
                [
                    .int(now.milliseconds), names[0], names[1],
                    .texts(submissions.map(\.workKey)), runs, .texts(jobs.map(\.new.stored.digest)),
                    .ints(jobs.map(\.profile)), .texts(submissions.map(\.mode.rawValue)), priorities,
                    .texts(try submissions.map { try Column.text($0.metadata) }), deadlines,
                ]),
            Statement(
                """
                INSERT INTO queue (job, tenant, run, lane, priority, rank, due_at, state, generation, attempt, claim, node,
                    claimed_until, deadline_at, submission, headers, headers_kid, has_callback)
                SELECT jobs.key, jobs.tenant, own.run, own.lane, own.priority, coalesce(own.rank, jobs.key), $1,
                    CASE WHEN own.claim IS NULL THEN 'pending' ELSE 'running' END, 1,
                    CASE WHEN own.claim IS NULL THEN 0 ELSE 1 END, own.claim,
                    CASE WHEN own.claim IS NOT NULL THEN $14::uuid END, own.until, own.deadline, own.submission,
                    decode(own.headers, 'hex'), own.kid, own.callback
                FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::smallint[], $7::bigint[], $8::uuid[],
                    $9::bigint[], $10::bigint[], $11::text[], $12::text[], $13::text[], $15::boolean[]) AS own
                    (tenant, id, run, lane, priority, rank, claim, until, deadline, submission, headers, kid, callback)
                    JOIN jobs ON jobs.tenant = own.tenant AND jobs.id = own.id
                """,
                [
                    .int(now.milliseconds), names[0], names[1],
                    runs, .texts(submissions.map(\.lane.rawValue)), priorities, .ints(jobs.map(\.rank)),
                    .texts(jobs.map { $0.claimedUntil == nil ? nil : $0.new.claim.rawValue }),
                    .ints(jobs.map { $0.claimedUntil?.milliseconds }), deadlines, .texts(jobs.map(\.new.stored.body)),
                    .texts(jobs.map { $0.new.stored.secrets?.box.hexadecimal }),
                    .texts(jobs.map(\.new.stored.secrets?.kid)), .uuid(store.node.id),
                    .bools(submissions.map { $0.callback != nil }),
                ]),
            Statement(
                """
                INSERT INTO attachments (tenant, id, job, run, generation, ordinal, identifier, source, state, details,
                    created_at)
                SELECT jobs.tenant, own.attachment, jobs.key, jobs.run, 1, own.ordinal, own.identifier, own.source, 'pending',
                    own.details, $1
                FROM unnest($2::text[], $3::text[], $4::uuid[], $5::smallint[], $6::text[], $7::text[], $8::text[])
                    AS own (tenant, id, attachment, ordinal, identifier, source, details)
                    JOIN jobs ON jobs.tenant = own.tenant AND jobs.id = own.id
                """,
                [
                    .int(now.milliseconds), .texts(attachments.map(\.job.tenant.rawValue)),
                    .texts(attachments.map(\.job.id.rawValue)), .uuids(attachments.map(\.id.rawValue)),
                    .ints(attachments.map { Int64($0.ordinal) }), .texts(attachments.map(\.attachment.identifier)),
                    .texts(attachments.map { $0.attachment.location.sourceName?.rawValue }),
                    .texts(
                        try attachments.map {
                            try Column.text(
                                AttachmentDetails(source: SourceFacts($0.attachment), options: $0.attachment.options))
                        }),
                ]),
        ]
        if !labels.isEmpty {
            statements.append(
                Statement(
                    """
                    INSERT INTO labels (tenant, key, value, job) SELECT jobs.tenant, own.label, own.value, jobs.key
                    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS own (tenant, id, label, value)
                        JOIN jobs ON jobs.tenant = own.tenant AND jobs.id = own.id
                    """,
                    [
                        .texts(labels.map(\.job.tenant.rawValue)), .texts(labels.map(\.job.id.rawValue)),
                        .texts(labels.map(\.key)), .texts(labels.map(\.value)),
                    ]))
        }
        let place = statements.count
        if !remembered.isEmpty {
            statements.append(
                Statement(
                    """
                    INSERT INTO idempotency_keys (tenant, key, body_digest, job, created_at)
                    SELECT jobs.tenant, own.text, own.digest, jobs.key, $1
                    FROM unnest($2::text[], $3::text[], $4::text[], $5::text[]) AS own (tenant, id, text, digest)
                        JOIN jobs ON jobs.tenant = own.tenant AND jobs.id = own.id WHERE true
                    ON CONFLICT (tenant, key) DO UPDATE SET body_digest = excluded.body_digest, job = excluded.job,
                        created_at = excluded.created_at
                    WHERE idempotency_keys.created_at <= $6
                    """,
                    [
                        .int(now.milliseconds), .texts(remembered.map(\.job.tenant.rawValue)),
                        .texts(remembered.map(\.job.id.rawValue)), .texts(remembered.map(\.key.text)),
                        .texts(remembered.map(\.key.bodyDigest)),
                        .int((now - IdempotencyKey.lifetime).milliseconds),
                    ]))
        }
        statements += advancing(
            jobs.compactMap { job in
                job.claimedUntil.flatMap { _ in job.rank }.map {
                    (lane: job.new.submission.lane, priority: job.new.submission.priority.rank, rank: $0)
                }
            })
        let rows = try send(statements)
        // Another request used one of the keys first.
        guard remembered.isEmpty || rows[place].changes == remembered.count else { throw TransactionConflict() }
        var keys: [JobName: Int64] = [:]
        for row in rows[0] {
            let name = JobName(
                tenant: TenantID(rawValue: try row.text("tenant")), job: JobID(rawValue: try row.text("id")))
            keys[name] = try row.int64("key")
        }
        for job in jobs {
            if job.new.submission.run == nil { change(job.new.submission.tenant, jobs: 1) }
            if job.claimedUntil == nil { wakes.insert(.work) }
        }
        return try submissions.map { job in
            guard let key = keys[JobName(tenant: job.tenant, job: job.id)] else { throw TransactionConflict() }
            return key
        }
    }

    /// Of a job that was recorded just now with a claim.
    private func claim(_ new: NewJob, until end: Instant) throws -> Claim {
        let job = new.submission
        var submission = try JobSubmission(
            stored: new.stored.body, profile: new.stored.profile, of: job.tenant, job.id, run: job.run?.rawValue ?? "")
        try new.stored.secrets?.open(into: &submission, keys: store.keys)
        return Claim(
            id: new.claim, tenant: job.tenant, job: job.id, generation: 1, attempt: 1, claimedUntil: end,
            deadlineAt: job.deadline(from: now), isLate: false, lane: job.lane, submission: submission,
            attachments: new.attachments)
    }
}
