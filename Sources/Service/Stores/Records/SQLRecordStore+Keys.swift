public import SatchelCore
internal import Postgres

extension SQLRecordStore {
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

    public func keys(of tenant: TenantID?) async throws(AttachmentError) -> [APIKeyRecord] {
        try await read { work in
            try work.run(
                "SELECT * FROM api_keys WHERE $1::text IS NULL OR tenant = $1 ORDER BY created_at DESC, id",
                [.text(tenant?.rawValue)]
            ).map { try APIKeyRecord($0) }
        }
    }

    public func keys(
        of tenant: TenantID, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<APIKeyRecord> {
        let place = cursor.map { KeyPlace(cursor: $0) }
        return try await read { work in
            let rows = try work.run(
                """
                SELECT * FROM api_keys WHERE tenant = $1 AND created_at <= $2 AND (created_at < $2 OR id COLLATE "C" > $3)
                ORDER BY created_at DESC, id COLLATE "C" LIMIT $4
                """,
                [
                    .text(tenant.rawValue), .int(place?.createdAt ?? Int64.max), .text(place?.id ?? ""),
                    .int(KeyPlace.rows(of: limit)),
                ])
            return KeyPlace.page(of: try rows.map { try APIKeyRecord($0) }, limit: limit)
        }
    }

    public func hasKeys() async throws(AttachmentError) -> Bool {
        try await read { work in
            try !work.run(
                "SELECT 1 FROM api_keys WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $1) LIMIT 1",
                [.int(work.now.milliseconds)]
            ).isEmpty
        }
    }

    public func revokeKey(_ id: String, of tenant: TenantID?) async throws(AttachmentError) -> Bool {
        try await write { work in
            let row = try work.run("SELECT * FROM api_keys WHERE id = $1 FOR UPDATE", [.text(id)]).first
            guard let key = try row.map({ try APIKeyRecord($0) }), key.belongs(to: tenant) else { return false }
            guard key.revokedAt == nil else { return true }
            try work.run(
                "UPDATE api_keys SET revoked_at = $2 WHERE id = $1", [.text(id), .int(work.now.milliseconds)])
            work.takesBack = true
            work.note(AuditNote(.revoked, .key, id, of: key.tenant))
            return true
        }
    }

    public func rotateKey(
        _ id: String, of tenant: TenantID?, overlap: Duration
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
                    "UPDATE api_keys SET expires_at = $2 WHERE id = $1", [.text(id), .int(end.milliseconds)])
            }
            record.id = newID
            record.createdAt = work.now
            if try work.insert(record, hash: token.hash) { work.note(.rotated(id, into: record)) }
            return record
        }
        return record.map { ($0, token) }
    }

    public func authenticate(_ key: AccessToken) async throws(AttachmentError) -> APIKeyRecord? {
        let id = TokenFormat.parse(key.secretText)?.id ?? String(repeating: "0", count: TokenFormat.idLength)
        return try await read { work in
            let row = try work.run("SELECT * FROM api_keys WHERE id = $1", [.text(id)]).first
            return try TokenFormat.record(of: key, at: work.now) { _ in
                try row.map { (try APIKeyRecord($0), try $0.text("sha256")) }
            }
        }
    }
}

extension APIKeyRecord {
    fileprivate init(_ row: RecordRow) throws {
        self.init(
            id: try row.text("id"), tenant: TenantID(rawValue: try row.text("tenant")), name: try row.text("name"),
            roles: try Column.value([AccessRole].self, from: row.text("roles")),
            createdAt: try row.instant("created_at"), expiresAt: try row.optionalInstant("expires_at"),
            revokedAt: try row.optionalInstant("revoked_at"))
    }
}

extension RecordTransaction {
    /// - Returns: Whether it is new: done again after an answer that was lost, it is there already.
    fileprivate func insert(_ key: APIKeyRecord, hash: String) throws -> Bool {
        try run(
            """
            INSERT INTO api_keys (id, tenant, name, roles, sha256, created_at, expires_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (id) DO NOTHING
            """,
            [
                .text(key.id), .text(key.tenant.rawValue), .text(key.name), .text(try Column.text(key.roles)),
                .text(hash),
                .int(key.createdAt.milliseconds), .int(key.expiresAt?.milliseconds),
            ]
        ).changes > 0
    }
}
