public import SatchelCore
internal import HashTreeCollections

extension MemoryRecordStore {
    public func createKey(
        named name: String, for tenant: TenantID, roles: [AccessRole], lasting duration: Duration?
    ) async throws(AttachmentError) -> (APIKeyRecord, AccessToken) {
        let (id, token) = TokenFormat.newAPIKey()
        let record = try await write { tables, now in
            let record = APIKeyRecord(
                id: id, tenant: tenant, name: name, roles: roles, createdAt: now,
                expiresAt: duration.map { now + $0 }, revokedAt: nil)
            tables.keys[id] = MemoryTables.Key(record: record, hash: token.hash)
            tables.note(.made(record), at: now)
            return record
        }
        return (record, token)
    }

    public func keys(of tenant: TenantID?) async throws(AttachmentError) -> [APIKeyRecord] {
        read { tables, _ in
            tables.keys.values.map(\.record).filter { tenant == nil || $0.tenant == tenant }
                .sorted { ($1.createdAt, $0.id) < ($0.createdAt, $1.id) }
        }
    }

    public func keys(
        of tenant: TenantID, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<APIKeyRecord> {
        KeyPlace.page(
            of: try await keys(of: tenant).filter { key in cursor.map { KeyPlace(key).isBehind($0) } ?? true },
            limit: limit)
    }

    public func hasKeys() async throws(AttachmentError) -> Bool {
        read { tables, now in tables.keys.values.contains { $0.record.isGood(at: now) } }
    }

    public func revokeKey(_ id: String, of tenant: TenantID?) async throws(AttachmentError) -> Bool {
        try await write { tables, now in
            guard var key = tables.keys[id], key.record.belongs(to: tenant) else { return false }
            if key.record.revokedAt == nil {
                key.record.revokedAt = now
                tables.keys[id] = key
                tables.takesAccessBack = true
                tables.note(AuditNote(.revoked, .key, id, of: key.record.tenant), at: now)
            }
            return true
        }
    }

    public func rotateKey(
        _ id: String, of tenant: TenantID?, overlap: Duration
    ) async throws(AttachmentError) -> (APIKeyRecord, AccessToken)? {
        let (newID, token) = TokenFormat.newAPIKey()
        let record = try await write { tables, now -> APIKeyRecord? in
            guard var key = tables.keys[id], key.record.belongs(to: tenant), key.record.isGood(at: now) else {
                return nil
            }
            var record = key.record
            let end = now + max(overlap, .zero)
            if record.expiresAt.map({ end < $0 }) ?? true {
                key.record.expiresAt = end
                tables.keys[id] = key
                tables.takesAccessBack = true
            }
            record.id = newID
            record.createdAt = now
            tables.keys[newID] = MemoryTables.Key(record: record, hash: token.hash)
            tables.note(.rotated(id, into: record), at: now)
            return record
        }
        return record.map { ($0, token) }
    }

    public func authenticate(_ key: AccessToken) async throws(AttachmentError) -> APIKeyRecord? {
        read { tables, now in
            TokenFormat.record(of: key, at: now) { id in tables.keys[id].map { ($0.record, $0.hash) } }
        }
    }
}
