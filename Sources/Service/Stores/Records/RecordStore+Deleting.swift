public import SatchelCore
internal import Postgres

extension RecordStore {
    /// Deletes an attachment: all its access is revoked when this returns. A job goes with its last attachment, so
    /// that the same work can be submitted again.
    ///
    /// - Returns: Whether there was such an attachment.
    public func delete(_ id: AttachmentID, of tenant: TenantID) async throws(AttachmentError) -> Bool {
        try await write { work in
            let row = try work.run(
                "SELECT job FROM attachments WHERE tenant = $1 AND id = $2",
                [.raw(tenant), .uuid(id.rawValue)]
            ).first
            guard let key = try row?.int64("job"), let job = try work.lock(key),
                try work.releaseAttachments([id], of: tenant) == 1
            else { return false }
            try work.deleteJob(job, where: "NOT EXISTS (SELECT 1 FROM attachments WHERE job = jobs.key)")
            work.note(.deleted(id, of: tenant))
            return true
        }
    }

    /// Deletes a job with all that it holds, access first; an unfinished one is cancelled by it.
    ///
    /// - Returns: Whether there was such a job.
    public func deleteJob(_ id: JobID, of tenant: TenantID) async throws(AttachmentError) -> Bool {
        try await write { work in
            guard let job = try work.lock(id, of: tenant) else { return false }
            let attachments = try work.run("SELECT id FROM attachments WHERE job = $1", [.int(job.key)])
            let ids = try attachments.map { AttachmentID(rawValue: try $0.text("id")) }
            try work.releaseAttachments(ids, of: tenant)
            for id in ids { work.note(.deleted(id, of: tenant, detail: "with its job")) }
            try work.deleteJob(job, where: "true")
            return true
        }
    }

    /// One part of an expiry: deletes what has outlived its retention and is held by no live lease or link, access that
    /// has ended, and records that are no longer needed; at most `limit` of each kind.
    ///
    /// - Parameter place: Nil for the first part, then what the part before says is next.
    public func expire(limit: Int, from place: ExpiryPlace?) async throws(AttachmentError) -> Expiry {
        // What leases and links keep beyond its retention may be much more than what goes. It is passed over while reading,
        // once for all parts, so that no other write waits for that.
        let expired = try await read { work in
            try work.run(
                """
                SELECT key, job, expires_at FROM attachments
                WHERE (expires_at, key) > ($1, $2) AND expires_at <= $3 AND \(RecordTransaction.isNotKept("$3"))
                ORDER BY expires_at, key LIMIT $4
                """,
                [.int(place?.expiresAt.milliseconds ?? .min), .int(place?.key ?? .min), .time(work.now), .int(limit)]
            ).map { (key: try $0.int64("key"), job: try $0.int64("job"), expiresAt: try $0.instant("expires_at")) }
        }
        return try await write { work in
            var jobs: [Int64: RecordTransaction.Job] = [:]
            for key in Set(expired.map(\.job)).sorted() { jobs[key] = try work.lock(key) }
            // A lease may have begun since.
            let found = try work.run(
                """
                SELECT tenant, id, job FROM attachments
                WHERE key = ANY($1::bigint[]) AND expires_at <= $2 AND \(RecordTransaction.isNotKept("$2")) ORDER BY key
                """, [.ints(expired.map { $0.key }), .time(work.now)])
            // Before the attachments go, with all of theirs.
            let ended = try work.run(
                """
                DELETE FROM access WHERE id IN (
                    SELECT id FROM access
                    -- A pending call starts the access of its job anew.
                    WHERE expires_at <= $1 AND NOT (by_job AND EXISTS (
                        SELECT 1 FROM attachments JOIN calls ON calls.job = attachments.job
                        WHERE attachments.tenant = access.tenant AND attachments.id = access.attachment
                            AND calls.state = 'pending'))
                    LIMIT $2 FOR UPDATE SKIP LOCKED)
                RETURNING tenant, kind, ended_at
                """, [.time(work.now), .int(limit)])
            for row in ended where try row.optionalInt("ended_at") == nil {
                let kind: AccessEntry.Kind = try row.value("kind")
                work.change(TenantID(rawValue: try row.text("tenant")), kind, by: -1)
                if kind == .lease { work.totals[.leasesLeftToExpire, default: 0] += 1 }
            }
            let before = work.superfluous.count
            for row in found {
                let (id, tenant) = (
                    AttachmentID(rawValue: try row.text("id")), TenantID(rawValue: try row.text("tenant"))
                )
                try work.releaseAttachments([id], of: tenant)
                work.note(.deleted(id, of: tenant, detail: "expired"))
            }
            for row in found {
                guard let job = jobs[try row.int64("job")] else { continue }
                try work.deleteJob(
                    job,
                    where: """
                        NOT EXISTS (SELECT 1 FROM attachments WHERE job = jobs.key) OR (state = 'delivered'
                            AND NOT EXISTS (SELECT 1 FROM attachments WHERE job = jobs.key AND state = 'delivered'))
                        """)
                jobs[job.key] = nil
            }
            let isAll = try work.forget(limit: limit) && max(expired.count, ended.count) < limit
            let last =
                expired.last.map { ExpiryPlace(expiresAt: $0.expiresAt, key: $0.key) } ?? place
                ?? ExpiryPlace(expiresAt: Instant(milliseconds: .min), key: .min)
            return Expiry(
                attachments: found.count, blobs: work.superfluous.count - before, next: isAll ? nil : last)
        }
    }
}

