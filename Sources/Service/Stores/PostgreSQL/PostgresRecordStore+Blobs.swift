public import SatchelCore
internal import Postgres

extension PostgresRecordStore {
    public func unreferenced(among names: [BlobName]) async throws(AttachmentError) -> [BlobName] {
        try await read { work in try await work.unreferenced(among: names) }
    }

    /// The names are written down first, and looked for then: a delivery does it in the same order.
    public func discard(_ names: [BlobName]) async throws(AttachmentError) -> [BlobName] {
        guard !names.isEmpty else { return [] }
        return try await write { work in
            let made = try await work.run(
                """
                INSERT INTO tombstones (name, made_at) SELECT name, $2 FROM unnest($1::text[]) AS names (name) ORDER BY name
                ON CONFLICT DO NOTHING RETURNING name
                """, [.texts(Set(names).map(\.rawValue).sorted()), .int(work.now.milliseconds)]
            ).map { try $0.text("name") }
            let removed = try await work.unreferenced(among: names)
            let used = Set(made).subtracting(removed.map(\.rawValue))
            try await work.run("DELETE FROM tombstones WHERE name = ANY($1::text[])", [.texts(Array(used))])
            work.superfluous.formUnion(removed)
            return removed
        }
    }

    public func referencedBlobs() async throws(AttachmentError) -> [CommittedBlob] {
        try await read { work in
            try await work.run("SELECT name, encode(sha256, 'hex') AS hash, bytes FROM blobs").map {
                CommittedBlob(
                    name: BlobName(rawValue: try $0.text("name")), sha256: try $0.text("hash"),
                    bytes: try $0.int64("bytes"))
            }
        }
    }

    public func equalBlobs(to name: BlobName) async throws(AttachmentError) -> [BlobName] {
        try await read { work in
            try await work.run(
                """
                SELECT other.name FROM blobs JOIN blobs AS other USING (tenant, sha256)
                WHERE blobs.name = $1 AND other.name <> $1
                """, [.text(name.rawValue)]
            ).map { BlobName(rawValue: try $0.text("name")) }
        }
    }

    public func renditions(in blobs: [BlobName]) async throws(AttachmentError) -> [PlacedRendition] {
        try await read { work in
            try await work.run(
                "SELECT blob, tenant, attachment, role FROM renditions WHERE blob = ANY($1::text[])",
                [.texts(blobs.map(\.rawValue))]
            ).compactMap { row in
                try RenditionRole(rawValue: row.text("role")).map { role in
                    PlacedRendition(
                        blob: BlobName(rawValue: try row.text("blob")),
                        tenant: TenantID(rawValue: try row.text("tenant")),
                        attachment: AttachmentID(rawValue: try row.text("attachment")), role: role)
                }
            }
        }
    }

    public func markDamaged(_ names: [BlobName]) async throws(AttachmentError) {
        guard !names.isEmpty else { return }
        try await write { work in
            _ = try await work.run(
                "UPDATE blobs SET damaged = true WHERE name = ANY($1::text[])", [.texts(names.map(\.rawValue))])
        }
    }

    public func neededSources() async throws(AttachmentError) -> [SourceName] {
        try await read { work in
            try await work.run(
                """
                SELECT source AS name FROM attachments WHERE source IS NOT NULL UNION SELECT name FROM retained_sources
                UNION SELECT source FROM uploads WHERE state IN ('open', 'complete') AND received > 0
                """
            ).map { SourceName(rawValue: try $0.text("name")) }
        }
    }

    public func unneeded(among names: [SourceName]) async throws(AttachmentError) -> [SourceName] {
        try await read { work in try await work.unneeded(among: names) }
    }

    public func keysInUse() async throws(AttachmentError) -> Set<String> {
        try await read { work in
            Set(
                try await work.run(
                    """
                    SELECT DISTINCT kid FROM access WHERE expires_at > $1 AND ended_at IS NULL
                    UNION SELECT DISTINCT kid FROM tickets WHERE expires_at > $1 AND ended_at IS NULL
                    UNION SELECT DISTINCT kid FROM uploads
                    WHERE state IN ('open', 'complete', 'consumed') AND expires_at > $1
                    UNION SELECT DISTINCT headers_kid FROM queue WHERE headers_kid IS NOT NULL
                    UNION SELECT DISTINCT headers_kid FROM notification_sources WHERE headers_kid IS NOT NULL
                    UNION SELECT DISTINCT key_kid FROM renditions WHERE key_kid IS NOT NULL
                    """, [.int(work.now.milliseconds)]
                ).map { try $0.text("kid") })
        }
    }
}

extension PostgresWork {
    func unreferenced(among names: [BlobName]) async throws -> [BlobName] {
        try await run(
            """
            SELECT name FROM unnest($1::text[]) AS names (name)
            WHERE NOT EXISTS (SELECT 1 FROM blobs WHERE blobs.name = names.name)
            """, [.texts(names.map(\.rawValue))]
        ).map { BlobName(rawValue: try $0.text("name")) }
    }
}
