public import Attachments
internal import FoundationEssentials
internal import Postgres

extension PostgresRecordStore {
    public func deliver(_ outcomes: [AttachmentOutcome], under claim: Claim) async throws -> JobRecord {
        // Only for what a job starts when it delivers.
        let kid = claim.submission.leaseTTL == nil ? "" : try currentKey()
        return try await writeUnderClaim { work in
            try await work.deliver(outcomes, under: claim, tokensBy: kid)
        }
    }

    public func endOverdue(_ limit: Int) async throws(AttachmentError) -> OverdueJobs {
        // A look first: who asks again and again must not keep others from writing.
        let next = try await read { work in try await work.timeToDeadline() }
        guard let next, next <= .zero else { return OverdueJobs(next: next) }
        return try await write { work in
            let rows = try await work.run(
                """
                SELECT job FROM queue
                WHERE state = 'pending' AND run = '' AND NOT interrupted AND deadline_at <= $1
                ORDER BY deadline_at LIMIT $2 FOR UPDATE SKIP LOCKED
                """, [.int(work.now.milliseconds), .int(limit)])
            var ended: [JobRecord] = []
            for row in rows {
                if let record = try await work.endOverdue(row.int64("job")) { ended.append(record) }
            }
            return OverdueJobs(ended: ended, next: try await work.timeToDeadline())
        }
    }
}

extension PostgresWork {
    /// Until the next deadline of a pending job; nil where none has one.
    fileprivate func timeToDeadline() async throws -> Duration? {
        let row = try await run(
            """
            SELECT deadline_at FROM queue
            WHERE state = 'pending' AND run = '' AND NOT interrupted AND deadline_at IS NOT NULL
            ORDER BY deadline_at LIMIT 1
            """
        ).first
        return try row.map { try $0.instant("deadline_at") - now }
    }

    /// Ends a pending job whose time is up.
    fileprivate func endOverdue(_ key: Int64) async throws -> JobRecord? {
        guard let job = try await lock(key), job.queue?.state == .pending else { return nil }
        let submission = try await submission(job)
        let attachments = try await run(
            "SELECT id, ordinal FROM attachments WHERE job = $1 AND generation = $2 AND state = 'pending'",
            [.int(key), .int(job.generation)]
        ).map {
            (id: AttachmentID(rawValue: try $0.text("id")), submission: submission.attachments[try $0.int("ordinal")])
        }
        let conclusion = try JobConclusion(overdue: submission, attachments, createdAt: job.createdAt, at: now)
        try await record(conclusion, of: job, submission, claim: nil, options: [:])
        return try await jobRecord(key)
    }

    fileprivate func deliver(
        _ outcomes: [AttachmentOutcome], under claim: Claim, tokensBy kid: String
    ) async throws -> JobRecord {
        let done = try await run(
            "SELECT key FROM jobs WHERE tenant = $1 AND id = $2 AND delivered_claim = $3",
            [.text(claim.tenant.rawValue), .text(claim.job.rawValue), .uuid(claim.id.rawValue)]
        ).first
        if let done { return try await jobRecord(done.int64("key")) }
        let job: Job
        do {
            job = try await held(claim)
        } catch ClaimError.lost {
            // Delivered a moment before.
            let again = try await run(
                "SELECT key FROM jobs WHERE tenant = $1 AND id = $2 AND delivered_claim = $3",
                [.text(claim.tenant.rawValue), .text(claim.job.rawValue), .uuid(claim.id.rawValue)]
            ).first
            guard let again else { throw ClaimError.lost }
            return try await jobRecord(again.int64("key"))
        }
        var options: [AttachmentID: DisplayOptions] = [:]
        for row in try await run(
            "SELECT id, details FROM attachments WHERE job = $1 AND generation = $2",
            [.int(job.key), .int(claim.generation)])
        {
            options[AttachmentID(rawValue: try row.text("id"))] =
                try Column.value(AttachmentDetails.self, from: row.text("details")).options
        }
        let conclusion = try JobConclusion(
            of: claim.submission, claim.attachments, wanted: Set(options.keys), outcomes: outcomes, at: now)
        superfluous.formUnion(conclusion.unwanted)
        try await record(conclusion, of: job, claim.submission, claim: claim.id, options: options)
        if let access = conclusion.access {
            for id in conclusion.delivered {
                try await insert(
                    AccessEntry(
                        id: TokenFormat.newID(), kind: access.kind, tenant: claim.tenant, attachment: id, kid: kid,
                        createdAt: now, expiresAt: access.expiresAt, delivery: access.delivery, isByJob: true))
            }
        }
        if conclusion.state == .delivered {
            let old = try await run(
                "SELECT id FROM attachments WHERE job = $1 AND generation < $2",
                [.int(job.key), .int(claim.generation)]
            ).map { AttachmentID(rawValue: try $0.text("id")) }
            try await releaseAttachments(old, of: claim.tenant)
        }
        // Two renditions of equal bytes may share an object that is in use after all.
        let used = try await run(
            "SELECT name FROM blobs WHERE name = ANY($1::text[])", [.texts(superfluous.map(\.rawValue))])
        for row in used { superfluous.remove(BlobName(rawValue: try row.text("name"))) }
        return try await jobRecord(job.key)
    }

