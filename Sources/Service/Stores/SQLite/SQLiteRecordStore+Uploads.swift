public import SatchelCore
internal import FoundationEssentials
internal import GRDB

extension SQLiteRecordStore {
    public func add(_ upload: UploadRecord, within quotas: Quotas) async throws(AttachmentError) {
        try await write { [keys] database, _ in
            try UploadDecision.admit(
                try database.uploadUsage(of: upload.tenant), adding: upload.usage, within: quotas)
            try database.insert(upload.sealed(by: keys))
            try database.count(upload.usage, of: upload.tenant)
        }
    }

    public func upload(_ id: UploadID, of tenant: TenantID) async throws(AttachmentError) -> UploadRecord? {
        try await read { database, _ in try database.upload(id, of: tenant) }
    }

    public func upload(of token: AccessToken) async throws(AttachmentError) -> UploadRecord? {
        try await read { [keys] database, now in
            try keys.upload(of: token, at: now) { id in
                try database.row("SELECT * FROM uploads WHERE ticket = ?", [id])?.upload()
            }
        }
    }

    public func uploads(
        of tenant: TenantID, in state: UploadState?, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<UploadRecord> {
        try await read { database, _ in
            let limit = min(max(limit, 1), Self.longestPage)
            var conditions = "tenant = ?"
            var arguments: StatementArguments = [tenant.rawValue]
            if let state {
                conditions += " AND state = ?"
                arguments += [state.rawValue]
            }
            if let cursor {
                conditions += " AND id < ?"
                arguments += [cursor]
            }
            let found = try database.rows(
                "SELECT * FROM uploads WHERE \(conditions) ORDER BY id DESC LIMIT ?", arguments + [limit]
            ).map { try $0.upload() }
            return Page(elements: found, next: found.count < limit ? nil : found.last?.id.rawValue)
        }
    }

    public func change(
        _ id: UploadID, of tenant: TenantID, by step: UploadStep, within quotas: Quotas
    ) async throws(AttachmentError) -> Result<UploadChange, UploadRefusal>? {
        let call = UUID.version7().uuidString.lowercased()
        return try await write { [keys, workers] database, now in
            guard let known = try database.upload(id, of: tenant) else { return nil }
            switch UploadDecision.change(known, by: step, call: call, at: now) {
            case .failure(let refusal): return .failure(refusal)
            case .success(var change):
                try database.save(change.record, after: known, within: quotas)
                try database.note(.revoked(known, by: step, at: now), at: now)
                if let job = change.job {
                    let options = SubmissionOptions(quotas: .unbounded)
                    change.submitted =
                        try database.submit(
                            known.opened(job, by: keys), options, at: now, lives: workers.lives, keys: keys
                        ).newJob
                    change.record = try database.upload(id, of: tenant) ?? change.record
                }
                if let call = change.call { try database.enqueue(call, at: now) }
                return .success(change)
            }
        }
    }

    public func endUploads(_ ending: UploadEnding, limit: Int) async throws(AttachmentError) -> Int {
        let found = try await read { database, now in try database.uploads(ending, limit: limit, at: now) }
        guard !found.isEmpty else { return 0 }
        return try await write { database, now in
            // Some may have got bytes since.
            let over = try database.uploads(ending, limit: limit, at: now)
            for record in over {
                let call = UUID.version7(at: now).uuidString.lowercased()
                guard case .success(let change) = UploadDecision.change(record, by: .expire, call: call, at: now)
                else { continue }
                try database.save(change.record, after: record, within: .unbounded)
                if let call = change.call { try database.enqueue(call, at: now) }
            }
            return over.count
        }
    }

    public func uploadUsage(of tenant: TenantID?) async throws(AttachmentError) -> UploadUsage {
        try await read { database, _ in
            if let tenant { return try database.uploadUsage(of: tenant) }
            return try database.allUploads()
        }
    }
}

extension Database {
    static let uploadsDue = """
        SELECT * FROM uploads WHERE state IN ('open', 'complete') AND expires_at <= ? ORDER BY expires_at LIMIT ?
        """
    static let uploadsIdle =
        "SELECT * FROM uploads WHERE state = 'open' AND touched_at <= ? ORDER BY touched_at LIMIT ?"

    fileprivate func uploads(_ ending: UploadEnding, limit: Int, at now: Instant) throws -> [UploadRecord] {
        switch ending {
        case .due: try rows(Self.uploadsDue, [now.milliseconds, limit]).map { try $0.upload() }
        case .idle(let time):
            try rows(Self.uploadsIdle, [(now - time).milliseconds, limit]).map { try $0.upload() }
        }
    }

