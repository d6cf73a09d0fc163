public import Attachments
internal import FoundationEssentials
internal import GRDB

/// How long and how often access may be given.
public enum AccessLimits {
    /// No grant, lease or link lasts longer: 30 days.
    public static let longest: Duration = .seconds(30 * 86_400)
    /// A grant, where nothing else is asked: 1 hour.
    public static let grant: Duration = .seconds(3600)
    /// A lease, where nothing else is asked: 5 minutes.
    public static let lease: Duration = .seconds(300)
    /// A link, where nothing else is asked: 24 hours.
    public static let link: Duration = .seconds(86_400)
    /// Grants may be derived from grants this often; a count over all that was derived stays cheap.
    public static let deepestGrant = 8
}

extension SQLiteRecordStore {
    public func grant(
        on attachment: AttachmentID, of tenant: TenantID, renditions: [RenditionRole]?, for duration: Duration,
        leaseLimit: Int
    ) async throws(AttachmentError) -> (GrantRecord, AccessToken)? {
        let kid = try currentKey()
        let record = try await write { database, now -> GrantRecord? in
            guard try database.hasRenditions(renditions, attachment, of: tenant) else { return nil }
            let row = AccessRow(
                kind: .grant, tenant: tenant, attachment: attachment, renditions: renditions,
                leaseLimit: max(leaseLimit, 1), kid: kid, createdAt: now, expiresAt: now + Self.clamped(duration))
            try database.insert(row)
            return row.grant
        }
        return try record.map { record throws(AttachmentError) in
            (record, try derive(.grant, id: record.id, kid: kid))
        }
    }

    public func narrow(
        _ parent: AccessToken, renditions: [RenditionRole]?, for duration: Duration, leaseLimit: Int?
    ) async throws(AttachmentError) -> (GrantRecord, AccessToken)? {
        guard try await isLiveGrant(parent) else { return nil }
        let kid = try currentKey()
        let record = try await write { [keys] database, now -> GrantRecord? in
            guard let parent = try database.access(parent, [.grant], keys: keys, at: now),
                let allowed = parent.allowed(renditions),
                try database.ancestors(of: parent.id).count < AccessLimits.deepestGrant
            else { return nil }
            let row = AccessRow(
                kind: .grant, tenant: parent.tenant, attachment: parent.attachment, parent: parent.id,
                renditions: allowed.roles,
                leaseLimit: min(max(leaseLimit ?? parent.leaseLimit ?? 1, 1), parent.leaseLimit ?? 1), kid: kid,
                createdAt: now, expiresAt: min(now + Self.clamped(duration), parent.expiresAt))
            try database.insert(row)
            return row.grant
        }
        return try record.map { record throws(AttachmentError) in
            (record, try derive(.grant, id: record.id, kid: kid))
        }
    }

    public func startLease(
        on attachment: AttachmentID, of tenant: TenantID, renditions: [RenditionRole]?, for duration: Duration
    ) async throws(AttachmentError) -> (LeaseRecord, AccessToken)? {
        try await startLease(on: attachment, of: tenant, renditions: renditions, for: duration, within: Quotas())
    }

    public func startLease(
        on attachment: AttachmentID, of tenant: TenantID, renditions: [RenditionRole]?, for duration: Duration,
        within quotas: Quotas
    ) async throws(AttachmentError) -> (LeaseRecord, AccessToken)? {
        let kid = try currentKey()
        let record = try await write { database, now -> LeaseRecord? in
            guard try database.hasRenditions(renditions, attachment, of: tenant) else { return nil }
            try database.admitLease(of: tenant, within: quotas, at: now)
            let row = AccessRow(
                kind: .lease, tenant: tenant, attachment: attachment, renditions: renditions, kid: kid,
                createdAt: now, expiresAt: now + Self.clamped(duration))
            try database.insert(row)
            return row.lease
        }
        return try record.map { record throws(AttachmentError) in
            (record, try derive(.lease, id: record.id, kid: kid))
        }
    }

    public func startLease(
        under grant: AccessToken, renditions: [RenditionRole]?, for duration: Duration
    ) async throws(AttachmentError) -> (LeaseRecord, AccessToken)? {
        try await startLease(under: grant, renditions: renditions, for: duration, within: Quotas())
    }

