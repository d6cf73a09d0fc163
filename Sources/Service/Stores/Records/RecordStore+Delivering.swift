public import SatchelCore
internal import FoundationEssentials
internal import Postgres

/// What a job came to, for which its claim is given up.
struct Delivery: Sendable {
    var outcomes: [AttachmentOutcome]
    var claim: Claim
    /// The key of the tokens that the job starts.
    var kid: String
}

extension RecordStore {
    /// Finishes a job: what its attachments came to, all in one transaction. Delivering twice under the same claim is
    /// the same as once.
    ///
    /// If another rendition already holds the same bytes, a blob is removed after the commit. In strict mode
    /// one failure withholds all, and none of the blobs is referred to.
    ///
    /// - Throws: ``ClaimError/lost``, or an ``AttachmentError`` of the store.
    public func deliver(_ outcomes: [AttachmentOutcome], under claim: Claim) async throws -> JobRecord {
        // Those that come while the last are under way are recorded together.
        // Only for what a job starts when it delivers.
        let kid = claim.submission.leaseTTL == nil ? "" : try currentKey()
        let delivery = Delivery(outcomes: outcomes, claim: claim, kid: kid)
        let record = try await inGroup(delivery, deliveries) { work, requests in
            try work.deliver(requests, isAlone: false)
        }
        if let record {
            node.forget([claim.id])
            return record
        }
        return try await writeUnderClaim(claim) { work in
            if SeededFault.claimNotCompared.isOn {
                try work.run(
                    SeededFault.takingClaim,
                    [.raw(claim.tenant), .raw(claim.job), .uuid(claim.id.rawValue)])
            }
            if let record = try work.deliver([delivery], isAlone: true)[0] { return record }
            // Lost, or delivered before.
            let before = try work.run(
                "SELECT key FROM jobs WHERE tenant = $1 AND id = $2 AND \(SeededFault.delivered)",
                [.raw(claim.tenant), .raw(claim.job), .uuid(claim.id.rawValue)]
            ).first
            guard let before else { throw ClaimError.lost }
            return try work.jobRecord(before.int64("key"))
        }
    }

    /// Ends up to `limit` pending jobs of the service past their deadline: their attachments fail with
    /// `deadline_exceeded`. One that was interrupted isn't among them: it gets its time anew with its next claim.
    public func endOverdue(_ limit: Int) async throws(AttachmentError) -> OverdueJobs {
        // A look first: who asks again and again must not keep others from writing.
        let next = try await read { work in try work.timeToDeadline() }
        guard let next, next <= .zero else { return OverdueJobs(next: next) }
        return try await write { work in
            let rows = try work.run(
                """
                SELECT job FROM queue
                WHERE state = 'pending' AND run = '' AND NOT interrupted AND deadline_at <= $1
                ORDER BY deadline_at LIMIT $2 FOR UPDATE SKIP LOCKED
                """, [.time(work.now), .int(limit)])
            var ended: [JobRecord] = []
            for row in rows {
                if let record = try work.endOverdue(row.int64("job")) { ended.append(record) }
            }
            return OverdueJobs(ended: ended, next: try work.timeToDeadline())
        }
    }
}

extension RecordTransaction {
    /// The time until the next deadline of a pending job; nil if none has one.
    fileprivate func timeToDeadline() throws -> Duration? {
        let row = try run(
            """
            SELECT deadline_at FROM queue
            WHERE state = 'pending' AND run = '' AND NOT interrupted AND deadline_at >= 0
            ORDER BY deadline_at LIMIT 1
            """
        ).first
        return try row.map { try $0.instant("deadline_at") - now }
    }

    /// Ends a pending job whose time is up.
    fileprivate func endOverdue(_ key: Int64) throws -> JobRecord? {
        guard let job = try lock(key), job.queue?.state == .pending else { return nil }
        let submission = try submission(job)
        let rows = try run(
            """
            SELECT id, ordinal, created_at, details FROM attachments
            WHERE job = $1 AND generation = $2 AND state = 'pending'
            """, [.int(key), .int(job.generation)])
        let submittedAt = try rows.first?.instant("created_at") ?? now
        let attachments = try rows.map { row -> (id: AttachmentID, submission: AttachmentSubmission) in
            (try row.value("id"), submission.attachments[try row.int("ordinal")])
        }
        let conclusion = try JobConclusion(overdue: submission, attachments, createdAt: job.createdAt, at: now)
        try release(sourcesOf: job.key)
        let options = try rows.reduce(into: [AttachmentID: DisplayOptions]()) { options, row in
            let details: AttachmentDetails = try row.json("details")
            options[try row.value("id")] = details.options
        }
        let statements = try statements(
            recording: conclusion, of: job, submission, submittedAt: submittedAt, claim: nil, options: options,
            names: [:])
        _ = try send(statements)
        return try jobRecord(key)
    }

