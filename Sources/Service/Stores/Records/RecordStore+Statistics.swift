public import SatchelCore
internal import Postgres

extension RecordStore {
    public func statistics() async throws(AttachmentError) -> StoreStatistics {
        try await read { work in
            let now = [SQLValue.time(work.now)]
            let rows = try work.send([
                Statement(
                    """
                    SELECT lane, priority, count(*) FILTER (WHERE state = 'pending') AS pending,
                        count(*) FILTER (WHERE state = 'running') AS running,
                        min(due_at) FILTER (WHERE state = 'pending' AND due_at <= $1) AS oldest
                    FROM queue WHERE run = '' GROUP BY lane, priority
                    """, now),
                Statement(
                    """
                    SELECT kind, count(*) FILTER (WHERE expires_at > $1) AS live,
                        count(*) FILTER (WHERE expires_at <= $1) AS over
                    FROM access WHERE ended_at IS NULL GROUP BY kind
                    """, now),
                Statement(
                    """
                    SELECT (SELECT count(*) FROM blobs) AS blobs, (SELECT coalesce(sum(bytes), 0)::bigint FROM blobs) AS bytes,
                        (SELECT count(*) FROM calls WHERE state = 'pending') AS calls,
                        (SELECT coalesce(sum(open), 0)::bigint FROM upload_usage) AS uploads,
                        (SELECT coalesce(sum(leases_left_to_expire), 0)::bigint FROM counters) AS left_to_expire
                    """),
            ])
            var statistics = StoreStatistics()
            for lane in JobLane.allCases { statistics.queues[lane] = StoreStatistics.Queue() }
            for row in rows[0] {
                let lane: JobLane = try row.value("lane")
                var queue = statistics.queues[lane] ?? StoreStatistics.Queue()
                queue.pending += try row.int("pending")
                queue.running += try row.int("running")
                if let oldest = try row.optionalInstant("oldest") {
                    queue.oldestAges[try row.int("priority") == 0 ? .interactive : .bulk] = work.now - oldest
                }
                statistics.queues[lane] = queue
            }
            for row in rows[1] {
                switch try row.text("kind") {
                case "grant": statistics.liveGrants = try row.int("live")
                case "link": statistics.liveLinks = try row.int("live")
                default:
                    statistics.liveLeases = try row.int("live")
                    statistics.leasesLeftToExpire = try row.int("over")
                }
            }
            if let row = rows[2].first {
                statistics.blobs = try row.int("blobs")
                statistics.blobBytes = try row.int64("bytes")
                statistics.pendingWebhooks = try row.int("calls")
                statistics.openUploads = try row.int("uploads")
                statistics.leasesLeftToExpire += try row.int("left_to_expire")
            }
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
