extension SQLiteSchema {
    /// Jobs, their attachments and the queue.
    static let jobs = """
        CREATE TABLE profiles (
            key INTEGER PRIMARY KEY,
            digest TEXT NOT NULL UNIQUE,
            name TEXT NOT NULL,
            body TEXT NOT NULL
        ) STRICT;
        CREATE INDEX profiles_by_name ON profiles(name);

        CREATE TABLE jobs (
            key INTEGER PRIMARY KEY,
            tenant TEXT NOT NULL CHECK (tenant <> ''),
            id TEXT NOT NULL CHECK (id <> ''),
            work_key TEXT,
            -- The run of a command; '' for the service's.
            run TEXT NOT NULL,
            generation INTEGER NOT NULL CHECK (generation >= 1),
            -- Kept only while there is work to do.
            submission TEXT,
            -- Headers for origins, encrypted with a key that is outside the store; gone with the submission.
            headers BLOB CHECK (headers IS NULL OR submission IS NOT NULL),
            headers_kid TEXT CHECK ((headers IS NULL) = (headers_kid IS NULL)),
            body_digest TEXT NOT NULL,
            profile INTEGER NOT NULL REFERENCES profiles(key),
            mode TEXT NOT NULL CHECK (mode IN ('lenient', 'strict')),
            lane TEXT NOT NULL CHECK (lane IN ('quick', 'fetch', 'expensive')),
            -- 0 is claimed before 1.
            priority INTEGER NOT NULL CHECK (priority IN (0, 1)),
            -- Within a line the least (rank, key) comes first. A run is a line of its own, in the order of keys.
            rank INTEGER NOT NULL CHECK (rank >= 0),
            metadata TEXT NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('pending', 'running', 'delivered', 'failed', 'cancelled')),
            attempt INTEGER NOT NULL DEFAULT 0 CHECK (attempt >= 0),
            -- The claim of the worker that has it, and the claim under which its end was recorded.
            claim TEXT,
            delivered_claim TEXT,
            interrupted INTEGER NOT NULL DEFAULT 0 CHECK (interrupted IN (0, 1)),
            worker TEXT,
            claimed_until INTEGER,
            due_at INTEGER NOT NULL,
            created_at INTEGER NOT NULL,
            deadline_at INTEGER,
            finished_at INTEGER,
            -- The instant at which the record of a failed or cancelled job has outlived its retention.
            expires_at INTEGER CHECK (expires_at IS NULL OR state IN ('failed', 'cancelled')),
            UNIQUE (tenant, id),
            CHECK ((state = 'running') = (claim IS NOT NULL)),
            CHECK ((state = 'running') = (worker IS NOT NULL)),
            CHECK ((state = 'running') = (claimed_until IS NOT NULL)),
            CHECK ((state IN ('pending', 'running')) = (submission IS NOT NULL)),
            CHECK ((state IN ('pending', 'running')) = (finished_at IS NULL)),
            CHECK (state <> 'delivered' OR delivered_claim IS NOT NULL)
        ) STRICT;
        CREATE INDEX jobs_by_deadline ON jobs(deadline_at)
            WHERE state = 'pending' AND run = '' AND interrupted = 0 AND deadline_at IS NOT NULL;
        CREATE INDEX jobs_by_expiry ON jobs(expires_at) WHERE expires_at IS NOT NULL;
        CREATE INDEX jobs_by_headers ON jobs(headers_kid) WHERE headers_kid IS NOT NULL;
        CREATE INDEX jobs_by_run ON jobs(tenant, run, key) WHERE run <> '';
        CREATE INDEX jobs_by_state ON jobs(tenant, state, key);
        CREATE INDEX jobs_by_tenant ON jobs(tenant, key);
        CREATE UNIQUE INDEX jobs_by_work ON jobs(tenant, work_key) WHERE work_key IS NOT NULL;
        CREATE INDEX jobs_in_line ON jobs(lane, priority, rank, key, due_at) WHERE state = 'pending' AND run = '';
        CREATE INDEX jobs_of_tenant_in_line ON jobs(lane, priority, tenant, rank, key, state, due_at)
            WHERE state IN ('pending', 'running') AND run = '';
        CREATE INDEX jobs_running ON jobs(run, worker, claimed_until) WHERE state = 'running';
        CREATE INDEX jobs_waiting ON jobs(run, priority, key, due_at) WHERE state = 'pending' AND run <> '';
        CREATE INDEX jobs_waiting_in_lane ON jobs(lane, priority, due_at) WHERE state = 'pending' AND run = '';
        CREATE TRIGGER changed_jobs_are_counted AFTER UPDATE OF state, lane, run ON jobs
        WHEN (OLD.run = '' OR NEW.run = '')
            AND (OLD.state <> NEW.state OR OLD.lane <> NEW.lane OR OLD.run <> NEW.run)
        BEGIN
            UPDATE lanes SET pending = pending - (OLD.state = 'pending'), running = running - (OLD.state = 'running')
            WHERE lane = OLD.lane AND OLD.run = '';
            UPDATE lanes SET pending = pending + (NEW.state = 'pending'), running = running + (NEW.state = 'running')
            WHERE lane = NEW.lane AND NEW.run = '';
            INSERT INTO usage (tenant) VALUES (NEW.tenant) ON CONFLICT (tenant) DO NOTHING;
            UPDATE usage SET unfinished_jobs = unfinished_jobs
                + (NEW.run = '' AND NEW.state IN ('pending', 'running'))
                - (OLD.run = '' AND OLD.state IN ('pending', 'running'))
            WHERE tenant = NEW.tenant;
        END;
        CREATE TRIGGER changed_jobs_are_labelled AFTER UPDATE OF metadata ON jobs WHEN OLD.metadata <> NEW.metadata
        BEGIN
            DELETE FROM labels WHERE job = OLD.key;
            INSERT INTO labels
            SELECT NEW.tenant, key, value, NEW.key FROM json_each(NEW.metadata)
            WHERE length(CAST(value AS BLOB)) <= 200 ORDER BY key LIMIT 20;
        END;
        CREATE TRIGGER deleted_jobs_are_counted AFTER DELETE ON jobs WHEN OLD.run = ''
        BEGIN
            UPDATE lanes SET pending = pending - (OLD.state = 'pending'), running = running - (OLD.state = 'running')
            WHERE lane = OLD.lane;
            UPDATE usage SET unfinished_jobs = unfinished_jobs - (OLD.state IN ('pending', 'running'))
            WHERE tenant = OLD.tenant;
        END;
        CREATE TRIGGER deleted_jobs_lose_their_labels AFTER DELETE ON jobs WHEN OLD.metadata <> '{}'
        BEGIN
            DELETE FROM labels WHERE job = OLD.key;
        END;
        CREATE TRIGGER jobs_are_claimed_once BEFORE UPDATE OF claim ON jobs
        WHEN OLD.claim IS NOT NULL AND NEW.claim IS NOT NULL AND OLD.claim <> NEW.claim
        BEGIN SELECT RAISE(ABORT, 'a claim has to be taken away before another is given'); END;
        CREATE TRIGGER jobs_are_counted AFTER INSERT ON jobs WHEN NEW.run = ''
        BEGIN
            UPDATE lanes SET pending = pending + (NEW.state = 'pending'), running = running + (NEW.state = 'running')
            WHERE lane = NEW.lane;
            INSERT INTO usage (tenant, unfinished_jobs) VALUES (NEW.tenant, NEW.state IN ('pending', 'running'))
            ON CONFLICT (tenant) DO UPDATE SET unfinished_jobs = unfinished_jobs + excluded.unfinished_jobs;
        END;
        CREATE TRIGGER jobs_are_labelled AFTER INSERT ON jobs WHEN NEW.metadata <> '{}'
        BEGIN
            INSERT INTO labels
            SELECT NEW.tenant, key, value, NEW.key FROM json_each(NEW.metadata)
            WHERE length(CAST(value AS BLOB)) <= 200 ORDER BY key LIMIT 20;
        END;
        CREATE TRIGGER jobs_change_state_by_the_rules BEFORE UPDATE OF state ON jobs
        WHEN NOT (
            OLD.state = NEW.state
            OR (OLD.state = 'pending' AND NEW.state IN ('running', 'cancelled', 'failed'))
            OR (OLD.state = 'running' AND NEW.state IN ('pending', 'delivered', 'failed', 'cancelled'))
            OR (NEW.state = 'pending' AND NEW.generation = OLD.generation + 1)
        )
        BEGIN SELECT RAISE(ABORT, 'a job cannot change its state like this'); END;
        CREATE TRIGGER jobs_generations_only_rise BEFORE UPDATE OF generation ON jobs
        WHEN NEW.generation < OLD.generation
        BEGIN SELECT RAISE(ABORT, 'the generation of a job only rises'); END;
        CREATE TRIGGER jobs_keep_their_name BEFORE UPDATE OF tenant, id, created_at ON jobs
        WHEN OLD.tenant <> NEW.tenant OR OLD.id <> NEW.id
        BEGIN SELECT RAISE(ABORT, 'a job keeps its name'); END;

        CREATE TABLE attachments (
            key INTEGER PRIMARY KEY,
            tenant TEXT NOT NULL CHECK (tenant <> ''),
            id TEXT NOT NULL CHECK (id <> ''),
            job INTEGER NOT NULL REFERENCES jobs(key) ON DELETE CASCADE,
            run TEXT NOT NULL,
            generation INTEGER NOT NULL CHECK (generation >= 1),
            ordinal INTEGER NOT NULL CHECK (ordinal BETWEEN 0 AND 9),
            identifier TEXT NOT NULL,
            -- The file of the spool that the work still needs.
            spool TEXT,
            state TEXT NOT NULL CHECK (state IN ('pending', 'running', 'delivered', 'failed', 'cancelled')),
            fidelity TEXT CHECK (fidelity IN ('full', 'reduced', 'partial', 'original')),
            kind TEXT CHECK (kind IN ('image', 'animation', 'audio', 'video')),
            best TEXT CHECK (best IN ('main', 'thumbnail', 'poster', 'waveform', 'original')),
            -- JSON of everything that is shown and never searched.
            details TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            finished_at INTEGER,
            expires_at INTEGER,
            -- The code of its error.
            code TEXT CHECK (code IS NULL OR state = 'failed'),
            UNIQUE (tenant, id),
            UNIQUE (job, generation, ordinal),
            UNIQUE (job, generation, identifier),
            CHECK ((state = 'delivered') = (fidelity IS NOT NULL)),
            CHECK ((state = 'delivered') = (best IS NOT NULL)),
            CHECK ((state IN ('pending', 'running')) = (finished_at IS NULL)),
            CHECK (spool IS NULL OR state IN ('pending', 'running'))
        ) STRICT;
        CREATE INDEX attachments_by_code ON attachments(tenant, code, id) WHERE code IS NOT NULL;
        CREATE INDEX attachments_by_code_and_job ON attachments(tenant, code, job, ordinal) WHERE code IS NOT NULL;
        CREATE INDEX attachments_by_expiry ON attachments(expires_at) WHERE expires_at IS NOT NULL;
        CREATE INDEX attachments_by_failure ON attachments(tenant, code, finished_at, job, kind) WHERE code IS NOT NULL;
        CREATE INDEX attachments_by_kind ON attachments(tenant, kind, id) WHERE kind IS NOT NULL;
        CREATE INDEX attachments_by_kind_and_state ON attachments(tenant, kind, state, id) WHERE kind IS NOT NULL;
        CREATE INDEX attachments_by_run ON attachments(tenant, run, id) WHERE run <> '';
        CREATE INDEX attachments_by_spool ON attachments(spool) WHERE spool IS NOT NULL;
        CREATE INDEX attachments_by_state ON attachments(tenant, state, id);
        CREATE TRIGGER attachments_change_state_by_the_rules BEFORE UPDATE OF state ON attachments
        WHEN NOT (
            OLD.state = NEW.state
            OR (OLD.state = 'pending' AND NEW.state IN ('running', 'cancelled', 'failed'))
            OR (OLD.state = 'running' AND NEW.state IN ('pending', 'delivered', 'failed', 'cancelled'))
        )
        BEGIN SELECT RAISE(ABORT, 'an attachment cannot change its state like this'); END;
        CREATE TRIGGER attachments_have_the_tenant_of_their_job BEFORE INSERT ON attachments
        WHEN NEW.tenant <> (SELECT tenant FROM jobs WHERE key = NEW.job)
        BEGIN SELECT RAISE(ABORT, 'an attachment has the tenant of its job'); END;
        CREATE TRIGGER attachments_keep_their_name BEFORE UPDATE OF tenant, id, job, generation ON attachments
        BEGIN SELECT RAISE(ABORT, 'an attachment keeps its name'); END;
        CREATE TRIGGER attachments_release_their_spool AFTER UPDATE OF spool ON attachments
        WHEN OLD.spool IS NOT NULL AND NEW.spool IS NOT OLD.spool
        BEGIN INSERT OR IGNORE INTO released_spool VALUES (OLD.spool); END;
        CREATE TRIGGER deleted_attachments_release_their_spool AFTER DELETE ON attachments
        WHEN OLD.spool IS NOT NULL
        BEGIN INSERT OR IGNORE INTO released_spool VALUES (OLD.spool); END;

        CREATE TABLE labels (
            tenant TEXT NOT NULL,
            key TEXT NOT NULL,
            value TEXT NOT NULL CHECK (length(CAST(value AS BLOB)) <= 200),
            job INTEGER NOT NULL,
            PRIMARY KEY (tenant, key, value, job)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX labels_by_job ON labels(job);

        CREATE TABLE lanes (
            lane TEXT PRIMARY KEY CHECK (lane IN ('quick', 'fetch', 'expensive')),
            pending INTEGER NOT NULL CHECK (pending >= 0),
            running INTEGER NOT NULL CHECK (running >= 0)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO lanes VALUES ('expensive', 0, 0), ('fetch', 0, 0), ('quick', 0, 0);

        CREATE TABLE lines (
            lane TEXT NOT NULL CHECK (lane IN ('quick', 'fetch', 'expensive')),
            priority INTEGER NOT NULL CHECK (priority IN (0, 1)),
            -- The greatest rank that was ever claimed in this line.
            claimed_rank INTEGER NOT NULL DEFAULT 0 CHECK (claimed_rank >= 0),
            PRIMARY KEY (lane, priority)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO lines VALUES
            ('expensive', 0, 0), ('expensive', 1, 0), ('fetch', 0, 0), ('fetch', 1, 0), ('quick', 0, 0), ('quick', 1, 0);
        CREATE TRIGGER lines_only_advance BEFORE UPDATE OF claimed_rank ON lines
        WHEN NEW.claimed_rank < OLD.claimed_rank
        BEGIN SELECT RAISE(ABORT, 'a line never goes back'); END;
        CREATE TRIGGER lines_stay BEFORE DELETE ON lines
        BEGIN SELECT RAISE(ABORT, 'a line must keep its place'); END;

        CREATE TABLE idempotency_keys (
            tenant TEXT NOT NULL,
            key TEXT NOT NULL CHECK (key <> ''),
            body_digest TEXT NOT NULL,
            job INTEGER NOT NULL REFERENCES jobs(key) ON DELETE CASCADE,
            created_at INTEGER NOT NULL,
            PRIMARY KEY (tenant, key)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX idempotency_keys_by_job ON idempotency_keys(job);
        CREATE INDEX idempotency_keys_by_time ON idempotency_keys(created_at);
        CREATE TRIGGER idempotency_keys_have_the_tenant_of_their_job BEFORE INSERT ON idempotency_keys
        WHEN NEW.tenant <> (SELECT tenant FROM jobs WHERE key = NEW.job)
        BEGIN SELECT RAISE(ABORT, 'an idempotency key has the tenant of its job'); END;

        CREATE TABLE retained_submissions (
            job INTEGER PRIMARY KEY REFERENCES jobs(key) ON DELETE CASCADE,
            generation INTEGER NOT NULL,
            submission TEXT NOT NULL,
            kept_until INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX retained_submissions_by_time ON retained_submissions(kept_until);

        CREATE TABLE retained_spool (
            job INTEGER NOT NULL REFERENCES retained_submissions(job) ON DELETE CASCADE,
            name TEXT NOT NULL,
            PRIMARY KEY (job, name)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX retained_spool_by_name ON retained_spool(name);
        CREATE TRIGGER retained_submissions_release_their_spool AFTER DELETE ON retained_spool
        BEGIN INSERT OR IGNORE INTO released_spool VALUES (OLD.name); END;

        CREATE TABLE released_spool (
            name TEXT PRIMARY KEY
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE usage (
            tenant TEXT PRIMARY KEY,
            stored_bytes INTEGER NOT NULL DEFAULT 0 CHECK (stored_bytes >= 0),
            unfinished_jobs INTEGER NOT NULL DEFAULT 0 CHECK (unfinished_jobs >= 0),
            -- Leases that were not stopped; some may have run out.
            open_leases INTEGER NOT NULL DEFAULT 0 CHECK (open_leases >= 0)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE tallies (
            tenant TEXT NOT NULL CHECK (tenant <> ''),
            minute INTEGER NOT NULL CHECK (minute % 60000 = 0),
            lane TEXT NOT NULL CHECK (lane IN ('quick', 'fetch', 'expensive')),
            state TEXT NOT NULL CHECK (state IN ('delivered', 'failed', 'cancelled')),
            -- '' if there was no error.
            code TEXT NOT NULL CHECK ((state = 'failed') = (code <> '')),
            count INTEGER NOT NULL CHECK (count > 0),
            waiting TEXT NOT NULL,
            work TEXT NOT NULL,
            PRIMARY KEY (tenant, minute, lane, state, code)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX tallies_by_age ON tallies(minute);
        """
}
