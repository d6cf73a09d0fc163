public import SatchelCore
internal import FoundationEssentials
internal import Postgres

extension SQLRecordStore {
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

    public func upload(of token: AccessToken) async throws(AttachmentError) -> UploadRecord? {
        try await read { [keys] work in
            let id = TokenFormat.id(in: token)
            let found = try work.run("SELECT * FROM uploads WHERE ticket = $1", [.text(id)]).first?.upload()
            return keys.upload(of: token, at: work.now) { _ in found }
        }
    }

    public func uploads(
        of tenant: TenantID, in state: UploadState?, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<UploadRecord> {
        try await read { work in
            let limit = min(max(limit, 1), Self.longestPage)
            var conditions = "tenant = $1"
            var values: [SQLValue] = [.text(tenant.rawValue), .int(limit)]
            if let state {
                values.append(.text(state.rawValue))
                conditions += " AND state = $\(values.count)"
            }
            if let cursor {
                values.append(.uuid(cursor))
                conditions += " AND id < $\(values.count)"
            }
            let found = try work.run(
                "SELECT * FROM uploads WHERE \(conditions) ORDER BY id DESC LIMIT $2", values
            ).map { try $0.upload() }
            return Page(elements: found, next: found.count < limit ? nil : found.last?.id.rawValue)
        }
    }

    public func change(
        _ id: UploadID, of tenant: TenantID, by step: UploadStep, within quotas: Quotas
    ) async throws(AttachmentError) -> Result<UploadChange, UploadRefusal>? {
        let call = UUID.version7().uuidString.lowercased()
        return try await write { work in
            guard var known = try work.upload(id, of: tenant, locked: true) else { return nil }
            if SeededFault.offsetTakenBack.isOn, case .begin = step {
                try work.run(
                    "UPDATE uploads SET received = received / 2 WHERE tenant = $1 AND id = $2",
                    [.text(tenant.rawValue), .uuid(id.rawValue)])
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

    public func endUploads(_ ending: UploadEnding, limit: Int) async throws(AttachmentError) -> Int {
        try await write { work in
            let (condition, order, instant) =
                switch ending {
                case .due: ("state IN ('open', 'complete') AND expires_at <= $1", "expires_at", work.now)
                case .idle(let time): ("state = 'open' AND touched_at <= $1", "touched_at", work.now - time)
                }
            let over = try work.run(
                "SELECT * FROM uploads WHERE \(condition) ORDER BY \(order) LIMIT $2 FOR UPDATE SKIP LOCKED",
                [.int(instant.milliseconds), .int(limit)]
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

    public func uploadUsage(of tenant: TenantID?) async throws(AttachmentError) -> UploadUsage {
        try await read { work in
            try work.run(
                """
                SELECT coalesce(sum(open), 0)::bigint AS open, coalesce(sum(bytes), 0)::bigint AS bytes FROM upload_usage
                WHERE $1::text IS NULL OR tenant = $1
                """, [.text(tenant?.rawValue)]
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
            [.text(tenant.rawValue), .uuid(id.rawValue)]
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
                    [.text(known.tenant.rawValue), .text(job.rawValue)]
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
            """
            INSERT INTO uploads (tenant, id, ticket, kid, state, length, source, created_at, touched_at, expires_at, terms)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
            """,
            [
                .text(upload.tenant.rawValue), .uuid(upload.id.rawValue), .text(upload.ticket), .text(upload.kid),
                .text(upload.state.rawValue), .int(upload.length), .text(upload.source.rawValue),
                .int(upload.createdAt.milliseconds), .int(upload.touchedAt.milliseconds),
                .int(upload.expiresAt.milliseconds), .text(try Column.text(upload.terms)),
            ])
    }

    fileprivate func save(
        _ upload: UploadRecord, after before: UploadRecord, within quotas: Quotas
    ) throws {
        guard upload != before else { return }
        try run(
            """
            UPDATE uploads SET state = $3, length = $4, received = $5, writer = $6, used_by = $7, is_closed = $8,
                sha256 = $9, touched_at = $10, finished_at = $11, terms = $12, error = $13, parts = $14
            WHERE tenant = $1 AND id = $2 AND received <= $5
            """,
            [
                .text(upload.tenant.rawValue), .uuid(upload.id.rawValue), .text(upload.state.rawValue),
                .int(upload.length), .int(upload.offset), .uuid(upload.writer?.rawValue), .text(upload.usedBy),
                .bool(upload.isClosed), .text(upload.sha256), .int(upload.touchedAt.milliseconds),
                .int(upload.finishedAt?.milliseconds), .text(try Column.text(upload.terms)),
                .text(try upload.error.map { try Column.text($0) }),
                .text(try upload.parts.map { try Column.text($0) }),
            ])
        if before.state.holdsBytes, !upload.state.holdsBytes { released.insert(upload.source) }
        try count(upload.usage - before.usage, of: upload.tenant, within: quotas)
    }

    /// Locks a tenant's counts, so that of several each is judged by what those before have come to.
    fileprivate func count(_ change: UploadUsage, of tenant: TenantID, within quotas: Quotas) throws {
        guard change != UploadUsage() else { return }
        let rows = try send([
            Statement(
                "INSERT INTO upload_usage (tenant, open, bytes) VALUES ($1, 0, 0) ON CONFLICT DO NOTHING",
                [.text(tenant.rawValue)]),
            Statement(
                "SELECT open, bytes FROM upload_usage WHERE tenant = $1 FOR UPDATE", [.text(tenant.rawValue)]),
        ])
        guard let row = rows[1].first else { throw TransactionConflict() }
        try UploadDecision.admit(
            UploadUsage(open: try row.int("open"), bytes: try row.int64("bytes")), adding: change, within: quotas)
        try run(
            "UPDATE upload_usage SET open = open + $2, bytes = bytes + $3 WHERE tenant = $1",
            [.text(tenant.rawValue), .int(change.open), .int(change.bytes)])
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
            id: UploadID(rawValue: try text("id")), tenant: TenantID(rawValue: try text("tenant")),
            ticket: try text("ticket"), kid: try text("kid"),
            terms: try Column.value(UploadTerms.self, from: try text("terms")),
            source: SourceName(rawValue: try text("source")), createdAt: try instant("created_at"),
            touchedAt: try instant("touched_at"), expiresAt: try instant("expires_at"))
        record.state = try choice("state")
        record.length = try optionalInt("length")
        record.offset = try int64("received")
        record.parts = try optionalText("parts").map { try Column.value(UploadParts.self, from: $0) }
        record.writer = try optionalText("writer").map(UploadWriterID.init(rawValue:))
        record.usedBy = try optionalText("used_by")
        record.isClosed = try bool("is_closed")
        record.sha256 = try optionalText("sha256")
        record.finishedAt = try optionalInstant("finished_at")
        record.error = try optionalText("error").map { try Column.value(ErrorReport.self, from: $0) }
        return record
    }
}