extension RecordTransaction {
    static func isNotKept(_ now: String) -> String {
        """
        NOT EXISTS (
            SELECT 1 FROM access
            WHERE access.tenant = attachments.tenant AND access.attachment = attachments.id
                AND kind IN ('lease', 'link') AND ended_at IS NULL AND access.expires_at > \(now))
            AND NOT EXISTS (
                SELECT 1 FROM notification_media
                WHERE notification_media.tenant = attachments.tenant
                    AND notification_media.attachment = attachments.id)
        """
    }

    /// Deletes attachments, and with them all access to them; then the rows of blobs that nobody refers to any more, and
    /// notes those.
    ///
    /// - Returns: How many there were.
    @discardableResult
    func releaseAttachments(_ ids: [AttachmentID], of tenant: TenantID) throws -> Int {
        guard !ids.isEmpty else { return 0 }
        let values: [SQLValue] = [.raw(tenant), .uuids(ids.map(\.rawValue))]
        // Locked first: what is counted then is what goes with them.
        let found = try run(
            "SELECT id, source FROM attachments WHERE tenant = $1 AND id = ANY($2::uuid[]) ORDER BY id FOR UPDATE",
            values)
        for row in found {
            if let source = try row.optionalText("source") { released.insert(SourceName(rawValue: source)) }
        }
        let rows = try send([
            // Rows that go come back as they are behind the lock: a lease that is ended meanwhile is counted there.
            Statement(
                """
                DELETE FROM access WHERE tenant = $1 AND attachment = ANY($2::uuid[])
                RETURNING kind, ended_at
                """, values),
            Statement(
                """
                SELECT blob, count(*) AS refs, sum(bytes)::bigint AS bytes FROM renditions
                WHERE tenant = $1 AND attachment = ANY($2::uuid[]) GROUP BY blob
                """, values),
            Statement("DELETE FROM attachments WHERE tenant = $1 AND id = ANY($2::uuid[])", values),
        ])
        let names = try rows[1].map { try $0.text("blob") }
        let bytes = try rows[1].reduce(0) { try $0 + $1.int64("bytes") }
        let open = try rows[0].filter { try $0.optionalInt("ended_at") == nil }
        takesBack = takesBack || !open.isEmpty
        change(tenant, bytes: -bytes)
        for row in open { change(tenant, try row.value("kind"), by: -1) }
        guard !names.isEmpty else { return found.count }
        let gone = try send([
            Statement(
                """
                UPDATE blobs SET refs = blobs.refs - old.refs
                FROM (
                    SELECT blobs.name, old.refs FROM unnest($1::text[], $2::int[]) AS old (name, refs)
                    JOIN blobs ON blobs.name = old.name ORDER BY blobs.sha256 FOR UPDATE OF blobs
                ) AS old
                WHERE blobs.name = old.name
                """, [.texts(names), .ints(try rows[1].map { try $0.int64("refs") })]),
            Statement(
                """
                INSERT INTO tombstones (name, made_at) SELECT name, $2 FROM blobs WHERE name = ANY($1::text[]) AND refs = 0
                ON CONFLICT (name) DO UPDATE SET made_at = excluded.made_at RETURNING name
                """, [.texts(names), .time(now)]),
            Statement("DELETE FROM blobs WHERE name = ANY($1::text[]) AND refs = 0 RETURNING bytes", [.texts(names)]),
        ])
        for row in gone[2] {
            totals[.blobs, default: 0] -= 1
            totals[.blobBytes, default: 0] -= try row.int64("bytes")
        }
        for row in gone[1] { superfluous.insert(BlobName(rawValue: try row.text("name"))) }
        return found.count
    }

