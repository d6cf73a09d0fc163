internal import SatchelCore
internal import Postgres

/// The schema of the records in PostgreSQL. Rules are checks, keys and the conditions of statements: no triggers, procedures
/// or extensions.
///
/// A job is a row of `jobs`, written when it comes and when it ends, and until then one of `queue`, which is narrow and
/// changes often: what is claimed, by whom, and how often it was tried stands there alone.
enum PostgresSchema {
    /// Of this program. A server with a later one is left alone, unless that says that this program may use it.
    static let version = 15

    /// Looks whether a program of this version may use what is there, and whether it can write there.
    ///
    /// - Throws: `noSchema`, `olderSchema`, `newerSchema`, `unusableDatabase`.
    static func check(_ pool: PostgresPool, version: Int = version) async throws(StoreError) {
        let path = pool.parameters.description
        let (found, least): (Int, Int)
        do throws(PostgresError) {
            let rows = try await pool.batch([PostgresStatement("SELECT version, least_node FROM schema")])[0]
            guard let row = rows.first else { throw PostgresError.unexpectedColumn("version") }
            (found, least) = (try row.int("version"), try row.int("least_node"))
        } catch {
            if error.isFailure("42P01") { throw .noSchema(path: path) }
            throw .unusableDatabase(reason: error.description)
        }
        if found == 0 { throw .noSchema(path: path) }
        if found < version { throw .olderSchema(path: path) }
        if least > version { throw .newerSchema(path: path) }
    }

    /// What everything begins with. Beside the version a row that one migration at a time has locked.
    static let beginning = [
        """
        CREATE TABLE IF NOT EXISTS schema (
            only_row int PRIMARY KEY CHECK (only_row = 1), version int NOT NULL, step int NOT NULL, least_node int NOT NULL,
            at bigint NOT NULL)
        """,
        "CREATE TABLE IF NOT EXISTS migration (only_row int PRIMARY KEY CHECK (only_row = 1))",
        "INSERT INTO schema VALUES (1, 0, 0, 0, 0) ON CONFLICT DO NOTHING",
        "INSERT INTO migration VALUES (1) ON CONFLICT DO NOTHING",
    ]

    private static let states = "('pending', 'delivered', 'failed', 'cancelled')"
    private static let lanes = "('quick', 'fetch', 'expensive')"

