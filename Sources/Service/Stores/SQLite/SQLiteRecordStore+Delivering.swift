public import SatchelCore
internal import FoundationEssentials
internal import GRDB

extension SQLiteRecordStore {
    public func deliver(_ outcomes: [AttachmentOutcome], under claim: Claim) async throws -> JobRecord {
        // Only for what a job starts when it delivers.
        let kid = claim.submission.leaseTTL == nil ? "" : try currentKey()
        let (record, superfluous) = try await writeUnderClaim { database, now in
            try database.deliver(outcomes, under: claim, tokensBy: kid, at: now)
        }
        await garbage.collect(superfluous)
        return record
    }
}

extension Database {
    fileprivate func deliver(
        _ outcomes: [AttachmentOutcome], under claim: Claim, tokensBy kid: String, at now: Instant
    ) throws -> (JobRecord, superfluous: [BlobName]) {
        let done = try row(
            "SELECT * FROM jobs WHERE tenant = ? AND id = ? AND delivered_claim = ?",
            [claim.tenant.rawValue, claim.job.rawValue, claim.id.rawValue])
        if let done { return (try jobRecord(done), []) }

        let job = try held(claim)
        let key: Int64 = job["key"]
        let wanted = try rows(
            "SELECT id, created_at FROM attachments WHERE job = ? AND generation = ?", [key, claim.generation])
        let conclusion = try JobConclusion(
            of: claim.submission, claim.attachments, wanted: Set(wanted.map { AttachmentID(rawValue: $0["id"]) }),
            outcomes: outcomes, at: now)
        var superfluous = conclusion.unwanted
        let submittedAt = wanted.first?.instant("created_at") ?? now
        superfluous.formUnion(
            try record(conclusion, of: job, claim.submission, submittedAt: submittedAt, at: now))
        if let access = conclusion.access {
            for id in conclusion.delivered { try start(access, to: id, of: claim.tenant, tokensBy: kid, at: now) }
        }
        if conclusion.state == .delivered {
            superfluous.formUnion(try releaseGenerations(of: key, before: claim.generation))
        }
        // Two renditions of equal bytes may share a file that is in use after all.
        let unneeded = try superfluous.filter { try row("SELECT 1 FROM blobs WHERE name = ?", [$0.rawValue]) == nil }
        return (try jobRecord(key: key), Array(unneeded))
    }

    /// Writes down what a job comes to.
    ///
    /// - Parameter submittedAt: When its attachments were.
    /// - Returns: Blobs that are not needed, because their bytes are here already.
    func record(
        _ conclusion: JobConclusion, of job: Row, _ submission: JobSubmission, submittedAt: Instant, at now: Instant
    ) throws -> [BlobName] {
        let lane: JobLane = try job.choice("lane")
        GatheredTallies.current?.add {
            $0.add(conclusion, of: submission.tenant, in: lane, submittedAt: submittedAt, at: now)
        }
        var unneeded: [BlobName] = []
        for attachment in conclusion.attachments {
            switch attachment.outcome.result {
            case .success(let result):
                unneeded += try record(
                    result, of: attachment.outcome, tenant: submission.tenant, expiresAt: attachment.expiresAt, at: now)
            case .failure(let error):
                try record(error, of: attachment.outcome, tenant: submission.tenant, at: now)
            }
        }
        try run(
            """
            UPDATE jobs SET state = ?, delivered_claim = claim, claim = NULL, submission = NULL, headers = NULL,
                headers_kid = NULL, worker = NULL, claimed_until = NULL, finished_at = ?, expires_at = ?
            WHERE key = ?
            """,
            [conclusion.state.rawValue, now.milliseconds, conclusion.expiresAt?.milliseconds, job["key"] as Int64])
        try enqueueWebhook(submission, of: job, at: now)
        if conclusion.isRetained { try retain(submission, of: job, at: now) }
        return unneeded
    }

    private func start(
        _ access: JobAccess, to attachment: AttachmentID, of tenant: TenantID, tokensBy kid: String, at now: Instant
    ) throws {
        try insert(
            AccessEntry(
                id: TokenFormat.newID(), kind: access.kind, tenant: tenant, attachment: attachment, kid: kid,
                createdAt: now, expiresAt: access.expiresAt, delivery: access.delivery, isByJob: true))
    }

