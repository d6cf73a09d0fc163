public import SatchelCore
internal import Postgres

extension SQLRecordStore {
    public func delete(_ id: AttachmentID, of tenant: TenantID) async throws(AttachmentError) -> Bool {
        try await write { work in
            let row = try work.run(
                "SELECT job FROM attachments WHERE tenant = $1 AND id = $2",
                [.text(tenant.rawValue), .uuid(id.rawValue)]
            ).first
            guard let key = try row?.int64("job"), let job = try work.lock(key),
                try work.releaseAttachments([id], of: tenant) == 1
            else { return false }
            try work.deleteJob(job, where: "NOT EXISTS (SELECT 1 FROM attachments WHERE job = jobs.key)")
            work.note(.deleted(id, of: tenant))
            return true
        }
    }

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

    /// What leases and links keep beyond its retention may be much more than what goes. It is passed over while reading,
    /// once for all parts, so that no other write waits for that.
    public func expire(limit: Int, from place: ExpiryPlace?) async throws(AttachmentError) -> Expiry {
        let expired = try await read { work in
            try work.run(
                """
                SELECT key, job, expires_at FROM attachments
                WHERE (expires_at, key) > ($1, $2) AND expires_at <= $3 AND \(RecordTransaction.isNotKept("$3"))
                ORDER BY expires_at, key LIMIT $4
                """,
                [
                    .int(place?.expiresAt.milliseconds ?? .min), .int(place?.key ?? .min), .int(work.now.milliseconds),
                    .int(limit),
                ]
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
                """, [.ints(expired.map { $0.key }), .int(work.now.milliseconds)])
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
                """, [.int(work.now.milliseconds), .int(limit)])
            var leftToExpire = 0
            for row in ended where try row.text("kind") == "lease" && row.optionalInt("ended_at") == nil {
                leftToExpire += 1
                work.change(TenantID(rawValue: try row.text("tenant")), leases: -1)
            }
            if leftToExpire > 0 {
                try work.run(
                    """
                    INSERT INTO counters (slot, leases_left_to_expire) VALUES ($1, $2) ON CONFLICT (slot) DO UPDATE
                    SET leases_left_to_expire = counters.leases_left_to_expire + excluded.leases_left_to_expire
                    """, [.int(node.slot), .int(leftToExpire)])
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
        let values: [SQLValue] = [.text(tenant.rawValue), .uuids(ids.map(\.rawValue))]
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
        change(tenant, bytes: -bytes, leases: -(try open.count { try $0.text("kind") == "lease" }))
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
                """, [.texts(names), .int(now.milliseconds)]),
            Statement("DELETE FROM blobs WHERE name = ANY($1::text[]) AND refs = 0", [.texts(names)]),
        ])
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
        if job.queue != nil, job.run.isEmpty { change(job.tenant, jobs: -1) }
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
            """, [.int(now.milliseconds), .int(limit)]
        ).map { try $0.int64("key") }
        // All transactions lock jobs in the same order.
        for key in jobs.sorted() {
            guard let job = try lock(key), job.queue == nil else { continue }
            try deleteJob(
                job, where: "NOT EXISTS (SELECT 1 FROM attachments WHERE job = jobs.key AND state = 'delivered')")
        }
        let retained = try run(
            "SELECT job FROM retained_submissions WHERE kept_until <= $1 ORDER BY kept_until LIMIT $2 FOR UPDATE SKIP LOCKED",
            [.int(now.milliseconds), .int(limit)])
        if !retained.isEmpty { try forgetRetained(retained.map { try $0.int64("job") }) }
        isAll = jobs.count < limit && retained.count < limit
        for (sql, age) in Self.forgettable {
            let gone = try run(sql, [.int((now - age).milliseconds), .int(limit)])
            if gone.changes >= limit { isAll = false }
        }
        return isAll
    }

    /// What is deleted, and how long after its moment.
    private static let forgettable: [(sql: String, age: Duration)] = [
        (
            """
            DELETE FROM idempotency_keys WHERE (tenant, key) IN (
                SELECT tenant, key FROM idempotency_keys WHERE created_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)
            """, IdempotencyKey.lifetime
        ),
        (
            """
            DELETE FROM tallies WHERE (tenant, minute, lane, state, code, slot) IN (
                SELECT tenant, minute, lane, state, code, slot FROM tallies WHERE minute <= $1 LIMIT $2
                FOR UPDATE SKIP LOCKED)
            """, Retention.tallies
        ),
        // For as long as somebody may ask what became of them.
        (
            """
            DELETE FROM calls WHERE id IN (
                SELECT id FROM calls WHERE finished_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)
            """, Retention.calls
        ),
        (
            """
            DELETE FROM api_keys WHERE id IN (
                SELECT id FROM api_keys WHERE coalesce(revoked_at, expires_at) <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)
            """, Retention.keys
        ),
        (
            """
            DELETE FROM console_sessions WHERE hash IN (
                SELECT hash FROM console_sessions WHERE ends_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)
            """, .zero
        ),
        (
            """
            DELETE FROM tombstones WHERE name IN (
                SELECT name FROM tombstones WHERE made_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)
            """, Retention.tombstones
        ),
        (
            """
            DELETE FROM firings WHERE id IN (
                SELECT id FROM firings WHERE created_at <= $1 AND state <> 'pending' LIMIT $2 FOR UPDATE SKIP LOCKED)
            """, NotificationRetention.finished
        ),
        (
            """
            DELETE FROM responses WHERE (ticket, id) IN (
                SELECT ticket, id FROM responses WHERE received_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)
            """, NotificationRetention.finished
        ),
        (
            """
            DELETE FROM tickets WHERE id IN (
                SELECT id FROM tickets WHERE expires_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)
            """, NotificationRetention.ticket
        ),
        (
            """
            DELETE FROM uploads WHERE (tenant, id) IN (
                SELECT tenant, id FROM uploads WHERE finished_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)
            """, Retention.uploads
        ),
        (
            """
            DELETE FROM notifications WHERE key IN (
                SELECT key FROM notifications WHERE finished_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)
            """, NotificationRetention.finished
        ),
    ]
}
