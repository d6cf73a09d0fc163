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

    /// One part of ``deleteExpired(limit:)``, with the number of attachments that were deleted.
    func expire(limit: Int) async throws(AttachmentError) -> (attachments: Int, blobs: [BlobName]) {
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
            }
            // No delivery is under way for so long.
            try database.run(
                "DELETE FROM condemned WHERE condemned_at <= ?", [(now - .seconds(30 * 86_400)).milliseconds])
            return (expired.count, blobs)
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
}
