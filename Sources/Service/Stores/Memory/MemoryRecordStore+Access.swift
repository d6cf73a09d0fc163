public import SatchelCore
internal import HashTreeCollections
internal import Synchronization

extension MemoryRecordStore {
    public func grant(
        on attachment: AttachmentID?, in scope: AccessScope, renditions: [RenditionRole]?, for duration: Duration,
        leaseLimit: Int?
    ) async throws(AttachmentError) -> (GrantRecord, AccessToken)? {
        try await give(on: attachment, in: scope) { origin, id, kid, now in
            origin.derive(
                .grant, id: id, key: kid, to: renditions, for: duration, leaseLimit: leaseLimit, at: now)
        } admitted: { tables, grant, _ in
            grant.parent.map { tables.ancestors(of: $0).count < AccessLimits.deepestGrant } ?? true
        }.map { ($0.grant, $1) }
    }

    public func startLease(
        on attachment: AttachmentID?, in scope: AccessScope, renditions: [RenditionRole]?, for duration: Duration,
        within quotas: Quotas
    ) async throws(AttachmentError) -> (LeaseRecord, AccessToken)? {
        try await give(on: attachment, in: scope) { origin, id, kid, now in
            origin.derive(.lease, id: id, key: kid, to: renditions, for: duration, at: now)
        } admitted: { tables, lease, now in
            if let limit = quotas.liveLeases, tables.liveLeases(of: lease.tenant, at: now).count >= limit {
                throw AttachmentError.quotaExceeded(what: "active leases")
            }
            // A lease counts against its grant and every grant that one was derived from.
            for ancestor in lease.parent.map(tables.ancestors) ?? [] {
                guard tables.liveLeases(under: ancestor, at: now) < ancestor.leaseLimit ?? 1 else {
                    throw AttachmentError.quotaExceeded(what: "leases of this grant")
                }
            }
            return true
        }.map { ($0.lease, $1) }
    }

    public func link(
        to attachment: AttachmentID, of tenant: TenantID, renditions: [RenditionRole]?, for duration: Duration,
        delivery: DeliveryMode
    ) async throws(AttachmentError) -> (LinkRecord, AccessToken)? {
        try await give(on: attachment, in: .owner(tenant)) { origin, id, kid, now in
            origin.derive(.link, id: id, key: kid, to: renditions, for: duration, delivery: delivery, at: now)
        } admitted: { _, _, _ in
            true
        }.map { ($0.link, $1) }
    }

    private func give(
        on attachment: AttachmentID?, in scope: AccessScope,
        derive: (AccessOrigin, _ id: String, _ kid: String, Instant) -> AccessEntry?,
        admitted: (MemoryTables, AccessEntry, Instant) throws -> Bool
    ) async throws(AttachmentError) -> (AccessEntry, AccessToken)? {
        let kid = try currentKey()
        let given = try await write { [tokens] tables, now -> AccessEntry? in
            let origin: AccessOrigin?
            switch scope {
            case .owner(let tenant):
                origin = attachment.map { .attachment($0, of: tenant) }
            case .bearer(let token):
                let grant = tables.access(token, [.grant], tokens, at: now)
                origin = grant.flatMap { attachment ?? $0.attachment == $0.attachment ? .grant($0) : nil }
            }
            guard let origin, let entry = derive(origin, TokenFormat.newID(), kid, now),
                tables.hasRenditions(entry), try admitted(tables, entry, now)
            else { return nil }
            tables.put(entry)
            tables.note(.made(entry), at: now)
            return entry
        }
        guard let given else { return nil }
        guard let token = tokens.token(given.kind.token, id: given.id, kid: kid) else {
            throw .storeFailed(reason: "the key of a new token was removed")
        }
        return (given, token)
    }

    func currentKey() throws(AttachmentError) -> String {
        do { return try tokens.current() } catch { throw .storeFailed(reason: error.description) }
    }

    public func grant(_ id: String, in scope: AccessScope) async throws(AttachmentError) -> GrantRecord? {
        read { tables, now in tables.access(id, in: scope, [.grant], tokens, at: now)?.grant }
    }

    public func grant(of token: AccessToken) async throws(AttachmentError) -> GrantRecord? {
        read { tables, now in tables.access(token, [.grant], tokens, at: now)?.grant }
    }

    public func lease(_ id: String, in scope: AccessScope) async throws(AttachmentError) -> LeaseRecord? {
        read { tables, now in tables.access(id, in: scope, [.lease], tokens, at: now)?.lease }
    }

    public func renewLease(
        _ id: String, in scope: AccessScope, for duration: Duration
    ) async throws(AttachmentError) -> LeaseRecord? {
        try await write { [tokens] tables, now in
            guard var lease = tables.access(id, in: scope, [.lease], tokens, at: now), lease.isLive(at: now)
            else { return nil }
            let end = AccessLimits.end(
                of: duration, from: now, within: lease.parent.flatMap { tables.access[$0] })
            if end < lease.expiresAt { tables.takesAccessBack = true }
            lease.expiresAt = end
            tables.put(lease)
            return lease.lease
        }
    }

    public func revoke(_ id: String, in scope: AccessScope) async throws(AttachmentError) -> Bool {
        try await write { [tokens] tables, now in
            let found = tables.access(id, in: scope, AccessEntry.Kind.allCases, tokens, at: now)
            guard let found else { return false }
            tables.end(found.id, at: now)
            tables.note(.revoked(found), at: now)
            return true
        }
    }

