internal import SatchelCore
internal import FoundationEssentials
internal import Platform
internal import Postgres

/// A submission with everything that the node names, so that a repeated transaction recognizes its own first attempt.
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

/// One job of a submission.
struct SubmittedJob: Sendable {
    var new: NewJob
    var options: SubmissionOptions
    /// The request that brought the job.
    var reading: RequestReading?

    /// Everything that a known job is found by. No two jobs of one tenant share any of these.
    fileprivate var names: Set<[String]> {
        let (job, key) = (new.submission, options.idempotency?.text)
        let names = [["id", job.id.rawValue], job.workKey.map { ["work", $0] }, key.map { ["key", $0] }]
        return Set(names.compactMap(\.self).map { [job.tenant.rawValue] + $0 })
    }
}

/// The jobs that a submission's names already have.
private struct KnownNames {
    /// The job of its idempotency key, and the digest of the body that came with the key.
    var used: (job: Int64, digest: String)?
    var work: Int64?
    var id: Int64?

    /// The job that would be submitted again.
    var job: Int64? { used?.job ?? work ?? id }
}

/// The outcome of a submission.
private enum SubmissionOutcome {
    /// Its idempotency key came with another body before.
    case conflict
    /// The job of its idempotency key, or of this node's own first attempt.
    case repeated(Int64)
    /// The known job stays as it is.
    case kept(RecordTransaction.Job)
    case adopted(RecordTransaction.Job)
    /// The job is to be recorded.
    case placed(PlacedJob)
}

/// A job that is to be recorded, with its place in the queue.
struct PlacedJob {
    var new: NewJob
    var profile: Int64
    /// The job of which this is a new generation.
    var known: RecordTransaction.Job?
    /// Nil for a new job of a run, where it is the job's key.
    var rank: Int64?
    /// The value is nil while the job waits.
    var claimedUntil: Instant?
}

extension JobName {
    fileprivate init(_ job: JobSubmission) { self.init(tenant: job.tenant, job: job.id) }
}

/// A line of jobs of the service.
private struct Line: Hashable {
    var lane: JobLane
    var priority: JobPriority

    /// The same line, as claims name it.
    var claimed: ClaimLows.Line { ClaimLows.Line(run: "", lane: lane, priority: priority.rank) }
}

/// The state of the store before a submission, and the room that its jobs have taken so far.
private struct SubmissionContext {
    /// A tenant's place in a line.
    struct Place: Hashable {
        var tenant: TenantID
        var line: Line
    }

    /// The known names of each job, by its number in the submission.
    var known: [KnownNames] = []
    var usage: [TenantID: TenantUsage] = [:]
    /// Jobs of all tenants that wait, and maybe some that are being carried out.
    var waiting = 0
    /// The keys of profiles, by their digests.
    var profiles: [String: Int64] = [:]
    var reached: [Line: Int64] = [:]
    /// The least rank that waits.
    var first: [Line: Int64] = [:]
    /// The rank from which the search for ``first`` began.
    var lows: [Line: Int64] = [:]
    var last: [Place: Int64] = [:]

    /// Decides whether there is room for a job of the service, and takes the room.
    ///
    /// - Parameter state: The state of the job whose place it takes.
    /// - Throws: As ``SubmissionOptions/admit(_:replacing:waiting:)``.
    mutating func admit(
        _ job: JobSubmission, _ options: SubmissionOptions, replacing state: WorkState?
    ) throws {
        try options.admit(usage[job.tenant] ?? TenantUsage(), replacing: state) { waiting }
        if state?.isFinished ?? true { usage[job.tenant, default: TenantUsage()].pendingJobs += 1 }
        if state != .pending { waiting += 1 }
    }

