public import SatchelCore
internal import GRDB

extension SQLiteRecordStore {
    public func delete(
        _ id: AttachmentID, of tenant: TenantID
    ) async throws(AttachmentError) -> Bool {
        let superfluous = try await write { database, now -> [BlobName]? in
            let job = try database.number(
                "SELECT job FROM attachments WHERE tenant = ? AND id = ?", [tenant.rawValue, id.rawValue])
            guard let job else { return nil }
            let blobs = try database.releaseAttachment(id, of: tenant)
            try database.note(.deleted(id, of: tenant), at: now)
            try database.deleteJobIfEmpty(job)
            return blobs
        }
        await garbage.collect(superfluous ?? [])
        return superfluous != nil
    }

    public func deleteJob(_ id: JobID, of tenant: TenantID) async throws(AttachmentError) -> Bool {
        let superfluous = try await write { database, now -> [BlobName]? in
            let job = try database.number(
                "SELECT key FROM jobs WHERE tenant = ? AND id = ?", [tenant.rawValue, id.rawValue])
            guard let job else { return nil }
            let attachments = try database.texts(
                "SELECT id FROM attachments WHERE job = ? AND tenant = ?", [job, tenant.rawValue]
            ).map(AttachmentID.init(rawValue:))
            let blobs = try attachments.flatMap { try database.releaseAttachment($0, of: tenant) }
            for id in attachments { try database.note(.deleted(id, of: tenant, detail: "with its job"), at: now) }
            try database.run("DELETE FROM jobs WHERE key = ?", [job])
            return blobs
        }
        await garbage.collect(superfluous ?? [])
        return superfluous != nil
    }

    /// What leases and links keep beyond its retention may be much more than what goes. It is passed over while reading,
    /// once for all parts, so that no other write waits for that.
    public func expire(limit: Int, from place: ExpiryPlace?) async throws(AttachmentError) -> Expiry {
        let expired = try await read { database, now in
            try database.rows(
                Database.attachmentsOver,
                [
                    place?.expiresAt.milliseconds ?? .min, place?.key ?? .min, now.milliseconds, now.milliseconds,
                    limit,
                ]
            ).map { (key: $0["key"] as Int64, expiresAt: $0["expires_at"] as Int64) }
        }
        let (expiry, superfluous) = try await write { database, now in
            var found: [Row] = []
            for one in expired {
                // A lease may have begun since.
                found += try database.rows(
                    Database.attachmentOver, [one.key, now.milliseconds, now.milliseconds])
            }
            // Before the attachments go, with all of theirs.
            let ended = try database.rows(
                """
                DELETE FROM access WHERE id IN (SELECT id FROM access WHERE expires_at <= ? LIMIT ?)
                RETURNING kind, ended_at
                """, [now.milliseconds, limit])
            let leftToExpire = ended.count { $0["kind"] == "lease" && $0["ended_at"] == (nil as Int64?) }
            if leftToExpire > 0 {
                try database.run(
                    "UPDATE holdings SET leases_left_to_expire = leases_left_to_expire + ?", [leftToExpire])
            }
            var blobs: [BlobName] = []
            for row in found {
                let (id, tenant) = (AttachmentID(rawValue: row["id"]), TenantID(rawValue: row["tenant"]))
                blobs += try database.releaseAttachment(id, of: tenant)
                try database.note(.deleted(id, of: tenant, detail: "expired"), at: now)
                try database.deleteJobIfEmpty(row["job"])
                try database.deleteJobIfBare(row["job"])
            }
            let isAll = try database.forget(limit: limit, at: now) && max(expired.count, ended.count) < limit
            let last =
                expired.last.map { ExpiryPlace(expiresAt: Instant(milliseconds: $0.expiresAt), key: $0.key) } ?? place
                ?? ExpiryPlace(expiresAt: Instant(milliseconds: .min), key: .min)
            return (Expiry(attachments: found.count, blobs: blobs.count, next: isAll ? nil : last), blobs)
        }
        await garbage.collect(superfluous)
        return expiry
    }
}

extension Database {
    private static let isNotKept = """
        NOT EXISTS (
            SELECT 1 FROM access
            WHERE access.tenant = attachments.tenant AND access.attachment = attachments.id
                AND kind IN ('lease', 'link') AND ended_at IS NULL AND access.expires_at > ?)
            AND NOT EXISTS (
                SELECT 1 FROM notification_media
                WHERE notification_media.tenant = attachments.tenant
                    AND notification_media.attachment = attachments.id)
        """
    static let attachmentsOver = """
        SELECT key, expires_at FROM attachments
        WHERE (expires_at, key) > (?, ?) AND expires_at <= ? AND \(isNotKept)
        ORDER BY expires_at, key LIMIT ?
        """
    static let attachmentOver = """
        SELECT tenant, id, job FROM attachments WHERE key = ? AND expires_at <= ? AND \(isNotKept)
        """

