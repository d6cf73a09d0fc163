public import SatchelCore
internal import Postgres

extension RecordStore {
    /// A new grant; nil where the scope has no such attachment, or it has no such rendition.
    ///
    /// A bearer's is derived from the grant: never wider in renditions, time or leases, at most
    /// ``AccessLimits/deepestGrant`` times.
    ///
    /// - Parameters:
    ///   - attachment: Nil for the bearer's own.
    ///   - renditions: Nil for all.
    ///   - leaseLimit: Live leases at most; nil for as many as the grant that it is derived from, or one.
    public func grant(
        on attachment: AttachmentID?, in scope: AccessScope, renditions: [RenditionRole]?, for duration: Duration,
        leaseLimit: Int?
    ) async throws(AttachmentError) -> (AccessEntry, AccessToken)? {
        try await give(on: attachment, in: scope) { origin, id, kid, now in
            origin.derive(
                .grant, id: id, key: kid, to: renditions, for: duration, leaseLimit: leaseLimit, at: now)
        } admitted: { _, _, ancestors in
            ancestors.count < AccessLimits.deepestGrant || ancestors.isEmpty
        }
    }

    /// Starts access; nil where the scope has no such attachment, or it has no such rendition.
    ///
    /// - Throws: `quota_exceeded` at the limit of live leases of the grant, of one that it was derived from, or of the
    ///   tenant.
    public func startLease(
        on attachment: AttachmentID? = nil, in scope: AccessScope, renditions: [RenditionRole]?, for duration: Duration,
        within quotas: Quotas = Quotas()
    ) async throws(AttachmentError) -> (AccessEntry, AccessToken)? {
        try await give(on: attachment, in: scope) { origin, id, kid, now in
            origin.derive(.lease, id: id, key: kid, to: renditions, for: duration, at: now)
        } admitted: { work, lease, ancestors in
            try work.admitLease(of: lease.tenant, within: quotas)
            // A lease counts against its grant and every grant that one was derived from.
            for ancestor in ancestors {
                try QuotaSubject.leasesOfGrant.admit(
                    try work.liveLeases(under: ancestor.id), of: ancestor.leaseLimit)
            }
            return true
        }
    }

    /// A reusable link, for one reader or for a broadcast; nil where the tenant has no such attachment.
    public func link(
        to attachment: AttachmentID, of tenant: TenantID, renditions: [RenditionRole]?, for duration: Duration,
        delivery: DeliveryMode = .private
    ) async throws(AttachmentError) -> (AccessEntry, AccessToken)? {
        try await give(on: attachment, in: .owner(tenant)) { origin, id, kid, now in
            origin.derive(.link, id: id, key: kid, to: renditions, for: duration, delivery: delivery, at: now)
        } admitted: { _, _, _ in
            true
        }
    }

    /// Records new access and makes its token; nil where the scope has nothing to give.
    ///
    /// - Parameter admitted: Gets the grants above, which are locked from the root down, so that none is full or ends
    ///   meanwhile.
    private func give(
        on attachment: AttachmentID?, in scope: AccessScope,
        derive: @escaping @Sendable (AccessOrigin, _ id: String, _ kid: String, Instant) -> AccessEntry?,
        admitted: @escaping @Sendable (RecordTransaction, AccessEntry, [RecordTransaction.Ancestor]) throws -> Bool
    ) async throws(AttachmentError) -> (AccessEntry, AccessToken)? {
        guard try await isLive(scope) else { return nil }
        let kid = try currentKey()
        let id = TokenFormat.newID()
        let given = try await write { work -> AccessEntry? in
            // Done again after an answer that was lost, it is there already.
            if work.mayHaveCommitted, let entry = try work.access(id) { return entry }
            var ancestors: [RecordTransaction.Ancestor] = []
            if case .bearer(let token) = scope {
                ancestors = try work.lockAncestors(of: TokenFormat.id(in: token))
            }
            guard let origin = try work.origin(of: attachment, in: scope),
                let entry = derive(origin, id, kid, work.now),
                try !work.openable([entry]).isEmpty, try admitted(work, entry, ancestors)
            else { return nil }
            try work.run(work.insertion(of: entry))
            work.note(.made(entry))
            return entry
        }
        guard let given else { return nil }
        guard let token = keys.token(given.kind.token, id: given.id, kid: kid) else {
            throw .storeFailed(reason: "the key of a new token was removed")
        }
        return (given, token)
    }

    /// A live or ended grant.
    public func grant(_ id: String, in scope: AccessScope) async throws(AttachmentError) -> AccessEntry? {
        try await read { work in try work.access(id, in: scope, [.grant]) }
    }

    /// What a grant token stands for right now; nil where it opens nothing.
    public func grant(of token: AccessToken) async throws(AttachmentError) -> AccessEntry? {
        try await read { work in try work.access(token, [.grant]) }
    }

    /// A live or ended lease.
    public func lease(_ id: String, in scope: AccessScope) async throws(AttachmentError) -> AccessEntry? {
        try await read { work in try work.access(id, in: scope, [.lease]) }
    }

