extension SQLiteSchema {
    /// Access to what was delivered, API keys, and the list of what was done about both.
    static let access = """
        CREATE TABLE access (
            id TEXT PRIMARY KEY CHECK (length(id) = 22),
            kind TEXT NOT NULL CHECK (kind IN ('grant', 'lease', 'link')),
            tenant TEXT NOT NULL,
            attachment TEXT NOT NULL,
            parent TEXT REFERENCES access(id) ON DELETE CASCADE,
            -- A JSON array of roles; NULL for all.
            renditions TEXT,
            lease_limit INTEGER CHECK (lease_limit >= 1),
            kid TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL,
            -- The instant at which it was stopped or revoked.
            ended_at INTEGER,
            delivery TEXT NOT NULL DEFAULT 'private' CHECK (delivery = 'private' OR (delivery = 'shared' AND kind = 'link')),
            -- Whether a job's submission asked for it.
            by_job INTEGER NOT NULL DEFAULT 0 CHECK (by_job IN (0, 1) AND (by_job = 0 OR parent IS NULL)),
            FOREIGN KEY (tenant, attachment) REFERENCES attachments(tenant, id) ON DELETE CASCADE,
            CHECK ((kind = 'grant') = (lease_limit IS NOT NULL)),
            CHECK (kind <> 'link' OR parent IS NULL)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX access_by_attachment ON access(tenant, attachment);
        CREATE INDEX access_by_expiry ON access(expires_at);
        CREATE INDEX access_by_parent ON access(parent, kind) WHERE parent IS NOT NULL;
        CREATE INDEX access_live ON access(kind, expires_at) WHERE ended_at IS NULL;
        CREATE INDEX access_open ON access(tenant, kind, expires_at) WHERE ended_at IS NULL AND kind <> 'lease';
        CREATE INDEX leases_live ON access(tenant, expires_at) WHERE ended_at IS NULL AND kind = 'lease';
        CREATE INDEX leases_live_under ON access(parent, expires_at)
            WHERE ended_at IS NULL AND kind = 'lease' AND parent IS NOT NULL;
        CREATE TRIGGER access_ends AFTER UPDATE OF ended_at ON access
        WHEN OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL
        BEGIN UPDATE store SET revocations = revocations + 1; END;
        CREATE TRIGGER access_ends_sooner AFTER UPDATE OF expires_at ON access WHEN NEW.expires_at < OLD.expires_at
        BEGIN UPDATE store SET revocations = revocations + 1; END;
        CREATE TRIGGER access_is_deleted AFTER DELETE ON access WHEN OLD.ended_at IS NULL
        BEGIN UPDATE store SET revocations = revocations + 1; END;
        CREATE TRIGGER access_is_to_what_was_delivered BEFORE INSERT ON access
        WHEN (SELECT state FROM attachments WHERE tenant = NEW.tenant AND id = NEW.attachment) IS NOT 'delivered'
        BEGIN SELECT RAISE(ABORT, 'there is no access to what was not delivered'); END;
        CREATE TRIGGER access_keeps_its_terms
        BEFORE UPDATE OF id, kind, tenant, attachment, parent, renditions, lease_limit, kid, delivery, by_job ON access
        BEGIN SELECT RAISE(ABORT, 'access keeps its terms'); END;
        CREATE TRIGGER access_renewed_stays_within_its_parent BEFORE UPDATE OF expires_at ON access
        WHEN OLD.ended_at IS NOT NULL OR (NEW.parent IS NOT NULL
            AND NEW.expires_at > (SELECT expires_at FROM access WHERE id = NEW.parent))
        BEGIN SELECT RAISE(ABORT, 'derived access stays within its grant'); END;
        CREATE TRIGGER access_stays_within_its_parent BEFORE INSERT ON access
        WHEN NEW.parent IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM access AS parent
            WHERE parent.id = NEW.parent AND parent.kind = 'grant' AND parent.ended_at IS NULL
                AND parent.tenant = NEW.tenant AND parent.attachment = NEW.attachment
                AND parent.expires_at >= NEW.expires_at
                AND (NEW.lease_limit IS NULL OR NEW.lease_limit <= parent.lease_limit)
        )
        BEGIN SELECT RAISE(ABORT, 'derived access stays within its grant'); END;
        CREATE TRIGGER access_that_ended_stays_ended BEFORE UPDATE OF ended_at ON access
        WHEN OLD.ended_at IS NOT NULL AND NEW.ended_at IS NOT OLD.ended_at
        BEGIN SELECT RAISE(ABORT, 'access that has ended stays ended'); END;
        CREATE TRIGGER deleted_access_is_counted AFTER DELETE ON access WHEN OLD.ended_at IS NULL
        BEGIN UPDATE open_access SET open = open - 1 WHERE kind = OLD.kind; END;
        CREATE TRIGGER deleted_leases_are_counted AFTER DELETE ON access
        WHEN OLD.kind = 'lease' AND OLD.ended_at IS NULL
        BEGIN UPDATE usage SET open_leases = open_leases - 1 WHERE tenant = OLD.tenant; END;
        CREATE TRIGGER ended_access_is_counted AFTER UPDATE OF ended_at ON access
        WHEN OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL
        BEGIN UPDATE open_access SET open = open - 1 WHERE kind = NEW.kind; END;
        CREATE TRIGGER ended_leases_are_counted AFTER UPDATE OF ended_at ON access
        WHEN NEW.kind = 'lease' AND OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL
        BEGIN UPDATE usage SET open_leases = open_leases - 1 WHERE tenant = NEW.tenant; END;
        CREATE TRIGGER leases_are_counted AFTER INSERT ON access WHEN NEW.kind = 'lease' AND NEW.ended_at IS NULL
        BEGIN
            INSERT INTO usage (tenant, open_leases) VALUES (NEW.tenant, 1)
            ON CONFLICT (tenant) DO UPDATE SET open_leases = open_leases + 1;
        END;
        CREATE TRIGGER open_access_is_counted AFTER INSERT ON access WHEN NEW.ended_at IS NULL
        BEGIN UPDATE open_access SET open = open + 1 WHERE kind = NEW.kind; END;

        CREATE TABLE open_access (
            kind TEXT PRIMARY KEY CHECK (kind IN ('grant', 'lease', 'link')),
            open INTEGER NOT NULL CHECK (open >= 0)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO open_access VALUES ('grant', 0), ('lease', 0), ('link', 0);

        CREATE TABLE api_keys (
            id TEXT PRIMARY KEY CHECK (length(id) = 22),
            tenant TEXT NOT NULL CHECK (tenant <> ''),
            name TEXT NOT NULL,
            -- A JSON array of roles.
            roles TEXT NOT NULL,
            sha256 TEXT NOT NULL CHECK (length(sha256) = 64),
            created_at INTEGER NOT NULL,
            expires_at INTEGER,
            revoked_at INTEGER
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX api_keys_by_end ON api_keys(coalesce(revoked_at, expires_at));
        CREATE INDEX api_keys_by_tenant ON api_keys(tenant, created_at);
        CREATE INDEX api_keys_by_time ON api_keys(created_at);
        CREATE TRIGGER api_keys_are_deleted AFTER DELETE ON api_keys WHEN OLD.revoked_at IS NULL
        BEGIN UPDATE store SET revocations = revocations + 1; END;
        CREATE TRIGGER api_keys_end AFTER UPDATE OF revoked_at, expires_at ON api_keys
        WHEN NEW.revoked_at IS NOT OLD.revoked_at OR NEW.expires_at IS NOT OLD.expires_at
        BEGIN UPDATE store SET revocations = revocations + 1; END;
        CREATE TRIGGER api_keys_keep_their_terms BEFORE UPDATE OF id, tenant, roles, sha256, created_at ON api_keys
        BEGIN SELECT RAISE(ABORT, 'an API key keeps its terms'); END;
        CREATE TRIGGER api_keys_only_end_sooner BEFORE UPDATE OF expires_at ON api_keys
        WHEN NEW.expires_at IS NULL OR NEW.expires_at > OLD.expires_at
        BEGIN SELECT RAISE(ABORT, 'an API key is never prolonged'); END;
        CREATE TRIGGER api_keys_that_were_revoked_stay_so BEFORE UPDATE OF revoked_at ON api_keys
        WHEN OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS NOT OLD.revoked_at
        BEGIN SELECT RAISE(ABORT, 'an API key that was revoked stays so'); END;

        CREATE TABLE console_sessions (
            -- SHA-256 of the code or the cookie.
            hash TEXT PRIMARY KEY CHECK (length(hash) = 64),
            kind TEXT NOT NULL CHECK (kind IN ('code', 'session')),
            tenant TEXT NOT NULL CHECK (tenant <> ''),
            -- A JSON array.
            roles TEXT NOT NULL,
            key TEXT REFERENCES api_keys(id) ON DELETE CASCADE,
            created_at INTEGER NOT NULL,
            used_at INTEGER NOT NULL,
            ends_at INTEGER NOT NULL,
            CHECK (kind = 'session' OR key IS NULL)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX console_sessions_by_end ON console_sessions(ends_at);
        CREATE INDEX console_sessions_by_key ON console_sessions(key) WHERE key IS NOT NULL;
        CREATE TRIGGER console_sessions_keep_their_terms
        BEFORE UPDATE OF hash, kind, tenant, roles, key, created_at, ends_at ON console_sessions
        BEGIN SELECT RAISE(ABORT, 'a session keeps its terms'); END;

        CREATE TABLE audit (
            -- Keys only grow, and are never used twice.
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
        CREATE INDEX audit_by_action ON audit(tenant, action, at);
        CREATE INDEX audit_by_actor ON audit(tenant, actor, at) WHERE actor IS NOT NULL;
        CREATE INDEX audit_by_kind ON audit(tenant, actor_kind, at);
        CREATE INDEX audit_by_tenant ON audit(tenant, at);
        CREATE INDEX audit_by_time ON audit(at);
        CREATE TRIGGER audit_is_immutable BEFORE UPDATE ON audit
        BEGIN SELECT RAISE(ABORT, 'what was done stays as it was'); END;
        """
}