    /// Puts an admitted new job into its line.
    ///
    /// - Parameter isOffered: Whether a worker would begin at once.
    /// - Returns: Its rank, and whether nothing that waits comes before it and it is begun.
    mutating func place(_ job: JobSubmission, isOffered: Bool) -> (rank: Int64, isBegun: Bool) {
        let line = Line(lane: job.lane, priority: job.priority)
        let place = Place(tenant: job.tenant, line: line)
        let rank = FairRank.rank(reached: reached[line] ?? 0, last: last[place], size: job.attachments.count)
        last[place] = max(last[place] ?? 0, rank)
        let isBegun =
            isOffered
            && JobPriority.inOrder.prefix { $0.rank <= job.priority.rank }.allSatisfy { priority in
                // Its key is the greatest.
                first[Line(lane: job.lane, priority: priority)].map { priority == job.priority && $0 > rank } ?? true
            }
        if isBegun {
            reached[line] = max(reached[line] ?? 0, rank)
            waiting -= 1
        } else {
            first[line] = min(first[line] ?? .max, rank)
        }
        return (rank, isBegun)
    }
}

extension SubmissionOptions {
    /// Whether a tenant's usage decides.
    fileprivate var asksForUsage: Bool { quotas.storedBytes != nil || quotas.pendingJobs != nil || queueLimit != nil }
}

/// The way of a submission: ``submit(_:isAlone:)`` looks what there is, decides about each job, and records them together.
extension RecordTransaction {
    /// Submits jobs: the new ones in as many round trips as one alone.
    ///
    /// - Parameter isAlone: Whether the transaction is for this submission alone, which fails if any of its jobs is refused.
    ///   Among others', what is unusual is left for a transaction of its own: known jobs, uploads, and what would be refused.
    /// - Returns: The answers; nil for those that are left.
    func submit(_ jobs: [SubmittedJob], isAlone: Bool) throws -> [SubmissionAnswer?] {
        var answers: [SubmissionAnswer?] = jobs.map { _ in nil }
        var rest = Array(jobs.indices)
        while !rest.isEmpty {
            // The first of several with the same name is recorded before the others are looked for.
            var names: Set<[String]> = []
            let these = rest.filter { index in
                guard names.isDisjoint(with: jobs[index].names) else { return false }
                names.formUnion(jobs[index].names)
                return true
            }
            for (index, answer) in zip(these, try submit(unlike: these.map { jobs[$0] }, isAlone: isAlone)) {
                answers[index] = answer
            }
            guard isAlone else { break }
            rest.removeAll(where: these.contains)
        }
        return answers
    }

    /// Submits jobs of which no two have the same name.
    private func submit(unlike jobs: [SubmittedJob], isAlone: Bool) throws -> [SubmissionAnswer?] {
        var context = try context(before: jobs)
        let outcomes = try jobs.indices.map { try decide(jobs[$0], context.known[$0], &context, isAlone: isAlone) }
        let remembered = zip(jobs, outcomes).compactMap { job, outcome -> (JobName, IdempotencyKey)? in
            guard let key = job.options.idempotency else { return nil }
            switch outcome {
            case .kept(let known)?, .adopted(let known)?: return (JobName(tenant: known.tenant, job: known.id), key)
            case .placed(let placed)?: return (JobName(placed.new.submission), key)
            case .conflict?, .repeated?, nil: return nil
            }
        }
        let added = try record(
            outcomes.compactMap { if case .placed(let job)? = $0 { job } else { nil } }, remembering: remembered)
        let keys = try outcomes.map { outcome -> Int64? in
            switch outcome {
            case .repeated(let key)?: return key
            case .kept(let known)?, .adopted(let known)?: return known.key
            case .placed(let placed)?:
                guard let key = placed.known?.key ?? added[JobName(placed.new.submission)] else {
                    throw TransactionConflict()
                }
                return key
            case .conflict?, nil: return nil
            }
        }
        let records = try jobRecords(keys.compactMap(\.self))
        return try jobs.indices.map { index in
            guard let outcome = outcomes[index] else { return nil }
            guard let key = keys[index] else { return .conflict }
            guard let record = records[key] else { throw TransactionConflict() }
            switch outcome {
            case .adopted: return .adopted(record)
            case .placed(let job):
                guard let end = job.claimedUntil else { return .accepted(record) }
                return .claimed(record, claim(job.new, until: end))
            case .conflict, .repeated, .kept:
                let isOwn = mayHaveCommitted && record.attachments.first?.id == jobs[index].new.attachments.first
                return isOwn ? .accepted(record) : isAlone ? .unchanged(record) : nil
            }
        }
    }

