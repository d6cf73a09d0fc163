public import SatchelCore
internal import Postgres

extension RecordStore {
    /// A new key. The token is shown this once: only its hash is stored.
    public func createKey(
        named name: String, for tenant: TenantID, roles: [AccessRole], lasting duration: Duration?
    ) async throws(AttachmentError) -> (APIKeyRecord, AccessToken) {
        let (id, token) = TokenFormat.newAPIKey()
        let record = try await write { work in
            let record = APIKeyRecord(
                id: id, tenant: tenant, name: name, roles: roles, createdAt: work.now,
                expiresAt: duration.map { work.now + $0 }, revokedAt: nil)
            if try work.insert(record, hash: token.hash) { work.note(.made(record)) }
            return record
        }
        return (record, token)
    }

    /// All keys, or a tenant's, newest first.
    public func keys(of tenant: TenantID?) async throws(AttachmentError) -> [APIKeyRecord] {
        try await read { work in
            try work.run(
                "SELECT * FROM api_keys WHERE $1::text IS NULL OR tenant = $1 ORDER BY created_at DESC, id",
                [.raw(tenant)]
            ).map { try APIKeyRecord($0) }
        }
    }

    /// The keys of a tenant behind a cursor of an earlier page, newest first.
    public func keys(
        of tenant: TenantID, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<APIKeyRecord> {
        // A cursor that isn't one stands before all.
        let place = cursor?.split(separator: " ").map(String.init) ?? []
        let createdAt = place.count == 2 ? Int64(place[0]) : nil
        let limit = Self.pageLength(limit)
        return try await read { work in
            let rows = try work.run(
                """
                SELECT * FROM api_keys WHERE tenant = $1 AND created_at <= $2 AND (created_at < $2 OR id COLLATE "C" > $3)
                ORDER BY created_at DESC, id COLLATE "C" LIMIT $4
                """,
                [.raw(tenant), .int(createdAt ?? .max), .text(place.count == 2 ? place[1] : ""), .int(limit + 1)])
            return try Page(
                rows.map { ("\(try $0.int64("created_at")) \(try $0.text("id"))", try APIKeyRecord($0)) }, limit)
        }
    }

    /// Whether there is any key that is good now.
    public func hasKeys() async throws(AttachmentError) -> Bool {
        try await read { work in
            try !work.run(
                "SELECT 1 FROM api_keys WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $1) LIMIT 1",
                [.time(work.now)]
            ).isEmpty
        }
    }

    /// Takes a key back, and ends the sessions that were signed in with it; false if no key has that id. Idempotent.
    ///
    /// - Parameter tenant: The key's owner; nil for any.
    public func revokeKey(_ id: String, of tenant: TenantID? = nil) async throws(AttachmentError) -> Bool {
        try await write { work in
            let row = try work.run("SELECT * FROM api_keys WHERE id = $1 FOR UPDATE", [.text(id)]).first
            guard let key = try row.map({ try APIKeyRecord($0) }), key.belongs(to: tenant) else { return false }
            guard key.revokedAt == nil else { return true }
            try work.run(
                "UPDATE api_keys SET revoked_at = $2 WHERE id = $1", [.text(id), .time(work.now)])
            work.takesBack = true
            work.note(AuditNote(.revoked, .key, id, of: key.tenant))
            return true
        }
    }

    /// A new key with the name, tenant, roles and remaining time of an old one, which stays good for `overlap`; nil
    /// where there is none, or it is good no more.
    ///
    /// - Parameter tenant: As in ``revokeKey(_:of:)``.
    public func rotateKey(
        _ id: String, of tenant: TenantID? = nil, overlap: Duration
    ) async throws(AttachmentError) -> (APIKeyRecord, AccessToken)? {
        let (newID, token) = TokenFormat.newAPIKey()
        let record = try await write { work -> APIKeyRecord? in
            let row = try work.run("SELECT * FROM api_keys WHERE id = $1 FOR UPDATE", [.text(id)]).first
            guard var record = try row.map({ try APIKeyRecord($0) }), record.belongs(to: tenant),
                record.isGood(at: work.now)
            else { return nil }
            let end = work.now + max(overlap, .zero)
            if record.expiresAt.map({ end < $0 }) ?? true {
                work.takesBack = true
                try work.run(
                    "UPDATE api_keys SET expires_at = $2 WHERE id = $1", [.text(id), .time(end)])
            }
            record.id = newID
            record.createdAt = work.now
            if try work.insert(record, hash: token.hash) { work.note(.rotated(id, into: record)) }
            return record
        }
        return record.map { ($0, token) }
    }

    /// Whom a key stands for right now; nil for a malformed, unknown, expired or revoked one, at the same cost.
    public func authenticate(_ key: AccessToken) async throws(AttachmentError) -> APIKeyRecord? {
        try await read { work in
            let row = try work.run("SELECT * FROM api_keys WHERE id = $1", [.text(TokenFormat.id(in: key))]).first
            let found = try row.map { (try APIKeyRecord($0), hash: try $0.text("sha256")) }
            return TokenFormat.record(found, of: key, at: work.now)
        }
    }
}

extension APIKeyRecord {
    fileprivate init(_ row: RecordRow) throws {
        self.init(
            id: try row.text("id"), tenant: try row.value("tenant"), name: try row.text("name"),
            roles: try row.json("roles"), createdAt: try row.instant("created_at"),
            expiresAt: try row.optionalInstant("expires_at"), revokedAt: try row.optionalInstant("revoked_at"))
    }
}

extension RecordTransaction {
    /// - Returns: Whether it is new: done again after an answer that was lost, it is there already.
    fileprivate func insert(_ key: APIKeyRecord, hash: String) throws -> Bool {
        try run(
            .insert(
                into: "api_keys",
                [
                    "id": .text(key.id), "tenant": .raw(key.tenant), "name": .text(key.name),
                    "roles": try .json(key.roles), "sha256": .text(hash), "created_at": .time(key.createdAt),
                    "expires_at": .time(key.expiresAt),
                ], "ON CONFLICT (id) DO NOTHING")
        ).changes > 0
    }
}
