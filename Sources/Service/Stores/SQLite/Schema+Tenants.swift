extension Schema {
    /// What is known of tenants as such; those of which nothing is have no row.
    static let tenants = """
        -- The numbers that signing secrets are derived with: a JSON array, the current one first; NULL before a rotation.
        ALTER TABLE tenants ADD COLUMN signing TEXT;
        -- Since when all that is kept of the tenant is being removed.
        ALTER TABLE tenants ADD COLUMN removed_at INTEGER;

        -- What was done about access, by whom: written with what it tells, and never changed.
        CREATE TABLE audit (
            -- Grows, and none comes twice.
            key INTEGER PRIMARY KEY AUTOINCREMENT,
            tenant TEXT NOT NULL CHECK (tenant <> ''),
            at INTEGER NOT NULL,
            action TEXT NOT NULL CHECK (action IN ('made', 'revoked', 'rotated', 'deleted', 'signed_in')),
            subject_kind TEXT NOT NULL
                CHECK (subject_kind IN
                    ('grant', 'lease', 'link', 'ticket', 'key', 'secret', 'attachment', 'session')),
            subject TEXT NOT NULL CHECK (subject <> ''),
            attachment TEXT,
            actor_kind TEXT NOT NULL CHECK (actor_kind IN ('key', 'grant', 'command', 'service')),
            actor TEXT,
            detail TEXT,
            CHECK (actor IS NULL OR actor_kind IN ('key', 'grant'))
        ) STRICT;
        CREATE INDEX audit_by_tenant ON audit(tenant, at);
        CREATE INDEX audit_by_action ON audit(tenant, action, at);
        CREATE INDEX audit_by_kind ON audit(tenant, actor_kind, at);
        CREATE INDEX audit_by_actor ON audit(tenant, actor, at) WHERE actor IS NOT NULL;
        CREATE INDEX audit_by_time ON audit(at);
        CREATE TRIGGER audit_is_immutable BEFORE UPDATE ON audit
        BEGIN SELECT RAISE(ABORT, 'what was done stays as it was'); END;
        """
}
