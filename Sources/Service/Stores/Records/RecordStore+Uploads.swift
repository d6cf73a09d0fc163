public import SatchelCore
internal import FoundationEssentials
internal import Postgres

extension RecordStore {
    /// Opens an upload.
    ///
    /// - Throws: `quota_exceeded` over the tenant's open uploads or their bytes.
    public func add(_ upload: UploadRecord, within quotas: Quotas) async throws(AttachmentError) {
        try await write { [keys] work in
            // Done again after an answer that was lost, it is there already.
            if work.mayHaveCommitted, try work.upload(upload.id, of: upload.tenant) != nil { return }
            try work.count(upload.usage, of: upload.tenant, within: quotas)
            try work.insert(upload.sealed(by: keys))
        }
    }

    public func upload(_ id: UploadID, of tenant: TenantID) async throws(AttachmentError) -> UploadRecord? {
        try await read { work in try work.upload(id, of: tenant) }
    }

    /// What an upload's token opens right now; nil for a malformed, unknown, expired or ended one, at the same cost.
    public func upload(of token: AccessToken) async throws(AttachmentError) -> UploadRecord? {
        try await read { [keys] work in
            let id = TokenFormat.id(in: token)
            let found = try work.run("SELECT * FROM uploads WHERE ticket = $1", [.text(id)]).first?.upload()
            return keys.entry(found, of: token, [.upload], at: work.now)
        }
    }

    /// A tenant's uploads, newest first.
    public func uploads(
        of tenant: TenantID, in state: UploadState?, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<UploadRecord> {
        try await read { work in
            let limit = Self.pageLength(limit)
            var conditions = Conditions(of: tenant)
            if let state { conditions.require("state = $", .raw(state)) }
            if let cursor { conditions.require("id < $", .uuid(cursor)) }
            let found = try work.run(
                "SELECT * FROM uploads WHERE \(conditions.sql) ORDER BY id DESC LIMIT \(limit)", conditions.values
            ).map { try $0.upload() }
            return Page(elements: found, next: found.count < limit ? nil : found.last?.id.rawValue)
        }
    }

    /// Takes a step: see ``UploadDecision/change(_:by:call:at:)``.
    ///
    /// - Returns: Nil where the tenant has no such upload.
    /// - Throws: `quota_exceeded` for bytes over the tenant's quota.
    public func change(
        _ id: UploadID, of tenant: TenantID, by step: UploadStep, within quotas: Quotas
    ) async throws(AttachmentError) -> Result<UploadChange, UploadRefusal>? {
        let call = UUID.version7().uuidString.lowercased()
        return try await write { work in
            guard var known = try work.upload(id, of: tenant, locked: true) else { return nil }
            if SeededFault.offsetTakenBack.isOn, case .begin = step {
                try work.run(
                    "UPDATE uploads SET received = received / 2 WHERE tenant = $1 AND id = $2",
                    [.raw(tenant), .uuid(id.rawValue)])
                known = try work.upload(id, of: tenant) ?? known
            }
            // Done again after an answer that was lost: what was told has this name.
            if work.mayHaveCommitted, let change = try work.done(step, known) {
                return .success(change)
            }
            switch UploadDecision.change(known, by: step, call: call, at: work.now) {
            case .failure(let refusal): return .failure(refusal)
            case .success(var change):
                try work.save(change.record, after: known, within: quotas)
                work.note(.revoked(known, by: step, at: work.now))
                if let job = change.job {
                    let new = try NewJob(known.opened(job, by: keys), keys: keys)
                    let submitted = SubmittedJob(new: new, options: SubmissionOptions(quotas: .unbounded))
                    change.submitted = try work.submit([submitted], isAlone: true).first??.newJob
                    change.record = try work.upload(id, of: tenant) ?? change.record
                }
                if let call = change.call { _ = try work.send([work.enqueueing(call)]) }
                return .success(change)
            }
        }
    }

    /// Ends uploads, and has their bytes removed.
    ///
    /// - Returns: How many there were, `limit` at most.
    public func endUploads(_ ending: UploadEnding, limit: Int) async throws(AttachmentError) -> Int {
        try await write { work in
            let (condition, order, instant) =
                switch ending {
                case .due: ("state IN ('open', 'complete') AND expires_at <= $1", "expires_at", work.now)
                case .idle(let time): ("state = 'open' AND touched_at <= $1", "touched_at", work.now - time)
                }
            let over = try work.run(
                "SELECT * FROM uploads WHERE \(condition) ORDER BY \(order) LIMIT $2 FOR UPDATE SKIP LOCKED",
                [.time(instant), .int(limit)]
            ).map { try $0.upload() }
            for record in over.sorted(by: { $0.tenant.rawValue < $1.tenant.rawValue }) {
                let call = UUID.version7(at: work.now).uuidString.lowercased()
                guard
                    case .success(let change) = UploadDecision.change(record, by: .expire, call: call, at: work.now)
                else { continue }
                try work.save(change.record, after: record, within: .unbounded)
                if let call = change.call { _ = try work.send([work.enqueueing(call)]) }
            }
            return over.count
        }
    }

    /// What a tenant's uploads take up; nil for all tenants'.
    public func uploadUsage(of tenant: TenantID?) async throws(AttachmentError) -> UploadUsage {
        try await read { work in
            try work.run(
                """
                SELECT coalesce(sum(open), 0)::bigint AS open, coalesce(sum(bytes), 0)::bigint AS bytes FROM upload_usage
                WHERE $1::text IS NULL OR tenant = $1
                """, [.raw(tenant)]
            ).first.map { UploadUsage(open: try $0.int("open"), bytes: try $0.int64("bytes")) } ?? UploadUsage()
        }
    }
}

extension RecordTransaction {
    fileprivate func upload(
        _ id: UploadID, of tenant: TenantID, locked: Bool = false
    ) throws -> UploadRecord? {
        guard UUID(uuidString: id.rawValue) != nil else { return nil }
        return try run(
            "SELECT * FROM uploads WHERE tenant = $1 AND id = $2\(locked ? " FOR UPDATE" : "")",
            [.raw(tenant), .uuid(id.rawValue)]
        ).first?.upload()
    }

