public import SatchelCore
internal import GRDB

extension SQLiteRecordStore {
    public func unreferenced(among names: [BlobName]) async throws(AttachmentError) -> [BlobName] {
        try await read { database, _ in
            try names.filter { try !database.refers(to: $0) }
        }
    }

    public func discard(_ names: [BlobName]) async throws(AttachmentError) -> [BlobName] {
        let superfluous = try await write { database, now in
            let removed = try names.filter { try !database.refers(to: $0) }
            for name in removed {
                try database.run(
                    "INSERT OR IGNORE INTO tombstones (name, made_at) VALUES (?, ?)",
                    [name.rawValue, now.milliseconds])
            }
            return removed
        }
        await garbage.collect(superfluous)
        return superfluous
    }

    public func referencedBlobs() async throws(AttachmentError) -> [CommittedBlob] {
        try await read { database, _ in try database.committedBlobs() }
    }

    public func equalBlobs(to name: BlobName) async throws(AttachmentError) -> [BlobName] {
        try await read { database, _ in
            try database.texts(
                """
                SELECT other.name FROM blobs JOIN blobs AS other
                    ON other.tenant = blobs.tenant AND other.sha256 = blobs.sha256 AND other.name <> blobs.name
                WHERE blobs.name = ?
                """, [name.rawValue]
            ).map(BlobName.init(rawValue:))
        }
    }

    public func renditions(in blobs: [BlobName]) async throws(AttachmentError) -> [PlacedRendition] {
        try await read { database, _ in
            try blobs.flatMap { blob in
                try database.rows(
                    "SELECT tenant, attachment, role FROM renditions WHERE blob = ?", [blob.rawValue]
                ).compactMap { row in
                    RenditionRole(rawValue: row["role"]).map {
                        PlacedRendition(
                            blob: blob, tenant: TenantID(rawValue: row["tenant"]),
                            attachment: AttachmentID(rawValue: row["attachment"]), role: $0)
                    }
                }
            }
        }
    }

    public func markDamaged(_ names: [BlobName]) async throws(AttachmentError) {
        guard !names.isEmpty else { return }
        try await write { database, _ in try database.markDamaged(names) }
    }

    public func neededSources() async throws(AttachmentError) -> [SourceName] {
        try await read { database, _ in try database.neededSources() }
    }

    public func unneeded(among names: [SourceName]) async throws(AttachmentError) -> [SourceName] {
        try await read { database, _ in try names.filter { try !database.needs($0) } }
    }

    public func keysInUse() async throws(AttachmentError) -> Set<String> {
        try await read { database, now in try database.keysInUse(at: now) }
    }
}

extension Database {
    func committedBlobs() throws -> [CommittedBlob] {
        try rows("SELECT name, sha256, bytes FROM blobs").map {
            CommittedBlob(name: BlobName(rawValue: $0["name"]), sha256: $0["sha256"], bytes: $0["bytes"])
        }
    }

    func markDamaged(_ names: [BlobName]) throws {
        for name in names { try run("UPDATE blobs SET damaged = 1 WHERE name = ?", [name.rawValue]) }
    }

    func keysInUse(at now: Instant) throws -> Set<String> {
        Set(
            try texts(
                """
                SELECT DISTINCT kid FROM access WHERE expires_at > ? AND ended_at IS NULL
                UNION SELECT DISTINCT kid FROM tickets WHERE expires_at > ? AND ended_at IS NULL
                UNION SELECT DISTINCT kid FROM uploads WHERE state IN ('open', 'complete', 'consumed') AND expires_at > ?
                UNION SELECT DISTINCT headers_kid FROM jobs WHERE headers_kid IS NOT NULL
                UNION SELECT DISTINCT headers_kid FROM notification_sources WHERE headers_kid IS NOT NULL
                UNION SELECT DISTINCT key_kid FROM renditions WHERE key_kid IS NOT NULL
                """, [now.milliseconds, now.milliseconds, now.milliseconds]))
    }

    func neededSources() throws -> [SourceName] {
        try texts(
            """
            SELECT spool FROM attachments WHERE spool IS NOT NULL UNION SELECT name FROM retained_spool
            UNION SELECT source FROM uploads WHERE state IN ('open', 'complete') AND received > 0
            """
        ).map(SourceName.init(rawValue:))
    }

    static let sourceNeed = """
        SELECT 1 WHERE EXISTS (SELECT 1 FROM attachments WHERE spool = ?)
            OR EXISTS (SELECT 1 FROM retained_spool WHERE name = ?)
            OR EXISTS (SELECT 1 FROM uploads WHERE source = ? AND state IN ('open', 'complete'))
        """

    func needs(_ name: SourceName) throws -> Bool {
        try row(Self.sourceNeed, [name.rawValue, name.rawValue, name.rawValue]) != nil
    }

    /// The sources that the transaction so far has made superfluous.
    func takeReleasedSources() throws -> [SourceName] {
        let released = try texts("SELECT name FROM released_spool").map(SourceName.init(rawValue:))
        guard !released.isEmpty else { return [] }
        try run("DELETE FROM released_spool")
        return try released.filter { try !needs($0) }
    }

    fileprivate func refers(to blob: BlobName) throws -> Bool {
        try row("SELECT 1 FROM blobs WHERE name = ?", [blob.rawValue]) != nil
    }
}
