extension Schema {
    /// Claims are known by a random id, equal bytes are kept once per tenant, and a job waits in a lane of one priority.
    ///
    /// What runs at the upgrade becomes pending: its worker knows no id. The table of jobs is made anew, for SQLite can't
    /// drop a column that a rule names; with the old way of renaming tables, the rules of others that name it stay as they are.
    static let claims = """
        ALTER TABLE condemned RENAME TO tombstones;
        ALTER TABLE tombstones RENAME COLUMN condemned_at TO made_at;
        DROP INDEX condemned_by_time;
        CREATE INDEX tombstones_by_time ON tombstones(made_at);

        -- NULL: from before, and perhaps of several tenants. No hash finds it, its references only fall, and at zero it goes.
        ALTER TABLE blobs ADD COLUMN tenant TEXT CHECK (tenant <> '');
        DROP INDEX blobs_by_hash;
        CREATE UNIQUE INDEX blobs_by_hash ON blobs(tenant, sha256) WHERE damaged = 0 AND tenant IS NOT NULL;
        DROP TRIGGER blobs_are_immutable;
        CREATE TRIGGER blobs_are_immutable BEFORE UPDATE OF name, sha256, bytes, tenant ON blobs
        BEGIN SELECT RAISE(ABORT, 'a blob never changes'); END;
        CREATE TRIGGER renditions_are_in_blobs_of_their_tenant BEFORE INSERT ON renditions
        WHEN NEW.tenant IS NOT (SELECT tenant FROM blobs WHERE name = NEW.blob)
        BEGIN SELECT RAISE(ABORT, 'a rendition is in a blob of its tenant'); END;

        DROP TABLE lines;
        CREATE TABLE lines (
            lane TEXT NOT NULL CHECK (lane IN ('quick', 'fetch', 'expensive')),
            priority INTEGER NOT NULL CHECK (priority IN (0, 1)),
            -- The greatest rank that was ever claimed there.
            claimed_rank INTEGER NOT NULL DEFAULT 0 CHECK (claimed_rank >= 0),
            PRIMARY KEY (lane, priority)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO lines (lane, priority)
        SELECT lane.value, priority.value
        FROM json_each('["quick", "fetch", "expensive"]') AS lane, json_each('[0, 1]') AS priority;
        CREATE TRIGGER lines_only_advance BEFORE UPDATE OF claimed_rank ON lines
        WHEN NEW.claimed_rank < OLD.claimed_rank
        BEGIN SELECT RAISE(ABORT, 'a line never goes back'); END;
        CREATE TRIGGER lines_stay BEFORE DELETE ON lines
        BEGIN SELECT RAISE(ABORT, 'a line must keep its place'); END;

        PRAGMA legacy_alter_table = ON;
        CREATE TABLE new_jobs (
            key INTEGER PRIMARY KEY,
            tenant TEXT NOT NULL CHECK (tenant <> ''),
            id TEXT NOT NULL CHECK (id <> ''),
            work_key TEXT,
            -- The run of a command; '' for the service's.
            run TEXT NOT NULL,
            generation INTEGER NOT NULL CHECK (generation >= 1),
            -- Only while there is work to do.
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
            -- The hold of the worker that has it, and the one under which its end was recorded.
            claim TEXT,
            delivered_claim TEXT,
            interrupted INTEGER NOT NULL DEFAULT 0 CHECK (interrupted IN (0, 1)),
            worker TEXT,
            claimed_until INTEGER,
            due_at INTEGER NOT NULL,
            created_at INTEGER NOT NULL,
            deadline_at INTEGER,
            finished_at INTEGER,
            -- When the record of a job that failed or was cancelled has outlived its retention.
            expires_at INTEGER CHECK (expires_at IS NULL OR state IN ('failed', 'cancelled')),
            UNIQUE (tenant, id),
            CHECK ((state = 'running') = (claim IS NOT NULL)),
            CHECK ((state = 'running') = (worker IS NOT NULL)),
            CHECK ((state = 'running') = (claimed_until IS NOT NULL)),
            CHECK ((state IN ('pending', 'running')) = (submission IS NOT NULL)),
            CHECK ((state IN ('pending', 'running')) = (finished_at IS NULL)),
            CHECK (state <> 'delivered' OR delivered_claim IS NOT NULL)
        ) STRICT;
        INSERT INTO new_jobs (key, tenant, id, work_key, run, generation, submission, headers, headers_kid, body_digest,
            profile, mode, lane, priority, rank, metadata, state, attempt, delivered_claim, interrupted, due_at, created_at,
            deadline_at, finished_at, expires_at)
        SELECT key, tenant, id, work_key, run, generation, submission, headers, headers_kid, body_digest, profile, mode,
            iif(lane = 'quick' AND fetches, 'fetch', lane), priority, rank, metadata,
            iif(state = 'running', 'pending', state), attempt, 'fence ' || delivered_fence,
            max(interrupted, state = 'running'), due_at, created_at, deadline_at, finished_at, expires_at
        FROM jobs;
        DROP TABLE jobs;
        ALTER TABLE new_jobs RENAME TO jobs;
        PRAGMA legacy_alter_table = OFF;
        UPDATE attachments SET state = 'pending' WHERE state = 'running';

        CREATE UNIQUE INDEX jobs_by_work ON jobs(tenant, work_key) WHERE work_key IS NOT NULL;
        CREATE INDEX jobs_by_tenant ON jobs(tenant, key);
        CREATE INDEX jobs_by_state ON jobs(tenant, state, key);
        CREATE INDEX jobs_by_run ON jobs(tenant, run, key) WHERE run <> '';
        CREATE INDEX jobs_by_expiry ON jobs(expires_at) WHERE expires_at IS NOT NULL;
        CREATE INDEX jobs_by_headers ON jobs(headers_kid) WHERE headers_kid IS NOT NULL;
        CREATE INDEX jobs_running ON jobs(run, worker, claimed_until) WHERE state = 'running';
        CREATE INDEX jobs_waiting ON jobs(run, priority, key, due_at) WHERE state = 'pending' AND run <> '';
        CREATE INDEX jobs_in_line ON jobs(lane, priority, rank, key, due_at) WHERE state = 'pending' AND run = '';
        CREATE INDEX jobs_of_tenant_in_line ON jobs(lane, priority, tenant, rank, key, state, due_at)
            WHERE state IN ('pending', 'running') AND run = '';
        CREATE INDEX jobs_waiting_in_lane ON jobs(lane, priority, due_at) WHERE state = 'pending' AND run = '';
        -- One that was interrupted gets its time anew when it is claimed.
        CREATE INDEX jobs_by_deadline ON jobs(deadline_at)
            WHERE state = 'pending' AND run = '' AND interrupted = 0 AND deadline_at IS NOT NULL;

        CREATE TRIGGER jobs_change_state_by_the_rules BEFORE UPDATE OF state ON jobs
        WHEN NOT (
            OLD.state = NEW.state
            OR (OLD.state = 'pending' AND NEW.state IN ('running', 'cancelled', 'failed'))
            OR (OLD.state = 'running' AND NEW.state IN ('pending', 'delivered', 'failed', 'cancelled'))
            OR (NEW.state = 'pending' AND NEW.generation = OLD.generation + 1)
        )
        BEGIN SELECT RAISE(ABORT, 'a job cannot change its state like this'); END;
        CREATE TRIGGER jobs_generations_only_rise BEFORE UPDATE OF generation ON jobs WHEN NEW.generation < OLD.generation
        BEGIN SELECT RAISE(ABORT, 'the generation of a job only rises'); END;
        CREATE TRIGGER jobs_are_claimed_once BEFORE UPDATE OF claim ON jobs
        WHEN OLD.claim IS NOT NULL AND NEW.claim IS NOT NULL AND OLD.claim <> NEW.claim
        BEGIN SELECT RAISE(ABORT, 'a claim has to be taken away before another is given'); END;
        CREATE TRIGGER jobs_keep_their_name BEFORE UPDATE OF tenant, id, created_at ON jobs
        WHEN OLD.tenant <> NEW.tenant OR OLD.id <> NEW.id
        BEGIN SELECT RAISE(ABORT, 'a job keeps its name'); END;

        DROP TABLE lanes;
        CREATE TABLE lanes (
            lane TEXT PRIMARY KEY CHECK (lane IN ('quick', 'fetch', 'expensive')),
            pending INTEGER NOT NULL CHECK (pending >= 0),
            running INTEGER NOT NULL CHECK (running >= 0)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO lanes
        SELECT value, (SELECT count(*) FROM jobs WHERE run = '' AND lane = value AND state = 'pending'), 0
        FROM json_each('["quick", "fetch", "expensive"]');
        CREATE TRIGGER jobs_are_counted AFTER INSERT ON jobs WHEN NEW.run = ''
        BEGIN
            UPDATE lanes SET pending = pending + (NEW.state = 'pending'), running = running + (NEW.state = 'running')
            WHERE lane = NEW.lane;
            INSERT INTO usage (tenant, unfinished_jobs) VALUES (NEW.tenant, NEW.state IN ('pending', 'running'))
            ON CONFLICT (tenant) DO UPDATE SET unfinished_jobs = unfinished_jobs + excluded.unfinished_jobs;
        END;
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
        CREATE TRIGGER deleted_jobs_are_counted AFTER DELETE ON jobs WHEN OLD.run = ''
        BEGIN
            UPDATE lanes SET pending = pending - (OLD.state = 'pending'), running = running - (OLD.state = 'running')
            WHERE lane = OLD.lane;
            UPDATE usage SET unfinished_jobs = unfinished_jobs - (OLD.state IN ('pending', 'running'))
            WHERE tenant = OLD.tenant;
        END;
        """
}
