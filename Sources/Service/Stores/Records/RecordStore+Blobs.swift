public import SatchelCore
internal import Postgres

extension RecordStore {
    /// Which of these blobs no record refers to.
    public func unreferenced(among names: [BlobName]) async throws(AttachmentError) -> [BlobName] {
        try await read { work in try work.unreferenced(among: names) }
    }

    /// Gives up those of these blobs that no record refers to: from then on no delivery can refer to them, and their
    /// bytes are removed.
    ///
    /// - Returns: Which those are.
    @discardableResult
    public func discard(_ names: [BlobName]) async throws(AttachmentError) -> [BlobName] {
        // The names are written down first, and looked for then: a delivery does it in the same order.
        guard !names.isEmpty else { return [] }
        return try await write { work in
            let made = try work.run(
                """
                INSERT INTO tombstones (name, made_at) SELECT name, $2 FROM unnest($1::text[]) AS names (name) ORDER BY name
                ON CONFLICT DO NOTHING RETURNING name
                """, [.texts(Set(names).map(\.rawValue).sorted()), .time(work.now)]
            ).map { try $0.text("name") }
            let removed = try work.unreferenced(among: names)
            let used = Set(made).subtracting(removed.map(\.rawValue))
            try work.run("DELETE FROM tombstones WHERE name = ANY($1::text[])", [.texts(Array(used))])
            work.superfluous.formUnion(removed)
            return removed
        }
    }

    /// Every blob that a record refers to, with its hash and size.
    public func referencedBlobs() async throws(AttachmentError) -> [CommittedBlob] {
        try await read { work in try work.committedBlobs() }
    }

    /// Other blobs of the same tenant with the same hash.
    public func equalBlobs(to name: BlobName) async throws(AttachmentError) -> [BlobName] {
        try await read { work in
            try work.run(
                """
                SELECT other.name FROM blobs JOIN blobs AS other USING (tenant, sha256)
                WHERE blobs.name = $1 AND other.name <> $1
                """, [.raw(name)]
            ).map { BlobName(rawValue: try $0.text("name")) }
        }
    }

    /// The renditions that are in these blobs.
    public func renditions(in blobs: [BlobName]) async throws(AttachmentError) -> [PlacedRendition] {
        try await read { work in
            try work.run(
                "SELECT blob, tenant, attachment, role FROM renditions WHERE blob = ANY($1::text[])",
                [.raws(blobs)]
            ).compactMap { row in
                try RenditionRole(rawValue: row.text("role")).map { role in
                    PlacedRendition(
                        blob: try row.value("blob"),
                        tenant: try row.value("tenant"),
                        attachment: try row.value("attachment"), role: role)
                }
            }
        }
    }

    /// These turned out damaged or missing: no new delivery refers to them.
    public func markDamaged(_ names: [BlobName]) async throws(AttachmentError) {
        guard !names.isEmpty else { return }
        try await write { work in try work.markDamaged(names) }
    }

    /// Every source that a job needs that is unfinished or can be tried again.
    public func neededSources() async throws(AttachmentError) -> [SourceName] {
        try await read { work in try work.neededSources() }
    }

    /// Which of these sources no job needs that is unfinished or can be tried again.
    public func unneeded(among names: [SourceName]) async throws(AttachmentError) -> [SourceName] {
        try await read { work in try work.unneeded(among: names) }
    }

    /// The keys that live tokens were derived with, and the secrets of unfinished jobs and the keys of renditions sealed.
    public func keysInUse() async throws(AttachmentError) -> Set<String> {
        try await read { work in try work.keysInUse(at: work.now) }
    }
}

extension RecordSchema {
    fileprivate static let keysInUse = """
        SELECT DISTINCT kid FROM access WHERE expires_at > $1 AND ended_at IS NULL
        UNION SELECT DISTINCT kid FROM tickets WHERE expires_at > $1 AND ended_at IS NULL
        UNION SELECT DISTINCT kid FROM uploads
        WHERE state IN ('open', 'complete', 'consumed') AND expires_at > $1
        UNION SELECT DISTINCT headers_kid FROM queue WHERE headers_kid IS NOT NULL
        UNION SELECT DISTINCT headers_kid FROM notification_sources WHERE headers_kid IS NOT NULL
        UNION SELECT DISTINCT key_kid FROM renditions WHERE key_kid IS NOT NULL
        """

    /// Finds a row if the records have API keys, or anything that was made with the access keys.
    static func needsKeys(at now: Instant) -> Statement {
        Statement(
            "SELECT 1 FROM (\(keysInUse) UNION SELECT id FROM api_keys WHERE revoked_at IS NULL) AS needs LIMIT 1",
            [.time(now)])
    }
}

/// What records refer to, also in a copy of them that is no store.
extension StatementSender {
    func committedBlobs() throws -> [CommittedBlob] {
        try send([Statement("SELECT name, encode(sha256, 'hex') AS hash, bytes FROM blobs")])[0].map {
            CommittedBlob(
                name: try $0.value("name"), sha256: try $0.text("hash"), bytes: try $0.int64("bytes")
            )
        }
    }

    func neededSources() throws -> [SourceName] {
        let statement = Statement(
            """
            SELECT source AS name FROM attachments WHERE source IS NOT NULL UNION SELECT name FROM retained_sources
            UNION SELECT source FROM uploads WHERE state IN ('open', 'complete') AND received > 0
            """)
        return try send([statement])[0].map { SourceName(rawValue: try $0.text("name")) }
    }

    func keysInUse(at now: Instant) throws -> Set<String> {
        let statement = Statement(RecordSchema.keysInUse, [.time(now)])
        return Set(try send([statement])[0].map { try $0.text("kid") })
    }

    func markDamaged(_ names: [BlobName]) throws {
        _ = try send([
            Statement(
                "UPDATE blobs SET damaged = true WHERE name = ANY($1::text[])", [.raws(names)])
        ])
    }
}

extension RecordTransaction {
    func unreferenced(among names: [BlobName]) throws -> [BlobName] {
        try run(
            """
            SELECT name FROM unnest($1::text[]) AS names (name)
            WHERE NOT EXISTS (SELECT 1 FROM blobs WHERE blobs.name = names.name)
            """, [.raws(names)]
        ).map { BlobName(rawValue: try $0.text("name")) }
    }
}
