public import Attachments
internal import FoundationEssentials
internal import GRDB

extension SQLiteRecordStore {
    public func deliver(_ outcomes: [AttachmentOutcome], under claim: Claim) async throws -> JobRecord {
        // Only for what a job starts when it delivers.
        let kid = claim.submission.leaseTTL == nil ? "" : try currentKey()
        let (record, superfluous) = try await writeUnderClaim { database, now in
            try database.deliver(outcomes, under: claim, tokensBy: kid, at: now)
        }
        if !superfluous.isEmpty { discard(superfluous) }
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
        let mode: JobMode = try job.choice("mode")
        let wanted = Set(
            try texts("SELECT id FROM attachments WHERE job = ? AND generation = ?", [key, claim.generation]))
        let known = outcomes.filter { wanted.contains($0.id.rawValue) }
        guard Set(known.map(\.id)).count == wanted.count, known.count == wanted.count else {
            throw AttachmentError.storeFailed(reason: "each attachment of a job needs one outcome")
        }

        let state = JobOutcome.state(of: known, mode: mode)
        var superfluous: Set<BlobName> = []
        for outcome in outcomes where !wanted.contains(outcome.id.rawValue) {
            superfluous.formUnion(outcome.blobs)
        }
        for outcome in known {
            switch outcome.result {
            case .success(let result) where state == .delivered:
                let unneeded = try record(
                    result, of: outcome, tenant: claim.tenant, expiresAt: claim.expiry(of: outcome.id, from: now),
                    at: now)
                superfluous.formUnion(unneeded)
                try startAccess(to: outcome.id, for: claim, tokensBy: kid, at: now)
            case .success:
                superfluous.formUnion(outcome.blobs)
                try record(withholding(in: known, claim), of: outcome, tenant: claim.tenant, at: now)
            case .failure(let error):
                try record(error, of: outcome, tenant: claim.tenant, at: now)
            }
        }
        try run(
            """
            UPDATE jobs SET state = ?, delivered_claim = claim, claim = NULL, submission = NULL, headers = NULL, headers_kid = NULL,
                worker = NULL, claimed_until = NULL, finished_at = ?, expires_at = ?
            WHERE key = ?
            """,
            [
                state.rawValue, now.milliseconds,
                state == .failed ? claim.submission.recordExpiry(from: now)?.milliseconds : nil, key,
            ])
        try enqueueCallback(claim.submission, of: job, at: now)
        if state == .failed && claim.submission.mayPassLater(after: known) {
            try retain(claim.submission, of: job, at: now)
        }
        if state == .delivered {
            superfluous.formUnion(try releaseGenerations(of: key, before: claim.generation))
        }
        // Two renditions of equal bytes may share a file that is in use after all.
        let unneeded = try superfluous.filter { try row("SELECT 1 FROM blobs WHERE name = ?", [$0.rawValue]) == nil }
        return (try jobRecord(key: key), Array(unneeded))
    }

    /// The access that the sender asked for with the submission, so that a finished job's answer already opens it.
    private func startAccess(
        to attachment: AttachmentID, for claim: Claim, tokensBy kid: String, at now: Instant
    ) throws {
        guard let seconds = claim.submission.leaseTTL else { return }
        let delivery = claim.submission.delivery
        var row = AccessRow(
            kind: delivery == .shared ? .link : .lease, tenant: claim.tenant, attachment: attachment, kid: kid,
            createdAt: now, expiresAt: now + SQLiteRecordStore.clamped(.seconds(fraction: seconds)))
        row.delivery = delivery
        row.isByJob = true
        try insert(row)
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
                INSERT INTO renditions (tenant, attachment, role, blob, media_type, width, height, duration)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    tenant.rawValue, outcome.id.rawValue, role.rawValue, blob.rawValue,
                    rendition.mediaType.rawValue, rendition.width, rendition.height, rendition.duration,
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

    func record(
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
            UPDATE attachments SET state = 'failed', kind = ?, details = ?, finished_at = ?, spool = NULL
            WHERE tenant = ? AND id = ?
            """,
            [
                outcome.kind?.rawValue, Column.text(details), now.milliseconds, tenant.rawValue, outcome.id.rawValue,
            ])
    }

    /// Why a strict job withholds what could have been delivered: its first failure.
    private func withholding(in outcomes: [AttachmentOutcome], _ claim: Claim) -> AttachmentError {
        for (id, attachment) in zip(claim.attachments, claim.submission.attachments) {
            guard case .failure(let error) = outcomes.first(where: { $0.id == id })?.result else { continue }
            return .withheld(identifier: attachment.identifier, code: error.code)
        }
        return .storeFailed(reason: "the job did not deliver")
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

extension AttachmentOutcome {
    fileprivate var blobs: [BlobName] {
        if case .success(let result) = result { result.renditions.values.map(\.blob) } else { [] }
    }
}

extension Claim {
    /// When what is delivered `now` has outlived its retention. The command line's is kept until it is deleted.
    fileprivate func expiry(of attachment: AttachmentID, from now: Instant) -> Instant? {
        guard let index = attachments.firstIndex(of: attachment) else { return nil }
        return submission.expiry(under: submission.attachments[index].profile ?? submission.profile, from: now)
    }
}

extension JobSubmission {
    fileprivate func expiry(under profile: Profile, from now: Instant) -> Instant? {
        tenant == .local ? nil : profile.retention.map { now + .seconds(fraction: $0) }
    }

    /// When the record of a job that came to nothing `now` has outlived its retention: never before it can't be tried
    /// again any more.
    func recordExpiry(from now: Instant) -> Instant? {
        expiry(under: profile, from: now).map { max($0, now + SQLiteRecordStore.retryable) }
    }
}

extension JobSubmission {
    /// Whether another try could come to something else: what a URL leads to may change; bytes that were uploaded stay
    /// what they are, and are worth keeping only where it wasn't they that failed.
    func mayPassLater(after outcomes: [AttachmentOutcome]) -> Bool {
        let isUploaded = attachments.contains { if case .spool = $0.location { true } else { false } }
        return !isUploaded
            || outcomes.contains { outcome in
                guard case .failure(let error) = outcome.result else { return false }
                return !error.code.blamesTheSource
            }
    }
}