    /// The first version, statement by statement.
    static let first = [
        """
        CREATE TABLE nodes (
            id uuid PRIMARY KEY, name text NOT NULL, version text NOT NULL, slot int NOT NULL, started_at bigint NOT NULL,
            heartbeat_at bigint NOT NULL)
        """,
        // What a run has submitted is left to it while one of its nodes lives. Of a run that machines share, whose node is gone
        // without a word is seen at its end.
        "CREATE TABLE run_nodes (run text, node uuid, PRIMARY KEY (run, node))",
        "CREATE INDEX run_nodes_by_node ON run_nodes (node)",
        // Runs that machines share. One of a name at a time; the same command begins another when it has ended.
        """
        CREATE TABLE runs (
            id text PRIMARY KEY, name text NOT NULL, tenant text NOT NULL, source text NOT NULL, start_after text,
            listed bigint NOT NULL DEFAULT 0, whole boolean NOT NULL DEFAULT false, counts text NOT NULL DEFAULT '',
            created_at bigint NOT NULL, ended_at bigint)
        """,
        "CREATE UNIQUE INDEX runs_open ON runs (tenant, name) WHERE ended_at IS NULL",
        "CREATE INDEX runs_by_end ON runs (ended_at) WHERE ended_at IS NOT NULL",
        // Policies are long and few: each is kept once.
        """
        CREATE TABLE profiles (
            key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, digest text NOT NULL UNIQUE, name text NOT NULL,
            body text NOT NULL)
        """,
        "CREATE INDEX profiles_by_name ON profiles (name)",
        """
        CREATE TABLE jobs (
            tenant text NOT NULL CHECK (tenant <> ''), key bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
            id text NOT NULL CHECK (id <> ''), work_key text, run text NOT NULL,
            generation int NOT NULL CHECK (generation >= 1), body_digest text NOT NULL,
            profile bigint NOT NULL REFERENCES profiles, mode text NOT NULL CHECK (mode IN ('lenient', 'strict')),
            priority smallint NOT NULL CHECK (priority IN (0, 1)), metadata text NOT NULL,
            state text NOT NULL CHECK (state IN \(states)), attempt int NOT NULL DEFAULT 0 CHECK (attempt >= 0),
            delivered_claim uuid, created_at bigint NOT NULL, deadline_at bigint, finished_at bigint,
            expires_at bigint CHECK (expires_at IS NULL OR state IN ('failed', 'cancelled')),
            PRIMARY KEY (tenant, key), UNIQUE (tenant, id), CHECK ((state = 'pending') = (finished_at IS NULL)),
            CHECK (state <> 'delivered' OR delivered_claim IS NOT NULL)) WITH (fillfactor = 80)
        """,
        "CREATE UNIQUE INDEX jobs_by_work ON jobs (tenant, work_key) WHERE work_key IS NOT NULL",
        "CREATE INDEX jobs_by_state ON jobs (tenant, state, key)",
        "CREATE INDEX jobs_by_run ON jobs (tenant, run, key) WHERE run <> ''",
        "CREATE INDEX jobs_by_expiry ON jobs (expires_at) WHERE expires_at IS NOT NULL",
        """
        CREATE TABLE queue (
            job bigint PRIMARY KEY, tenant text COLLATE "C" NOT NULL, run text NOT NULL,
            lane text NOT NULL CHECK (lane IN \(lanes)), priority smallint NOT NULL CHECK (priority IN (0, 1)),
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
                autovacuum_vacuum_cost_delay = 0)
        """,
        "CREATE INDEX queue_waiting ON queue (run, lane, priority, rank, job) WHERE state = 'pending'",
        "CREATE INDEX queue_ranks ON queue (tenant, run, lane, priority, rank)",
        "CREATE INDEX queue_of_others ON queue (run, lane, priority, tenant, rank, job)",
        "CREATE INDEX queue_running ON queue (job) WHERE state = 'running'",
        "CREATE UNIQUE INDEX queue_claims ON queue (claim) WHERE claim IS NOT NULL",
        """
        CREATE INDEX queue_by_deadline ON queue (deadline_at)
            WHERE state = 'pending' AND run = '' AND NOT interrupted AND deadline_at IS NOT NULL
        """,
        """
        CREATE TABLE virtual_time (
            lane text CHECK (lane IN \(lanes)), priority smallint, slot int, rank bigint NOT NULL CHECK (rank >= 0),
            PRIMARY KEY (lane, priority, slot)) WITH (fillfactor = 50)
        """,
        """
        CREATE TABLE attachments (
            tenant text NOT NULL, id uuid NOT NULL, key bigint GENERATED ALWAYS AS IDENTITY, job bigint NOT NULL,
            generation int NOT NULL CHECK (generation >= 1), ordinal smallint NOT NULL CHECK (ordinal BETWEEN 0 AND 9),
            run text NOT NULL, identifier text NOT NULL, source text, state text NOT NULL CHECK (state IN \(states)),
            fidelity text CHECK (fidelity IN ('full', 'reduced', 'partial', 'original')),
            kind text CHECK (kind IN ('image', 'animation', 'audio', 'video')),
            best text CHECK (best IN ('main', 'thumbnail', 'poster', 'waveform', 'original')), details text NOT NULL,
            created_at bigint NOT NULL, finished_at bigint, expires_at bigint, PRIMARY KEY (tenant, id),
            UNIQUE (tenant, job, generation, ordinal), UNIQUE (tenant, job, generation, identifier),
            FOREIGN KEY (tenant, job) REFERENCES jobs ON DELETE CASCADE,
            CHECK ((state = 'delivered') = (fidelity IS NOT NULL)), CHECK ((state = 'delivered') = (best IS NOT NULL)),
            CHECK ((state = 'pending') = (finished_at IS NULL)), CHECK (source IS NULL OR state = 'pending'))
            WITH (fillfactor = 70)
        """,
        "CREATE INDEX attachments_by_job ON attachments (job, generation, ordinal)",
        "CREATE INDEX attachments_by_state ON attachments (tenant, state, id)",
        "CREATE INDEX attachments_by_kind ON attachments (tenant, kind, id) WHERE kind IS NOT NULL",
        "CREATE INDEX attachments_by_kind_and_state ON attachments (tenant, kind, state, id) WHERE kind IS NOT NULL",
        "CREATE INDEX attachments_by_run ON attachments (tenant, run, id) WHERE run <> ''",
        "CREATE INDEX attachments_by_expiry ON attachments (expires_at, key) WHERE expires_at IS NOT NULL",
        "CREATE INDEX attachments_by_source ON attachments (source) WHERE source IS NOT NULL",
        """
        CREATE TABLE blobs (
            tenant text NOT NULL CHECK (tenant <> ''), sha256 bytea NOT NULL CHECK (length(sha256) = 32),
            name text NOT NULL UNIQUE, bytes bigint NOT NULL CHECK (bytes >= 0), refs int NOT NULL CHECK (refs >= 0),
            damaged boolean NOT NULL DEFAULT false, PRIMARY KEY (tenant, sha256, name)) WITH (fillfactor = 90)
        """,
        "CREATE UNIQUE INDEX blobs_live ON blobs (tenant, sha256) WHERE NOT damaged",
        "CREATE INDEX blobs_unused ON blobs (name) WHERE refs = 0",
        // Name, hash and size are repeated, so that a read needs no third table.
        """
        CREATE TABLE renditions (
            tenant text NOT NULL, attachment uuid NOT NULL,
            role text NOT NULL CHECK (role IN ('main', 'thumbnail', 'poster', 'waveform', 'original')),
            blob text NOT NULL REFERENCES blobs (name), sha256 bytea NOT NULL, bytes bigint NOT NULL,
            media_type text NOT NULL, width int CHECK (width > 0), height int CHECK (height > 0),
            duration float8 CHECK (duration >= 0), PRIMARY KEY (tenant, attachment, role),
            FOREIGN KEY (tenant, attachment) REFERENCES attachments ON DELETE CASCADE)
        """,
        "CREATE INDEX renditions_by_blob ON renditions (blob)",
        // Blobs whose bytes were removed, or are about to be: none may be referred to again.
        "CREATE TABLE tombstones (name text PRIMARY KEY, made_at bigint NOT NULL)",
        "CREATE INDEX tombstones_by_time ON tombstones (made_at)",
        // Grants, leases and links. No secret is here: tokens are derived from the id with the key `kid`.
        """
        CREATE TABLE access (
            id text PRIMARY KEY CHECK (length(id) = 22), kind text NOT NULL CHECK (kind IN ('grant', 'lease', 'link')),
            tenant text NOT NULL, attachment uuid NOT NULL, parent text, renditions text,
            lease_limit int CHECK (lease_limit >= 1), kid text NOT NULL,
            delivery text NOT NULL CHECK (delivery = 'private' OR (delivery = 'shared' AND kind = 'link')),
            by_job boolean NOT NULL CHECK (NOT by_job OR parent IS NULL), created_at bigint NOT NULL,
            expires_at bigint NOT NULL, ended_at bigint,
            FOREIGN KEY (tenant, attachment) REFERENCES attachments ON DELETE CASCADE,
            CHECK ((kind = 'grant') = (lease_limit IS NOT NULL)), CHECK (kind <> 'link' OR parent IS NULL))
        """,
        "CREATE INDEX access_by_attachment ON access (tenant, attachment)",
        "CREATE INDEX access_by_parent ON access (parent, kind) WHERE parent IS NOT NULL",
        "CREATE INDEX access_by_expiry ON access (expires_at)",
        "CREATE INDEX access_live ON access (kind, expires_at) WHERE ended_at IS NULL",
        "CREATE INDEX leases_live ON access (tenant, expires_at) WHERE ended_at IS NULL AND kind = 'lease'",
        """
        CREATE INDEX leases_live_under ON access (parent, expires_at)
            WHERE ended_at IS NULL AND kind = 'lease' AND parent IS NOT NULL
        """,
        // The sum over slots counts: nodes that write side by side don't wait for each other.
        """
        CREATE TABLE usage (
            tenant text, slot smallint, stored_bytes bigint NOT NULL DEFAULT 0, unfinished_jobs bigint NOT NULL DEFAULT 0,
            open_leases bigint NOT NULL DEFAULT 0, PRIMARY KEY (tenant, slot)) WITH (fillfactor = 50)
        """,
        "CREATE TABLE counters (slot int PRIMARY KEY, leases_left_to_expire bigint NOT NULL)",
        """
        CREATE TABLE idempotency_keys (
            tenant text, key text, body_digest text NOT NULL, job bigint NOT NULL REFERENCES jobs (key) ON DELETE CASCADE,
            created_at bigint NOT NULL, PRIMARY KEY (tenant, key))
        """,
        "CREATE INDEX idempotency_keys_by_time ON idempotency_keys (created_at)",
        "CREATE INDEX idempotency_keys_by_job ON idempotency_keys (job)",
        """
        CREATE TABLE retained_submissions (
            job bigint PRIMARY KEY REFERENCES jobs (key) ON DELETE CASCADE, generation int NOT NULL, submission text NOT NULL,
            kept_until bigint NOT NULL)
        """,
        "CREATE INDEX retained_submissions_by_time ON retained_submissions (kept_until)",
        """
        CREATE TABLE retained_sources (
            job bigint REFERENCES retained_submissions ON DELETE CASCADE, name text, PRIMARY KEY (job, name))
        """,
        "CREATE INDEX retained_sources_by_name ON retained_sources (name)",
        // One for each end that a job with a callback came to.
        """
        CREATE TABLE callbacks (
            id text PRIMARY KEY CHECK (id <> ''), tenant text COLLATE "C" NOT NULL,
            job bigint NOT NULL REFERENCES jobs (key) ON DELETE CASCADE, generation int NOT NULL, url text NOT NULL,
            receiver text COLLATE "C" GENERATED ALWAYS AS (lower(substring(url FROM '^[^:]*://[^/?#]*'))) STORED,
            traceparent text, created_at bigint NOT NULL,
            state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed')),
            attempt int NOT NULL DEFAULT 0 CHECK (attempt >= 0), due_at bigint NOT NULL,
            underway boolean NOT NULL DEFAULT false, finished_at bigint, reason text, UNIQUE (job, generation),
            CHECK ((state = 'pending') = (finished_at IS NULL)))
        """,
        "CREATE INDEX callbacks_due ON callbacks (due_at) WHERE state = 'pending'",
        "CREATE INDEX callbacks_by_receiver ON callbacks (tenant, receiver, due_at) WHERE state = 'pending'",
        "CREATE INDEX callbacks_by_end ON callbacks (finished_at) WHERE finished_at IS NOT NULL",
        // No key is here, only the hash of each.
        """
        CREATE TABLE api_keys (
            id text PRIMARY KEY CHECK (length(id) = 22), tenant text NOT NULL CHECK (tenant <> ''), name text NOT NULL,
            roles text NOT NULL, sha256 text NOT NULL CHECK (length(sha256) = 64), created_at bigint NOT NULL,
            expires_at bigint, revoked_at bigint)
        """,
        "CREATE INDEX api_keys_by_end ON api_keys (coalesce(revoked_at, expires_at))",
        // What a transaction made superfluous, until somebody has removed it.
        """
        CREATE TABLE garbage (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            kind text NOT NULL CHECK (kind IN ('blob', 'source', 'claim')), job bigint, name text NOT NULL,
            due_at bigint NOT NULL, tries int NOT NULL DEFAULT 0, CHECK ((kind = 'claim') = (job IS NOT NULL)))
        """,
        "CREATE INDEX garbage_due ON garbage (due_at)",
        // Which node does for all what one does, and for how long.
        "CREATE TABLE leaders (task text PRIMARY KEY, node uuid NOT NULL, until bigint NOT NULL)",
        CopyTarget.copies,
        CopyTarget.copiedObjects,
    ]
}

/// Where the store's instants come from: the server, whose clock all nodes share, or for tests a clock of theirs.
enum PostgresClock: Sendable {
    case server
    case fixed(@Sendable () -> Instant)

    /// Milliseconds, by the server.
    static let sql = "floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint"
}
