public import SatchelCore
internal import GRDB

extension SQLiteRecordStore {
    public func statistics() async throws(AttachmentError) -> StoreStatistics {
        try await read { database, now in
            var statistics = StoreStatistics()
            for lane in JobLane.allCases {
                let row = try database.row("SELECT pending, running FROM lanes WHERE lane = ?", [lane.rawValue])
                var ages: [JobPriority: Duration] = [:]
                for priority in JobPriority.allCases {
                    let due = try database.number(Database.oldestDue, [lane.rawValue, priority.rank])
                    if let due = due.map(Instant.init(milliseconds:)), due <= now { ages[priority] = now - due }
                }
                statistics.queues[lane] = StoreStatistics.Queue(
                    pending: row?["pending"] ?? 0, running: row?["running"] ?? 0,
                    oldestAges: ages)
            }
            statistics.liveGrants = try database.countLive(.grant, at: now)
            statistics.liveLeases = try database.countLive(.lease, at: now)
            statistics.liveLinks = try database.countLive(.link, at: now)
            statistics.leasesLeftToExpire = try database.countRanOut(.lease, at: now)
            if let row = try database.row("SELECT * FROM holdings") {
                statistics.leasesLeftToExpire += row["leases_left_to_expire"]
                statistics.blobs = row["blobs"]
                statistics.blobBytes = row["blob_bytes"]
                statistics.pendingWebhooks = row["pending_calls"]
            }
            statistics.openUploads = try database.allUploads().open
            return statistics
        }
    }

    public func usage(of tenant: TenantID) async throws(AttachmentError) -> TenantUsage {
        try await read { database, now in
            var usage = try database.usage(of: tenant)
            usage.liveLeases -= try database.leasesThatRanOut(of: tenant, at: now)
            return usage
        }
    }
}

extension Database {
    static let oldestDue = """
        SELECT due_at FROM jobs WHERE run = '' AND lane = ? AND priority = ? AND state = 'pending'
        ORDER BY due_at LIMIT 1
        """
    /// What ran out and isn't swept yet. The rest of what is open lives: there is far more of that, and it is never
    /// counted one by one.
    static let accessThatRanOut = "SELECT count(*) FROM access WHERE kind = ? AND ended_at IS NULL AND expires_at <= ?"

    fileprivate func countRanOut(_ kind: AccessEntry.Kind, at now: Instant) throws -> Int {
        Int(try number(Self.accessThatRanOut, [kind.rawValue, now.milliseconds]) ?? 0)
    }

    fileprivate func countLive(_ kind: AccessEntry.Kind, at now: Instant) throws -> Int {
        let open = try number("SELECT open FROM open_access WHERE kind = ?", [kind.rawValue]) ?? 0
        return try Int(open) - countRanOut(kind, at: now)
    }

    /// What a tenant uses. Leases that ran out and are not swept yet count here as live.
    func usage(of tenant: TenantID) throws -> TenantUsage {
        guard let row = try row("SELECT * FROM usage WHERE tenant = ?", [tenant.rawValue]) else { return TenantUsage() }
        return TenantUsage(
            storedBytes: row["stored_bytes"], pendingJobs: row["unfinished_jobs"], liveLeases: row["open_leases"])
    }

    static let leasesOfTenantThatRanOut = """
        SELECT count(*) FROM access WHERE tenant = ? AND kind = 'lease' AND ended_at IS NULL AND expires_at <= ?
        """

    func leasesThatRanOut(of tenant: TenantID, at now: Instant) throws -> Int {
        Int(try number(Self.leasesOfTenantThatRanOut, [tenant.rawValue, now.milliseconds]) ?? 0)
    }

    /// - Throws: `quota_exceeded` where the tenant may not start another lease.
    func admitLease(of tenant: TenantID, within quotas: Quotas, at now: Instant) throws {
        guard let limit = quotas.liveLeases else { return }
        let open = try usage(of: tenant).liveLeases
        guard open >= limit, try open - leasesThatRanOut(of: tenant, at: now) >= limit else { return }
        throw AttachmentError.quotaExceeded(what: "active leases")
    }
}