    /// Writes down what a job comes to, and notes blobs that are not needed, because their bytes are here already.
    ///
    /// - Parameter options: Of the attachments, as they were asked for.
    fileprivate func record(
        _ conclusion: JobConclusion, of job: Job, _ submission: JobSubmission, claim: ClaimID?,
        options: [AttachmentID: DisplayOptions]
    ) async throws {
        let names = try await refer(to: conclusion, of: job.tenant)
        try await release(sourcesOf: job.key)
        var statements: [PostgresStatement] = []
        var bytes: Int64 = 0
        for attachment in conclusion.attachments {
            let outcome = attachment.outcome
            let id: [PostgresValue] = [.text(job.tenant.rawValue), .uuid(outcome.id.rawValue)]
            switch outcome.result {
            case .success(let result):
                var details = AttachmentDetails(source: outcome.source, options: result.options, steps: outcome.steps)
                details.trim = result.trim
                details.contentSizeRatio = result.contentSizeRatio
                details.placeholder = result.placeholder
                statements.append(
                    PostgresStatement(
                        """
                        UPDATE attachments SET state = 'delivered', fidelity = $3, kind = $4, best = $5, details = $6,
                            finished_at = $7, expires_at = $8, source = NULL
                        WHERE tenant = $1 AND id = $2
                        """,
                        id + [
                            .text(result.fidelity.rawValue), .text(outcome.kind?.rawValue), .text(result.best.rawValue),
                            .text(try Column.text(details)), .int(now.milliseconds),
                            .int(attachment.expiresAt?.milliseconds),
                        ]))
                for (role, delivered) in result.renditions.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                    let rendition = delivered.rendition
                    bytes += rendition.bytes
                    statements.append(
                        PostgresStatement(
                            """
                            INSERT INTO renditions (tenant, attachment, role, blob, sha256, bytes, media_type, width, height,
                                duration)
                            VALUES ($1, $2, $3, $4, decode($5, 'hex'), $6, $7, $8, $9, $10)
                            """,
                            id + [
                                .text(role.rawValue), .text(names[rendition.sha256]?.rawValue), .text(rendition.sha256),
                                .int(rendition.bytes), .text(rendition.mediaType.rawValue),
                                .int(rendition.width.map { Int64($0) }), .int(rendition.height.map { Int64($0) }),
                                .double(rendition.duration),
                            ]))
                }
            case .failure(let error):
                var asked = options[outcome.id]
                if asked == nil { asked = try await self.options(of: outcome.id, job) }
                let details = AttachmentDetails(
                    source: outcome.source, options: asked ?? DisplayOptions(),
                    steps: outcome.steps, error: ErrorReport(error))
                statements.append(
                    PostgresStatement(
                        """
                        UPDATE attachments SET state = 'failed', kind = $3, details = $4, finished_at = $5, source = NULL
                        WHERE tenant = $1 AND id = $2
                        """,
                        id + [.text(outcome.kind?.rawValue), .text(try Column.text(details)), .int(now.milliseconds)]))
            }
        }
        statements.append(PostgresStatement("DELETE FROM queue WHERE job = $1", [.int(job.key)]))
        statements.append(
            PostgresStatement(
                """
                UPDATE jobs SET state = $2, attempt = $3, deadline_at = $4, delivered_claim = $5, finished_at = $6,
                    expires_at = $7
                WHERE key = $1
                """,
                [
                    .int(job.key), .text(conclusion.state.rawValue), .int(job.queue?.attempt ?? 0),
                    .int(job.queue?.deadlineAt?.milliseconds), .uuid(claim?.rawValue), .int(now.milliseconds),
                    .int(conclusion.expiresAt?.milliseconds),
                ]))
        _ = try await transaction.send(statements)
        change(job.tenant, bytes: bytes, jobs: job.run.isEmpty ? -1 : 0)
        try await enqueueWebhook(submission, of: job)
        if conclusion.isRetained { try await retain(submission, of: job) }
    }

    private func options(of id: AttachmentID, _ job: Job) async throws -> DisplayOptions {
        let row = try await run(
            "SELECT details FROM attachments WHERE tenant = $1 AND id = $2",
            [.text(job.tenant.rawValue), .uuid(id.rawValue)]
        ).first
        return try row.map { try Column.value(AttachmentDetails.self, from: $0.text("details")).options }
            ?? DisplayOptions()
    }

    /// The blob to refer to for each hash: one of the tenant's that lives and has the same bytes, else the delivered one.
    ///
    /// Whoever gives up a name that no record refers to writes it down first, and looks then; here it is written down first as
    /// well, so that one of the two sees the other.
    private func refer(to conclusion: JobConclusion, of tenant: TenantID) async throws -> [String: BlobName] {
        var wanted: [String: (name: BlobName, bytes: Int64, count: Int)] = [:]
        var brought: Set<BlobName> = []
        for attachment in conclusion.attachments {
            guard case .success(let result) = attachment.outcome.result else { continue }
            for delivered in result.renditions.sorted(by: { $0.key.rawValue < $1.key.rawValue }).map(\.value) {
                let hash = delivered.rendition.sha256
                brought.insert(delivered.blob)
                guard let known = wanted[hash] else {
                    wanted[hash] = (delivered.blob, delivered.rendition.bytes, 1)
                    continue
                }
                guard known.bytes == delivered.rendition.bytes else {
                    throw AttachmentError.storeFailed(reason: "two sizes are claimed for the same hash")
                }
                wanted[hash]?.count += 1
            }
        }
        guard !wanted.isEmpty else { return [:] }
        let hashes = wanted.keys.sorted()
        let entries = hashes.compactMap { wanted[$0] }
        let free = Set(
            try await run(
                """
                INSERT INTO tombstones (name, made_at) SELECT name, $2 FROM unnest($1::text[]) AS names (name) ORDER BY name
                ON CONFLICT DO NOTHING RETURNING name
                """, [.texts(entries.map(\.name.rawValue)), .int(now.milliseconds)]
            ).map { BlobName(rawValue: try $0.text("name")) })
        let rows = try await run(
            """
            INSERT INTO blobs (tenant, sha256, name, bytes, refs)
            SELECT $1, decode(hash, 'hex'), name, bytes, refs
            FROM unnest($2::text[], $3::text[], $4::bigint[], $5::int[]) AS new (hash, name, bytes, refs) ORDER BY hash
            ON CONFLICT (tenant, sha256) WHERE NOT damaged DO UPDATE SET refs = blobs.refs + excluded.refs
            RETURNING encode(sha256, 'hex') AS hash, name, bytes, refs
            """,
            [
                .text(tenant.rawValue), .texts(hashes), .texts(entries.map(\.name.rawValue)),
                .ints(entries.map(\.bytes)), .ints(entries.map { Int64($0.count) }),
            ])
        var names: [String: BlobName] = [:]
        for row in rows {
            let hash = try row.text("hash")
            let name = BlobName(rawValue: try row.text("name"))
            guard let entry = wanted[hash], try row.int64("bytes") == entry.bytes else {
                throw AttachmentError.storeFailed(reason: "two sizes are claimed for the same hash")
            }
            let isNew = try name == entry.name && row.int("refs") == entry.count
            guard !isNew || free.contains(name) else {
                throw AttachmentError.storeFailed(reason: "the bytes were removed before they were delivered")
            }
            names[hash] = name
        }
        try await run("DELETE FROM tombstones WHERE name = ANY($1::text[])", [.texts(free.map(\.rawValue))])
        superfluous.formUnion(brought.subtracting(names.values))
        return names
    }
}
