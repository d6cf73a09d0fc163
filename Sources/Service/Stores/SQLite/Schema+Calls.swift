extension Schema {
    /// Calls of any type, which take over the callbacks of jobs. The table is made anew, for SQLite can't drop a rule. Unlike
    /// what was there it has row ids: keys of a table whose rows hold messages would lie far apart.
    static let calls = """
        CREATE TABLE calls (
            id TEXT PRIMARY KEY CHECK (id <> ''),
            tenant TEXT NOT NULL CHECK (tenant <> ''),
            type TEXT NOT NULL CHECK (type <> ''),
            -- Of a job's end, of which there is one for each generation: what is sent is made then.
            job INTEGER REFERENCES jobs(key) ON DELETE CASCADE,
            generation INTEGER,
            -- What a message tells of, by which it can be called off.
            subject TEXT,
            url TEXT NOT NULL,
            -- Scheme, host and port: what comes before the first of / ? # after the scheme.
            receiver TEXT GENERATED ALWAYS AS (
                lower(substr(url, 1, 7 + instr(
                    replace(replace(substr(url, 9), '?', '/'), '#', '/') || '/', '/')))
            ) VIRTUAL,
            traceparent TEXT,
            created_at INTEGER NOT NULL,
            -- After this no attempt is made.
            give_up_at INTEGER,
            state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed', 'cancelled')),
            attempt INTEGER NOT NULL DEFAULT 0 CHECK (attempt >= 0),
            -- While somebody has it in hand, when another may take it.
            due_at INTEGER NOT NULL,
            -- Whether somebody has it in hand; who died with it left it so.
            underway INTEGER NOT NULL DEFAULT 0 CHECK (underway IN (0, 1)),
            finished_at INTEGER,
            -- Why the last attempt was not the end, or the end was a failure.
            reason TEXT,
            -- Whether it stays once it was delivered.
            is_kept INTEGER NOT NULL DEFAULT 1 CHECK (is_kept IN (0, 1)),
            -- A message as it was made, with the ids of tokens in their places. Last, so that none reads it in passing.
            body BLOB,
            UNIQUE (job, generation),
            CHECK ((job IS NULL) = (generation IS NULL)),
            CHECK ((job IS NULL) = (body IS NOT NULL)),
            CHECK ((state = 'pending') = (finished_at IS NULL))
        ) STRICT;
        INSERT INTO calls (id, tenant, type, job, generation, url, traceparent, created_at, state, attempt, due_at, underway,
            finished_at, reason)
        SELECT id, tenant, 'job.finished', job, generation, url, traceparent, created_at, state, attempt, due_at, underway,
            finished_at, reason
        FROM callbacks ORDER BY id;
        DROP TABLE callbacks;

        CREATE INDEX calls_due ON calls(due_at) WHERE state = 'pending';
        CREATE INDEX calls_by_receiver ON calls(tenant, receiver, due_at) WHERE state = 'pending';
        CREATE INDEX calls_by_end ON calls(finished_at) WHERE finished_at IS NOT NULL;
        CREATE INDEX calls_by_subject ON calls(tenant, subject) WHERE subject IS NOT NULL;
        CREATE INDEX calls_by_state ON calls(tenant, state, id);
        CREATE INDEX calls_by_type ON calls(tenant, type, state, id);

        CREATE TRIGGER calls_have_the_tenant_of_their_job BEFORE INSERT ON calls
        WHEN NEW.job IS NOT NULL AND NEW.tenant <> (SELECT tenant FROM jobs WHERE key = NEW.job)
        BEGIN SELECT RAISE(ABORT, 'a call has the tenant of its job'); END;
        CREATE TRIGGER calls_are_kept_as_made
        BEFORE UPDATE OF id, tenant, type, job, generation, subject, url, created_at, is_kept, body ON calls
        BEGIN SELECT RAISE(ABORT, 'a call is kept as it was made'); END;
        CREATE TRIGGER calls_that_were_called_off_stay_so BEFORE UPDATE OF state ON calls
        WHEN OLD.state = 'cancelled' AND NEW.state <> 'cancelled'
        BEGIN SELECT RAISE(ABORT, 'a call that was called off stays so'); END;

        ALTER TABLE holdings RENAME COLUMN pending_callbacks TO pending_calls;
        CREATE TRIGGER calls_are_counted AFTER INSERT ON calls WHEN NEW.state = 'pending'
        BEGIN UPDATE holdings SET pending_calls = pending_calls + 1; END;
        CREATE TRIGGER changed_calls_are_counted AFTER UPDATE OF state ON calls WHEN OLD.state <> NEW.state
        BEGIN
            UPDATE holdings SET pending_calls = pending_calls + (NEW.state = 'pending') - (OLD.state = 'pending');
        END;
        CREATE TRIGGER deleted_calls_are_counted AFTER DELETE ON calls WHEN OLD.state = 'pending'
        BEGIN UPDATE holdings SET pending_calls = pending_calls - 1; END;
        """
}
