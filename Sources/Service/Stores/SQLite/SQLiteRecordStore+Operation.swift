public import SatchelCore
internal import GRDB

extension SQLiteRecordStore {
    public func overview(of tenant: TenantID) async throws(AttachmentError) -> TenantOverview {
        try await read { database, now in
            var overview = TenantOverview(at: now)
            overview.tallies = try database.tallies(of: tenant, since: now - TenantOverview.span)
            overview.usage = try database.usage(of: tenant)
            overview.usage.liveLeases -= try database.leasesThatRanOut(of: tenant, at: now)
            let (name, soon) = (tenant.rawValue, now + TenantOverview.span)
            overview.links = try database.count(Database.openAccess(.link), [name, now.milliseconds])
            overview.grants = try database.count(Database.openAccess(.grant), [name, now.milliseconds])
            overview.dueNotifications = try database.count(Database.notificationsDue, [name, soon.milliseconds])
            overview.failedCalls = try database.count(Database.callsThatFailed, [name])
            overview.failingCalls = try database.count(Database.callsThatFail, [name])
            return overview
        }
    }

    public func failures(
        of tenant: TenantID, with code: ErrorCode?, since: Instant?
    ) async throws(AttachmentError) -> [FailureGroup] {
        try await read { database, _ in
            FailureGroup.inOrder(
                try (code.map { [$0] } ?? ErrorCode.allCases).compactMap {
                    try database.failures(of: tenant, with: $0, since: since)
                })
        }
    }

    public func access(
        to attachment: AttachmentID, of tenant: TenantID, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<AccessEntry> {
        try await read { database, _ in
            let limit = min(max(limit, 1), Self.longestPage)
            let entries = try database.rows(
                Database.accessTo, [tenant.rawValue, attachment.rawValue, cursor ?? "", limit]
            ).map(AccessEntry.init)
            return Page(elements: entries, next: entries.count < limit ? nil : entries.last?.id)
        }
    }
}

extension Database {
    // What is counted, each at most so often. The last of the values is how often.
    static func openAccess(_ kind: AccessEntry.Kind) -> String {
        """
        SELECT count(*) FROM (
            SELECT 1 FROM access
            WHERE tenant = ? AND kind = '\(kind.rawValue)' AND kind <> 'lease' AND ended_at IS NULL AND expires_at > ?
            LIMIT ?)
        """
    }
    static let notificationsDue = """
        SELECT count(*) FROM (
            SELECT 1 FROM notifications
            WHERE tenant = ? AND state = 'pending' AND coalesce(next_at, 9223372036854775807) <= ? LIMIT ?)
        """
    static let callsThatFailed = """
        SELECT count(*) FROM (SELECT 1 FROM calls WHERE tenant = ? AND state = 'failed' LIMIT ?)
        """
    static let callsThatFail = """
        SELECT total(attempt > 0) FROM (SELECT attempt FROM calls WHERE tenant = ? AND state = 'pending' LIMIT ?)
        """

    fileprivate func count(_ sql: String, _ arguments: StatementArguments) throws -> Int {
        Int(try number(sql, arguments + [TenantOverview.most]) ?? 0)
    }

    static let accessTo = "SELECT * FROM access WHERE tenant = ? AND attachment = ? AND id > ? ORDER BY id LIMIT ?"

    private static let failed = """
        FROM attachments INDEXED BY attachments_by_failure WHERE tenant = ? AND code = ? AND finished_at >= ?
        """
    static let firstFailure = "SELECT finished_at \(failed) ORDER BY finished_at LIMIT 1"
    static let lastFailure = "SELECT finished_at, details \(failed) ORDER BY finished_at DESC LIMIT 1"
    static let failedKinds = """
        SELECT kind, count(*) AS n FROM (SELECT kind \(failed) ORDER BY finished_at DESC LIMIT ?) GROUP BY kind
        """
    static let failedJobs = "SELECT job \(failed) ORDER BY finished_at DESC, job DESC LIMIT ?"

    fileprivate func failures(of tenant: TenantID, with code: ErrorCode, since: Instant?) throws -> FailureGroup? {
        let values: StatementArguments = [tenant.rawValue, code.rawValue, since?.milliseconds ?? .min]
        guard let first = try number(Self.firstFailure, values), let last = try row(Self.lastFailure, values),
            let error = try Column.value(AttachmentDetails.self, from: last["details"]).error
        else { return nil }
        let kinds = try rows(Self.failedKinds, values + [FailureGroup.most])
        let jobs = try Int64.fetchAll(
            cachedStatement(sql: Self.failedJobs),
            arguments: values + [FailureGroup.examples * FailureGroup.mostOfJob])
        return FailureGroup(
            code: code, count: kinds.reduce(0) { $0 + ($1["n"] as Int) }, error: error,
            firstAt: Instant(milliseconds: first), lastAt: Instant(milliseconds: last["finished_at"]),
            kinds: MediaKind.allCases.filter { kind in kinds.contains { ($0["kind"] as String?) == kind.rawValue } },
            jobs: try FailureGroup.examples(of: jobs.map(jobID)))
    }
}
