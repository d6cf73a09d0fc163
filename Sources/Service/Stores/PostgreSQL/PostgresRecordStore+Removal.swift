public import SatchelCore
internal import Postgres

extension PostgresRecordStore {
    public func beginRemoval(of tenant: TenantID) async throws(AttachmentError) {
        try await write { work in
            try await work.run(
                """
                INSERT INTO tenants (tenant, removed_at) VALUES ($1, $2)
                ON CONFLICT (tenant) DO UPDATE SET removed_at = coalesce(tenants.removed_at, excluded.removed_at)
                """, [.text(tenant.rawValue), .int(work.now.milliseconds)])
            try await work.endAll(of: tenant)
        }
    }

    public func removePart(of tenant: TenantID, limit: Int) async throws(AttachmentError) -> Bool {
        try await write { work in try await work.removePart(of: tenant, limit: limit) }
    }

    public func tenantsInRemoval() async throws(AttachmentError) -> [TenantID] {
        try await read { work in
            try await work.run("SELECT tenant FROM tenants WHERE removed_at IS NOT NULL ORDER BY tenant")
                .map { TenantID(rawValue: try $0.text("tenant")) }
        }
    }
}

extension PostgresWork {
    /// Ends what opens something, and calls off what is to happen. Who has a job in hand finds that out as it records what came
    /// of it.
    fileprivate func endAll(of tenant: TenantID) async throws {
        let values: [PostgresValue] = [.text(tenant.rawValue), .int(now.milliseconds)]
        let lost = try await run(
            """
            WITH lost AS (DELETE FROM queue WHERE tenant = $1 RETURNING job, claim, run),
                held AS (
                    INSERT INTO garbage (kind, job, name, due_at)
                    SELECT 'claim', job, claim::text, $2::bigint + \(GarbageTiming.claims.wholeMilliseconds) FROM lost
                    WHERE claim IS NOT NULL)
            SELECT count(*) AS jobs FROM lost WHERE run = ''
            """, values)
        let jobs = try lost.first?.int("jobs") ?? 0
        change(tenant, jobs: -jobs)
        let uploads = try await run(
            """
            UPDATE uploads SET state = 'cancelled', finished_at = $2
            WHERE tenant = $1 AND state IN ('open', 'complete') RETURNING source
            """, values)
        for row in uploads { released.insert(SourceName(rawValue: try row.text("source"))) }
        let statements = [
            // None of these is in the queue any more.
            "UPDATE jobs SET state = 'cancelled', finished_at = $2 WHERE tenant = $1 AND state = 'pending'",
            "UPDATE api_keys SET revoked_at = $2 WHERE tenant = $1 AND revoked_at IS NULL",
            "UPDATE access SET ended_at = $2 WHERE tenant = $1 AND ended_at IS NULL",
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
        _ = try await transaction.send(
            statements.map { PostgresStatement($0, values) }
                + deletions.map { PostgresStatement($0, [.text(tenant.rawValue)]) })
        wakes.insert(.ended)
    }

    /// What is left when the jobs are gone.
    private static let leftovers = [
        "notifications", "tickets", "access", "uploads", "calls", "idempotency_keys", "categories", "api_keys",
        "console_sessions", "audit", "labels",
    ]

    /// - Returns: Whether that was all.
    fileprivate func removePart(of tenant: TenantID, limit: Int) async throws -> Bool {
        try await endAll(of: tenant)
        let keys = try await run(
            "SELECT key FROM jobs WHERE tenant = $1 ORDER BY key LIMIT $2", [.text(tenant.rawValue), .int(limit)]
        ).map { try $0.int64("key") }
        for key in keys {
            guard let job = try await lock(key) else { continue }
            let attachments = try await run("SELECT id FROM attachments WHERE job = $1", [.int(key)])
            try await releaseAttachments(
                try attachments.map { AttachmentID(rawValue: try $0.text("id")) }, of: tenant)
            try await deleteJob(job, where: "true")
        }
        var isAll = keys.count < limit
        for table in Self.leftovers {
            let gone = try await run(
                """
                DELETE FROM \(table) WHERE ctid = ANY(ARRAY(
                    SELECT ctid FROM \(table) WHERE tenant = $1 LIMIT $2 FOR UPDATE))
                """, [.text(tenant.rawValue), .int(limit)])
            if gone.changes >= limit { isAll = false }
        }
        guard isAll else { return false }
        // What this transaction would count is of nobody any more, but among all tenants'.
        removedJobs += usage.removeValue(forKey: tenant)?.pendingJobs ?? 0
        for table in ["tallies", "usage", "upload_usage", "pending_notifications", "tenants"] {
            try await run("DELETE FROM \(table) WHERE tenant = $1", [.text(tenant.rawValue)])
        }
        return true
    }
}