    /// Deletes a job that was locked, where a condition holds.
    func deleteJob(_ job: Job, where condition: String) throws {
        let kept = try run("SELECT name FROM retained_sources WHERE job = $1", [.int(job.key)])
        let gone = try run("DELETE FROM jobs WHERE key = $1 AND (\(condition))", [.int(job.key)])
        guard gone.changes > 0 else { return }
        for row in kept { released.insert(SourceName(rawValue: try row.text("name"))) }
        try forgo(job.queue?.claim, of: job.key)
        wakes.insert(.ended)
        if let lane = job.queue?.lane, job.run.isEmpty { change(job.tenant, jobs: -1, in: lane) }
    }

    /// Deletes what nobody needs to know any more, at most `limit` of each kind.
    ///
    /// - Returns: Whether that was all.
    fileprivate func forget(limit: Int) throws -> Bool {
        var isAll = true
        // What an older generation delivered is still good.
        let jobs = try run(
            """
            SELECT key FROM jobs
            WHERE expires_at <= $1
                AND NOT EXISTS (SELECT 1 FROM attachments WHERE job = jobs.key AND state = 'delivered')
            ORDER BY expires_at LIMIT $2
            """, [.time(now), .int(limit)]
        ).map { try $0.int64("key") }
        // All transactions lock jobs in the same order.
        for key in jobs.sorted() {
            guard let job = try lock(key), job.queue == nil else { continue }
            try deleteJob(
                job, where: "NOT EXISTS (SELECT 1 FROM attachments WHERE job = jobs.key AND state = 'delivered')")
        }
        let retained = try run(
            "SELECT job FROM retained_submissions WHERE kept_until <= $1 ORDER BY kept_until LIMIT $2 FOR UPDATE SKIP LOCKED",
            [.time(now), .int(limit)])
        if !retained.isEmpty { try forgetRetained(retained.map { try $0.int64("job") }) }
        isAll = jobs.count < limit && retained.count < limit
        for (rows, age) in Self.forgettable where try delete(rows, .time(now - age), limit) >= limit { isAll = false }
        return isAll
    }

    /// Deletes at most `limit` rows for which a condition on one value, `$1`, holds. Locked rows are left for later.
    ///
    /// - Returns: How many there were.
    func delete(_ rows: RowsToDelete, _ value: SQLValue, _ limit: Int) throws -> Int {
        try run(
            """
            DELETE FROM \(rows.table) WHERE (\(rows.key)) IN (
                SELECT \(rows.key) FROM \(rows.table) WHERE \(rows.condition) LIMIT $2 FOR UPDATE SKIP LOCKED)
            """, [value, .int(limit)]
        ).changes
    }

    /// Rows of a table with its key, and the condition for their deletion.
    struct RowsToDelete {
        var table: String
        var key: String
        var condition: String

        init(_ table: String, _ key: String, _ condition: String) {
            (self.table, self.key, self.condition) = (table, key, condition)
        }
    }

    /// What is deleted, and how long after its moment.
    private static let forgettable: [(rows: RowsToDelete, age: Duration)] = [
        (RowsToDelete("idempotency_keys", "tenant, key", "created_at <= $1"), IdempotencyKey.lifetime),
        (RowsToDelete("tallies", "tenant, minute, lane, state, code, slot", "minute <= $1"), Retention.tallies),
        // For as long as somebody may ask what became of them.
        (RowsToDelete("calls", "id", "finished_at <= $1"), Retention.calls),
        (RowsToDelete("api_keys", "id", "coalesce(revoked_at, expires_at) <= $1"), Retention.keys),
        (RowsToDelete("console_sessions", "hash", "ends_at <= $1"), .zero),
        (RowsToDelete("tombstones", "name", "made_at <= $1"), Retention.tombstones),
        (RowsToDelete("firings", "id", "created_at <= $1 AND state <> 'pending'"), NotificationRetention.finished),
        (RowsToDelete("responses", "ticket, id", "received_at <= $1"), NotificationRetention.finished),
        (RowsToDelete("tickets", "id", "expires_at <= $1"), NotificationRetention.ticket),
        (RowsToDelete("uploads", "tenant, id", "finished_at <= $1"), Retention.uploads),
        (RowsToDelete("notifications", "key", "finished_at <= $1"), NotificationRetention.finished),
    ]
}
