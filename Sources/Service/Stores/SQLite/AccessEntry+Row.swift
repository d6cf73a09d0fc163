internal import SatchelCore
internal import GRDB

extension AccessEntry {
    init(_ row: Row) throws {
        self.init(
            id: row["id"], kind: try row.choice("kind"), tenant: TenantID(rawValue: row["tenant"]),
            attachment: AttachmentID(rawValue: row["attachment"]), parent: row["parent"],
            renditions: try (row["renditions"] as String?).map { try Column.value([RenditionRole].self, from: $0) },
            leaseLimit: row["lease_limit"], kid: row["kid"], createdAt: Instant(milliseconds: row["created_at"]),
            expiresAt: Instant(milliseconds: row["expires_at"]), endedAt: row.instant("ended_at"),
            delivery: try row.choice("delivery"), isByJob: row["by_job"])
    }
}

extension Database {
    func insert(_ access: AccessEntry) throws {
        try run(
            """
            INSERT INTO access (id, kind, tenant, attachment, parent, renditions, lease_limit, kid, created_at, expires_at,
                delivery, by_job)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                access.id, access.kind.rawValue, access.tenant.rawValue, access.attachment.rawValue, access.parent,
                access.renditions.map(Column.text), access.leaseLimit, access.kid, access.createdAt.milliseconds,
                access.expiresAt.milliseconds, access.delivery.rawValue, access.isByJob,
            ])
    }

    func access(_ id: String, of tenant: TenantID, _ kinds: [AccessEntry.Kind]) throws -> AccessEntry? {
        let row = try row("SELECT * FROM access WHERE id = ? AND tenant = ?", [id, tenant.rawValue])
        return try row.map(AccessEntry.init).flatMap { kinds.contains($0.kind) ? $0 : nil }
    }

    func access(
        _ token: AccessToken, _ kinds: [AccessEntry.Kind], keys: KeyRing, at now: Instant
    ) throws -> AccessEntry? {
        try keys.entry(of: token, kinds.map(\.token), at: now) { id in
            try row("SELECT * FROM access WHERE id = ?", [id]).map(AccessEntry.init)
        }
    }

    /// Whether a tenant has a delivered attachment with all of these renditions (nil: with any).
    func hasRenditions(_ wanted: [RenditionRole]?, _ attachment: AttachmentID, of tenant: TenantID) throws -> Bool {
        let roles = try texts(
            "SELECT role FROM renditions WHERE tenant = ? AND attachment = ?", [tenant.rawValue, attachment.rawValue])
        guard let wanted else { return !roles.isEmpty }
        return !wanted.isEmpty && wanted.allSatisfy { roles.contains($0.rawValue) }
    }

    /// A grant and those that it was derived from, with their limits.
    func ancestors(of grant: String) throws -> [(id: String, leaseLimit: Int)] {
        try rows(
            """
            WITH RECURSIVE line(id, parent, lease_limit) AS (
                SELECT id, parent, lease_limit FROM access WHERE id = ?
                UNION ALL
                SELECT access.id, access.parent, access.lease_limit FROM access JOIN line ON access.id = line.parent
            )
            SELECT id, lease_limit FROM line
            """, [grant]
        ).map { ($0["id"], $0["lease_limit"]) }
    }

    /// The leases that live under a grant or under one derived from it.
    func liveLeases(under grant: String, at now: Instant) throws -> Int {
        // Left to itself, SQLite reads those that have ended as well.
        let count = try number(
            """
            WITH RECURSIVE grants(id) AS (
                SELECT ?
                UNION ALL
                SELECT access.id FROM access JOIN grants ON access.parent = grants.id AND access.kind = 'grant'
            )
            SELECT count(*) FROM access INDEXED BY leases_live_under
            WHERE parent IN grants AND kind = 'lease' AND ended_at IS NULL AND expires_at > ?
            """, [grant, now.milliseconds])
        return Int(count ?? 0)
    }
}
