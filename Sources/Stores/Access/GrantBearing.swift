public import Attachments
internal import FoundationEssentials
internal import GRDB

/// What the bearer of a grant may do with what was derived from it.
extension SQLiteRecordStore {
    public func grant(_ token: AccessToken) async throws(AttachmentError) -> GrantRecord? {
        try await read { [keys] database, now in
            try database.access(token, [.grant], keys: keys, at: now)?.grant
        }
    }

    public func grant(_ id: String, of tenant: TenantID) async throws(AttachmentError) -> GrantRecord? {
        try await read { database, _ in try database.access(id, of: tenant, [.grant])?.grant }
    }

    public func lease(_ id: String, under grant: AccessToken) async throws(AttachmentError) -> LeaseRecord? {
        try await read { [keys] database, now -> LeaseRecord? in
            guard let grant = try database.access(grant, [.grant], keys: keys, at: now) else { return nil }
            return try database.access(id, under: grant, [.lease])?.lease
        }
    }

    public func renewLease(
        _ id: String, under grant: AccessToken, for duration: Duration
    ) async throws(AttachmentError) -> LeaseRecord? {
        guard try await isLiveGrant(grant) else { return nil }
        return try await write { [keys] database, now -> LeaseRecord? in
            guard let grant = try database.access(grant, [.grant], keys: keys, at: now),
                let lease = try database.access(id, under: grant, [.lease])
            else { return nil }
            return try database.renew(lease, for: duration, at: now)?.lease
        }
    }

    public func revoke(_ id: String, under grant: AccessToken) async throws(AttachmentError) -> Bool {
        guard try await isLiveGrant(grant) else { return false }
        return try await write { [keys] database, now in
            guard let grant = try database.access(grant, [.grant], keys: keys, at: now),
                let access = try database.access(id, under: grant, [.grant, .lease])
            else { return false }
            try database.end(access, at: now)
            return true
        }
    }
}

extension Database {
    /// What was derived from a grant, or the grant itself.
    fileprivate func access(_ id: String, under grant: AccessRow, _ kinds: [AccessRow.Kind]) throws -> AccessRow? {
        guard let access = try access(id, of: grant.tenant, kinds) else { return nil }
        if access.id == grant.id { return access }
        guard let parent = access.parent, try ancestors(of: parent).contains(where: { $0.id == grant.id })
        else { return nil }
        return access
    }

    /// Moves a live lease's end to `duration` from now, within its grant; nil where it isn't live.
    func renew(_ lease: AccessRow, for duration: Duration, at now: Instant) throws -> AccessRow? {
        guard lease.isLive(at: now) else { return nil }
        var renewed = lease
        renewed.expiresAt = now + SQLiteRecordStore.clamped(duration)
        if let parent = lease.parent, let grant = try access(parent, of: lease.tenant, [.grant]) {
            renewed.expiresAt = min(renewed.expiresAt, grant.expiresAt)
        }
        try run("UPDATE access SET expires_at = ? WHERE id = ?", [renewed.expiresAt.milliseconds, lease.id])
        return renewed
    }

    /// Ends access with all that was derived from it.
    func end(_ access: AccessRow, at now: Instant) throws {
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