    /// Moves the end of a live lease to `duration` from now, within its grant; nil where it isn't live.
    public func renewLease(
        _ id: String, in scope: AccessScope, for duration: Duration
    ) async throws(AttachmentError) -> AccessEntry? {
        guard try await isLive(scope) else { return nil }
        return try await write { work -> AccessEntry? in
            // The grants above first, so that none ends meanwhile; then the lease is read behind its own lock.
            _ = try work.lockAncestors(of: id)
            guard var lease = try work.access(id, in: scope, [.lease]), lease.isLive(at: work.now) else {
                return nil
            }
            var grant: AccessEntry?
            if let parent = lease.parent { grant = try work.access(parent) }
            let before = lease.expiresAt
            lease.expiresAt = AccessLimits.end(of: duration, from: work.now, within: grant)
            if lease.expiresAt < before { work.takesBack = true }
            try work.run(
                "UPDATE access SET expires_at = $2 WHERE id = $1",
                [.text(lease.id), .time(lease.expiresAt)])
            return lease
        }
    }

    /// Stops a lease, or revokes a link or a grant with all that was derived from it. Idempotent: false where the scope
    /// has nothing of that id.
    public func revoke(_ id: String, in scope: AccessScope) async throws(AttachmentError) -> Bool {
        guard try await isLive(scope) else { return false }
        return try await write { work in
            let access = try work.access(id, in: scope, AccessEntry.Kind.allCases)
            guard let access else { return false }
            try work.end(access)
            work.note(.revoked(access))
            return true
        }
    }

    /// A look before a write: who holds no good token makes no work for writers.
    private func isLive(_ scope: AccessScope) async throws(AttachmentError) -> Bool {
        guard case .bearer(let token) = scope else { return true }
        return try await grant(of: token) != nil
    }

    /// The token of a live grant, lease or link, made again for its owner.
    public func token(_ id: String, of tenant: TenantID) async throws(AttachmentError) -> AccessToken? {
        try await tokens([id], of: tenant)[id]
    }

    /// The tokens of those of these grants, leases, links and tickets that live, by their ids, made again for their owner; nothing
    /// secret is stored.
    public func tokens(
        _ ids: Set<String>, of tenant: TenantID
    ) async throws(AttachmentError) -> [String: AccessToken] {
        guard !ids.isEmpty else { return [:] }
        return try await read { work in
            let values: [SQLValue] = [.texts(Array(ids)), .raw(tenant)]
            let found = try work.send([
                Statement("SELECT * FROM access WHERE id = ANY($1::text[]) AND tenant = $2", values),
                Statement(
                    "SELECT record, ended_at FROM tickets WHERE id = ANY($1::text[]) AND tenant = $2", values),
            ])
            let access = try found[0].map { try AccessEntry($0) }
            return keys.tokens(of: access + (try found[1].map { try $0.ticket() }), at: work.now)
        }
    }

    func currentKey() throws(AttachmentError) -> String {
        do { return try keys.current() } catch { throw .storeFailed(reason: error.description) }
    }

    /// The ids of a tenant's grants, leases and links that live and begin so, the newest first.
    public func liveAccess(
        of tenant: TenantID, startingWith prefix: String, limit: Int
    ) async throws(AttachmentError) -> [String] {
        try await read { work in
            try work.run(
                """
                SELECT id FROM access
                WHERE tenant = $1 AND ended_at IS NULL AND expires_at > $2 AND substr(id, 1, length($3)) = $3
                ORDER BY created_at DESC, id LIMIT $4
                """, [.raw(tenant), .time(work.now), .text(prefix), .int(limit)]
            ).map { try $0.text("id") }
        }
    }
}

extension TokenFormat {
    /// The id in a token; of one that is malformed an id that nothing has, which costs the same look.
    static func id(in token: AccessToken) -> String {
        parse(token.secretText)?.id ?? String(repeating: "0", count: idLength)
    }
}

extension AccessEntry {
    init(_ row: RecordRow) throws {
        self.init(
            id: try row.text("id"), kind: try row.value("kind"), tenant: try row.value("tenant"),
            attachment: try row.value("attachment"), parent: try row.optionalText("parent"),
            renditions: try row.optionalText("renditions").map { try Column.value([RenditionRole].self, from: $0) },
            leaseLimit: try row.optionalInt("lease_limit").map { Int($0) }, kid: try row.text("kid"),
            createdAt: try row.instant("created_at"), expiresAt: try row.instant("expires_at"),
            endedAt: try row.optionalInstant("ended_at"), delivery: try row.value("delivery"),
            isByJob: try row.bool("by_job"))
    }
}

extension RecordTransaction {
    /// A grant, and how many leases may live under it.
    struct Ancestor {
        var id: String
        var leaseLimit: Int
    }

