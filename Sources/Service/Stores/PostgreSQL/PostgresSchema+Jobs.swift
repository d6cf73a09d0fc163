extension PostgresSchema {
    /// Jobs, their attachments and the queue.
    static let jobs = """
        CREATE TABLE profiles (
            key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, digest text NOT NULL UNIQUE, name text NOT NULL,
            body text NOT NULL);
        CREATE INDEX profiles_by_name ON profiles (name);

        CREATE TABLE jobs (
            tenant text NOT NULL CHECK (tenant <> ''), key bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
            id text NOT NULL CHECK (id <> ''), work_key text, run text NOT NULL,
            generation int NOT NULL CHECK (generation >= 1), body_digest text NOT NULL,
            profile bigint NOT NULL REFERENCES profiles, mode text NOT NULL CHECK (mode IN ('lenient', 'strict')),
            priority smallint NOT NULL CHECK (priority IN (0, 1)), metadata text NOT NULL,
            state text NOT NULL CHECK (state IN ('pending', 'delivered', 'failed', 'cancelled')),
            attempt int NOT NULL DEFAULT 0 CHECK (attempt >= 0),
            delivered_claim uuid, created_at bigint NOT NULL, deadline_at bigint, finished_at bigint,
            expires_at bigint CHECK (expires_at IS NULL OR state IN ('failed', 'cancelled')),
            PRIMARY KEY (tenant, key), UNIQUE (tenant, id), CHECK ((state = 'pending') = (finished_at IS NULL)),
            CHECK (state <> 'delivered' OR delivered_claim IS NOT NULL)) WITH (fillfactor = 80);
        CREATE UNIQUE INDEX jobs_by_work ON jobs (tenant, work_key) WHERE work_key IS NOT NULL;
        CREATE INDEX jobs_by_state ON jobs (tenant, state, key);
        CREATE INDEX jobs_by_run ON jobs (tenant, run, key) WHERE run <> '';
        CREATE INDEX jobs_by_expiry ON jobs (expires_at) WHERE expires_at IS NOT NULL;

        CREATE TABLE queue (
            job bigint PRIMARY KEY, tenant text COLLATE "C" NOT NULL, run text NOT NULL,
            lane text NOT NULL CHECK (lane IN ('quick', 'fetch', 'expensive')),
            priority smallint NOT NULL CHECK (priority IN (0, 1)),
            rank bigint NOT NULL CHECK (rank >= 0), due_at bigint NOT NULL,
            state text NOT NULL CHECK (state IN ('pending', 'running')), generation int NOT NULL,
            attempt int NOT NULL DEFAULT 0 CHECK (attempt >= 0), claim uuid, node uuid, claimed_until bigint,
            interrupted boolean NOT NULL DEFAULT false, deadline_at bigint, submission text NOT NULL, headers bytea,
            headers_kid text, has_callback boolean NOT NULL,
            CHECK ((state = 'running') = (claim IS NOT NULL AND node IS NOT NULL AND claimed_until IS NOT NULL)),
            CHECK (state = 'running' OR (claim IS NULL AND node IS NULL AND claimed_until IS NULL)),
            CHECK ((headers IS NULL) = (headers_kid IS NULL)),
            FOREIGN KEY (tenant, job) REFERENCES jobs ON DELETE CASCADE)
            WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
                autovacuum_vacuum_cost_delay = 0);
        CREATE INDEX queue_waiting ON queue (run, lane, priority, rank, job) WHERE state = 'pending';
        CREATE INDEX queue_ranks ON queue (tenant, run, lane, priority, rank);
        CREATE INDEX queue_of_others ON queue (run, lane, priority, tenant, rank, job);
        -- The jobs of a run are in all lanes, so no other index has them in their order.
        CREATE INDEX queue_of_runs ON queue (run, priority, rank, job) WHERE state = 'pending' AND run <> '';
        CREATE INDEX queue_running ON queue (job) WHERE state = 'running';
        CREATE UNIQUE INDEX queue_claims ON queue (claim) WHERE claim IS NOT NULL;
        CREATE INDEX queue_by_deadline ON queue (deadline_at)
            WHERE state = 'pending' AND run = '' AND NOT interrupted AND deadline_at IS NOT NULL;

        CREATE TABLE virtual_time (
            lane text CHECK (lane IN ('quick', 'fetch', 'expensive')), priority smallint, slot int,
            rank bigint NOT NULL CHECK (rank >= 0), PRIMARY KEY (lane, priority, slot)) WITH (fillfactor = 50);

        CREATE TABLE attachments (
            tenant text NOT NULL, id uuid NOT NULL, key bigint GENERATED ALWAYS AS IDENTITY, job bigint NOT NULL,
            generation int NOT NULL CHECK (generation >= 1), ordinal smallint NOT NULL CHECK (ordinal BETWEEN 0 AND 9),
            run text NOT NULL, identifier text NOT NULL, source text,
            state text NOT NULL CHECK (state IN ('pending', 'delivered', 'failed', 'cancelled')),
            fidelity text CHECK (fidelity IN ('full', 'reduced', 'partial', 'original')),
            kind text CHECK (kind IN ('image', 'animation', 'audio', 'video')),
            best text CHECK (best IN ('main', 'thumbnail', 'poster', 'waveform', 'original')), details text NOT NULL,
            created_at bigint NOT NULL, finished_at bigint, expires_at bigint,
            code text CHECK (code IS NULL OR state = 'failed'), PRIMARY KEY (tenant, id),
            UNIQUE (tenant, job, generation, ordinal), UNIQUE (tenant, job, generation, identifier),
            FOREIGN KEY (tenant, job) REFERENCES jobs ON DELETE CASCADE,
            CHECK ((state = 'delivered') = (fidelity IS NOT NULL)), CHECK ((state = 'delivered') = (best IS NOT NULL)),
            CHECK ((state = 'pending') = (finished_at IS NULL)), CHECK (source IS NULL OR state = 'pending'))
            WITH (fillfactor = 70);
        CREATE INDEX attachments_by_job ON attachments (job, generation, ordinal);
        CREATE INDEX attachments_by_state ON attachments (tenant, state, id);
        CREATE INDEX attachments_by_kind ON attachments (tenant, kind, id) WHERE kind IS NOT NULL;
        CREATE INDEX attachments_by_kind_and_state ON attachments (tenant, kind, state, id) WHERE kind IS NOT NULL;
        CREATE INDEX attachments_by_run ON attachments (tenant, run, id) WHERE run <> '';
        CREATE INDEX attachments_by_expiry ON attachments (expires_at, key) WHERE expires_at IS NOT NULL;
        CREATE INDEX attachments_by_source ON attachments (source) WHERE source IS NOT NULL;
        CREATE INDEX attachments_by_code ON attachments (tenant, code, id) WHERE code IS NOT NULL;
        CREATE INDEX attachments_by_code_and_job ON attachments (tenant, code, job, ordinal) WHERE code IS NOT NULL;
        CREATE INDEX attachments_by_failure ON attachments (tenant, code, finished_at, job, kind) WHERE code IS NOT NULL;

        -- The first 20 pairs of a job's metadata, by key, whose values have at most 200 bytes.
        CREATE TABLE labels (
            tenant text NOT NULL, key text COLLATE "C" NOT NULL,
            value text COLLATE "C" NOT NULL CHECK (octet_length(value) <= 200), job bigint NOT NULL,
            PRIMARY KEY (tenant, key, value, job), FOREIGN KEY (tenant, job) REFERENCES jobs ON DELETE CASCADE);
        CREATE INDEX labels_by_job ON labels (job);

        CREATE TABLE idempotency_keys (
            tenant text, key text, body_digest text NOT NULL, job bigint NOT NULL REFERENCES jobs (key) ON DELETE CASCADE,
            created_at bigint NOT NULL, PRIMARY KEY (tenant, key));
        CREATE INDEX idempotency_keys_by_time ON idempotency_keys (created_at);
        CREATE INDEX idempotency_keys_by_job ON idempotency_keys (job);

        CREATE TABLE retained_submissions (
            job bigint PRIMARY KEY REFERENCES jobs (key) ON DELETE CASCADE, generation int NOT NULL, submission text NOT NULL,
            kept_until bigint NOT NULL);
        CREATE INDEX retained_submissions_by_time ON retained_submissions (kept_until);
        CREATE TABLE retained_sources (
            job bigint REFERENCES retained_submissions ON DELETE CASCADE, name text, PRIMARY KEY (job, name));
        CREATE INDEX retained_sources_by_name ON retained_sources (name);

        -- The value is the sum over all slots. Each node writes to its own slot, so that nodes don't wait for each other.
        CREATE TABLE usage (
            tenant text, slot smallint, stored_bytes bigint NOT NULL DEFAULT 0, unfinished_jobs bigint NOT NULL DEFAULT 0,
            open_leases bigint NOT NULL DEFAULT 0, PRIMARY KEY (tenant, slot)) WITH (fillfactor = 50);

        -- Slots work as in `usage`.
        CREATE TABLE counters (
            slot int PRIMARY KEY, leases_left_to_expire bigint NOT NULL, unfinished_jobs bigint NOT NULL DEFAULT 0)
            WITH (fillfactor = 50);

        -- Slots work as in `usage`. The code is '' if there was no error. The arrays are histograms, bin by bin.
        CREATE TABLE tallies (
            tenant text CHECK (tenant <> ''), minute bigint CHECK (minute % 60000 = 0),
            lane text CHECK (lane IN ('quick', 'fetch', 'expensive')),
            state text CHECK (state IN ('delivered', 'failed', 'cancelled')),
            code text CHECK ((state = 'failed') = (code <> '')), slot smallint,
            count bigint NOT NULL CHECK (count > 0), waiting bigint[] NOT NULL, work bigint[] NOT NULL,
            PRIMARY KEY (tenant, minute, lane, state, code, slot)) WITH (fillfactor = 50);
        CREATE INDEX tallies_by_age ON tallies (minute);
        """
}
