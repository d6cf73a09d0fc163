public import Attachments
internal import GRDB

extension SQLiteRecordStore {
    public func delete(
        _ id: AttachmentID, of tenant: TenantID
    ) async throws(AttachmentError) -> [BlobName]? {
        try await write { database, _ in
            let job = try database.number(
                "SELECT job FROM attachments WHERE tenant = ? AND id = ?", [tenant.rawValue, id.rawValue])
            guard let job else { return nil }
            let blobs = try database.releaseAttachment(id, of: tenant)
            try database.deleteJobIfEmpty(job)
            return blobs
        }
    }

    public func deleteJob(_ id: JobID, of tenant: TenantID) async throws(AttachmentError) -> [BlobName]? {
        try await write { database, _ in
            let job = try database.number(
                "SELECT key FROM jobs WHERE tenant = ? AND id = ?", [tenant.rawValue, id.rawValue])
            guard let job else { return nil }
            let attachments = try database.texts(
                "SELECT id FROM attachments WHERE job = ? AND tenant = ?", [job, tenant.rawValue])
            let blobs = try attachments.flatMap {
                try database.releaseAttachment(AttachmentID(rawValue: $0), of: tenant)
            }
            try database.run("DELETE FROM jobs WHERE key = ?", [job])
            return blobs
        }
    }

    public func deleteExpired(limit: Int) async throws(AttachmentError) -> [BlobName] {
        try await expire(limit: limit).blobs
    }

    /// What one part of an expiry brought.
    struct Expiry: Sendable {
        /// Attachments that were deleted.
        var attachments: Int
        /// Blobs that nothing refers to any more.
        var blobs: [BlobName]
        /// False where there was more than fits in a part.
        var isComplete: Bool
    }

    /// One part of ``deleteExpired(limit:)``: at most `limit` of each kind.
    func expire(limit: Int) async throws(AttachmentError) -> Expiry {
        try await write { database, now in
            let expired = try database.rows(
                """
                SELECT tenant, id, job FROM attachments
                WHERE expires_at <= ? AND NOT EXISTS (
                    SELECT 1 FROM access
                    WHERE access.tenant = attachments.tenant AND access.attachment = attachments.id
                        AND kind IN ('lease', 'link') AND ended_at IS NULL AND access.expires_at > ?)
                ORDER BY expires_at LIMIT ?
                """, [now.milliseconds, now.milliseconds, limit])
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
            for row in expired {
                blobs += try database.releaseAttachment(
                    AttachmentID(rawValue: row["id"]), of: TenantID(rawValue: row["tenant"]))
                try database.deleteJobIfEmpty(row["job"])
                try database.deleteJobIfBare(row["job"])
            }
            let isComplete = try database.forget(limit: limit, at: now)
            return Expiry(
                attachments: expired.count, blobs: blobs,
                isComplete: isComplete && max(expired.count, ended.count) < limit)
        }
    }

    public func unreferenced(among names: [BlobName]) async throws(AttachmentError) -> [BlobName] {
        try await read { database, _ in
            try names.filter { try !database.refers(to: $0) }
        }
    }

    public func condemn(_ names: [BlobName]) async throws(AttachmentError) -> [BlobName] {
        try await write { database, now in
            let condemned = try names.filter { try !database.refers(to: $0) }
            for name in condemned {
                try database.run(
                    "INSERT OR IGNORE INTO condemned (name, condemned_at) VALUES (?, ?)",
                    [name.rawValue, now.milliseconds])
            }
            return condemned
        }
    }

    public func referencedBlobs() async throws(AttachmentError) -> [SealedBlob] {
        try await read { database, _ in
            try database.rows("SELECT name, sha256, bytes FROM blobs").map {
                SealedBlob(name: BlobName(rawValue: $0["name"]), sha256: $0["sha256"], bytes: $0["bytes"])
            }
        }
    }
}

extension Database {
    fileprivate func refers(to blob: BlobName) throws -> Bool {
        try row("SELECT 1 FROM blobs WHERE name = ?", [blob.rawValue]) != nil
    }

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
            "DELETE FROM callbacks WHERE id IN (SELECT id FROM callbacks WHERE finished_at <= ? LIMIT ?)",
            .seconds(7 * 86_400)
        ),
        (
            """
            DELETE FROM api_keys WHERE id IN (
                SELECT id FROM api_keys WHERE coalesce(revoked_at, expires_at) <= ? LIMIT ?)
            """, .seconds(90 * 86_400)
        ),
        // No delivery is under way for so long.
        (
            "DELETE FROM condemned WHERE name IN (SELECT name FROM condemned WHERE condemned_at <= ? LIMIT ?)",
            .seconds(30 * 86_400)
        ),
    ]
}