    public func startLease(
        under grant: AccessToken, renditions: [RenditionRole]?, for duration: Duration, within quotas: Quotas
    ) async throws(AttachmentError) -> (LeaseRecord, AccessToken)? {
        guard try await isLiveGrant(grant) else { return nil }
        let kid = try currentKey()
        let record = try await write { [keys] database, now -> LeaseRecord? in
            guard let grant = try database.access(grant, [.grant], keys: keys, at: now),
                let allowed = grant.allowed(renditions),
                try database.hasRenditions(allowed.roles, grant.attachment, of: grant.tenant)
            else { return nil }
            try database.admitLease(of: grant.tenant, within: quotas, at: now)
            // A lease counts against its grant and every grant that one was derived from.
            for ancestor in try database.ancestors(of: grant.id) {
                guard try database.liveLeases(under: ancestor.id, at: now) < ancestor.leaseLimit else {
                    throw AttachmentError.quotaExceeded(what: "leases of this grant")
                }
            }
            let row = AccessRow(
                kind: .lease, tenant: grant.tenant, attachment: grant.attachment, parent: grant.id,
                renditions: allowed.roles, kid: kid, createdAt: now,
                expiresAt: min(now + Self.clamped(duration), grant.expiresAt))
            try database.insert(row)
            return row.lease
        }
        return try record.map { record throws(AttachmentError) in
            (record, try derive(.lease, id: record.id, kid: kid))
        }
    }

    public func lease(_ id: String, of tenant: TenantID) async throws(AttachmentError) -> LeaseRecord? {
        try await read { database, _ in try database.access(id, of: tenant, [.lease])?.lease }
    }

    public func renewLease(
        _ id: String, of tenant: TenantID, for duration: Duration
    ) async throws(AttachmentError) -> LeaseRecord? {
        try await write { database, now in
            guard let lease = try database.access(id, of: tenant, [.lease]) else { return nil }
            return try database.renew(lease, for: duration, at: now)?.lease
        }
    }

    public func link(
        to attachment: AttachmentID, of tenant: TenantID, renditions: [RenditionRole]?, for duration: Duration
    ) async throws(AttachmentError) -> (LinkRecord, AccessToken)? {
        try await link(to: attachment, of: tenant, renditions: renditions, for: duration, delivery: .private)
    }

    public func link(
        to attachment: AttachmentID, of tenant: TenantID, renditions: [RenditionRole]?, for duration: Duration,
        delivery: DeliveryMode
    ) async throws(AttachmentError) -> (LinkRecord, AccessToken)? {
        let kid = try currentKey()
        let record = try await write { database, now -> LinkRecord? in
            guard try database.hasRenditions(renditions, attachment, of: tenant) else { return nil }
            var row = AccessRow(
                kind: .link, tenant: tenant, attachment: attachment, renditions: renditions, kid: kid,
                createdAt: now, expiresAt: now + Self.clamped(duration))
            row.delivery = delivery
            try database.insert(row)
            return row.link
        }
        return try record.map { record throws(AttachmentError) in
            (record, try derive(.link, id: record.id, kid: kid))
        }
    }

    public func revoke(_ id: String, of tenant: TenantID) async throws(AttachmentError) -> Bool {
        try await write { database, now in
            guard let access = try database.access(id, of: tenant, AccessRow.Kind.allCases) else { return false }
            try database.end(access, at: now)
            return true
        }
    }

    public func resolve(
        _ token: AccessToken, role: RenditionRole
    ) async throws(AttachmentError) -> (AttachmentRecord, BlobName)? {
        try await read { [keys] database, now in
            guard let access = try database.access(token, [.lease, .link], keys: keys, at: now),
                access.allowed([role]) != nil,
                let record = try database.attachmentRecord(access.attachment, of: access.tenant),
                let blob = try database.texts(
                    "SELECT blob FROM renditions WHERE tenant = ? AND attachment = ? AND role = ?",
                    [access.tenant.rawValue, access.attachment.rawValue, role.rawValue]
                ).first
            else { return nil }
            return (record, BlobName(rawValue: blob))
        }
    }

    public func token(_ id: String, of tenant: TenantID) async throws(AttachmentError) -> AccessToken? {
        try await read { [keys] database, now in
            guard let access = try database.access(id, of: tenant, AccessRow.Kind.allCases), access.isLive(at: now)
            else { return nil }
            return keys.token(access.kind.token, id: access.id, kid: access.kid)
        }
    }

    /// The keys that live tokens were derived with, and the headers of unfinished jobs encrypted.
    func keysInUse() async throws(AttachmentError) -> Set<String> {
        try await read { database, now in
            Set(
                try database.texts(
                    """
                    SELECT DISTINCT kid FROM access WHERE expires_at > ? AND ended_at IS NULL
                    UNION SELECT DISTINCT headers_kid FROM jobs WHERE headers_kid IS NOT NULL
                    """, [now.milliseconds]))
        }
    }

    /// A look before a write: who holds no good token makes no work for the writer.
    func isLiveGrant(_ token: AccessToken) async throws(AttachmentError) -> Bool {
        try await read { [keys] database, now in
            try database.access(token, [.grant], keys: keys, at: now) != nil
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

    static func clamped(_ duration: Duration) -> Duration {
        min(max(duration, .zero), AccessLimits.longest)
    }
}
