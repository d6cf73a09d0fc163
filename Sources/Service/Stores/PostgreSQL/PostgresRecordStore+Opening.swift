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

extension PostgresRecordStore {
    /// Nobody counts for all nodes: each look has to ask.
    public var revocations: UInt64? { SeededFault.cacheDecides.isOn ? 0 : nil }

    public func stillOpen(_ ids: Set<String>) async throws(AttachmentError) -> [String: Instant] {
        do {
            let rows = try await pool.rows(
                "SELECT id, expires_at FROM access WHERE id = ANY($1::text[]) AND ended_at IS NULL",
                [.texts(Array(ids))])
            var ends: [String: Instant] = [:]
            for row in rows { ends[try row.text("id")] = try row.instant("expires_at") }
            return ends
        } catch {
            throw AttachmentError(postgres: error)
        }
    }

    /// Each is asked for, and no cache decides: no read starts after the call returned that took it back, on any node. All
    /// that come while the last question is under way ask together.
    public func open(_ token: AccessToken, role: RenditionRole) async throws(AttachmentError) -> ContentAccess? {
        let found: AccessLookupAnswer
        do {
            found = try await lookups(AccessLookup(id: TokenFormat.id(in: token), role: role)) {
                [pool] requests throws(PostgresError) in try await Self.lookUp(requests, in: pool)
            }
        } catch {
            throw AttachmentError(postgres: error)
        }
        var now = found.now
        if case .fixed(let clock) = clock { now = clock() }
        let access = keys.entry(of: token, [.lease, .link], at: now) { _ in found.access }
        guard let access, access.opens(role), let rendition = found.rendition, let blob = found.blob else { return nil }
        return ContentAccess(
            id: access.id, tenant: access.tenant, attachment: access.attachment, role: role, rendition: rendition,
            blob: blob, delivery: access.delivery, expiresAt: access.expiresAt, at: now)
    }

    static func lookUp(_ requests: [AccessLookup], in pool: PostgresPool) async throws(PostgresError)
        -> [AccessLookupAnswer]
    {
        let rows = try await pool.rows(
            """
            SELECT \(PostgresClock.sql) AS now, access.*, renditions.blob, renditions.media_type, renditions.width,
                renditions.height, renditions.duration, renditions.bytes, renditions.scheme, renditions.key, renditions.key_kid,
                encode(renditions.sha256, 'hex') AS hash
            FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS looks (look, role, place)
                LEFT JOIN access ON access.id = looks.look
                LEFT JOIN renditions ON renditions.tenant = access.tenant
                    AND renditions.attachment = access.attachment AND renditions.role = looks.role
            ORDER BY looks.place
            """, [.texts(requests.map(\.id)), .texts(requests.map(\.role.rawValue))])
        guard rows.count == requests.count else { throw .unexpectedColumn("looks") }
        var answers: [AccessLookupAnswer] = []
        for row in rows {
            var answer = AccessLookupAnswer(now: try row.instant("now"))
            if try row.optionalText("id") != nil { answer.access = try? AccessEntry(row) }
            if let blob = try row.optionalText("blob") {
                answer.blob = BlobName(rawValue: blob)
                answer.rendition = try? Rendition(row)
            }
            answers.append(answer)
        }
        return answers
    }

    public func access(
        openedBy job: JobID, of tenant: TenantID
    ) async throws(AttachmentError) -> [OpenedAccess] {
        try await read { work in
            try await work.run(
                """
                SELECT access.* FROM jobs
                    JOIN attachments ON attachments.job = jobs.key
                    JOIN access ON access.tenant = attachments.tenant AND access.attachment = attachments.id
                WHERE jobs.tenant = $1 AND jobs.id = $2 AND by_job AND ended_at IS NULL AND access.expires_at > $3
                ORDER BY attachments.generation, attachments.ordinal
                """, [.text(tenant.rawValue), .text(job.rawValue), .int(work.now.milliseconds)]
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