    /// Deletes an attachment, and with it all access to it; then the rows of blobs that nobody refers to any more.
    ///
    /// - Returns: Those blobs.
    func releaseAttachment(_ id: AttachmentID, of tenant: TenantID) throws -> [BlobName] {
        let blobs = Set(
            try texts(
                "SELECT blob FROM renditions WHERE tenant = ? AND attachment = ?", [tenant.rawValue, id.rawValue])
        )
        try run("DELETE FROM attachments WHERE tenant = ? AND id = ?", [tenant.rawValue, id.rawValue])
        return try blobs.flatMap { name in
            try texts("DELETE FROM blobs WHERE name = ? AND refs = 0 RETURNING name", [name])
                .map(BlobName.init(rawValue:))
        }
    }

    /// A job goes with its last attachment.
    func deleteJobIfEmpty(_ key: Int64) throws {
        try run(
            "DELETE FROM jobs WHERE key = ? AND NOT EXISTS (SELECT 1 FROM attachments WHERE job = ?)", [key, key])
    }

    /// A job that delivered goes with the last of what it delivered, whatever became of the rest.
    fileprivate func deleteJobIfBare(_ key: Int64) throws {
        try run(
            """
            DELETE FROM jobs
            WHERE key = ? AND state = 'delivered'
                AND NOT EXISTS (SELECT 1 FROM attachments WHERE job = jobs.key AND state = 'delivered')
            """, [key])
    }

    /// Deletes what nobody needs to know any more, at most `limit` of each kind.
    ///
    /// - Returns: Whether that was all.
    fileprivate func forget(limit: Int, at now: Instant) throws -> Bool {
        var isAll = true
        for (sql, age) in Self.forgettable {
            try run(sql, [(now - age).milliseconds, limit])
            if changesCount >= limit { isAll = false }
        }
        return isAll
    }

    /// What is deleted, and how long after its moment.
    static let forgettable: [(sql: String, age: Duration)] = [
        // What an older generation delivered is still good.
        (
            """
            DELETE FROM jobs WHERE key IN (
                SELECT key FROM jobs
                WHERE expires_at <= ?
                    AND NOT EXISTS (SELECT 1 FROM attachments WHERE job = jobs.key AND state = 'delivered')
                LIMIT ?)
            """, .zero
        ),
        (
            """
            DELETE FROM retained_submissions
            WHERE job IN (SELECT job FROM retained_submissions WHERE kept_until <= ? LIMIT ?)
            """, .zero
        ),
        (
            """
            DELETE FROM idempotency_keys WHERE (tenant, key) IN (
                SELECT tenant, key FROM idempotency_keys WHERE created_at <= ? LIMIT ?)
            """, IdempotencyKey.lifetime
        ),
        // For as long as somebody may ask what became of them.
        (
            "DELETE FROM calls WHERE id IN (SELECT id FROM calls WHERE finished_at <= ? LIMIT ?)",
            Retention.calls
        ),
        (
            """
            DELETE FROM api_keys WHERE id IN (
                SELECT id FROM api_keys WHERE coalesce(revoked_at, expires_at) <= ? LIMIT ?)
            """, Retention.keys
        ),
        (
            """
            DELETE FROM tallies WHERE (tenant, minute, lane, state, code) IN (
                SELECT tenant, minute, lane, state, code FROM tallies WHERE minute <= ? LIMIT ?)
            """, Retention.tallies
        ),
        (
            "DELETE FROM console_sessions WHERE hash IN (SELECT hash FROM console_sessions WHERE ends_at <= ? LIMIT ?)",
            .zero
        ),
        (
            "DELETE FROM tombstones WHERE name IN (SELECT name FROM tombstones WHERE made_at <= ? LIMIT ?)",
            Retention.tombstones
        ),
        (
            """
            DELETE FROM firings WHERE id IN (
                SELECT id FROM firings WHERE created_at <= ? AND state <> 'pending' LIMIT ?)
            """, NotificationRetention.finished
        ),
        (
            "DELETE FROM responses WHERE rowid IN (SELECT rowid FROM responses WHERE received_at <= ? LIMIT ?)",
            NotificationRetention.finished
        ),
        (
            "DELETE FROM tickets WHERE id IN (SELECT id FROM tickets WHERE expires_at <= ? LIMIT ?)",
            NotificationRetention.ticket
        ),
        (
            "DELETE FROM uploads WHERE key IN (SELECT key FROM uploads WHERE finished_at <= ? LIMIT ?)",
            Retention.uploads
        ),
        (
            "DELETE FROM notifications WHERE key IN (SELECT key FROM notifications WHERE finished_at <= ? LIMIT ?)",
            NotificationRetention.finished
        ),
    ]
}