    /// Delivers jobs under their claims, each with its attachments, renditions and references.
    ///
    /// - Parameter isAlone: Whether what an older generation delivered may be given up, and what can't be recorded throws:
    ///   among others that is left for later.
    /// - Returns: The records; nil for those that are left, and where the claim is not in the queue.
    fileprivate func deliver(_ requests: [Delivery], isAlone: Bool) throws -> [JobRecord?] {
        let claims = SQLValue.uuids(requests.map(\.claim.id.rawValue))
        let rows = try send([
            Statement("SELECT * FROM queue WHERE claim = ANY($1::uuid[]) ORDER BY job FOR UPDATE", [claims]),
            Statement(
                """
                SELECT jobs.* FROM queue JOIN jobs ON jobs.key = queue.job WHERE queue.claim = ANY($1::uuid[])
                ORDER BY jobs.key FOR UPDATE OF jobs
                """, [claims]),
            Statement(
                """
                SELECT attachments.id, attachments.job, attachments.generation, attachments.source, attachments.details,
                    attachments.created_at
                FROM queue JOIN attachments ON attachments.job = queue.job WHERE queue.claim = ANY($1::uuid[])
                """, [claims]),
        ])
        var held = try held(rows[0], rows[1], rows[2])
        var concluded: [(place: Int, job: HeldJob, conclusion: JobConclusion)] = []
        for (place, request) in requests.enumerated() {
            // Delivered twice, the second finds that the first has it.
            guard let job = held.removeValue(forKey: request.claim.id), job.job.id == request.claim.job,
                job.job.tenant == request.claim.tenant
            else { continue }
            let attempt = Result { () throws(AttachmentError) in
                try JobConclusion(
                    of: request.claim.submission, request.claim.attachments, wanted: Set(job.options.keys),
                    outcomes: request.outcomes, at: now)
            }
            if case .failure = attempt, !isAlone { continue }
            let conclusion = try attempt.get()
            if conclusion.state == .delivered, !job.older.isEmpty, !isAlone { continue }
            concluded.append((place, job, conclusion))
        }
        guard !concluded.isEmpty else { return requests.map { _ in nil } }
        let names = try refer(to: concluded.map { ($0.conclusion, $0.job.job.tenant) })
        var statements: [Statement] = []
        for (place, job, conclusion) in concluded {
            let request = requests[place]
            superfluous.formUnion(conclusion.unwanted)
            released.formUnion(job.sources)
            statements += try self.statements(
                recording: conclusion, of: job.job, request.claim.submission, submittedAt: job.submittedAt ?? now,
                claim: request.claim.id, options: job.options, names: names)
            guard let access = conclusion.access else { continue }
            for id in conclusion.delivered {
                statements.append(
                    try insertion(
                        of: AccessEntry(
                            id: TokenFormat.newID(), kind: access.kind, tenant: request.claim.tenant, attachment: id,
                            kid: request.kid, createdAt: now, expiresAt: access.expiresAt, delivery: access.delivery,
                            isByJob: true)))
            }
        }
        _ = try send(statements)
        for (_, job, conclusion) in concluded where conclusion.state == .delivered {
            try releaseAttachments(job.older, of: job.job.tenant)
        }
        // Two renditions of equal bytes may share an object that is in use after all.
        let used = try run(
            "SELECT name FROM blobs WHERE name = ANY($1::text[])", [.raws(superfluous)])
        for row in used { superfluous.remove(BlobName(rawValue: try row.text("name"))) }
        let records = try jobRecords(concluded.map(\.job.job.key))
        var answers: [JobRecord?] = requests.map { _ in nil }
        for (place, job, _) in concluded { answers[place] = records[job.job.key] }
        return answers
    }

    /// A job that is about to be delivered, locked, with its attachments.
    private struct HeldJob {
        var job: Job
        /// Of the attachments that are wanted, as they were asked for.
        var options: [AttachmentID: DisplayOptions] = [:]
        /// Of earlier generations.
        var older: [AttachmentID] = []
        var submittedAt: Instant?
        var sources: [SourceName] = []
    }

