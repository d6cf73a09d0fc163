public import SatchelCore
public import FoundationEssentials
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

extension RecordStore {
    /// Changes with everything that takes access back, in whatever process, before the call that did it returns. What
    /// was opened at the same count is still open, up to its expiry. Nil if no count is kept: then each look has to ask.
    public var revocations: UInt64? { engine.revocations }

    /// Those of these leases and links that were not taken back, each with its end, which may be sooner than it was; one
    /// that ran out is among them.
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

    /// What a lease or link token opens right now; nil for a malformed, unknown, expired, stopped or revoked one, at the
    /// same cost.
    ///
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

    /// The access that a job started when it delivered and that still lives, with tokens made again.
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

extension RecordStore {
    /// A text with its tokens and keys, those that have ended in short.
    public func text(of template: TokenTemplate, of tenant: TenantID) async throws(AttachmentError) -> Data {
        let tokens = try await tokens(template.tokens, of: tenant)
        return template.text(with: tokens, keys: try await keys(at: template.keys, tokens))
    }

    /// What opens renditions, as it stands in a text.
    ///
    /// - Parameter tokens: Of the links by which they are found.
    public func keys(
        at places: Set<RenditionKeyPlace>, _ tokens: [String: AccessToken]
    ) async throws(AttachmentError) -> [RenditionKeyPlace: String] {
        var keys: [RenditionKeyPlace: String] = [:]
        for place in places {
            guard let token = tokens[place.link], let access = try await open(token, role: place.role),
                let sealed = access.rendition.encryption
            else { continue }
            keys[place] = unseal(sealed, of: access.tenant, for: access.rendition.sha256).secretText
        }
        return keys
    }
}
