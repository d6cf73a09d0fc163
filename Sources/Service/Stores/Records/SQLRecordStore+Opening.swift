public import SatchelCore
internal import Postgres

/// A question for what a token opens.
struct AccessLookup: Sendable {
    var id: String
    var role: RenditionRole
}

/// What was found of it, and when.
struct AccessLookupAnswer: Sendable {
    var access: AccessEntry?
    var rendition: Rendition?
    var blob: BlobName?
    var now: Instant
}

extension SQLRecordStore {
    public var revocations: UInt64? { engine.revocations }

    public func stillOpen(_ ids: Set<String>) async throws(AttachmentError) -> [String: Instant] {
        do {
            return try await engine.look { _ in
                Statement(
                    "SELECT id, expires_at FROM access WHERE id = ANY($1::text[]) AND ended_at IS NULL",
                    [.texts(Array(ids))])
            } _: { rows in
                try rows.reduce(into: [:]) { ends, row in ends[try row.text("id")] = try row.instant("expires_at") }
            }
        } catch {
            throw AttachmentError(storing: error)
        }
    }

    /// Each is asked for, and no cache decides: no read starts after the call returned that took it back, on any node. All
    /// that come while the last question is under way ask together.
    public func open(_ token: AccessToken, role: RenditionRole) async throws(AttachmentError) -> ContentAccess? {
        let found = try await together(AccessLookup(id: TokenFormat.id(in: token), role: role), lookups) {
            [engine] requests in try await Self.lookUp(requests, in: engine)
        }
        let access = keys.entry(found.access, of: token, [.lease, .link], at: found.now)
        guard let access, access.opens(role), let rendition = found.rendition, let blob = found.blob else { return nil }
        return ContentAccess(
            id: access.id, tenant: access.tenant, attachment: access.attachment, role: role, rendition: rendition,
            blob: blob, delivery: access.delivery, expiresAt: access.expiresAt, at: found.now)
    }

    private static func lookUp(
        _ requests: [AccessLookup], in engine: any RecordEngine
    ) async throws -> [AccessLookupAnswer] {
        try await engine.look { now in
            Statement(
                """
                SELECT coalesce($3::bigint, \(engine.clock("$3"))) AS now, access.*, renditions.blob, renditions.media_type,
                    renditions.width, renditions.height, renditions.duration, renditions.bytes, renditions.scheme,
                    renditions.key, renditions.key_kid, encode(renditions.sha256, 'hex') AS hash
                FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS looks (look, role, place)
                    LEFT JOIN access ON access.id = looks.look
                    LEFT JOIN renditions ON renditions.tenant = access.tenant
                        AND renditions.attachment = access.attachment AND renditions.role = looks.role
                ORDER BY looks.place
                """, [.texts(requests.map(\.id)), .raws(requests.map(\.role)), .time(now)])
        } _: { rows in
            guard rows.count == requests.count else { throw PostgresError.unexpectedColumn("looks") }
            return try rows.map { row in
                var answer = AccessLookupAnswer(now: try row.instant("now"))
                if try row.optionalText("id") != nil { answer.access = try? AccessEntry(row) }
                if let blob = try row.optionalText("blob") {
                    answer.blob = BlobName(rawValue: blob)
                    answer.rendition = try? Rendition(row)
                }
                return answer
            }
        }
    }

    public func access(
        openedBy job: JobID, of tenant: TenantID
    ) async throws(AttachmentError) -> [OpenedAccess] {
        try await read { work in
            try work.run(
                """
                SELECT access.* FROM jobs
                    JOIN attachments ON attachments.job = jobs.key
                    JOIN access ON access.tenant = attachments.tenant AND access.attachment = attachments.id
                WHERE jobs.tenant = $1 AND jobs.id = $2 AND by_job AND ended_at IS NULL AND access.expires_at > $3
                ORDER BY attachments.generation, attachments.ordinal
                """, [.raw(tenant), .raw(job), .time(work.now)]
            ).compactMap { row in
                let access = try AccessEntry(row)
                return keys.token(access.kind.token, id: access.id, kid: access.kid).map { token in
                    OpenedAccess(
                        attachment: access.attachment, id: access.id, kind: access.kind.token,
                        expiresAt: access.expiresAt, token: token)
                }
            }
        }
    }
}
