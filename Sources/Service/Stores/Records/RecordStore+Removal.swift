public import SatchelCore
internal import Postgres

extension RecordStore {
    /// Begins to remove a tenant: in one transaction all that opens something ends, and what is to happen is called off: its
    /// keys, grants, leases, links, tickets, sessions and uploads, its jobs, firings and calls. Idempotent.
    public func beginRemoval(of tenant: TenantID) async throws(AttachmentError) {
        try await write { work in
            try work.run(
                """
                INSERT INTO tenants (tenant, removed_at) VALUES ($1, $2)
                ON CONFLICT (tenant) DO UPDATE SET removed_at = coalesce(tenants.removed_at, excluded.removed_at)
                """, [.raw(tenant), .time(work.now)])
            try work.endAll(of: tenant)
        }
    }

    /// Removes a part of what is kept of a tenant that is being removed, at most so many rows of a kind with their bytes.
    ///
    /// - Returns: Whether that was all: then nothing is known of the tenant.
    public func removePart(of tenant: TenantID, limit: Int) async throws(AttachmentError) -> Bool {
        try await write { work in try work.removePart(of: tenant, limit: limit) }
    }

    /// The tenants that are being removed.
    public func tenantsInRemoval() async throws(AttachmentError) -> [TenantID] {
        try await read { work in
            try work.run("SELECT tenant FROM tenants WHERE removed_at IS NOT NULL ORDER BY tenant")
                .map { TenantID(rawValue: try $0.text("tenant")) }
        }
    }
}

extension RecordTransaction {
    /// Ends what opens something, and calls off what is to happen. Who has a job in hand finds that out as it records what came
    /// of it.
    fileprivate func endAll(of tenant: TenantID) throws {
        let values: [SQLValue] = [.raw(tenant), .time(now)]
        let lost = try run("DELETE FROM queue WHERE tenant = $1 RETURNING job, claim, run, lane", [.raw(tenant)])
        _ = try send(try lost.flatMap { try forgoing($0.optionalText("claim"), of: $0.int64("job")) })
        for row in lost where try row.text("run").isEmpty { change(tenant, jobs: -1, in: try row.value("lane")) }
        let ended = try run(
            "UPDATE access SET ended_at = $2 WHERE tenant = $1 AND ended_at IS NULL RETURNING kind", values)
        for row in ended { change(tenant, try row.value("kind"), by: -1) }
        takesBack = true
        let uploads = try run(
            """
            UPDATE uploads SET state = 'cancelled', finished_at = $2
            WHERE tenant = $1 AND state IN ('open', 'complete') RETURNING source
            """, values)
        for row in uploads { released.insert(SourceName(rawValue: try row.text("source"))) }
        let statements = [
            // None of these is in the queue any more.
            "UPDATE jobs SET state = 'cancelled', finished_at = $2 WHERE tenant = $1 AND state = 'pending'",
            "UPDATE api_keys SET revoked_at = $2 WHERE tenant = $1 AND revoked_at IS NULL",
            "UPDATE tickets SET ended_at = $2 WHERE tenant = $1 AND ended_at IS NULL",
            """
            UPDATE notifications
            SET state = 'cancelled', revision = revision + 1, next_at = NULL, media_job = NULL, media_at = NULL, finished_at = $2
            WHERE tenant = $1 AND state = 'pending'
            """,
        ]
        let deletions = [
            "DELETE FROM console_sessions WHERE tenant = $1", "DELETE FROM upload_usage WHERE tenant = $1",
            "DELETE FROM calls WHERE tenant = $1 AND state = 'pending'",
            "DELETE FROM firings WHERE tenant = $1 AND state = 'pending'",
        ]
        _ = try send(
            statements.map { Statement($0, values) }
                + deletions.map { Statement($0, [.raw(tenant)]) })
        wakes.insert(.ended)
    }

    /// What is left when the jobs are gone, with the keys of the rows.
    private static let leftovers = [
        ("notifications", "key"), ("tickets", "id"), ("access", "id"), ("uploads", "id"), ("calls", "id"),
        ("idempotency_keys", "key"), ("categories", "id"), ("api_keys", "id"), ("console_sessions", "hash"),
        ("audit", "key"), ("labels", "job"),
    ]

    /// - Returns: Whether that was all.
    fileprivate func removePart(of tenant: TenantID, limit: Int) throws -> Bool {
        try endAll(of: tenant)
        let keys = try run(
            "SELECT key FROM jobs WHERE tenant = $1 ORDER BY key LIMIT $2", [.raw(tenant), .int(limit)]
        ).map { try $0.int64("key") }
        for key in keys {
            guard let job = try lock(key) else { continue }
            let attachments = try run("SELECT id FROM attachments WHERE job = $1", [.int(key)])
            try releaseAttachments(
                try attachments.map { AttachmentID(rawValue: try $0.text("id")) }, of: tenant)
            try deleteJob(job, where: "true")
        }
        var isAll = keys.count < limit
        for (table, key) in Self.leftovers {
            // Waits for locked rows, and takes no row of another tenant with the same key.
            let gone = try run(
                """
                DELETE FROM \(table) WHERE tenant = $1 AND \(key) IN (
                    SELECT \(key) FROM \(table) WHERE tenant = $1 LIMIT $2 FOR UPDATE)
                """, [.raw(tenant), .int(limit)])
            if gone.changes >= limit { isAll = false }
        }
        guard isAll else { return false }
        usage.removeValue(forKey: tenant)
        for table in ["tallies", "usage", "upload_usage", "pending_notifications", "tenants"] {
            try run("DELETE FROM \(table) WHERE tenant = $1", [.raw(tenant)])
        }
        return true
    }
}
