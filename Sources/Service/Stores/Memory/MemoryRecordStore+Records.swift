public import SatchelCore
internal import HashTreeCollections

extension MemoryRecordStore {
    /// No page is longer.
    private static let longestPage = 1000

    public func job(_ id: JobID, of tenant: TenantID) async throws(AttachmentError) -> JobRecord? {
        read { tables, _ in tables.job(id, of: tenant).map(tables.record) }
    }

    public func job(
        submittedWith idempotencyKey: String, of tenant: TenantID
    ) async throws(AttachmentError) -> JobRecord? {
        read { tables, now in
            tables.use(of: idempotencyKey, of: tenant, at: now).flatMap { tables.jobs[$0.job] }.map(tables.record)
        }
    }

    public func jobs(
        of tenant: TenantID, where filter: RecordFilter, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<JobRecord> {
        read { tables, _ in
            let before = cursor.map { Int64($0) ?? 0 } ?? .max
            let found = tables.jobs.values.filter { job in
                job.tenant == tenant && job.key < before && filter.matches(tables.record(job), of: job.run)
            }.sorted { $0.key > $1.key }
            return Self.page(found, limit) { "\($0.key)" }.map(tables.record)
        }
    }

    public func attachments(
        of tenant: TenantID, where filter: RecordFilter, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<AttachmentRecord> {
        read { tables, _ in
            let found = tables.attachments.values.filter { attachment in
                let record = attachment.record
                guard record.tenant == tenant, cursor.map({ record.id.rawValue < $0 }) ?? true,
                    let job = tables.jobs[attachment.job]
                else { return false }
                return filter.matches(record, of: attachment.run, profile: job.profile, metadata: job.metadata)
            }.map(\.record).sorted { $0.id.rawValue > $1.id.rawValue }
            return Self.page(found, limit) { $0.id.rawValue }
        }
    }

    static func page<Element>(
        _ found: [Element], _ limit: Int, cursor: (Element) -> String
    ) -> Page<Element> {
        let limit = min(max(limit, 1), longestPage)
        let elements = Array(found.prefix(limit))
        return Page(elements: elements, next: elements.count < limit ? nil : elements.last.map(cursor))
    }

    public func states(ofWork keys: [String], of tenant: TenantID) async throws(AttachmentError) -> [String: WorkState]
    {
        read { tables, _ in
            keys.reduce(into: [:]) { states, key in
                states[key] = tables.works[.init(tenant: tenant, id: key)].flatMap { tables.jobs[$0]?.state }
            }
        }
    }

    public func profiles(named name: String) async throws(AttachmentError) -> [Profile] {
        read { tables, _ in tables.profiles.values.filter { $0.name == name } }
    }

    public func attachment(
        _ id: AttachmentID, of tenant: TenantID
    ) async throws(AttachmentError) -> AttachmentRecord? {
        read { tables, _ in tables.attachments[.init(tenant: tenant, id: id)]?.record }
    }

    public func blob(
        of role: RenditionRole, of attachment: AttachmentID, tenant: TenantID
    ) async throws(AttachmentError) -> BlobName? {
        read { tables, _ in tables.attachments[.init(tenant: tenant, id: attachment)]?.blobs[role] }
    }

    public func usage(of tenant: TenantID) async throws(AttachmentError) -> TenantUsage {
        read { tables, now in
            var usage = tables.usage(of: tenant)
            usage.liveLeases = tables.liveLeases(of: tenant, at: now).count
            return usage
        }
    }

    public func statistics() async throws(AttachmentError) -> StoreStatistics {
        read { tables, now in
            var statistics = StoreStatistics()
            for lane in JobLane.allCases {
                let pending = tables.pending.filter { $0.lane == lane }
                let running = tables.running.compactMap { tables.jobs[$0] }.filter { $0.run == nil && $0.lane == lane }
                var ages: [JobPriority: Duration] = [:]
                for priority in JobPriority.allCases {
                    let due = pending.filter { $0.priority == priority }.map(\.dueAt).min()
                    if let due, due <= now { ages[priority] = now - due }
                }
                statistics.queues[lane] = StoreStatistics.Queue(
                    pending: pending.count, running: running.count, oldestAges: ages)
            }
            func live(_ kind: AccessEntry.Kind) -> Int {
                tables.access.values.count { $0.kind == kind && $0.isLive(at: now) }
            }
            statistics.liveGrants = live(.grant)
            statistics.liveLeases = live(.lease)
            statistics.liveLinks = live(.link)
            statistics.leasesLeftToExpire =
                tables.leasesLeftToExpire
                + tables.access.values.count { $0.kind == .lease && $0.endedAt == nil && $0.expiresAt <= now }
            statistics.blobs = tables.blobs.count
            statistics.blobBytes = tables.blobs.values.reduce(0) { $0 + $1.bytes }
            statistics.pendingWebhooks = tables.calls.values.count { $0.state == .waiting }
            statistics.openUploads = tables.uploadUsage.values.reduce(0) { $0 + $1.open }
            return statistics
        }
    }

    // MARK: Deleting

    public func delete(_ id: AttachmentID, of tenant: TenantID) async throws(AttachmentError) -> Bool {
        let superfluous = try await write { tables, now -> [BlobName]? in
            guard let attachment = tables.attachments[.init(tenant: tenant, id: id)] else { return nil }
            let blobs = tables.release(id, of: tenant, at: now)
            tables.note(.deleted(id, of: tenant), at: now)
            // A job goes with its last attachment.
            if tables.jobs[attachment.job]?.attachments.isEmpty ?? false {
                tables.delete(job: attachment.job, at: now)
            }
            return blobs
        }
        await garbage.collect(superfluous ?? [])
        return superfluous != nil
    }

    public func deleteJob(_ id: JobID, of tenant: TenantID) async throws(AttachmentError) -> Bool {
        let superfluous = try await write { tables, now in
            tables.job(id, of: tenant).map { job in
                for attachment in job.attachments {
                    tables.note(.deleted(attachment, of: tenant, detail: "with its job"), at: now)
                }
                return tables.delete(job: job.key, at: now)
            }
        }
        await garbage.collect(superfluous ?? [])
        return superfluous != nil
    }

    public func expire(limit: Int, from place: ExpiryPlace?) async throws(AttachmentError) -> Expiry {
        let (expiry, superfluous) = try await write { tables, now in tables.expire(limit: limit, from: place, at: now) }
        await garbage.collect(superfluous)
        return expiry
    }

    // MARK: Blobs

    public func unreferenced(among names: [BlobName]) async throws(AttachmentError) -> [BlobName] {
        read { tables, _ in names.filter { tables.blobs[$0] == nil } }
    }

    public func discard(_ names: [BlobName]) async throws(AttachmentError) -> [BlobName] {
        let superfluous = try await write { tables, now in
            let removed = names.filter { tables.blobs[$0] == nil }
            for name in removed where tables.tombstones[name] == nil { tables.tombstones[name] = now }
            return removed
        }
        await garbage.collect(superfluous)
        return superfluous
    }

    public func referencedBlobs() async throws(AttachmentError) -> [CommittedBlob] {
        read { tables, _ in
            tables.blobs.map { CommittedBlob(name: $0.key, sha256: $0.value.sha256, bytes: $0.value.bytes) }
        }
    }

    public func equalBlobs(to name: BlobName) async throws(AttachmentError) -> [BlobName] {
        read { tables, _ in
            guard let blob = tables.blobs[name] else { return [] }
            return tables.blobs.filter { other in
                other.key != name && other.value.tenant == blob.tenant && other.value.sha256 == blob.sha256
            }.map(\.key)
        }
    }

    public func markDamaged(_ names: [BlobName]) async throws(AttachmentError) {
        try await write { tables, _ in
            for name in names {
                guard let blob = tables.blobs[name] else { continue }
                tables.blobs[name]?.isDamaged = true
                let place = MemoryTables.Owned(tenant: blob.tenant, id: blob.sha256)
                if tables.liveBlobs[place] == name { tables.liveBlobs[place] = nil }
            }
        }
    }

    public func neededSources() async throws(AttachmentError) -> [SourceName] {
        read { tables, _ in tables.neededSources }
    }

    public func unneeded(among names: [SourceName]) async throws(AttachmentError) -> [SourceName] {
        read { tables, _ in names.filter { !tables.needs($0) } }
    }

    public func keysInUse() async throws(AttachmentError) -> Set<String> {
        read { tables, now in
            Set(tables.access.values.filter { $0.isLive(at: now) }.map(\.kid))
                .union(tables.tickets.values.filter { $0.isLive(at: now) }.map(\.kid))
                .union(tables.uploads.values.filter { $0.state.isKnown && $0.expiresAt > now }.map(\.kid))
                .union(tables.renditionKeys)
        }
    }
}

extension Page {
    fileprivate func map<Other>(_ transform: (Element) -> Other) -> Page<Other> {
        Page<Other>(elements: elements.map(transform), next: next)
    }
}

extension MemoryTables {
    fileprivate mutating func expire(limit: Int, from place: ExpiryPlace?, at now: Instant) -> (Expiry, [BlobName]) {
        let over = attachments.values.filter { attachment in
            guard let end = attachment.record.expiresAt, end <= now else { return false }
            let given = accessTo[Owned(tenant: attachment.record.tenant, id: attachment.record.id)] ?? []
            let isHeld = given.compactMap { access[$0] }.contains { $0.kind != .grant && $0.isLive(at: now) }
            let isPinned = isPinned(attachment.record.id, of: attachment.record.tenant)
            return !isHeld && !isPinned && place.map { ($0.expiresAt, $0.key) < (end, attachment.key) } ?? true
        }.sorted { ($0.record.expiresAt ?? now, $0.key) < ($1.record.expiresAt ?? now, $1.key) }
        let part = over.prefix(limit)

        let ended = access.values.filter { $0.expiresAt <= now }.prefix(limit)
        for entry in ended {
            delete(access: entry.id)
            if entry.endedAt == nil && entry.kind == .lease { leasesLeftToExpire += 1 }
        }
        var blobs: [BlobName] = []
        for attachment in part {
            blobs += release(attachment.record.id, of: attachment.record.tenant, at: now)
            note(.deleted(attachment.record.id, of: attachment.record.tenant, detail: "expired"), at: now)
            guard let job = jobs[attachment.job] else { continue }
            // A job that delivered goes with the last of what it delivered, whatever became of the rest.
            let isBare = job.state == .delivered && !holdsDelivered(job)
            if job.attachments.isEmpty || isBare { delete(job: job.key, at: now) }
        }
        let isAll =
            forget(limit: limit, at: now) && forgetNotifications(limit: limit, at: now)
            && forgetResponses(limit: limit, at: now) && forgetUploads(limit: limit, at: now)
            && max(part.count, ended.count) < limit
        let last = part.last.flatMap { last in
            last.record.expiresAt.map { ExpiryPlace(expiresAt: $0, key: last.key) }
        }
        let next = last ?? place ?? ExpiryPlace(expiresAt: Instant(milliseconds: .min), key: .min)
        return (Expiry(attachments: part.count, blobs: blobs.count, next: isAll ? nil : next), blobs)
    }

    private func holdsDelivered(_ job: Job) -> Bool {
        attachments(of: job).contains { $0.record.state == .delivered }
    }

    /// Deletes what nobody needs to know any more, at most `limit` of each kind.
    ///
    /// - Returns: Whether that was all.
    private mutating func forget(limit: Int, at now: Instant) -> Bool {
        // What an older generation delivered is still good.
        let over = jobs.values.filter { job in
            job.expiresAt.map { $0 <= now } ?? false && !holdsDelivered(job)
        }.prefix(limit)
        for job in over { delete(job: job.key, at: now) }
        let stale = jobs.values.filter { $0.retained.map { $0.keptUntil <= now } ?? false }.prefix(limit)
        for var job in stale {
            dropRetained(of: &job)
            put(job)
        }
        let used = uses.filter { $0.value.createdAt <= now - IdempotencyKey.lifetime }.prefix(limit)
        for (place, _) in used { uses[place] = nil }
        let called = calls.filter { $0.value.finishedAt.map { $0 <= now - Retention.calls } ?? false }.prefix(limit)
        for (id, _) in called { calls[id] = nil }
        let dead = keys.filter { _, key in
            (key.record.revokedAt ?? key.record.expiresAt).map { $0 <= now - Retention.keys } ?? false
        }.prefix(limit)
        for (id, key) in dead {
            keys[id] = nil
            if key.record.revokedAt == nil { takesAccessBack = true }
        }
        let counted = tallies.filter { $0.key.minute <= now - Retention.tallies }.prefix(limit)
        for (key, _) in counted { tallies[key] = nil }
        let old = tombstones.filter { $0.value <= now - Retention.tombstones }.prefix(limit)
        for (name, _) in old { tombstones[name] = nil }
        forgetConsole(at: now)
        return [over.count, stale.count, used.count, called.count, dead.count, counted.count, old.count]
            .allSatisfy { $0 < limit }
    }
}
