public import SatchelCore
internal import GRDB

extension SQLiteRecordStore {
    public func createKey(
        named name: String, for tenant: TenantID, roles: [AccessRole], lasting duration: Duration?
    ) async throws(AttachmentError) -> (APIKeyRecord, AccessToken) {
        let (id, token) = TokenFormat.newAPIKey()
        let record = try await write { database, now in
            let record = APIKeyRecord(
                id: id, tenant: tenant, name: name, roles: roles, createdAt: now, expiresAt: duration.map { now + $0 },
                revokedAt: nil)
            try database.insert(record, hash: token.hash)
            try database.note(.made(record), at: now)
            return record
        }
        return (record, token)
    }

    /// Newest first.
    public func keys(of tenant: TenantID?) async throws(AttachmentError) -> [APIKeyRecord] {
        try await read { database, _ in
            let rows =
                if let tenant {
                    try database.rows(
                        "SELECT * FROM api_keys WHERE tenant = ? ORDER BY created_at DESC, id", [tenant.rawValue])
                } else {
                    try database.rows("SELECT * FROM api_keys ORDER BY created_at DESC, id")
                }
            return try rows.map(APIKeyRecord.init)
        }
    }

    public func keys(
        of tenant: TenantID, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<APIKeyRecord> {
        let place = cursor.map { KeyPlace(cursor: $0) }
        return try await read { database, _ in
            let rows = try database.rows(
                """
                SELECT * FROM api_keys WHERE tenant = ? AND created_at <= ? AND (created_at < ? OR id > ?)
                ORDER BY created_at DESC, id LIMIT ?
                """,
                [
                    tenant.rawValue, place?.createdAt ?? Int64.max, place?.createdAt ?? Int64.max, place?.id ?? "",
                    KeyPlace.rows(of: limit),
                ])
            return KeyPlace.page(of: try rows.map(APIKeyRecord.init), limit: limit)
        }
    }

    public func hasKeys() async throws(AttachmentError) -> Bool {
        try await read { database, now in
            try database.row(
                "SELECT 1 FROM api_keys WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?) LIMIT 1",
                [now.milliseconds]) != nil
        }
    }

    public func revokeKey(_ id: String, of tenant: TenantID?) async throws(AttachmentError) -> Bool {
        try await write { database, now in
            let key = try database.row("SELECT * FROM api_keys WHERE id = ?", [id]).map(APIKeyRecord.init)
            guard let key, key.belongs(to: tenant) else { return false }
            if key.revokedAt == nil { try database.note(AuditNote(.revoked, .key, id, of: key.tenant), at: now) }
            try database.run(
                "UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL", [now.milliseconds, id])
            return true
        }
    }

    public func rotateKey(
        _ id: String, of tenant: TenantID?, overlap: Duration
    ) async throws(AttachmentError) -> (APIKeyRecord, AccessToken)? {
        let (newID, token) = TokenFormat.newAPIKey()
        let record = try await write { database, now -> APIKeyRecord? in
            guard
                var record = try database.row("SELECT * FROM api_keys WHERE id = ?", [id]).map(APIKeyRecord.init),
                record.belongs(to: tenant), record.isGood(at: now)
            else { return nil }
            let end = now + max(overlap, .zero)
            if record.expiresAt.map({ end < $0 }) ?? true {
                try database.run("UPDATE api_keys SET expires_at = ? WHERE id = ?", [end.milliseconds, id])
            }
            record.id = newID
            record.createdAt = now
            try database.insert(record, hash: token.hash)
            try database.note(.rotated(id, into: record), at: now)
            return record
        }
        return record.map { ($0, token) }
    }

    public func authenticate(_ key: AccessToken) async throws(AttachmentError) -> APIKeyRecord? {
        try await read { database, now in
            try TokenFormat.record(of: key, at: now) { id in
                try database.row("SELECT * FROM api_keys WHERE id = ?", [id]).map {
                    (try APIKeyRecord($0), $0["sha256"])
                }
            }
        }
    }
}

extension APIKeyRecord {
    fileprivate init(_ row: Row) throws {
        self.init(
            id: row["id"], tenant: TenantID(rawValue: row["tenant"]), name: row["name"],
            roles: try Column.value([AccessRole].self, from: row["roles"]),
            createdAt: Instant(milliseconds: row["created_at"]), expiresAt: row.instant("expires_at"),
            revokedAt: row.instant("revoked_at"))
    }
}

extension Database {
    fileprivate func insert(_ key: APIKeyRecord, hash: String) throws {
        try run(
            """
            INSERT INTO api_keys (id, tenant, name, roles, sha256, created_at, expires_at)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            [
                key.id, key.tenant.rawValue, key.name, Column.text(key.roles), hash, key.createdAt.milliseconds,
                key.expiresAt?.milliseconds,
            ])
    }
}
