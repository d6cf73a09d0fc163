extension Schema {
    /// Uploads, and what a tenant's take up.
    static let uploads = """
        CREATE TABLE uploads (
            key INTEGER PRIMARY KEY,
            tenant TEXT NOT NULL CHECK (tenant <> ''),
            id TEXT NOT NULL CHECK (id <> ''),
            -- The id in its token.
            ticket TEXT NOT NULL UNIQUE CHECK (length(ticket) = 22),
            kid TEXT NOT NULL,
            state TEXT NOT NULL
                CHECK (state IN ('open', 'complete', 'consumed', 'expired', 'failed', 'cancelled')),
            length INTEGER CHECK (length >= 0),
            -- Bytes that are durable.
            received INTEGER NOT NULL DEFAULT 0 CHECK (received >= 0),
            -- While the upload has bytes, or may get some.
            source TEXT NOT NULL CHECK (source <> ''),
            -- The request that writes, or wrote last.
            writer TEXT,
            used_by TEXT,
            is_closed INTEGER NOT NULL DEFAULT 0 CHECK (is_closed IN (0, 1)),
            sha256 TEXT CHECK (length(sha256) = 64),
            created_at INTEGER NOT NULL,
            touched_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL,
            finished_at INTEGER,
            terms TEXT NOT NULL,
            error TEXT,
            UNIQUE (tenant, id),
            CHECK (received <= length OR length IS NULL),
            CHECK ((state = 'open') = (sha256 IS NULL) OR state NOT IN ('open', 'complete', 'consumed')),
            CHECK ((state = 'consumed') = (used_by IS NOT NULL)),
            CHECK ((state IN ('open', 'complete')) = (finished_at IS NULL))
        ) STRICT;
        CREATE INDEX uploads_by_state ON uploads(tenant, state, id);
        CREATE INDEX uploads_by_expiry ON uploads(expires_at) WHERE state IN ('open', 'complete');
        CREATE INDEX uploads_by_touch ON uploads(touched_at) WHERE state = 'open';
        CREATE INDEX uploads_by_end ON uploads(finished_at) WHERE finished_at IS NOT NULL;
        CREATE INDEX uploads_by_source ON uploads(source) WHERE state IN ('open', 'complete');
        CREATE INDEX uploads_by_kid ON uploads(kid) WHERE state IN ('open', 'complete', 'consumed');

        CREATE TRIGGER uploads_keep_their_name BEFORE UPDATE OF tenant, id, ticket, kid, source, created_at ON uploads
        BEGIN SELECT RAISE(ABORT, 'an upload keeps its name'); END;
        CREATE TRIGGER uploads_never_shrink BEFORE UPDATE OF received ON uploads WHEN NEW.received < OLD.received
        BEGIN SELECT RAISE(ABORT, 'an offset that was told never shrinks'); END;
        CREATE TRIGGER uploads_keep_their_length BEFORE UPDATE OF length ON uploads
        WHEN OLD.length IS NOT NULL AND NEW.length IS NOT OLD.length
        BEGIN SELECT RAISE(ABORT, 'an upload keeps its length'); END;
        CREATE TRIGGER uploads_change_state_by_the_rules BEFORE UPDATE OF state ON uploads
        WHEN NOT (
            OLD.state = NEW.state
            OR (OLD.state = 'open' AND NEW.state IN ('complete', 'expired', 'failed', 'cancelled'))
            OR (OLD.state = 'complete' AND NEW.state IN ('consumed', 'expired', 'cancelled'))
        )
        BEGIN SELECT RAISE(ABORT, 'an upload cannot change its state like this'); END;
        CREATE TRIGGER uploads_belong_to_one BEFORE UPDATE OF used_by ON uploads
        WHEN OLD.used_by IS NOT NULL AND NEW.used_by IS NOT OLD.used_by
        BEGIN SELECT RAISE(ABORT, 'an upload belongs to one job or notification'); END;
        CREATE TRIGGER uploads_release_their_source AFTER UPDATE OF state ON uploads
        WHEN OLD.state IN ('open', 'complete') AND NEW.state NOT IN ('open', 'complete')
        BEGIN INSERT OR IGNORE INTO released_spool VALUES (OLD.source); END;

        CREATE TABLE upload_usage (
            tenant TEXT PRIMARY KEY,
            open INTEGER NOT NULL CHECK (open >= 0),
            bytes INTEGER NOT NULL CHECK (bytes >= 0)
        ) STRICT, WITHOUT ROWID;
        """
}
