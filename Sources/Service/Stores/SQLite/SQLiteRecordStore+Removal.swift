public import SatchelCore
internal import GRDB

extension SQLiteRecordStore {
    public func beginRemoval(of tenant: TenantID) async throws(AttachmentError) {
        let superfluous = try await write { database, now in
            try database.run(
                """
                INSERT INTO tenants (tenant, removed_at) VALUES (?, ?)
                ON CONFLICT (tenant) DO UPDATE SET removed_at = coalesce(removed_at, excluded.removed_at)
                """, [tenant.rawValue, now.milliseconds])
            return try database.endAll(of: tenant, at: now)
        }
        await garbage.collect(superfluous)
    }

    public func removePart(of tenant: TenantID, limit: Int) async throws(AttachmentError) -> Bool {
        let (isAll, superfluous) = try await write { database, now in
            try database.removePart(of: tenant, limit: limit, at: now)
        }
        await garbage.collect(superfluous)
        return isAll
    }

    public func tenantsInRemoval() async throws(AttachmentError) -> [TenantID] {
        try await read { database, _ in
            try database.texts("SELECT tenant FROM tenants WHERE removed_at IS NOT NULL ORDER BY tenant")
                .map(TenantID.init(rawValue:))
        }
    }
}

extension Database {
    /// What ends, and what is called off, of a tenant whose name is the first argument; the second is the time.
    private static let endings = [
        "UPDATE api_keys SET revoked_at = ?2 WHERE tenant = ?1 AND revoked_at IS NULL",
        "UPDATE access SET ended_at = ?2 WHERE tenant = ?1 AND ended_at IS NULL",
        "UPDATE tickets SET ended_at = ?2 WHERE tenant = ?1 AND ended_at IS NULL",
        """
        UPDATE uploads SET state = 'cancelled', finished_at = ?2
        WHERE tenant = ?1 AND state IN ('open', 'complete')
        """,
        """
        UPDATE notifications
        SET state = 'cancelled', revision = revision + 1, next_at = NULL, media_job = NULL, media_at = NULL, finished_at = ?2
        WHERE tenant = ?1 AND state = 'pending'
        """,
    ]
    /// What goes at once.
    private static let passing = [
        "console_sessions WHERE tenant = ?", "upload_usage WHERE tenant = ?",
        "calls WHERE tenant = ? AND state = 'pending'", "firings WHERE tenant = ? AND state = 'pending'",
    ]

    /// - Returns: Blobs that nobody refers to any more.
    fileprivate func endAll(of tenant: TenantID, at now: Instant) throws -> [BlobName] {
        for sql in Self.endings { try run(sql, [tenant.rawValue, now.milliseconds]) }
        for rows in Self.passing { try run("DELETE FROM \(rows)", [tenant.rawValue]) }
        return try remove(jobs: "state IN ('pending', 'running')", of: tenant, limit: .max)
    }

    /// Removes jobs with all that they hold.
    private func remove(jobs condition: String, of tenant: TenantID, limit: Int) throws -> [BlobName] {
        let keys = try rows("SELECT key FROM jobs WHERE tenant = ? AND \(condition) LIMIT ?", [tenant.rawValue, limit])
            .map { $0["key"] as Int64 }
        return try keys.flatMap { key in
            let attachments = try texts("SELECT id FROM attachments WHERE job = ?", [key])
            let blobs = try attachments.flatMap {
                try releaseAttachment(AttachmentID(rawValue: $0), of: tenant)
            }
            try run("DELETE FROM jobs WHERE key = ?", [key])
            return blobs
        }
    }

    /// What is left when the jobs are gone: tables, with what their rows are known by.
    private static let leftovers = [
        ("notifications", "key"), ("tickets", "id"), ("access", "id"), ("uploads", "key"), ("calls", "id"),
        ("idempotency_keys", "key"), ("categories", "id"), ("api_keys", "id"), ("console_sessions", "hash"),
        ("audit", "key"),
    ]

    /// - Returns: Whether that was all, and blobs that nobody refers to any more.
    fileprivate func removePart(of tenant: TenantID, limit: Int, at now: Instant) throws -> (Bool, [BlobName]) {
        var superfluous = try endAll(of: tenant, at: now)
        superfluous += try remove(jobs: "true", of: tenant, limit: limit)
        var isAll = try row("SELECT 1 FROM jobs WHERE tenant = ? LIMIT 1", [tenant.rawValue]) == nil
        for (table, key) in Self.leftovers {
            try run(
                """
                DELETE FROM \(table) WHERE tenant = ?1 AND \(key) IN (
                    SELECT \(key) FROM \(table) WHERE tenant = ?1 LIMIT ?2)
                """, [tenant.rawValue, limit])
            if changesCount >= limit { isAll = false }
        }
        guard isAll else { return (false, superfluous) }
        for table in ["tallies", "usage", "upload_usage", "tenants"] {
            try run("DELETE FROM \(table) WHERE tenant = ?", [tenant.rawValue])
        }
        return (true, superfluous)
    }
}