    /// - Returns: The blobs of the result that are not needed, because their bytes are here already.
    private func record(
        _ result: AttachmentResult, of outcome: AttachmentOutcome, tenant: TenantID, expiresAt: Instant?,
        at now: Instant
    ) throws -> [BlobName] {
        var details = AttachmentDetails(source: outcome.source, options: result.options, steps: outcome.steps)
        details.trim = result.trim
        details.contentSizeRatio = result.contentSizeRatio
        details.placeholder = result.placeholder
        try run(
            """
            UPDATE attachments SET state = 'delivered', fidelity = ?, kind = ?, best = ?, details = ?, finished_at = ?,
                expires_at = ?, spool = NULL
            WHERE tenant = ? AND id = ?
            """,
            [
                result.fidelity.rawValue, outcome.kind?.rawValue, result.best.rawValue, Column.text(details),
                now.milliseconds, expiresAt?.milliseconds, tenant.rawValue, outcome.id.rawValue,
            ])
        var unneeded: [BlobName] = []
        for (role, delivered) in result.renditions {
            let blob = try refer(to: delivered, of: tenant)
            if blob != delivered.blob { unneeded.append(delivered.blob) }
            let rendition = delivered.rendition
            try run(
                """
                INSERT INTO renditions (tenant, attachment, role, blob, media_type, width, height, duration, scheme, key,
                    key_kid)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    tenant.rawValue, outcome.id.rawValue, role.rawValue, blob.rawValue,
                    rendition.mediaType.rawValue, rendition.width, rendition.height, rendition.duration,
                    rendition.encryption?.scheme.rawValue, rendition.encryption?.box, rendition.encryption?.kid,
                ])
        }
        return unneeded
    }

    /// The blob to refer to: one of the tenant's that lives and has the same bytes, else the delivered one.
    private func refer(to delivered: DeliveredRendition, of tenant: TenantID) throws -> BlobName {
        let sha256 = delivered.rendition.sha256
        let live = try row(Self.liveBlob, [tenant.rawValue, sha256])
        if let live {
            guard live["bytes"] as Int64 == delivered.rendition.bytes else {
                throw AttachmentError.storeFailed(reason: "two sizes are claimed for the same hash")
            }
            return BlobName(rawValue: live["name"])
        }
        try run(
            "INSERT INTO blobs (tenant, name, sha256, bytes) VALUES (?, ?, ?, ?)",
            [tenant.rawValue, delivered.blob.rawValue, sha256, delivered.rendition.bytes])
        return delivered.blob
    }

    static let liveBlob = "SELECT name, bytes FROM blobs WHERE tenant = ? AND sha256 = ? AND damaged = 0"

    private func record(
        _ error: AttachmentError, of outcome: AttachmentOutcome, tenant: TenantID, at now: Instant
    ) throws {
        let options =
            try row(
                "SELECT details FROM attachments WHERE tenant = ? AND id = ?", [tenant.rawValue, outcome.id.rawValue]
            ).map { try Column.value(AttachmentDetails.self, from: $0["details"]).options } ?? DisplayOptions()
        let details = AttachmentDetails(
            source: outcome.source, options: options, steps: outcome.steps, error: ErrorReport(error))
        try run(
            """
            UPDATE attachments SET state = 'failed', code = ?, kind = ?, details = ?, finished_at = ?, spool = NULL
            WHERE tenant = ? AND id = ?
            """,
            [
                error.code.rawValue, outcome.kind?.rawValue, Column.text(details), now.milliseconds, tenant.rawValue,
                outcome.id.rawValue,
            ])
    }

    /// Deletes what older generations of a job had delivered.
    private func releaseGenerations(of job: Int64, before generation: Int) throws -> [BlobName] {
        let old = try rows(
            "SELECT tenant, id FROM attachments WHERE job = ? AND generation < ?", [job, generation])
        return try old.flatMap { row in
            try releaseAttachment(AttachmentID(rawValue: row["id"]), of: TenantID(rawValue: row["tenant"]))
        }
    }
}
