public import Attachments
internal import GRDB

extension SQLiteRecordStore {
    public func unreferenced(among names: [BlobName]) async throws(AttachmentError) -> [BlobName] {
        try await read { database, _ in
            try names.filter { try !database.refers(to: $0) }
        }
    }

    public func markRemoved(_ names: [BlobName]) async throws(AttachmentError) -> [BlobName] {
        try await write { database, now in
            let removed = try names.filter { try !database.refers(to: $0) }
            for name in removed {
                try database.run(
                    "INSERT OR IGNORE INTO tombstones (name, made_at) VALUES (?, ?)",
                    [name.rawValue, now.milliseconds])
            }
            return removed
        }
    }

    public func referencedBlobs() async throws(AttachmentError) -> [CommittedBlob] {
        try await read { database, _ in
            try database.rows("SELECT name, sha256, bytes FROM blobs").map {
                CommittedBlob(name: BlobName(rawValue: $0["name"]), sha256: $0["sha256"], bytes: $0["bytes"])
            }
        }
    }

    public func markDamaged(_ names: [BlobName]) async throws(AttachmentError) {
        guard !names.isEmpty else { return }
        try await write { database, _ in
            for name in names {
                try database.run("UPDATE blobs SET damaged = 1 WHERE name = ?", [name.rawValue])
            }
        }
    }

    public func needsSpool(_ name: String) async throws(AttachmentError) -> Bool {
        try await read { database, _ in try database.needsSpool(name) }
    }

    public func keysInUse() async throws(AttachmentError) -> Set<String> {
        try await read { database, now in
            Set(
                try database.texts(
                    """
                    SELECT DISTINCT kid FROM access WHERE expires_at > ? AND ended_at IS NULL
                    UNION SELECT DISTINCT headers_kid FROM jobs WHERE headers_kid IS NOT NULL
                    """, [now.milliseconds]))
        }
    }
}

extension Database {
    static let spoolNeed = """
        SELECT 1 WHERE EXISTS (SELECT 1 FROM attachments WHERE spool = ?)
            OR EXISTS (SELECT 1 FROM retained_spool WHERE name = ?)
        """

    fileprivate func needsSpool(_ name: String) throws -> Bool {
        try row(Self.spoolNeed, [name, name]) != nil
    }

    /// The files of the spool that the transaction so far has made superfluous.
    func takeReleasedSpool() throws -> [String] {
        let released = try texts("SELECT name FROM released_spool")
        guard !released.isEmpty else { return [] }
        try run("DELETE FROM released_spool")
        return try released.filter { try !needsSpool($0) }
    }

    fileprivate func refers(to blob: BlobName) throws -> Bool {
        try row("SELECT 1 FROM blobs WHERE name = ?", [blob.rawValue]) != nil
    }
}