    /// What a step came to that was taken already.
    fileprivate func done(_ step: UploadStep, _ known: UploadRecord) throws -> UploadChange? {
        switch step {
        case .complete(_, let writer) where known.writer == writer && known.state != .open:
            var change = UploadChange(record: known)
            if let job = known.submittedJob,
                let row = try run(
                    "SELECT key FROM jobs WHERE tenant = $1 AND id = $2",
                    [.raw(known.tenant), .raw(job)]
                ).first
            {
                change.submitted = try jobRecord(row.int64("key"))
            }
            return change
        case .fail(_, let writer) where known.writer == writer && known.state == .failed:
            return UploadChange(record: known)
        case .cancel where known.state == .cancelled, .expire where known.state == .expired:
            return UploadChange(record: known)
        case .begin, .advance, .complete, .fail, .cancel, .expire: return nil
        }
    }

    fileprivate func insert(_ upload: UploadRecord) throws {
        try run(
            .insert(
                into: "uploads",
                [
                    "tenant": .raw(upload.tenant), "id": .raw(upload.id), "ticket": .text(upload.ticket),
                    "kid": .text(upload.kid), "state": .raw(upload.state), "length": .int(upload.length),
                    "source": .raw(upload.source), "created_at": .time(upload.createdAt),
                    "touched_at": .time(upload.touchedAt), "expires_at": .time(upload.expiresAt),
                    "terms": try .json(upload.terms),
                ]))
    }

    fileprivate func save(
        _ upload: UploadRecord, after before: UploadRecord, within quotas: Quotas
    ) throws {
        guard upload != before else { return }
        try run(
            .update(
                "uploads",
                [
                    "state": .raw(upload.state), "length": .int(upload.length), "received": .int(upload.offset),
                    "writer": .raw(upload.writer), "used_by": .text(upload.usedBy), "is_closed": .bool(upload.isClosed),
                    "sha256": .text(upload.sha256), "touched_at": .time(upload.touchedAt),
                    "finished_at": .time(upload.finishedAt), "terms": try .json(upload.terms),
                    "error": try .json(upload.error),
                    "parts": try .json(upload.parts),
                ], where: "tenant = $ AND id = $ AND received <= $", .raw(upload.tenant), .raw(upload.id),
                .int(upload.offset)))
        if before.state.holdsBytes, !upload.state.holdsBytes { released.insert(upload.source) }
        try count(upload.usage - before.usage, of: upload.tenant, within: quotas)
    }

    /// Locks a tenant's counts, so that of several each is judged by what those before have come to.
    fileprivate func count(_ change: UploadUsage, of tenant: TenantID, within quotas: Quotas) throws {
        guard change != UploadUsage() else { return }
        let rows = try send([
            Statement(
                "INSERT INTO upload_usage (tenant, open, bytes) VALUES ($1, 0, 0) ON CONFLICT DO NOTHING",
                [.raw(tenant)]),
            Statement(
                "SELECT open, bytes FROM upload_usage WHERE tenant = $1 FOR UPDATE", [.raw(tenant)]),
        ])
        guard let row = rows[1].first else { throw TransactionConflict() }
        try UploadDecision.admit(
            UploadUsage(open: try row.int("open"), bytes: try row.int64("bytes")), adding: change, within: quotas)
        try run(
            "UPDATE upload_usage SET open = open + $2, bytes = bytes + $3 WHERE tenant = $1",
            [.raw(tenant), .int(change.open), .int(change.bytes)])
    }

    /// Gives uploads to the job that is made of them.
    func takeUploads(of job: JobSubmission) throws {
        for use in job.attachments.compactMap(\.upload).sorted(by: { $0.upload.rawValue < $1.upload.rawValue }) {
            guard let known = try upload(use.upload, of: job.tenant, locked: true) else {
                throw AttachmentError.notInStore(what: "The upload")
            }
            let isKept = try unneeded(among: [known.source]).isEmpty
            let used = try UploadDecision.use(known, by: use, isKept: isKept, at: now)
            try save(used, after: known, within: .unbounded)
        }
    }
}

extension RecordRow {
    fileprivate func upload() throws -> UploadRecord {
        var record = UploadRecord(
            id: try value("id"), tenant: try value("tenant"), ticket: try text("ticket"), kid: try text("kid"),
            terms: try json("terms"), source: try value("source"), createdAt: try instant("created_at"),
            touchedAt: try instant("touched_at"), expiresAt: try instant("expires_at"))
        record.state = try value("state")
        record.length = try optionalInt("length")
        record.offset = try int64("received")
        record.parts = try optionalJSON("parts")
        record.writer = try optionalValue("writer")
        record.usedBy = try optionalText("used_by")
        record.isClosed = try bool("is_closed")
        record.sha256 = try optionalText("sha256")
        record.finishedAt = try optionalInstant("finished_at")
        record.error = try optionalJSON("error")
        return record
    }
}
