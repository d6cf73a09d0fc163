extension SQLiteSchema {
    /// Uploads, and calls to receivers.
    static let transfers = """
        CREATE TABLE uploads (
            key INTEGER PRIMARY KEY,
            tenant TEXT NOT NULL CHECK (tenant <> ''),
            id TEXT NOT NULL CHECK (id <> ''),
            -- The id in the upload's token.
            ticket TEXT NOT NULL UNIQUE CHECK (length(ticket) = 22),
            kid TEXT NOT NULL,
            state TEXT NOT NULL
                CHECK (state IN ('open', 'complete', 'consumed', 'expired', 'failed', 'cancelled')),
            length INTEGER CHECK (length >= 0),
            -- Bytes that are durable.
            received INTEGER NOT NULL DEFAULT 0 CHECK (received >= 0),
            -- The file that has the upload's bytes, or gets them.
            source TEXT NOT NULL CHECK (source <> ''),
            -- The request that writes, or that wrote last.
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
            -- JSON of the parts of an upload that goes to a bucket.
            parts TEXT,
            UNIQUE (tenant, id),
            CHECK (received <= length OR length IS NULL),
            CHECK ((state = 'open') = (sha256 IS NULL) OR state NOT IN ('open', 'complete', 'consumed')),
            CHECK ((state = 'consumed') = (used_by IS NOT NULL)),
            CHECK ((state IN ('open', 'complete')) = (finished_at IS NULL))
        ) STRICT;
        CREATE INDEX uploads_by_end ON uploads(finished_at) WHERE finished_at IS NOT NULL;
        CREATE INDEX uploads_by_expiry ON uploads(expires_at) WHERE state IN ('open', 'complete');
        CREATE INDEX uploads_by_kid ON uploads(kid) WHERE state IN ('open', 'complete', 'consumed');
        CREATE INDEX uploads_by_source ON uploads(source) WHERE state IN ('open', 'complete');
        CREATE INDEX uploads_by_state ON uploads(tenant, state, id);
        CREATE INDEX uploads_by_touch ON uploads(touched_at) WHERE state = 'open';
        CREATE TRIGGER uploads_belong_to_one BEFORE UPDATE OF used_by ON uploads
        WHEN OLD.used_by IS NOT NULL AND NEW.used_by IS NOT OLD.used_by
        BEGIN SELECT RAISE(ABORT, 'an upload belongs to one job or notification'); END;
        CREATE TRIGGER uploads_change_state_by_the_rules BEFORE UPDATE OF state ON uploads
        WHEN NOT (
            OLD.state = NEW.state
            OR (OLD.state = 'open' AND NEW.state IN ('complete', 'expired', 'failed', 'cancelled'))
            OR (OLD.state = 'complete' AND NEW.state IN ('consumed', 'expired', 'cancelled'))
        )
        BEGIN SELECT RAISE(ABORT, 'an upload cannot change its state like this'); END;
        CREATE TRIGGER uploads_keep_their_length BEFORE UPDATE OF length ON uploads
        WHEN OLD.length IS NOT NULL AND NEW.length IS NOT OLD.length
        BEGIN SELECT RAISE(ABORT, 'an upload keeps its length'); END;
        CREATE TRIGGER uploads_keep_their_name BEFORE UPDATE OF tenant, id, ticket, kid, source, created_at ON uploads
        BEGIN SELECT RAISE(ABORT, 'an upload keeps its name'); END;
        CREATE TRIGGER uploads_never_shrink BEFORE UPDATE OF received ON uploads WHEN NEW.received < OLD.received
        BEGIN SELECT RAISE(ABORT, 'an offset that was told never shrinks'); END;
        CREATE TRIGGER uploads_release_their_source AFTER UPDATE OF state ON uploads
        WHEN OLD.state IN ('open', 'complete') AND NEW.state NOT IN ('open', 'complete')
        BEGIN INSERT OR IGNORE INTO released_spool VALUES (OLD.source); END;

        CREATE TABLE upload_usage (
            tenant TEXT PRIMARY KEY,
            open INTEGER NOT NULL CHECK (open >= 0),
            bytes INTEGER NOT NULL CHECK (bytes >= 0)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE calls (
            id TEXT PRIMARY KEY CHECK (id <> ''),
            tenant TEXT NOT NULL CHECK (tenant <> ''),
            type TEXT NOT NULL CHECK (type <> ''),
            -- Set for the end of a job, of which there is one for each generation. Its text is made when it is sent.
            job INTEGER REFERENCES jobs(key) ON DELETE CASCADE,
            generation INTEGER,
            -- What a message is about. Messages are cancelled by it.
            subject TEXT,
            url TEXT NOT NULL,
            -- Scheme, host and port: everything before the first of / ? # after the scheme.
            receiver TEXT GENERATED ALWAYS AS (
                lower(substr(url, 1, 7 + instr(
                    replace(replace(substr(url, 9), '?', '/'), '#', '/') || '/', '/')))
            ) VIRTUAL,
            traceparent TEXT,
            created_at INTEGER NOT NULL,
            -- No attempt is made after this instant.
            give_up_at INTEGER,
            state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed', 'cancelled')),
            attempt INTEGER NOT NULL DEFAULT 0 CHECK (attempt >= 0),
            -- While a sender has it, the instant at which another sender may take it.
            due_at INTEGER NOT NULL,
            -- Whether a sender has it, or died with it.
            underway INTEGER NOT NULL DEFAULT 0 CHECK (underway IN (0, 1)),
            finished_at INTEGER,
            -- Why the last attempt failed.
            reason TEXT,
            -- Whether it is kept after it was delivered.
            is_kept INTEGER NOT NULL DEFAULT 1 CHECK (is_kept IN (0, 1)),
            -- The text of a message, with ids in place of tokens. It is a late column, so that other reads don't load it.
            body BLOB,
            -- JSON of the answers to the last attempts.
            answers TEXT,
            UNIQUE (job, generation),
            CHECK ((job IS NULL) = (generation IS NULL)),
            CHECK ((job IS NULL) = (body IS NOT NULL)),
            CHECK ((state = 'pending') = (finished_at IS NULL))
        ) STRICT;
        CREATE INDEX calls_by_end ON calls(finished_at) WHERE finished_at IS NOT NULL;
        CREATE INDEX calls_by_receiver ON calls(tenant, receiver, due_at) WHERE state = 'pending';
        CREATE INDEX calls_by_state ON calls(tenant, state, id);
        CREATE INDEX calls_by_subject ON calls(tenant, subject) WHERE subject IS NOT NULL;
        CREATE INDEX calls_by_type ON calls(tenant, type, state, id);
        CREATE INDEX calls_due ON calls(due_at) WHERE state = 'pending';
        CREATE TRIGGER calls_are_counted AFTER INSERT ON calls WHEN NEW.state = 'pending'
        BEGIN UPDATE holdings SET pending_calls = pending_calls + 1; END;
        CREATE TRIGGER calls_are_kept_as_made
        BEFORE UPDATE OF id, tenant, type, job, generation, subject, url, created_at, is_kept, body ON calls
        BEGIN SELECT RAISE(ABORT, 'a call is kept as it was made'); END;
        CREATE TRIGGER calls_have_the_tenant_of_their_job BEFORE INSERT ON calls
        WHEN NEW.job IS NOT NULL AND NEW.tenant <> (SELECT tenant FROM jobs WHERE key = NEW.job)
        BEGIN SELECT RAISE(ABORT, 'a call has the tenant of its job'); END;
        CREATE TRIGGER calls_that_were_called_off_stay_so BEFORE UPDATE OF state ON calls
        WHEN OLD.state = 'cancelled' AND NEW.state <> 'cancelled'
        BEGIN SELECT RAISE(ABORT, 'a call that was called off stays so'); END;
        CREATE TRIGGER changed_calls_are_counted AFTER UPDATE OF state ON calls WHEN OLD.state <> NEW.state
        BEGIN
            UPDATE holdings SET pending_calls = pending_calls + (NEW.state = 'pending') - (OLD.state = 'pending');
        END;
        CREATE TRIGGER deleted_calls_are_counted AFTER DELETE ON calls WHEN OLD.state = 'pending'
        BEGIN UPDATE holdings SET pending_calls = pending_calls - 1; END;
        """
}