    private func held(
        _ queue: RecordRows, _ jobs: RecordRows, _ attachments: RecordRows
    ) throws -> [ClaimID: HeldJob] {
        var held: [Int64: HeldJob] = [:]
        for row in jobs { held[try row.int64("key")] = HeldJob(job: try Job(row)) }
        for row in queue { held[try row.int64("job")]?.job.queue = try Queued(row) }
        for row in attachments {
            let key = try row.int64("job")
            guard let generation = held[key]?.job.generation else { continue }
            let id = AttachmentID(rawValue: try row.text("id"))
            if try row.int("generation") == generation {
                held[key]?.options[id] = try Column.value(AttachmentDetails.self, from: row.text("details")).options
                held[key]?.submittedAt = try row.instant("created_at")
            } else {
                held[key]?.older.append(id)
            }
            if let source = try row.optionalText("source") {
                held[key]?.sources.append(SourceName(rawValue: source))
            }
        }
        var byClaim: [ClaimID: HeldJob] = [:]
        for job in held.values {
            if let claim = job.job.queue?.claim { byClaim[ClaimID(rawValue: claim)] = job }
        }
        return byClaim
    }

    /// What writes down what a job comes to.
    ///
    /// - Parameters:
    ///   - submittedAt: When its attachments were.
    ///   - options: Of the attachments, as they were asked for.
    ///   - names: Of the blobs to refer to.
    private func statements(
        recording conclusion: JobConclusion, of job: Job, _ submission: JobSubmission, submittedAt: Instant,
        claim: ClaimID?, options: [AttachmentID: DisplayOptions], names: [TenantBlob: BlobName]
    ) throws -> [Statement] {
        if let lane = job.queue?.lane {
            tallies.add(conclusion, of: job.tenant, in: lane, submittedAt: submittedAt, at: now)
        }
        var statements: [Statement] = []
        var bytes: Int64 = 0
        for attachment in conclusion.attachments {
            let outcome = attachment.outcome
            switch outcome.result {
            case .success(let result):
                var details = AttachmentDetails(source: outcome.source, options: result.options, steps: outcome.steps)
                details.trim = result.trim
                details.contentSizeRatio = result.contentSizeRatio
                details.placeholder = result.placeholder
                statements.append(
                    .update(
                        "attachments",
                        [
                            "fidelity": .raw(result.fidelity), "kind": .raw(outcome.kind), "best": .raw(result.best),
                            "details": try .json(details), "finished_at": .time(now),
                            "expires_at": .time(attachment.expiresAt),
                        ], "state = 'delivered', source = NULL", where: "tenant = $ AND id = $", .raw(job.tenant),
                        .raw(outcome.id)))
                for (role, delivered) in result.renditions.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                    let rendition = delivered.rendition
                    bytes += rendition.bytes
                    statements.append(
                        .insert(
                            into: "renditions",
                            [
                                "tenant": .raw(job.tenant), "attachment": .raw(outcome.id), "role": .raw(role),
                                "blob": .raw(names[TenantBlob(job.tenant, rendition.sha256)]),
                                "sha256": .bytes(Data(hexadecimal: rendition.sha256).map { Array($0) }),
                                "bytes": .int(rendition.bytes), "media_type": .raw(rendition.mediaType),
                                "width": .int(rendition.width.map { Int64($0) }),
                                "height": .int(rendition.height.map { Int64($0) }),
                                "duration": .double(rendition.duration), "scheme": .raw(rendition.encryption?.scheme),
                                "key": .bytes(rendition.encryption.map { Array($0.box) }),
                                "key_kid": .text(rendition.encryption?.kid),
                            ]))
                }
            case .failure(let error):
                let details = AttachmentDetails(
                    source: outcome.source, options: options[outcome.id] ?? DisplayOptions(),
                    steps: outcome.steps, error: ErrorReport(error))
                statements.append(
                    .update(
                        "attachments",
                        [
                            "code": .raw(error.code), "kind": .raw(outcome.kind), "details": try .json(details),
                            "finished_at": .time(now),
                        ], "state = 'failed', source = NULL", where: "tenant = $ AND id = $", .raw(job.tenant),
                        .raw(outcome.id)))
            }
        }
        statements.append(Statement("DELETE FROM queue WHERE job = $1", [.int(job.key)]))
        statements.append(
            ending(job, as: conclusion.state, delivered: claim, expiresAt: conclusion.expiresAt))
        change(job.tenant, bytes: bytes)
        if job.run.isEmpty, let lane = job.queue?.lane { change(job.tenant, jobs: -1, in: lane) }
        wakes.insert(.ended)
        statements += webhook(submission, of: job)
        if conclusion.isRetained { statements += try retention(of: submission, job) }
        return statements
    }

    /// Records that a job came to its end.
    ///
    /// - Parameter claim: The claim under which it was delivered.
    func ending(
        _ job: Job, as state: WorkState, delivered claim: ClaimID? = nil, expiresAt: Instant?
    ) -> Statement {
        .update(
            "jobs",
            [
                "state": .raw(state), "attempt": .int(job.queue?.attempt ?? 0),
                "deadline_at": .time(job.queue?.deadlineAt), "delivered_claim": .raw(claim), "finished_at": .time(now),
                "expires_at": .time(expiresAt),
            ], where: "key = $", .int(job.key))
    }

    /// Equal bytes of a tenant.
    struct TenantBlob: Hashable {
        var tenant: TenantID
        var sha256: String

        init(_ tenant: TenantID, _ sha256: String) {
            self.tenant = tenant
            self.sha256 = sha256
        }
    }

    /// The blob to refer to for each hash: one of the tenant's that lives and has the same bytes, else the first that is
    /// delivered.
    ///
    /// Whoever gives up a name that no record refers to writes it down first, and looks then; here it is written down first as
    /// well, so that one of the two sees the other.
    private func refer(to conclusions: [(JobConclusion, TenantID)]) throws -> [TenantBlob: BlobName] {
        var wanted: [TenantBlob: (name: BlobName, bytes: Int64, count: Int)] = [:]
        var brought: Set<BlobName> = []
        for (conclusion, tenant) in conclusions {
            for attachment in conclusion.attachments {
                guard case .success(let result) = attachment.outcome.result else { continue }
                for delivered in result.renditions.sorted(by: { $0.key.rawValue < $1.key.rawValue }).map(\.value) {
                    let key = TenantBlob(tenant, delivered.rendition.sha256)
                    brought.insert(delivered.blob)
                    guard let known = wanted[key] else {
                        wanted[key] = (delivered.blob, delivered.rendition.bytes, 1)
                        continue
                    }
                    guard known.bytes == delivered.rendition.bytes else {
                        throw AttachmentError.storeFailed(reason: "two sizes are claimed for the same hash")
                    }
                    wanted[key]?.count += 1
                }
            }
        }
        guard !wanted.isEmpty else { return [:] }
        let entries = wanted.sorted {
            ($0.key.tenant.rawValue, $0.key.sha256) < ($1.key.tenant.rawValue, $1.key.sha256)
        }
        let answers = try send([
            Statement(
                """
                INSERT INTO tombstones (name, made_at) SELECT name, $2 FROM unnest($1::text[]) AS names (name) ORDER BY name
                ON CONFLICT DO NOTHING RETURNING name
                """, [.raws(entries.map(\.value.name)), .time(now)]),
            Statement(
                """
                INSERT INTO blobs (tenant, sha256, name, bytes, refs)
                SELECT tenant, decode(hash, 'hex'), name, bytes, refs
                FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::int[])
                    AS new (tenant, hash, name, bytes, refs) ORDER BY tenant, hash
                ON CONFLICT (tenant, sha256) WHERE NOT damaged DO UPDATE SET refs = \(SeededFault.references)
                RETURNING tenant, encode(sha256, 'hex') AS hash, name, bytes, refs
                """,
                [
                    .raws(entries.map(\.key.tenant)), .texts(entries.map(\.key.sha256)),
                    .raws(entries.map(\.value.name)), .ints(entries.map(\.value.bytes)),
                    .ints(entries.map { Int64($0.value.count) }),
                ]),
        ])
        let free = Set(try answers[0].map { BlobName(rawValue: try $0.text("name")) })
        var names: [TenantBlob: BlobName] = [:]
        for row in answers[1] {
            let key = TenantBlob(TenantID(rawValue: try row.text("tenant")), try row.text("hash"))
            let name = BlobName(rawValue: try row.text("name"))
            guard let entry = wanted[key], try row.int64("bytes") == entry.bytes else {
                throw AttachmentError.storeFailed(reason: "two sizes are claimed for the same hash")
            }
            let isNew = try name == entry.name && row.int("refs") == entry.count
            guard !isNew || free.contains(name) else {
                throw AttachmentError.storeFailed(reason: "the bytes were removed before they were delivered")
            }
            names[key] = name
            guard isNew else { continue }
            totals[.blobs, default: 0] += 1
            totals[.blobBytes, default: 0] += entry.bytes
        }
        try run("DELETE FROM tombstones WHERE name = ANY($1::text[])", [.raws(free)])
        superfluous.formUnion(brought.subtracting(names.values))
        return names
    }
}
