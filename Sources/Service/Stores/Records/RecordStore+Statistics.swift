public import SatchelCore
internal import Postgres

extension RecordStore {
    public func statistics() async throws(AttachmentError) -> StoreStatistics {
        try await read { work in
            let now = [SQLValue.time(work.now)]
            let lines = JobLane.allCases.flatMap { lane in
                JobPriority.allCases.map { priority in
                    """
                    SELECT '\(lane.rawValue)' AS lane, \(priority.rank) AS priority, min(due_at) AS oldest FROM (
                        SELECT due_at FROM queue
                        WHERE run = '' AND lane = '\(lane.rawValue)' AND priority = \(priority.rank) AND state = 'pending'
                        ORDER BY rank, job LIMIT 10) AS next WHERE due_at <= $1
                    """
                }
            }
            let sums = RecordTransaction.Total.allCases.map(\.rawValue).map {
                "coalesce(sum(\($0)), 0)::bigint AS \($0)"
            }
            let rows = try work.send([
                Statement("SELECT lane FROM queue WHERE run = '' AND state = 'running'"),
                Statement(lines.joined(separator: " UNION ALL "), now),
                Statement(
                    """
                    SELECT kind, count(*) AS n FROM access WHERE ended_at IS NULL AND kind IN ('grant', 'lease', 'link')
                        AND expires_at <= $1 GROUP BY kind
                    """, now),
                Statement(
                    """
                    SELECT \(sums.joined(separator: ", ")), (SELECT count(*) FROM calls WHERE state = 'pending' AND node IS NULL)
                        + (SELECT count(*) FROM calls WHERE node IS NOT NULL) AS calls,
                        (SELECT coalesce(sum(open), 0)::bigint FROM upload_usage) AS uploads
                    FROM counters
                    """),
            ])
            guard let row = rows[3].first else { return StoreStatistics() }
            func total(_ total: RecordTransaction.Total) throws -> Int64 { try row.int64(total.rawValue) }
            func over(_ kind: AccessEntry.Kind) throws -> Int {
                try rows[2].first { try $0.text("kind") == kind.rawValue }?.int("n") ?? 0
            }
            func live(_ kind: AccessEntry.Kind) throws -> Int { try Int(total(.access(kind))) - over(kind) }
            var statistics = StoreStatistics()
            for lane in JobLane.allCases {
                let running = try rows[0].count { try $0.text("lane") == lane.rawValue }
                var queue = StoreStatistics.Queue()
                (queue.pending, queue.running) = (max(0, try Int(total(.jobs(in: lane))) - running), running)
                for line in rows[1] where try line.text("lane") == lane.rawValue {
                    guard let oldest = try line.optionalInstant("oldest") else { continue }
                    queue.oldestAges[try line.int("priority") == 0 ? .interactive : .bulk] = work.now - oldest
                }
                statistics.queues[lane] = queue
            }
            (statistics.liveGrants, statistics.liveLeases) = (try live(.grant), try live(.lease))
            statistics.liveLinks = try live(.link)
            statistics.leasesLeftToExpire = try Int(total(.leasesLeftToExpire)) + over(.lease)
            (statistics.blobs, statistics.blobBytes) = (try Int(total(.blobs)), try total(.blobBytes))
            statistics.pendingWebhooks = try row.int("calls")
            statistics.openUploads = try row.int("uploads")
            return statistics
        }
    }
}

extension RecordTransaction {
    /// What a tenant uses, with what this transaction changes. Leases that ran out and are not swept yet count as live.
    func total(of tenant: TenantID) throws -> TenantUsage {
        let row = try run(
            """
            SELECT coalesce(sum(stored_bytes), 0)::bigint AS bytes, coalesce(sum(unfinished_jobs), 0)::bigint AS jobs,
                coalesce(sum(open_leases), 0)::bigint AS leases
            FROM usage WHERE tenant = $1
            """, [.raw(tenant)]
        ).first
        var usage = usage[tenant] ?? TenantUsage()
        usage.storedBytes += try row?.int64("bytes") ?? 0
        usage.pendingJobs += try row?.int("jobs") ?? 0
        usage.liveLeases += try row?.int("leases") ?? 0
        return usage
    }

    func leasesThatRanOut(of tenant: TenantID) throws -> Int {
        try run(
            """
            SELECT count(*) AS n FROM access
            WHERE tenant = $1 AND kind = 'lease' AND ended_at IS NULL AND expires_at <= $2
            """, [.raw(tenant), .time(now)]
        ).first?.int("n") ?? 0
    }

    /// - Throws: `quota_exceeded` where the tenant may not start another lease.
    func admitLease(of tenant: TenantID, within quotas: Quotas) throws {
        guard let limit = quotas.liveLeases else { return }
        let open = try total(of: tenant).liveLeases
        guard open >= limit else { return }
        try QuotaSubject.activeLeases.admit(try open - leasesThatRanOut(of: tenant), of: limit)
    }
}
