public import SatchelCore
internal import HashTreeCollections

extension MemoryRecordStore {
    public func signingNumbers(of tenant: TenantID) async throws(AttachmentError) -> [SigningNumber] {
        read { tables, now in (tables.signing[tenant] ?? SigningNumbers()).live(at: now) }
    }

    public func rotateSigningNumber(
        of tenant: TenantID, overlap: Duration
    ) async throws(AttachmentError) -> [SigningNumber] {
        try await write { tables, now in
            var numbers = tables.signing[tenant] ?? SigningNumbers()
            try numbers.rotate(overlap: overlap, at: now)
            tables.signing[tenant] = numbers
            tables.note(.rotated(numbers.all, of: tenant), at: now)
            return numbers.live(at: now)
        }
    }

    public func beginRemoval(of tenant: TenantID) async throws(AttachmentError) {
        let superfluous = try await write { tables, now in
            tables.removals.insert(tenant)
            return tables.endAll(of: tenant, at: now)
        }
        await garbage.collect(superfluous)
    }

    public func removePart(of tenant: TenantID, limit: Int) async throws(AttachmentError) -> Bool {
        let (isAll, superfluous) = try await write { tables, now in
            tables.removePart(of: tenant, limit: limit, at: now)
        }
        await garbage.collect(superfluous)
        return isAll
    }

    public func tenantsInRemoval() async throws(AttachmentError) -> [TenantID] {
        read { tables, _ in tables.removals.sorted { $0.rawValue < $1.rawValue } }
    }
}

extension MemoryTables {
    /// Ends what opens something, and calls off what is to happen.
    ///
    /// - Returns: Blobs that nobody refers to any more.
    fileprivate mutating func endAll(of tenant: TenantID, at now: Instant) -> [BlobName] {
        takesAccessBack = true
        for (id, key) in keys where key.record.tenant == tenant && key.record.revokedAt == nil {
            keys[id]?.record.revokedAt = now
        }
        for entry in access.values where entry.tenant == tenant && entry.endedAt == nil { end(entry.id, at: now) }
        for (id, ticket) in tickets where ticket.tenant == tenant && ticket.endedAt == nil {
            tickets[id]?.endedAt = now
        }
        for (hash, code) in consoleCodes where code.tenant == tenant { consoleCodes[hash] = nil }
        for (hash, session) in consoleSessions where session.tenant == tenant { consoleSessions[hash] = nil }
        for upload in uploads.values where upload.tenant == tenant {
            if upload.state.holdsBytes { released.insert(upload.source) }
            uploads[Owned(tenant: tenant, id: upload.id)] = nil
            uploadTickets[upload.ticket] = nil
        }
        uploadUsage[tenant] = nil
        for (id, call) in calls where call.tenant == tenant && call.finishedAt == nil { calls[id] = nil }
        for record in notifications.values where record.tenant == tenant { forget(record) }
        return jobs.values.filter { $0.tenant == tenant && $0.submission != nil }.flatMap {
            delete(job: $0.key, at: now)
        }
    }

    private mutating func forget(_ record: NotificationRecord) {
        let place = Owned(tenant: record.tenant, id: record.id)
        for firing in firings.values where firing.tenant == record.tenant && firing.notification == record.id {
            firings[firing.id] = nil
        }
        forgetResponses(to: record.id, of: record.tenant)
        notifications[place] = nil
        notificationKeys[place] = nil
        notificationSources[place] = nil
    }

    /// - Returns: Whether that was all, and blobs that nobody refers to any more.
    fileprivate mutating func removePart(of tenant: TenantID, limit: Int, at now: Instant) -> (Bool, [BlobName]) {
        var superfluous = endAll(of: tenant, at: now)
        let part = jobs.values.filter { $0.tenant == tenant }.prefix(limit)
        for job in part { superfluous += delete(job: job.key, at: now) }
        guard part.count < limit else { return (false, superfluous) }
        calls = calls.filter { $0.value.tenant != tenant }
        uses = uses.filter { $0.key.tenant != tenant }
        tallies = tallies.filter { $0.key.tenant != tenant }
        keys = keys.filter { $0.value.record.tenant != tenant }
        audits = audits.filter { $0.value.tenant != tenant }
        categories[tenant] = nil
        storedBytes[tenant] = nil
        openLeases[tenant] = nil
        lastPlaces[tenant] = nil
        signing[tenant] = nil
        removals.remove(tenant)
        return (true, superfluous)
    }
}