    /// Asks for everything that decides, in one round trip.
    private func context(before jobs: [SubmittedJob]) throws -> SubmissionContext {
        let own = jobs.map(\.new.submission).filter { $0.run == nil }
        let bounded = Set(jobs.filter(\.options.asksForUsage).map(\.new.submission.tenant))
        let lines = Set(own.map(\.lane)).flatMap { lane in JobPriority.inOrder.map { Line(lane: lane, priority: $0) } }
        let places = Set(
            own.map { SubmissionContext.Place(tenant: $0.tenant, line: Line(lane: $0.lane, priority: $0.priority)) })
        let lows = lines.map { store.node.queue?.low(of: $0.claimed) ?? 0 }
        let limit = jobs.compactMap(\.options.queueLimit).min()
        let waiting = limit.flatMap { knownWaiting(under: $0, before: own.count) }
        let look = store.node.queue?.look()
        let rows = try send(
            [
                finding(jobs),
                Statement(
                    "SELECT key, digest FROM profiles WHERE digest = ANY($1::text[])",
                    [.texts(Set(jobs.map { Column.digest($0.new.stored.profile) }).map { $0 })]),
                Statement(
                    """
                    SELECT tenant, sum(stored_bytes)::bigint AS bytes, sum(unfinished_jobs)::bigint AS jobs
                    FROM usage WHERE tenant = ANY($1::text[]) GROUP BY tenant
                    """, [.raws(bounded)]),
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
                    [.raws(lines.map(\.lane)), .ints(lines.map { Int64($0.priority.rank) }), .time(now), .ints(lows)]),
                Statement(
                    """
                    SELECT places.*, (SELECT max(rank) FROM queue WHERE queue.tenant = places.tenant AND run = ''
                        AND queue.lane = places.lane AND queue.priority = places.priority
                        AND queue.rank > \(Self.deciding(lane: "places.lane", priority: "places.priority"))) AS last
                    FROM unnest($1::text[], $2::text[], $3::smallint[]) AS places (tenant, lane, priority)
                    """,
                    [
                        .raws(places.map(\.tenant)), .raws(places.map(\.line.lane)),
                        .ints(places.map { Int64($0.line.priority.rank) }),
                    ]),
            ]
                + (waiting == nil ? limit.map { [self.waiting(under: $0)] } ?? [] : []))
        var context = SubmissionContext()
        context.known = try rows[0].map { try KnownNames($0) }
        context.lows = Dictionary(uniqueKeysWithValues: zip(lines, lows))
        for row in rows[1] { context.profiles[try row.text("digest")] = try row.int64("key") }
        // This transaction's own changes are written at its end.
        for tenant in bounded { context.usage[tenant] = usage[tenant] }
        for row in rows[2] {
            let tenant = TenantID(rawValue: try row.text("tenant"))
            context.usage[tenant, default: TenantUsage()].storedBytes += try row.int64("bytes")
            context.usage[tenant, default: TenantUsage()].pendingJobs += try row.int("jobs")
        }
        for row in rows[3] {
            let line = try Line(row)
            context.reached[line] = try row.optionalInt("reached")
            context.first[line] = try row.optionalInt("first")
        }
        for row in rows[4] {
            let place = SubmissionContext.Place(tenant: try row.value("tenant"), line: try Line(row))
            context.last[place] = try row.optionalInt("last")
        }
        if let limit { context.waiting = try waiting ?? note(rows[5], under: limit, by: look) }
        return context
    }

    /// Finds what jobs are known by, in their order.
    private func finding(_ jobs: [SubmittedJob]) -> Statement {
        let submissions = jobs.map(\.new.submission)
        return Statement(
            """
            SELECT (SELECT key FROM jobs WHERE jobs.tenant = new.tenant AND jobs.id = new.id) AS id,
                (SELECT key FROM jobs WHERE jobs.tenant = new.tenant AND jobs.work_key = new.work) AS work,
                used.job AS used, used.body_digest
            FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) WITH ORDINALITY
                AS new (tenant, id, work, key, place)
                LEFT JOIN idempotency_keys AS used
                ON used.tenant = new.tenant AND used.key = new.key AND used.created_at > $5
            ORDER BY new.place
            """,
            [
                .raws(submissions.map(\.tenant)), .raws(submissions.map(\.id)), .texts(submissions.map(\.workKey)),
                .texts(jobs.map(\.options.idempotency?.text)), .time(now - IdempotencyKey.lifetime),
            ])
    }

    /// Decides about one job, and does what that means for a known one.
    ///
    /// - Returns: Nil for what is left for a transaction of its own.
    /// - Throws: What refuses the job; `TransactionConflict` if another transaction came first.
    private func decide(
        _ submitted: SubmittedJob, _ names: KnownNames, _ context: inout SubmissionContext, isAlone: Bool
    ) throws -> SubmissionOutcome? {
        let (new, options, job) = (submitted.new, submitted.options, submitted.new.submission)
        if !isAlone {
            if let key = names.job { return mayHaveCommitted ? .repeated(key) : nil }
            guard submitted.reading?.isInTime(at: now) ?? true, job.attachments.allSatisfy({ $0.upload == nil }) else {
                return nil
            }
        }
        if let used = names.used {
            return used.digest == options.idempotency?.bodyDigest ? .repeated(used.job) : .conflict
        }
        let known = try names.job.map { key in
            guard let found = try lock(key) else { throw TransactionConflict() }
            return found
        }
        if let known {
            let state = try knownJob(known, isSameWork: names.work != nil, for: job)
            switch job.decision(about: state, digest: new.stored.digest, retriesFailed: options.retriesFailed) {
            case .keep: return .kept(known)
            case .adopt:
                try adopt(known, as: job)
                return .adopted(known)
            case .insert, .renew: break
            }
        }
        if job.run == nil {
            do {
                try context.admit(job, options, replacing: known?.workState)
            } catch {
                guard isAlone else { return nil }
                // The same submission may have come a moment before and taken the room.
                let found = try known == nil ? send([finding([submitted])])[0].first.map { try KnownNames($0) } : nil
                if found?.job != nil { throw TransactionConflict() }
                throw error
            }
        }
        var placed = try prepare(new, profile: context.profiles[Column.digest(new.stored.profile)], replacing: known)
        context.profiles[Column.digest(new.stored.profile)] = placed.profile
        guard known == nil, job.run == nil else { return .placed(placed) }
        let place = context.place(job, isOffered: options.offer != nil)
        placed.rank = place.rank
        if place.isBegun, let offer = options.offer {
            placed.claimedUntil = now + offer.duration
            let line = Line(lane: job.lane, priority: job.priority)
            store.node.queue?.found([place.rank], in: line.claimed, wanted: 1, from: context.lows[line] ?? 0)
        }
        return .placed(placed)
    }

    /// The known job that a submission would replace.
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

    /// Takes the same work over for another run: that run's name, paths and deadline, the old ids.
    private func adopt(_ known: Job, as job: JobSubmission) throws {
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
        _ = try send(
            [
                .update(
                    "queue",
                    [
                        "run": .text(name), "submission": .text(body.body), "priority": .int(job.priority.rank),
                        "due_at": .time(now), "deadline_at": .time(job.deadline(from: now)),
                        "headers": .bytes(body.secrets.map { Array($0.box) }), "headers_kid": .text(body.secrets?.kid),
                        "lane": .raw(lane), "rank": .int(rank), "has_callback": .bool(job.callback != nil),
                    ], "interrupted = interrupted OR state = 'running', \(Self.handedBack)", where: "job = $",
                    .int(known.key)),
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
            ] + rewriting(known, as: job, digest: body.digest, profile: profile, generation: known.generation)
                + labelling([adopted]))
        if known.run.isEmpty { change(known.tenant, jobs: -1, in: queue.lane) }
        if name.isEmpty { change(known.tenant, jobs: 1, in: lane) }
        wakes.insert(.work)
    }

    /// Takes what a job is made of from uploads, and from the generation that it replaces.
    ///
    /// A new generation takes the claim of the old one away. What that delivered stays until the new one delivers.
    ///
    /// - Parameter profile: The key of its profile, where that is known.
    func prepare(_ new: NewJob, profile: Int64? = nil, replacing known: Job?) throws -> PlacedJob {
        let job = new.submission
        try takeUploads(of: job)
        var placed = PlacedJob(
            new: new, profile: try profile ?? profileKey(job.profile, body: new.stored.profile), known: known)
        guard let known else { return placed }
        placed.new.submission.id = known.id
        placed.rank = try rank(of: job, in: job.lane, key: known.key)
        try release(sourcesOf: known.key)
        try forgetRetained([known.key])
        try forgo(known.queue?.claim, of: known.key)
        return placed
    }

    /// Records jobs and new generations of jobs, in one round trip.
    ///
    /// - Parameter remembered: By what idempotency keys these and other jobs are known from now on.
    /// - Returns: The keys of those that are new.
    @discardableResult
    func record(
        _ jobs: [PlacedJob], remembering remembered: [(name: JobName, key: IdempotencyKey)] = []
    ) throws -> [JobName: Int64] {
        guard !jobs.isEmpty || !remembered.isEmpty else { return [:] }
        let new = jobs.filter { $0.known == nil }
        var statements = [try insertion(of: new), remembering(remembered)]
        for job in jobs {
            guard let known = job.known else { continue }
            statements += [
                Statement("DELETE FROM queue WHERE job = $1", [.int(known.key)]),
                Statement("DELETE FROM attachments WHERE job = $1 AND state <> 'delivered'", [.int(known.key)]),
            ]
            statements += try rewriting(
                known, as: job.new.submission, digest: job.new.stored.digest, profile: job.profile,
                generation: known.generation + 1)
        }
        statements += [enqueueing(jobs), try insertion(ofAttachmentsOf: jobs)] + labelling(jobs.map(\.new.submission))
        statements += advancing(
            jobs.compactMap { job in
                job.claimedUntil.flatMap { _ in job.rank }.map {
                    (lane: job.new.submission.lane, priority: job.new.submission.priority.rank, rank: $0)
                }
            })
        let rows = try send(statements)
        // Another request used one of the keys first.
        guard rows[1].changes == remembered.count else { throw TransactionConflict() }
        for job in jobs {
            let submission = job.new.submission
            if let known = job.known, known.run.isEmpty, let lane = known.queue?.lane {
                change(submission.tenant, jobs: -1, in: lane)
            }
            if submission.run == nil { change(submission.tenant, jobs: 1, in: submission.lane) }
            if job.claimedUntil == nil { wakes.insert(.work) }
        }
        return try rows[0].reduce(into: [:]) { keys, row in
            let (tenant, id) = (TenantID(rawValue: try row.text("tenant")), JobID(rawValue: try row.text("id")))
            keys[JobName(tenant: tenant, job: id)] = try row.int64("key")
        }
    }

    private func insertion(of jobs: [PlacedJob]) throws -> Statement {
        let submissions = jobs.map(\.new.submission)
        return Statement(
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
                .time(now), .raws(submissions.map(\.tenant)), .raws(submissions.map(\.id)),
                .texts(submissions.map(\.workKey)), .texts(submissions.map { $0.run?.rawValue ?? "" }),
                .texts(jobs.map(\.new.stored.digest)), .ints(jobs.map(\.profile)), .raws(submissions.map(\.mode)),
                .ints(submissions.map { Int64($0.priority.rank) }),
                .texts(try submissions.map { try Column.text($0.metadata) }),
                .ints(submissions.map { $0.deadline(from: now)?.milliseconds }),
            ])
    }

    /// Makes the row of a known job that of a submission.
    private func rewriting(
        _ known: Job, as job: JobSubmission, digest: String, profile: Int64, generation: Int
    ) throws -> [Statement] {
        [
            .update(
                "jobs",
                [
                    "work_key": .text(job.workKey), "run": .text(job.run?.rawValue ?? ""),
                    "generation": .int(generation), "body_digest": .text(digest), "profile": .int(profile),
                    "mode": .raw(job.mode), "priority": .int(job.priority.rank), "metadata": try .json(job.metadata),
                    "deadline_at": .time(job.deadline(from: now)),
                ],
                "state = 'pending', attempt = 0, delivered_claim = NULL, finished_at = NULL, expires_at = NULL",
                where: "key = $", .int(known.key)),
            Statement("DELETE FROM labels WHERE job = $1", [.int(known.key)]),
        ]
    }

    private func remembering(_ remembered: [(name: JobName, key: IdempotencyKey)]) -> Statement {
        .insert(
            into: "idempotency_keys", forEach: remembered.map(\.name),
            [
                "key text": .texts(remembered.map(\.key.text)),
                "body_digest text": .texts(remembered.map(\.key.bodyDigest)),
                "created_at bigint": .ints(remembered.map { _ in now.milliseconds }),
            ], ["tenant": "jobs.tenant", "job": "jobs.key"],
            """
            ON CONFLICT (tenant, key) DO UPDATE SET body_digest = excluded.body_digest, job = excluded.job,
                created_at = excluded.created_at
            WHERE idempotency_keys.created_at <= excluded.created_at - \(IdempotencyKey.lifetime.wholeMilliseconds)
            """)
    }

    /// Puts the current generations of jobs into the queue.
    private func enqueueing(_ jobs: [PlacedJob]) -> Statement {
        let submissions = jobs.map(\.new.submission)
        let isBegun = jobs.map { $0.claimedUntil != nil }
        return .insert(
            into: "queue", forEach: submissions.map { JobName($0) },
            [
                "lane text": .raws(submissions.map(\.lane)), "rank bigint": .ints(jobs.map(\.rank)),
                "due_at bigint": .ints(jobs.map { _ in now.milliseconds }),
                "state text": .texts(isBegun.map { $0 ? "running" : "pending" }),
                "attempt int": .ints(isBegun.map { $0 ? 1 : 0 }),
                "claim uuid": .texts(jobs.map { $0.claimedUntil == nil ? nil : $0.new.claim.rawValue }),
                "node uuid": .texts(isBegun.map { $0 ? store.node.id : nil }),
                "claimed_until bigint": .ints(jobs.map { $0.claimedUntil?.milliseconds }),
                "submission text": .texts(jobs.map(\.new.stored.body)),
                "headers text": .texts(jobs.map { $0.new.stored.secrets?.box.hexadecimal }),
                "headers_kid text": .texts(jobs.map(\.new.stored.secrets?.kid)),
                "has_callback boolean": .bools(submissions.map { $0.callback != nil }),
            ],
            [
                "job": "jobs.key", "tenant": "jobs.tenant", "run": "jobs.run", "priority": "jobs.priority",
                "rank": "coalesce(own.rank, jobs.key)", "generation": "jobs.generation",
                "deadline_at": "jobs.deadline_at", "headers": "decode(own.headers, 'hex')",
            ])
    }

    private func insertion(ofAttachmentsOf jobs: [PlacedJob]) throws -> Statement {
        let names = jobs.flatMap { job in job.new.submission.attachments.map { _ in JobName(job.new.submission) } }
        let attachments = jobs.flatMap(\.new.submission.attachments)
        return .insert(
            into: "attachments", forEach: names,
            [
                "id uuid": .uuids(jobs.flatMap(\.new.attachments).map(\.rawValue)),
                "ordinal smallint": .ints(jobs.flatMap { $0.new.attachments.indices.map { Int64($0) } }),
                "identifier text": .texts(attachments.map(\.identifier)),
                "source text": .texts(attachments.map { $0.location.sourceName?.rawValue }),
                "details text": .texts(
                    try attachments.map {
                        try Column.text(AttachmentDetails(source: SourceFacts($0), options: $0.options))
                    }), "created_at bigint": .ints(attachments.map { _ in now.milliseconds }),
            ],
            [
                "tenant": "jobs.tenant", "job": "jobs.key", "run": "jobs.run", "generation": "jobs.generation",
                "state": "'pending'",
            ])
    }

    /// Gives jobs without labels the labels of their metadata.
    private func labelling(_ jobs: [JobSubmission]) -> [Statement] {
        let labels = jobs.flatMap { job in
            JobLabel.found(in: job.metadata).map { (name: JobName(job), key: $0.key, value: $0.value) }
        }
        guard !labels.isEmpty else { return [] }
        return [
            .insert(
                into: "labels", forEach: labels.map(\.name),
                ["key text": .texts(labels.map(\.key)), "value text": .texts(labels.map(\.value))],
                ["tenant": "jobs.tenant", "job": "jobs.key"])
        ]
    }

    /// The claim of a job that was recorded just now.
    private func claim(_ new: NewJob, until end: Instant) -> Claim {
        let job = new.submission
        return Claim(
            id: new.claim, tenant: job.tenant, job: job.id, generation: 1, attempt: 1, claimedUntil: end,
            deadlineAt: job.deadline(from: now), isLate: false, lane: job.lane, submission: job,
            attachments: new.attachments)
    }

    // MARK: Ranks

    /// Above which rank a tenant's last job in a line counts for its next: ``FairRank`` takes the greater of where the line has got
    /// to, and of the last one's rank and the next one's size, which is ten attachments at most. What lies below has no say, and
    /// much of it may be dead.
    private static func deciding(lane: String, priority: String) -> String {
        """
        coalesce((SELECT max(rank) FROM virtual_time AS time
            WHERE time.lane = \(lane) AND time.priority = \(priority)), 0) - \(mostAttachments)
        """
    }

    private static let mostAttachments = 10

    /// Where a known job stands when it comes to a line; a run is a line of its own, in the order of keys.
    ///
    /// - Parameters:
    ///   - key: The job's key.
    ///   - own: The job whose place doesn't count, if not this one's.
    func rank(of job: JobSubmission, in lane: JobLane, key: Int64, beside own: Int64? = nil) throws -> Int64 {
        guard job.run == nil else { return key }
        let row = try run(
            """
            SELECT (SELECT max(rank) FROM virtual_time WHERE lane = $1 AND priority = $2) AS reached,
                (SELECT max(rank) FROM queue
                 WHERE tenant = $3 AND run = '' AND lane = $1 AND priority = $2 AND job <> $4
                     AND rank > \(Self.deciding(lane: "$1", priority: "$2"))) AS last
            """,
            [.raw(lane), .int(job.priority.rank), .raw(job.tenant), .int(own ?? key)]
        ).first
        return FairRank.rank(
            reached: try row?.optionalInt("reached") ?? 0, last: try row?.optionalInt("last"),
            size: job.attachments.count)
    }
}

extension KnownNames {
    /// Reads a row of ``RecordTransaction/finding(_:)``.
    fileprivate init(_ row: RecordRow) throws {
        if let job = try row.optionalInt("used") { used = (job, try row.text("body_digest")) }
        work = try row.optionalInt("work")
        id = try row.optionalInt("id")
    }
}

extension Line {
    /// Reads a row with a lane and a priority.
    fileprivate init(_ row: RecordRow) throws {
        lane = try row.value("lane")
        priority = try row.int("priority") == JobPriority.interactive.rank ? .interactive : .bulk
    }
}
