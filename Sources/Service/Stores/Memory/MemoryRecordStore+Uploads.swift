public import SatchelCore
internal import FoundationEssentials
internal import HashTreeCollections

extension MemoryRecordStore {
    public func add(_ upload: UploadRecord, within quotas: Quotas) async throws(AttachmentError) {
        try await write { tables, _ in
            let usage = tables.uploadUsage[upload.tenant] ?? UploadUsage()
            try UploadDecision.admit(usage, adding: upload.usage, within: quotas)
            try tables.put(upload, within: .unbounded)
            tables.uploadTickets[upload.ticket] = .init(tenant: upload.tenant, id: upload.id)
        }
    }

    public func upload(_ id: UploadID, of tenant: TenantID) async throws(AttachmentError) -> UploadRecord? {
        read { tables, _ in tables.uploads[.init(tenant: tenant, id: id)] }
    }

    public func upload(of token: AccessToken) async throws(AttachmentError) -> UploadRecord? {
        read { [tokens] tables, now in
            tokens.upload(of: token, at: now) { id in tables.uploadTickets[id].flatMap { tables.uploads[$0] } }
        }
    }

    public func uploads(
        of tenant: TenantID, in state: UploadState?, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<UploadRecord> {
        read { tables, _ in
            let found = tables.uploads.values.filter { upload in
                upload.tenant == tenant && (state.map { $0 == upload.state } ?? true)
                    && (cursor.map { upload.id.rawValue < $0 } ?? true)
            }.sorted { $0.id.rawValue > $1.id.rawValue }
            let elements = Array(found.prefix(max(limit, 1)))
            return Page(elements: elements, next: elements.count < limit ? nil : elements.last?.id.rawValue)
        }
    }

    public func change(
        _ id: UploadID, of tenant: TenantID, by step: UploadStep, within quotas: Quotas
    ) async throws(AttachmentError) -> Result<UploadChange, UploadRefusal>? {
        let call = UUID.version7().uuidString.lowercased()
        return try await write { tables, now in
            let place = MemoryTables.Owned(tenant: tenant, id: id)
            guard let known = tables.uploads[place] else { return nil }
            switch UploadDecision.change(known, by: step, call: call, at: now) {
            case .failure(let refusal): return .failure(refusal)
            case .success(var change):
                try tables.put(change.record, within: quotas)
                tables.note(.revoked(known, by: step, at: now), at: now)
                if let job = change.job {
                    let options = SubmissionOptions(quotas: .unbounded)
                    change.submitted = try tables.submit(job, options, at: now, lives: presence.lives).newJob
                    change.record = tables.uploads[place] ?? change.record
                }
                if let call = change.call { tables.enqueue(call, at: now) }
                return .success(change)
            }
        }
    }

    public func endUploads(_ ending: UploadEnding, limit: Int) async throws(AttachmentError) -> Int {
        try await write { tables, now in
            let over = tables.uploads.values.filter { upload in
                switch ending {
                case .due: upload.state.holdsBytes && upload.expiresAt <= now
                case .idle(let time): upload.state == .open && upload.touchedAt <= now - time
                }
            }.sorted { ending == .due ? $0.expiresAt < $1.expiresAt : $0.touchedAt < $1.touchedAt }.prefix(limit)
            for record in over {
                let call = UUID.version7(at: now).uuidString.lowercased()
                guard case .success(let change) = UploadDecision.change(record, by: .expire, call: call, at: now)
                else { continue }
                try tables.put(change.record, within: .unbounded)
                if let call = change.call { tables.enqueue(call, at: now) }
            }
            return over.count
        }
    }

    public func uploadUsage(of tenant: TenantID?) async throws(AttachmentError) -> UploadUsage {
        read { tables, _ in
            if let tenant { return tables.uploadUsage[tenant] ?? UploadUsage() }
            return tables.uploadUsage.values.reduce(into: UploadUsage()) { $0 += $1 }
        }
    }
}

extension MemoryTables {
    fileprivate mutating func put(_ upload: UploadRecord, within quotas: Quotas) throws(AttachmentError) {
        let place = Owned(tenant: upload.tenant, id: upload.id)
        let before = uploads[place]
        let change = upload.usage - (before?.usage ?? UploadUsage())
        if change != UploadUsage() {
            try UploadDecision.admit(
                uploadUsage[upload.tenant] ?? UploadUsage(), adding: change, within: quotas)
            uploadUsage[upload.tenant, default: UploadUsage()] += change
        }
        uploads[place] = upload
        if before?.state.holdsBytes ?? false, !upload.state.holdsBytes { released.insert(upload.source) }
    }

    /// Gives uploads to the job that is made of them.
    mutating func takeUploads(of job: JobSubmission, at now: Instant) throws(AttachmentError) {
        for use in job.attachments.compactMap(\.upload) {
            guard let known = uploads[Owned(tenant: job.tenant, id: use.upload)] else {
                throw .notInStore(what: "The upload")
            }
            try put(
                UploadDecision.use(known, by: use, isKept: needs(known.source), at: now), within: .unbounded)
        }
    }

    /// Forgets uploads of which nobody needs to know any more, at most `limit`.
    ///
    /// - Returns: Whether that was all.
    mutating func forgetUploads(limit: Int, at now: Instant) -> Bool {
        let over = uploads.values.filter { $0.finishedAt.map { $0 + Retention.uploads <= now } ?? false }.prefix(limit)
        for upload in over {
            uploads[Owned(tenant: upload.tenant, id: upload.id)] = nil
            uploadTickets[upload.ticket] = nil
        }
        return over.count < limit
    }
}
