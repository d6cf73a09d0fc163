public import Attachments
internal import Crypto
internal import FoundationEssentials
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
            try database.insert(record, hash: Self.hash(token))
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

    public func hasKeys() async throws(AttachmentError) -> Bool {
        try await read { database, now in
            try database.row(
                "SELECT 1 FROM api_keys WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?) LIMIT 1",
                [now.milliseconds]) != nil
        }
    }

    public func revokeKey(_ id: String) async throws(AttachmentError) -> Bool {
        try await write { database, now in
            guard try database.row("SELECT 1 FROM api_keys WHERE id = ?", [id]) != nil else { return false }
            try database.run(
                "UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL", [now.milliseconds, id])
            return true
        }
    }

    public func rotateKey(
        _ id: String, overlap: Duration
    ) async throws(AttachmentError) -> (APIKeyRecord, AccessToken)? {
        let (newID, token) = TokenFormat.newAPIKey()
        let record = try await write { database, now -> APIKeyRecord? in
            guard
                var record = try database.row("SELECT * FROM api_keys WHERE id = ?", [id]).map(APIKeyRecord.init),
                record.isGood(at: now)
            else { return nil }
            let end = now + max(overlap, .zero)
            if record.expiresAt.map({ end < $0 }) ?? true {
                try database.run("UPDATE api_keys SET expires_at = ? WHERE id = ?", [end.milliseconds, id])
            }
            record.id = newID
            record.createdAt = now
            try database.insert(record, hash: Self.hash(token))
            return record
        }
        return record.map { ($0, token) }
    }

    /// Malformed, unknown, expired and revoked keys cost what a good one costs: one look-up, one hash, one comparison in
    /// constant time.
    public func authenticate(_ key: AccessToken) async throws(AttachmentError) -> APIKeyRecord? {
        let parsed = TokenFormat.parse(key.secretText)
        let id = parsed?.id ?? String(repeating: "0", count: TokenFormat.idLength)
        let hash = Self.hash(key)
        return try await read { database, now in
            let row = try database.row("SELECT * FROM api_keys WHERE id = ?", [id])
            let expected = (row?["sha256"] as String?) ?? String(repeating: "0", count: 64)
            // swift-crypto compares two digests in constant time.
            let isRight = SHA256.hash(data: Data(expected.utf8)) == SHA256.hash(data: Data(hash.utf8))
            guard isRight, parsed?.kind == .apiKey, let record = try row.map(APIKeyRecord.init),
                record.isGood(at: now)
            else { return nil }
            return record
        }
    }

    private static func hash(_ token: AccessToken) -> String {
        Column.digest(token.secretText)
    }
}

extension APIKeyRecord {
    fileprivate func isGood(at now: Instant) -> Bool {
        revokedAt == nil && expiresAt.map { $0 > now } ?? true
    }

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

extension TokenFormat {
    /// A random key: nothing but its hash is needed to know it again.
    fileprivate static func newAPIKey() -> (id: String, token: AccessToken) {
        var generator = SystemRandomNumberGenerator()
        let secret = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        let id = newID()
        return (id, AccessToken(secretText: compose(.apiKey, id: id, secret: secret)))
    }
}