    fileprivate func upload(_ id: UploadID, of tenant: TenantID) throws -> UploadRecord? {
        try row("SELECT * FROM uploads WHERE tenant = ? AND id = ?", [tenant.rawValue, id.rawValue])?.upload()
    }

    fileprivate func insert(_ upload: UploadRecord) throws {
        try run(
            """
            INSERT INTO uploads (tenant, id, ticket, kid, state, length, source, created_at, touched_at, expires_at, terms)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                upload.tenant.rawValue, upload.id.rawValue, upload.ticket, upload.kid, upload.state.rawValue,
                upload.length, upload.source.rawValue, upload.createdAt.milliseconds, upload.touchedAt.milliseconds,
                upload.expiresAt.milliseconds, try Column.text(upload.terms),
            ])
    }

    fileprivate func save(_ upload: UploadRecord, after before: UploadRecord, within quotas: Quotas) throws {
        guard upload != before else { return }
        let change = upload.usage - before.usage
        if change != UploadUsage() {
            try UploadDecision.admit(try uploadUsage(of: upload.tenant), adding: change, within: quotas)
        }
        try run(
            """
            UPDATE uploads SET state = ?, length = ?, received = ?, writer = ?, used_by = ?, is_closed = ?, sha256 = ?,
                touched_at = ?, finished_at = ?, terms = ?, error = ?, parts = ?
            WHERE tenant = ? AND id = ?
            """,
            [
                upload.state.rawValue, upload.length, upload.offset, upload.writer?.rawValue, upload.usedBy,
                upload.isClosed, upload.sha256, upload.touchedAt.milliseconds, upload.finishedAt?.milliseconds,
                try Column.text(upload.terms), try upload.error.map { try Column.text($0) },
                try upload.parts.map { try Column.text($0) }, upload.tenant.rawValue, upload.id.rawValue,
            ])
        try count(change, of: upload.tenant)
    }

    fileprivate func uploadUsage(of tenant: TenantID) throws -> UploadUsage {
        try row("SELECT open, bytes FROM upload_usage WHERE tenant = ?", [tenant.rawValue])
            .map { UploadUsage(open: $0["open"], bytes: $0["bytes"]) } ?? UploadUsage()
    }

    func allUploads() throws -> UploadUsage {
        try row("SELECT coalesce(sum(open), 0) AS open, coalesce(sum(bytes), 0) AS bytes FROM upload_usage")
            .map { UploadUsage(open: $0["open"], bytes: $0["bytes"]) } ?? UploadUsage()
    }

    fileprivate func count(_ change: UploadUsage, of tenant: TenantID) throws {
        guard change != UploadUsage() else { return }
        // One row at a time: an upsert's values are checked before they are added to what is there.
        try run("INSERT OR IGNORE INTO upload_usage VALUES (?, 0, 0)", [tenant.rawValue])
        try run(
            "UPDATE upload_usage SET open = open + ?, bytes = bytes + ? WHERE tenant = ?",
            [change.open, change.bytes, tenant.rawValue])
    }

    /// Gives uploads to the job that is made of them.
    func takeUploads(of job: JobSubmission, at now: Instant) throws {
        for use in job.attachments.compactMap(\.upload) {
            guard let known = try upload(use.upload, of: job.tenant) else {
                throw AttachmentError.notInStore(what: "The upload")
            }
            let used = try UploadDecision.use(known, by: use, isKept: try needs(known.source), at: now)
            try save(used, after: known, within: .unbounded)
        }
    }
}

extension Row {
    fileprivate func upload() throws -> UploadRecord {
        var record = UploadRecord(
            id: UploadID(rawValue: self["id"]), tenant: TenantID(rawValue: self["tenant"]), ticket: self["ticket"],
            kid: self["kid"], terms: try Column.value(UploadTerms.self, from: self["terms"]),
            source: SourceName(rawValue: self["source"]), createdAt: Instant(milliseconds: self["created_at"]),
            touchedAt: Instant(milliseconds: self["touched_at"]),
            expiresAt: Instant(milliseconds: self["expires_at"]))
        record.state = try choice("state")
        record.length = self["length"]
        record.offset = self["received"]
        record.parts = try (self["parts"] as String?).map { try Column.value(UploadParts.self, from: $0) }
        record.writer = (self["writer"] as String?).map(UploadWriterID.init(rawValue:))
        record.usedBy = self["used_by"]
        record.isClosed = self["is_closed"]
        record.sha256 = self["sha256"]
        record.finishedAt = instant("finished_at")
        record.error = try (self["error"] as String?).map { try Column.value(ErrorReport.self, from: $0) }
        return record
    }
}
