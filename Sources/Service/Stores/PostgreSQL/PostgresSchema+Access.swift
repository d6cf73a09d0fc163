extension PostgresSchema {
    /// Access to what was delivered, API keys, and the list of what was done about both.
    static let access = """
        CREATE TABLE access (
            id text PRIMARY KEY CHECK (length(id) = 22), kind text NOT NULL CHECK (kind IN ('grant', 'lease', 'link')),
            tenant text NOT NULL, attachment uuid NOT NULL, parent text, renditions text,
            lease_limit int CHECK (lease_limit >= 1), kid text NOT NULL,
            delivery text NOT NULL CHECK (delivery = 'private' OR (delivery = 'shared' AND kind = 'link')),
            by_job boolean NOT NULL CHECK (NOT by_job OR parent IS NULL), created_at bigint NOT NULL,
            expires_at bigint NOT NULL, ended_at bigint,
            FOREIGN KEY (tenant, attachment) REFERENCES attachments ON DELETE CASCADE,
            CHECK ((kind = 'grant') = (lease_limit IS NOT NULL)), CHECK (kind <> 'link' OR parent IS NULL));
        -- The access to an attachment, in the order of its list.
        CREATE INDEX access_of_attachment ON access (tenant, attachment, id COLLATE "C");
        CREATE INDEX access_by_parent ON access (parent, kind) WHERE parent IS NOT NULL;
        CREATE INDEX access_by_expiry ON access (expires_at);
        CREATE INDEX access_live ON access (kind, expires_at) WHERE ended_at IS NULL;
        -- Leases have an index of their own.
        CREATE INDEX access_open ON access (tenant, kind, expires_at) WHERE ended_at IS NULL AND kind <> 'lease';
        CREATE INDEX leases_live ON access (tenant, expires_at) WHERE ended_at IS NULL AND kind = 'lease';
        CREATE INDEX leases_live_under ON access (parent, expires_at)
            WHERE ended_at IS NULL AND kind = 'lease' AND parent IS NOT NULL;

        CREATE TABLE api_keys (
            id text PRIMARY KEY CHECK (length(id) = 22), tenant text NOT NULL CHECK (tenant <> ''), name text NOT NULL,
            roles text NOT NULL, sha256 text NOT NULL CHECK (length(sha256) = 64), created_at bigint NOT NULL,
            expires_at bigint, revoked_at bigint);
        CREATE INDEX api_keys_by_end ON api_keys (coalesce(revoked_at, expires_at));
        CREATE INDEX api_keys_by_tenant ON api_keys (tenant, created_at DESC, id COLLATE "C");

        CREATE TABLE console_sessions (
            hash text PRIMARY KEY CHECK (length(hash) = 64),
            kind text NOT NULL CHECK (kind IN ('code', 'session')), tenant text NOT NULL CHECK (tenant <> ''),
            roles text NOT NULL, key text REFERENCES api_keys ON DELETE CASCADE, created_at bigint NOT NULL,
            used_at bigint NOT NULL, ends_at bigint NOT NULL, CHECK (kind = 'session' OR key IS NULL));
        CREATE INDEX console_sessions_by_end ON console_sessions (ends_at);
        CREATE INDEX console_sessions_by_key ON console_sessions (key) WHERE key IS NOT NULL;

        CREATE TABLE audit (
            key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, tenant text NOT NULL CHECK (tenant <> ''),
            at bigint NOT NULL,
            action text NOT NULL CHECK (action IN ('made', 'revoked', 'rotated', 'deleted', 'signed_in')),
            subject_kind text NOT NULL CHECK (subject_kind IN
                ('grant', 'lease', 'link', 'ticket', 'key', 'secret', 'attachment', 'session')),
            subject text NOT NULL CHECK (subject <> ''), attachment uuid,
            actor_kind text NOT NULL CHECK (actor_kind IN ('key', 'grant', 'command', 'service')), actor text,
            detail text, CHECK (actor IS NULL OR actor_kind IN ('key', 'grant')));
        CREATE INDEX audit_by_tenant ON audit (tenant, at, key);
        CREATE INDEX audit_by_action ON audit (tenant, action, at, key);
        CREATE INDEX audit_by_kind ON audit (tenant, actor_kind, at, key);
        CREATE INDEX audit_by_actor ON audit (tenant, actor, at, key) WHERE actor IS NOT NULL;
        CREATE INDEX audit_by_time ON audit (at);
        """
}
