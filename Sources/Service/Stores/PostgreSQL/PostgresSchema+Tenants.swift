extension PostgresSchema {
    /// What is known of tenants as such; those of which nothing is have no row.
    static let tenants = Migration(
        version: 10, leastNode: 1,
        steps: [
            // The numbers that signing secrets are derived with: a JSON array, the current one first; NULL before a rotation.
            .together([
                // And since when all that is kept of the tenant is being removed.
                "ALTER TABLE tenants ADD COLUMN signing text, ADD COLUMN removed_at bigint",
                // What was done about access, by whom: written with what it tells, and never changed.
                """
                CREATE TABLE audit (
                    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, tenant text NOT NULL CHECK (tenant <> ''),
                    at bigint NOT NULL,
                    action text NOT NULL CHECK (action IN ('made', 'revoked', 'rotated', 'deleted', 'signed_in')),
                    subject_kind text NOT NULL CHECK (subject_kind IN
                        ('grant', 'lease', 'link', 'ticket', 'key', 'secret', 'attachment', 'session')),
                    subject text NOT NULL CHECK (subject <> ''), attachment uuid,
                    actor_kind text NOT NULL CHECK (actor_kind IN ('key', 'grant', 'command', 'service')), actor text,
                    detail text, CHECK (actor IS NULL OR actor_kind IN ('key', 'grant')))
                """,
                "CREATE INDEX audit_by_tenant ON audit (tenant, at, key)",
                "CREATE INDEX audit_by_action ON audit (tenant, action, at, key)",
                "CREATE INDEX audit_by_kind ON audit (tenant, actor_kind, at, key)",
                "CREATE INDEX audit_by_actor ON audit (tenant, actor, at, key) WHERE actor IS NOT NULL",
                "CREATE INDEX audit_by_time ON audit (at)",
            ]),
            .index("api_keys_by_tenant", on: "api_keys (tenant, created_at DESC, id COLLATE \"C\")"),
        ])
}
