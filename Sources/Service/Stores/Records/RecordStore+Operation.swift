public import SatchelCore
internal import Postgres

extension RecordStore {
    public func overview(of tenant: TenantID) async throws(AttachmentError) -> TenantOverview {
        try await read { work in
            var overview = TenantOverview(at: work.now)
            overview.tallies = try work.tallies(of: tenant, since: work.now - TenantOverview.span)
            overview.usage = try work.total(of: tenant)
            overview.usage.liveLeases -= try work.leasesThatRanOut(of: tenant)
            let name = SQLValue.raw(tenant)
            let counts = try work.send(
                ["link", "grant"].map { kind in
                    Self.count(
                        """
                        access WHERE tenant = $1 AND kind = '\(kind)' AND kind <> 'lease' AND ended_at IS NULL
                            AND expires_at > $2
                        """, [name, .time(work.now)])
                } + [
                    Self.count(
                        """
                        notifications
                        WHERE tenant = $1 AND state = 'pending' AND coalesce(next_at, 9223372036854775807) <= $2
                        """, [name, .time(work.now + TenantOverview.span)]),
                    Self.count("calls WHERE tenant = $1 AND state = 'failed'", [name]),
                    Statement(
                        """
                        SELECT count(*) FILTER (WHERE attempt > 0 OR node IS NOT NULL) AS n FROM (
                            SELECT attempt, node FROM calls WHERE tenant = $1 AND state = 'pending'
                            LIMIT \(TenantOverview.most)) AS waiting
                        """, [name]),
                ]
            ).map { try $0.first?.int("n") ?? 0 }
            overview.links = counts[0]
            overview.grants = counts[1]
            overview.dueNotifications = counts[2]
            overview.failedCalls = counts[3]
            overview.failingCalls = counts[4]
            return overview
        }
    }

    private static func count(_ rows: String, _ values: [SQLValue]) -> Statement {
        Statement(
            "SELECT count(*) AS n FROM (SELECT 1 FROM \(rows) LIMIT \(TenantOverview.most)) AS found", values)
    }

    /// What failed and is still there, by code, the latest first.
    ///
    /// - Parameters:
    ///   - code: Nil for all.
    ///   - since: Failed then or later; nil for any time.
    public func failures(
        of tenant: TenantID, with code: ErrorCode?, since: Instant?
    ) async throws(AttachmentError) -> [FailureGroup] {
        try await read { work in
            var groups: [FailureGroup] = []
            for code in code.map({ [$0] }) ?? ErrorCode.allCases {
                if code == .fetchFailed {
                    groups += FailureGroup.byCause(try work.failedFetches(of: tenant, since: since))
                } else if let group = try work.failures(of: tenant, with: code, since: since) {
                    groups.append(group)
                }
            }
            return FailureGroup.inOrder(groups)
        }
    }

    /// Grants, leases and links of an attachment, those that have ended too until they are swept; by their ids.
    ///
    /// - Parameter cursor: After this.
    public func access(
        to attachment: AttachmentID, of tenant: TenantID, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<AccessEntry> {
        try await read { work in
            let limit = Self.pageLength(limit)
            let rows = try work.run(
                """
                SELECT * FROM access WHERE tenant = $1 AND attachment = $2 AND id COLLATE "C" > $3
                ORDER BY id COLLATE "C" LIMIT $4
                """,
                [.raw(tenant), .uuid(attachment.rawValue), .text(cursor ?? ""), .int(limit)])
            let entries = try rows.map { try AccessEntry($0) }
            return Page(elements: entries, next: entries.count < limit ? nil : entries.last?.id)
        }
    }
}

extension RecordTransaction {
    fileprivate func failedFetches(of tenant: TenantID, since: Instant?) throws -> [FailureGroup.Failure] {
        try run(
            """
            SELECT (SELECT id FROM jobs WHERE key = job) AS id, finished_at, kind, details::json ->> 'error' AS error
            FROM attachments WHERE tenant = $1 AND code = $2 AND finished_at >= $3
            ORDER BY finished_at DESC, job DESC LIMIT \(FailureGroup.most)
            """,
            [.raw(tenant), .raw(ErrorCode.fetchFailed), .int(since?.milliseconds ?? .min)]
        ).map { row in
            (
                at: try row.instant("finished_at"), job: try row.value("id"),
                kind: try row.optionalValue("kind"), error: try row.json("error")
            )
        }
    }

    fileprivate func failures(
        of tenant: TenantID, with code: ErrorCode, since: Instant?
    ) throws -> FailureGroup? {
        let values: [SQLValue] = [.raw(tenant), .raw(code), .int(since?.milliseconds ?? .min)]
        let found = "FROM attachments WHERE tenant = $1 AND code = $2 AND finished_at >= $3"
        let rows = try send([
            Statement("SELECT finished_at \(found) ORDER BY finished_at LIMIT 1", values),
            Statement("SELECT finished_at, details \(found) ORDER BY finished_at DESC LIMIT 1", values),
            Statement(
                """
                SELECT kind, count(*) AS n FROM (
                    SELECT kind \(found) ORDER BY finished_at DESC LIMIT \(FailureGroup.most)) AS latest GROUP BY kind
                """, values),
            Statement(
                """
                SELECT jobs.id FROM (
                    SELECT job, finished_at \(found) ORDER BY finished_at DESC, job DESC
                    LIMIT \(FailureGroup.examples * FailureGroup.mostOfJob)) AS latest
                JOIN jobs ON jobs.key = latest.job ORDER BY latest.finished_at DESC, latest.job DESC
                """, values),
        ])
        guard let first = rows[0].first, let last = rows[1].first,
            let error = try Column.value(AttachmentDetails.self, from: last.text("details")).error
        else { return nil }
        let kinds = Set(try rows[2].compactMap { try $0.optionalValue("kind") as MediaKind? })
        return FailureGroup(
            code: code, count: try rows[2].reduce(0) { try $0 + $1.int("n") }, error: error,
            firstAt: try first.instant("finished_at"), lastAt: try last.instant("finished_at"),
            kinds: MediaKind.allCases.filter(kinds.contains),
            jobs: FailureGroup.examples(of: try rows[3].map { JobID(rawValue: try $0.text("id")) }))
    }
}