    func insertion(of access: AccessEntry) throws -> Statement {
        change(access.tenant, access.kind, by: 1)
        return .insert(
            into: "access",
            [
                "id": .text(access.id), "kind": .raw(access.kind), "tenant": .raw(access.tenant),
                "attachment": .raw(access.attachment), "parent": .text(access.parent),
                "renditions": try .json(access.renditions), "lease_limit": .int(access.leaseLimit.map { Int64($0) }),
                "kid": .text(access.kid), "created_at": .time(access.createdAt), "expires_at": .time(access.expiresAt),
                "delivery": .raw(access.delivery), "by_job": .bool(access.isByJob),
            ])
    }

    func access(_ id: String) throws -> AccessEntry? {
        try run("SELECT * FROM access WHERE id = $1", [.text(id)]).first.map { try AccessEntry($0) }
    }

    func access(_ token: AccessToken, _ kinds: [AccessEntry.Kind]) throws -> AccessEntry? {
        store.keys.entry(try access(TokenFormat.id(in: token)), of: token, kinds.map(\.token), at: now)
    }

    /// What new access in a scope is derived from; nil where the scope opens nothing of the kind.
    fileprivate func origin(of attachment: AttachmentID?, in scope: AccessScope) throws -> AccessOrigin? {
        switch scope {
        case .owner(let tenant):
            return attachment.map { .attachment($0, of: tenant) }
        case .bearer(let token):
            let grant = try access(token, [.grant])
            return grant.flatMap { attachment ?? $0.attachment == $0.attachment ? .grant($0) : nil }
        }
    }

    /// What a scope has under this id: a tenant anything, a grant's bearer the grant and what was derived from it.
    fileprivate func access(
        _ id: String, in scope: AccessScope, _ kinds: [AccessEntry.Kind]
    ) throws -> AccessEntry? {
        guard let found = try access(id), kinds.contains(found.kind) else {
            // As costly as finding something, for who bears a token.
            if case .bearer(let token) = scope { _ = try access(token, [.grant]) }
            return nil
        }
        switch scope {
        case .owner(let tenant):
            return found.tenant == tenant ? found : nil
        case .bearer(let token):
            guard let grant = try access(token, [.grant]), found.tenant == grant.tenant else { return nil }
            if found.id == grant.id { return found }
            guard let parent = found.parent else { return nil }
            return try ancestors(of: parent).contains { $0.id == grant.id } ? found : nil
        }
    }

    /// Something and what it was derived from, the root first.
    private func ancestors(of id: String) throws -> [Ancestor] {
        try run(
            """
            WITH RECURSIVE line (id, parent, lease_limit, depth) AS (
                SELECT id, parent, lease_limit, 0 FROM access WHERE id = $1
                UNION ALL
                SELECT access.id, access.parent, access.lease_limit, depth + 1
                FROM access JOIN line ON access.id = line.parent
            )
            SELECT id, coalesce(lease_limit, 1) AS lease_limit FROM line ORDER BY depth DESC
            """, [.text(id)]
        ).map { Ancestor(id: try $0.text("id"), leaseLimit: try $0.int("lease_limit")) }
    }

    /// Something and what it was derived from, locked from the root down.
    fileprivate func lockAncestors(of id: String) throws -> [Ancestor] {
        let line = try ancestors(of: id)
        try run(
            """
            SELECT access.id FROM unnest($1::text[]) WITH ORDINALITY AS line (id, place) JOIN access ON access.id = line.id
            ORDER BY place FOR NO KEY UPDATE OF access
            """, [.texts(line.map(\.id))])
        return line
    }

    /// The leases that live under a grant or under one derived from it.
    fileprivate func liveLeases(under grant: String) throws -> Int {
        try run(
            """
            WITH RECURSIVE grants (id) AS (
                SELECT $1::text
                UNION ALL
                SELECT access.id FROM access JOIN grants ON access.parent = grants.id AND access.kind = 'grant'
            )
            SELECT count(*) AS n FROM access
            WHERE parent IN (SELECT id FROM grants) AND kind = 'lease' AND ended_at IS NULL AND expires_at > $2
            """, [.text(grant), .time(now)]
        ).first?.int("n") ?? 0
    }

    /// Ends access; then, seeing all that was derived before, what was derived from it. Who derives holds the grant's lock
    /// until it is recorded, or finds the grant ended.
    func end(_ access: AccessEntry) throws {
        let values: [SQLValue] = [.text(access.id), .time(now)]
        let rows = try send([
            Statement(
                "UPDATE access SET ended_at = $2 WHERE id = $1 AND ended_at IS NULL RETURNING kind", values),
            Statement(
                """
                WITH RECURSIVE fallen (id) AS (
                    SELECT id FROM access WHERE parent = $1
                    UNION ALL
                    SELECT access.id FROM access JOIN fallen ON access.parent = fallen.id
                )
                UPDATE access SET ended_at = $2 WHERE id IN (SELECT id FROM fallen) AND +ended_at IS NULL RETURNING kind
                """, values),
        ])
        takesBack = takesBack || rows.contains { $0.changes > 0 }
        for row in Array(rows[0]) + Array(rows[1]) { change(access.tenant, try row.value("kind"), by: -1) }
    }
}
