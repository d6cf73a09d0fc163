extension Schema {
    /// What the service needs beyond the first version: lanes, submissions that can be repeated and tried again,
    /// webhooks, API keys, and counts that are kept rather than computed.
    static let second = """
        ALTER TABLE jobs ADD COLUMN lane TEXT NOT NULL DEFAULT 'quick' CHECK (lane IN ('quick', 'expensive'));
        -- Headers for origins, encrypted with a key that is outside the store; gone with the submission.
        ALTER TABLE jobs ADD COLUMN headers BLOB CHECK (headers IS NULL OR submission IS NOT NULL);
        ALTER TABLE jobs ADD COLUMN headers_kid TEXT CHECK ((headers IS NULL) = (headers_kid IS NULL));
        UPDATE jobs SET submission = json_set(submission, '$.delivery', 'private') WHERE submission IS NOT NULL;
        -- When the record of a job that failed or was cancelled has outlived its retention.
        ALTER TABLE jobs ADD COLUMN expires_at INTEGER
            CHECK (expires_at IS NULL OR state IN ('failed', 'cancelled'));
        CREATE INDEX jobs_by_expiry ON jobs(expires_at) WHERE expires_at IS NOT NULL;
        CREATE INDEX jobs_by_headers ON jobs(headers_kid) WHERE headers_kid IS NOT NULL;

        DROP INDEX jobs_waiting;
        CREATE INDEX jobs_waiting ON jobs(run, priority, due_at) WHERE state = 'pending' AND run <> '';
        CREATE INDEX jobs_waiting_in_lane ON jobs(lane, priority, due_at) WHERE state = 'pending' AND run = '';

        -- Names the first submission that came with a key.
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

        -- What it takes to try a failed or cancelled job again; without any header for an origin.
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

        -- Files of the spool that somebody stopped needing. Emptied by the transaction that fills it.
        CREATE TABLE released_spool (
            name TEXT PRIMARY KEY
        ) STRICT, WITHOUT ROWID;
        CREATE TRIGGER attachments_release_their_spool AFTER UPDATE OF spool ON attachments
        WHEN OLD.spool IS NOT NULL AND NEW.spool IS NOT OLD.spool
        BEGIN INSERT OR IGNORE INTO released_spool VALUES (OLD.spool); END;
        CREATE TRIGGER deleted_attachments_release_their_spool AFTER DELETE ON attachments
        WHEN OLD.spool IS NOT NULL
        BEGIN INSERT OR IGNORE INTO released_spool VALUES (OLD.spool); END;
        CREATE TRIGGER retained_submissions_release_their_spool AFTER DELETE ON retained_spool
        BEGIN INSERT OR IGNORE INTO released_spool VALUES (OLD.name); END;

        -- One for each end that a job with a callback came to.
        CREATE TABLE callbacks (
            id TEXT PRIMARY KEY CHECK (id <> ''),
            tenant TEXT NOT NULL,
            job INTEGER NOT NULL REFERENCES jobs(key) ON DELETE CASCADE,
            generation INTEGER NOT NULL,
            url TEXT NOT NULL,
            traceparent TEXT,
            created_at INTEGER NOT NULL,
            state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed')),
            attempt INTEGER NOT NULL DEFAULT 0 CHECK (attempt >= 0),
            -- While somebody has it in hand, when another may take it.
            due_at INTEGER NOT NULL,
            finished_at INTEGER,
            -- Why the last attempt was not the end, or the end was a failure.
            reason TEXT,
            UNIQUE (job, generation),
            CHECK ((state = 'pending') = (finished_at IS NULL))
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX callbacks_due ON callbacks(due_at) WHERE state = 'pending';
        CREATE INDEX callbacks_by_end ON callbacks(finished_at) WHERE finished_at IS NOT NULL;
        CREATE TRIGGER callbacks_have_the_tenant_of_their_job BEFORE INSERT ON callbacks
        WHEN NEW.tenant <> (SELECT tenant FROM jobs WHERE key = NEW.job)
        BEGIN SELECT RAISE(ABORT, 'a callback has the tenant of its job'); END;

        -- No key is here, only the hash of each.
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
        CREATE INDEX api_keys_by_tenant ON api_keys(tenant, created_at);
        CREATE INDEX api_keys_by_time ON api_keys(created_at);
        CREATE INDEX api_keys_by_end ON api_keys(coalesce(revoked_at, expires_at));
        CREATE TRIGGER api_keys_that_were_revoked_stay_so BEFORE UPDATE OF revoked_at ON api_keys
        WHEN OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS NOT OLD.revoked_at
        BEGIN SELECT RAISE(ABORT, 'an API key that was revoked stays so'); END;
        CREATE TRIGGER api_keys_keep_their_terms BEFORE UPDATE OF id, tenant, roles, sha256, created_at ON api_keys
        BEGIN SELECT RAISE(ABORT, 'an API key keeps its terms'); END;
        CREATE TRIGGER api_keys_only_end_sooner BEFORE UPDATE OF expires_at ON api_keys
        WHEN NEW.expires_at IS NULL OR NEW.expires_at > OLD.expires_at
        BEGIN SELECT RAISE(ABORT, 'an API key is never prolonged'); END;

        ALTER TABLE access ADD COLUMN delivery TEXT NOT NULL DEFAULT 'private'
            CHECK (delivery IN ('private', 'shared') AND (delivery = 'private' OR kind = 'link'));
        -- Started by the job when it delivered.
        ALTER TABLE access ADD COLUMN by_job INTEGER NOT NULL DEFAULT 0
            CHECK (by_job IN (0, 1) AND (by_job = 0 OR parent IS NULL));
        CREATE TRIGGER access_keeps_its_manner BEFORE UPDATE OF delivery, by_job ON access
        BEGIN SELECT RAISE(ABORT, 'access keeps its terms'); END;
        CREATE INDEX access_live ON access(kind, expires_at) WHERE ended_at IS NULL;
        CREATE INDEX leases_live ON access(tenant, expires_at) WHERE ended_at IS NULL AND kind = 'lease';

        -- Rises in each transaction that takes access back.
        ALTER TABLE store ADD COLUMN revocations INTEGER NOT NULL DEFAULT 0;
        CREATE TRIGGER access_ends AFTER UPDATE OF ended_at ON access
        WHEN OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL
        BEGIN UPDATE store SET revocations = revocations + 1; END;
        CREATE TRIGGER access_ends_sooner AFTER UPDATE OF expires_at ON access WHEN NEW.expires_at < OLD.expires_at
        BEGIN UPDATE store SET revocations = revocations + 1; END;
        CREATE TRIGGER access_is_deleted AFTER DELETE ON access WHEN OLD.ended_at IS NULL
        BEGIN UPDATE store SET revocations = revocations + 1; END;
        CREATE TRIGGER api_keys_end AFTER UPDATE OF revoked_at, expires_at ON api_keys
        WHEN NEW.revoked_at IS NOT OLD.revoked_at OR NEW.expires_at IS NOT OLD.expires_at
        BEGIN UPDATE store SET revocations = revocations + 1; END;
        CREATE TRIGGER api_keys_are_deleted AFTER DELETE ON api_keys WHEN OLD.revoked_at IS NULL
        BEGIN UPDATE store SET revocations = revocations + 1; END;

        -- From here on no delivery can refer to bytes whose file is about to be removed. The transaction that does
        -- this puts its time in.
        CREATE TRIGGER deleted_blobs_are_condemned AFTER DELETE ON blobs
        BEGIN INSERT OR IGNORE INTO condemned (name, condemned_at) VALUES (OLD.name, 0); END;

        -- What each tenant holds, and the service's queue: kept by triggers.
        CREATE TABLE usage (
            tenant TEXT PRIMARY KEY,
            stored_bytes INTEGER NOT NULL DEFAULT 0 CHECK (stored_bytes >= 0),
            unfinished_jobs INTEGER NOT NULL DEFAULT 0 CHECK (unfinished_jobs >= 0),
            -- Leases that were not stopped; some may have run out.
            open_leases INTEGER NOT NULL DEFAULT 0 CHECK (open_leases >= 0)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE lanes (
            lane TEXT PRIMARY KEY CHECK (lane IN ('quick', 'expensive')),
            pending INTEGER NOT NULL CHECK (pending >= 0),
            running INTEGER NOT NULL CHECK (running >= 0)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE holdings (
            only INTEGER PRIMARY KEY CHECK (only = 1),
            blobs INTEGER NOT NULL CHECK (blobs >= 0),
            blob_bytes INTEGER NOT NULL CHECK (blob_bytes >= 0),
            -- Leases that ended by themselves and were swept.
            leases_left_to_expire INTEGER NOT NULL DEFAULT 0 CHECK (leases_left_to_expire >= 0)
        ) STRICT;

        INSERT INTO lanes
        SELECT 'quick', count(*) FILTER (WHERE state = 'pending'), count(*) FILTER (WHERE state = 'running')
        FROM jobs WHERE run = '';
        INSERT INTO lanes VALUES ('expensive', 0, 0);
        INSERT INTO holdings (only, blobs, blob_bytes) SELECT 1, count(*), coalesce(sum(bytes), 0) FROM blobs;
        INSERT INTO usage (tenant, stored_bytes)
        SELECT tenant, sum(bytes) FROM renditions JOIN blobs ON blobs.name = renditions.blob GROUP BY tenant;
        INSERT INTO usage (tenant, unfinished_jobs)
        SELECT tenant, count(*) FROM jobs WHERE run = '' AND state IN ('pending', 'running') GROUP BY tenant
        ON CONFLICT (tenant) DO UPDATE SET unfinished_jobs = excluded.unfinished_jobs;
        INSERT INTO usage (tenant, open_leases)
        SELECT tenant, count(*) FROM access WHERE kind = 'lease' AND ended_at IS NULL GROUP BY tenant
        ON CONFLICT (tenant) DO UPDATE SET open_leases = excluded.open_leases;

        CREATE TRIGGER blobs_are_counted AFTER INSERT ON blobs
        BEGIN UPDATE holdings SET blobs = blobs + 1, blob_bytes = blob_bytes + NEW.bytes; END;
        CREATE TRIGGER deleted_blobs_are_counted AFTER DELETE ON blobs
        BEGIN UPDATE holdings SET blobs = blobs - 1, blob_bytes = blob_bytes - OLD.bytes; END;

        CREATE TRIGGER renditions_are_counted AFTER INSERT ON renditions
        BEGIN
            INSERT INTO usage (tenant, stored_bytes)
            VALUES (NEW.tenant, (SELECT bytes FROM blobs WHERE name = NEW.blob))
            ON CONFLICT (tenant) DO UPDATE SET stored_bytes = stored_bytes + excluded.stored_bytes;
        END;
        CREATE TRIGGER deleted_renditions_are_counted AFTER DELETE ON renditions
        BEGIN
            UPDATE usage SET stored_bytes = stored_bytes - (SELECT bytes FROM blobs WHERE name = OLD.blob)
            WHERE tenant = OLD.tenant;
        END;

        CREATE TRIGGER leases_are_counted AFTER INSERT ON access WHEN NEW.kind = 'lease' AND NEW.ended_at IS NULL
        BEGIN
            INSERT INTO usage (tenant, open_leases) VALUES (NEW.tenant, 1)
            ON CONFLICT (tenant) DO UPDATE SET open_leases = open_leases + 1;
        END;
        CREATE TRIGGER ended_leases_are_counted AFTER UPDATE OF ended_at ON access
        WHEN NEW.kind = 'lease' AND OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL
        BEGIN UPDATE usage SET open_leases = open_leases - 1 WHERE tenant = NEW.tenant; END;
        CREATE TRIGGER deleted_leases_are_counted AFTER DELETE ON access
        WHEN OLD.kind = 'lease' AND OLD.ended_at IS NULL
        BEGIN UPDATE usage SET open_leases = open_leases - 1 WHERE tenant = OLD.tenant; END;

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
