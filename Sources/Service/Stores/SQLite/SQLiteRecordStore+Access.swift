public import SatchelCore
internal import FoundationEssentials
internal import GRDB

extension SQLiteRecordStore {
    public func grant(
        on attachment: AttachmentID?, in scope: AccessScope, renditions: [RenditionRole]?, for duration: Duration,
        leaseLimit: Int?
    ) async throws(AttachmentError) -> (GrantRecord, AccessToken)? {
        try await give(on: attachment, in: scope) { origin, id, kid, now in
            origin.derive(
                .grant, id: id, key: kid, to: renditions, for: duration, leaseLimit: leaseLimit, at: now)
        } admitted: { database, grant, _ in
            try grant.parent.map { try database.ancestors(of: $0).count < AccessLimits.deepestGrant } ?? true
        }.map { ($0.grant, $1) }
    }

    public func startLease(
        on attachment: AttachmentID?, in scope: AccessScope, renditions: [RenditionRole]?, for duration: Duration,
        within quotas: Quotas
    ) async throws(AttachmentError) -> (LeaseRecord, AccessToken)? {
        try await give(on: attachment, in: scope) { origin, id, kid, now in
            origin.derive(.lease, id: id, key: kid, to: renditions, for: duration, at: now)
        } admitted: { database, lease, now in
            try database.admitLease(of: lease.tenant, within: quotas, at: now)
            // A lease counts against its grant and every grant that one was derived from.
            for ancestor in try lease.parent.map(database.ancestors) ?? [] {
                guard try database.liveLeases(under: ancestor.id, at: now) < ancestor.leaseLimit else {
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

    /// Records new access and makes its token; nil where the scope has nothing to give.
    private func give(
        on attachment: AttachmentID?, in scope: AccessScope,
        derive: @escaping @Sendable (AccessOrigin, _ id: String, _ kid: String, Instant) -> AccessEntry?,
        admitted: @escaping @Sendable (Database, AccessEntry, Instant) throws -> Bool
    ) async throws(AttachmentError) -> (AccessEntry, AccessToken)? {
        guard try await isLive(scope) else { return nil }
        let kid = try currentKey()
        let given = try await write { [keys] database, now -> AccessEntry? in
            guard let origin = try database.origin(of: attachment, in: scope, keys: keys, at: now),
                let entry = derive(origin, TokenFormat.newID(), kid, now),
                try database.hasRenditions(entry.renditions, entry.attachment, of: entry.tenant),
                try admitted(database, entry, now)
            else { return nil }
            try database.insert(entry)
            try database.note(.made(entry), at: now)
            return entry
        }
        guard let given else { return nil }
        guard let token = keys.token(given.kind.token, id: given.id, kid: kid) else {
            throw .storeFailed(reason: "the key of a new token was removed")
        }
        return (given, token)
    }

    public func grant(_ id: String, in scope: AccessScope) async throws(AttachmentError) -> GrantRecord? {
        try await read { [keys] database, now in
            try database.access(id, in: scope, [.grant], keys: keys, at: now)?.grant
        }
    }

    public func grant(of token: AccessToken) async throws(AttachmentError) -> GrantRecord? {
        try await read { [keys] database, now in
            try database.access(token, [.grant], keys: keys, at: now)?.grant
        }
    }

    public func lease(_ id: String, in scope: AccessScope) async throws(AttachmentError) -> LeaseRecord? {
        try await read { [keys] database, now in
            try database.access(id, in: scope, [.lease], keys: keys, at: now)?.lease
        }
    }

    public func renewLease(
        _ id: String, in scope: AccessScope, for duration: Duration
    ) async throws(AttachmentError) -> LeaseRecord? {
        guard try await isLive(scope) else { return nil }
        return try await write { [keys] database, now -> LeaseRecord? in
            guard var lease = try database.access(id, in: scope, [.lease], keys: keys, at: now), lease.isLive(at: now)
            else { return nil }
            let grant = try lease.parent.flatMap { try database.access($0, of: lease.tenant, [.grant]) }
            lease.expiresAt = AccessLimits.end(of: duration, from: now, within: grant)
            try database.run(
                "UPDATE access SET expires_at = ? WHERE id = ?", [lease.expiresAt.milliseconds, lease.id])
            return lease.lease
        }
    }

    public func revoke(_ id: String, in scope: AccessScope) async throws(AttachmentError) -> Bool {
        guard try await isLive(scope) else { return false }
        return try await write { [keys] database, now in
            let access = try database.access(id, in: scope, AccessEntry.Kind.allCases, keys: keys, at: now)
            guard let access else { return false }
            try database.end(access, at: now)
            try database.note(.revoked(access), at: now)
            return true
        }
    }

    /// A look before a write: who holds no good token makes no work for the writer.
    private func isLive(_ scope: AccessScope) async throws(AttachmentError) -> Bool {
        guard case .bearer(let token) = scope else { return true }
        return try await grant(of: token) != nil
    }

    public func tokens(
        _ ids: Set<String>, of tenant: TenantID
    ) async throws(AttachmentError) -> [String: AccessToken] {
        guard !ids.isEmpty else { return [:] }
        return try await read { [keys] database, now in
            let access = try ids.compactMap { try database.access($0, of: tenant, AccessEntry.Kind.allCases) }
            let tickets = try ids.compactMap { try database.ticket($0) }.filter { $0.tenant == tenant }
            return keys.tokens(of: access + tickets, at: now)
        }
    }

    func currentKey() throws(AttachmentError) -> String {
        do { return try keys.current() } catch { throw .storeFailed(reason: error.description) }
    }

    private func derive(_ kind: TokenKind, id: String, kid: String) throws(AttachmentError) -> AccessToken {
        guard let token = keys.token(kind, id: id, kid: kid) else {
            throw .storeFailed(reason: "the key of a new token was removed")
        }
        return token
    }

    /// The ids of what a tenant's grants, leases and links are that live, the newest first.
    public func liveAccess(
        of tenant: TenantID, startingWith prefix: String, limit: Int
    ) async throws(AttachmentError) -> [String] {
        try await read { database, now in
            try database.rows(
                """
                SELECT id FROM access
                WHERE tenant = ? AND ended_at IS NULL AND expires_at > ? AND substr(id, 1, length(?)) = ?
                ORDER BY created_at DESC, id LIMIT ?
                """, [tenant.rawValue, now.milliseconds, prefix, prefix, limit]
            ).map { $0["id"] }
        }
    }
}

extension Database {
    /// What new access in a scope is derived from; nil where the scope opens nothing of the kind.
    fileprivate func origin(
        of attachment: AttachmentID?, in scope: AccessScope, keys: KeyRing, at now: Instant
    ) throws -> AccessOrigin? {
        switch scope {
        case .owner(let tenant):
            return attachment.map { .attachment($0, of: tenant) }
        case .bearer(let token):
            let grant = try access(token, [.grant], keys: keys, at: now)
            return grant.flatMap { attachment ?? $0.attachment == $0.attachment ? .grant($0) : nil }
        }
    }

    /// What a scope has under this id: a tenant anything, a grant's bearer the grant and what was derived from it.
    fileprivate func access(
        _ id: String, in scope: AccessScope, _ kinds: [AccessEntry.Kind], keys: KeyRing, at now: Instant
    ) throws -> AccessEntry? {
        switch scope {
        case .owner(let tenant):
            return try access(id, of: tenant, kinds)
        case .bearer(let token):
            guard let grant = try access(token, [.grant], keys: keys, at: now),
                let found = try access(id, of: grant.tenant, kinds)
            else { return nil }
            if found.id == grant.id { return found }
            let isDerived = try found.parent.map { try ancestors(of: $0).contains { $0.id == grant.id } } ?? false
            return isDerived ? found : nil
        }
    }

    /// Ends access with all that was derived from it.
    func end(_ access: AccessEntry, at now: Instant) throws {
        try run(
            """
            WITH RECURSIVE fallen(id) AS (
                SELECT ?
                UNION ALL
                SELECT access.id FROM access JOIN fallen ON access.parent = fallen.id
            )
            UPDATE access SET ended_at = ? WHERE id IN fallen AND ended_at IS NULL
            """, [access.id, now.milliseconds])
    }
}