    public func open(_ token: AccessToken, role: RenditionRole) async throws(AttachmentError) -> ContentAccess? {
        read { tables, now in
            guard let access = tables.access(token, [.lease, .link], tokens, at: now), access.opens(role),
                let attachment = tables.attachments[.init(tenant: access.tenant, id: access.attachment)],
                let blob = attachment.blobs[role], let rendition = attachment.record.renditions[role]
            else { return nil }
            return ContentAccess(
                id: access.id, tenant: access.tenant, attachment: access.attachment, role: role,
                rendition: rendition, blob: blob, delivery: access.delivery, expiresAt: access.expiresAt, at: now)
        }
    }

    public func tokens(
        _ ids: Set<String>, of tenant: TenantID
    ) async throws(AttachmentError) -> [String: AccessToken] {
        read { tables, now in
            let access = ids.compactMap { tables.access[$0] }.filter { $0.tenant == tenant }
            let tickets = ids.compactMap { tables.tickets[$0] }.filter { $0.tenant == tenant }
            return tokens.tokens(of: access + tickets, at: now)
        }
    }

    public func access(openedBy job: JobID, of tenant: TenantID) async throws(AttachmentError) -> [OpenedAccess] {
        read { tables, now in
            guard let job = tables.job(job, of: tenant) else { return [] }
            return tables.attachments(of: job).flatMap { attachment in
                tables.access.values.filter {
                    $0.isByJob && $0.tenant == tenant && $0.attachment == attachment.record.id && $0.isLive(at: now)
                }
            }.compactMap { access in
                tokens.token(access.kind.token, id: access.id, kid: access.kid).map { token in
                    OpenedAccess(
                        attachment: access.attachment, id: access.id, kind: access.kind.token,
                        expiresAt: access.expiresAt, token: token)
                }
            }
        }
    }

    public func liveAccess(
        of tenant: TenantID, startingWith prefix: String, limit: Int
    ) async throws(AttachmentError) -> [String] {
        read { tables, now in
            tables.access.values.filter { $0.tenant == tenant && $0.isLive(at: now) && $0.id.hasPrefix(prefix) }
                .sorted { ($1.createdAt, $0.id) < ($0.createdAt, $1.id) }.prefix(limit).map(\.id)
        }
    }

    public var revocations: UInt64? {
        shared.countsRevocations ? shared.revocations.load(ordering: .acquiring) : nil
    }

    public func stillOpen(_ ids: Set<String>) async throws(AttachmentError) -> [String: Instant] {
        guard !shared.isSilent.load(ordering: .relaxed) else {
            throw .storeFailed(reason: "the records are unavailable")
        }
        return read { tables, _ in
            let found = ids.compactMap { tables.access[$0] }.filter { $0.endedAt == nil }
            return Dictionary(uniqueKeysWithValues: found.map { ($0.id, $0.expiresAt) })
        }
    }
}

extension MemoryTables {
    fileprivate func access(
        _ token: AccessToken, _ kinds: [AccessEntry.Kind], _ tokens: KeyRing, at now: Instant
    ) -> AccessEntry? {
        tokens.entry(of: token, kinds.map(\.token), at: now) { access[$0] }
    }

    fileprivate func access(
        _ id: String, in scope: AccessScope, _ kinds: [AccessEntry.Kind], _ tokens: KeyRing, at now: Instant
    ) -> AccessEntry? {
        let found = access[id].flatMap { kinds.contains($0.kind) ? $0 : nil }
        switch scope {
        case .owner(let tenant):
            return found.flatMap { $0.tenant == tenant ? $0 : nil }
        case .bearer(let token):
            guard let grant = access(token, [.grant], tokens, at: now), let found, found.tenant == grant.tenant
            else { return nil }
            let line = found.parent.map(ancestors) ?? []
            return found.id == grant.id || line.contains { $0.id == grant.id } ? found : nil
        }
    }

    /// Whether a tenant has the delivered attachment with all that is to be opened.
    fileprivate func hasRenditions(_ entry: AccessEntry) -> Bool {
        let roles = attachments[Owned(tenant: entry.tenant, id: entry.attachment)]?.blobs ?? [:]
        guard let wanted = entry.renditions else { return !roles.isEmpty }
        return !wanted.isEmpty && wanted.allSatisfy { roles[$0] != nil }
    }

    /// A grant and those that it was derived from.
    fileprivate func ancestors(of grant: String) -> [AccessEntry] {
        Array(sequence(first: access[grant]) { $0?.parent.map { access[$0] } }.compactMap(\.self))
    }

    /// The leases that live under a grant or under one derived from it.
    fileprivate func liveLeases(under grant: AccessEntry, at now: Instant) -> Int {
        liveLeases(of: grant.tenant, at: now).count { lease in
            (lease.parent.map(ancestors) ?? []).contains { $0.id == grant.id }
        }
    }

    /// Ends access with all that was derived from it.
    mutating func end(_ id: String, at now: Instant) {
        guard let root = access[id] else { return }
        let near = accessTo[Owned(tenant: root.tenant, id: root.attachment)] ?? []
        let fallen = near.compactMap { access[$0] }.filter { entry in
            entry.endedAt == nil && ancestors(of: entry.id).contains { $0.id == id }
        }
        for var entry in fallen {
            entry.endedAt = now
            put(entry)
        }
        if !fallen.isEmpty { takesAccessBack = true }
    }
}
