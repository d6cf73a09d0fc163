/// The tables of the records, in PostgreSQL's words; ``SQLiteSchema`` has what SQLite says otherwise. Rules are checks, keys
/// and the conditions of statements: no triggers, procedures or extensions.
///
/// A job is a row of `jobs`, written when it comes and when it ends, and until then one of `queue`, which is narrow and
/// changes often: it alone has the claim, its node and the number of attempts. Counts that many change have a
/// row for each slot of a node, and their sum counts: nodes that write side by side don't wait for each other.
enum RecordSchema {
    private static let states = "('pending', 'delivered', 'failed', 'cancelled')"
    private static let lanes = "('quick', 'fetch', 'expensive')"

    /// Version 1, statement by statement.
    static let tables = jobs + attachments + access + counts + calls + notifications + responses + uploads + tenants

    private static let jobs = [
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
            profile bigint NOT NULL REFERENCES profiles (key), mode text NOT NULL CHECK (mode IN ('lenient', 'strict')),
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
            FOREIGN KEY (tenant, job) REFERENCES jobs (tenant, key) ON DELETE CASCADE)
            WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
                autovacuum_vacuum_cost_delay = 0)
        """,
        "CREATE INDEX queue_waiting ON queue (run, lane, priority, rank, job) WHERE state = 'pending'",
        // A run's jobs are in all lanes: none of the other indexes has them in their order.
        "CREATE INDEX queue_of_runs ON queue (run, priority, rank, job) WHERE state = 'pending' AND run <> ''",
        "CREATE INDEX queue_ranks ON queue (tenant, run, lane, priority, rank)",
        "CREATE INDEX queue_of_others ON queue (run, lane, priority, tenant, rank, job)",
        "CREATE INDEX queue_running ON queue (run, job) WHERE state = 'running'",
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
        // What a run has submitted is left to it while one of its nodes lives.
        "CREATE TABLE run_nodes (run text, node uuid, PRIMARY KEY (run, node))",
        "CREATE INDEX run_nodes_by_node ON run_nodes (node)",
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
            job bigint REFERENCES retained_submissions (job) ON DELETE CASCADE, name text, PRIMARY KEY (job, name))
        """,
        "CREATE INDEX retained_sources_by_name ON retained_sources (name)",
        // The searchable part of each job's metadata: the first 20 pairs by key, with values of at most 200 bytes.
        """
        CREATE TABLE labels (
            tenant text NOT NULL, key text COLLATE "C" NOT NULL, value text COLLATE "C" NOT NULL, job bigint NOT NULL,
            PRIMARY KEY (tenant, key, value, job),
            FOREIGN KEY (tenant, job) REFERENCES jobs (tenant, key) ON DELETE CASCADE)
        """,
        "CREATE INDEX labels_by_job ON labels (job)",
    ]

    private static let attachments = [
        """
        CREATE TABLE attachments (
            tenant text NOT NULL, id uuid NOT NULL, key bigint GENERATED ALWAYS AS IDENTITY, job bigint NOT NULL,
            generation int NOT NULL CHECK (generation >= 1), ordinal smallint NOT NULL CHECK (ordinal BETWEEN 0 AND 9),
            run text NOT NULL, identifier text NOT NULL, source text, state text NOT NULL CHECK (state IN \(states)),
            code text, fidelity text CHECK (fidelity IN ('full', 'reduced', 'partial', 'original')),
            kind text CHECK (kind IN ('image', 'animation', 'audio', 'video')),
            best text CHECK (best IN ('main', 'thumbnail', 'poster', 'waveform', 'original')), details text NOT NULL,
            created_at bigint NOT NULL, finished_at bigint, expires_at bigint, PRIMARY KEY (tenant, id),
            UNIQUE (tenant, job, generation, ordinal), UNIQUE (tenant, job, generation, identifier),
            FOREIGN KEY (tenant, job) REFERENCES jobs (tenant, key) ON DELETE CASCADE,
            CHECK ((state = 'delivered') = (fidelity IS NOT NULL)), CHECK ((state = 'delivered') = (best IS NOT NULL)),
            CHECK ((state = 'pending') = (finished_at IS NULL)), CHECK (source IS NULL OR state = 'pending'),
            CHECK (code IS NULL OR state = 'failed')) WITH (fillfactor = 70)
        """,
        "CREATE INDEX attachments_by_job ON attachments (job, generation, ordinal)",
        "CREATE INDEX attachments_by_state ON attachments (tenant, state, id)",
        "CREATE INDEX attachments_by_kind ON attachments (tenant, kind, id) WHERE kind IS NOT NULL",
        "CREATE INDEX attachments_by_kind_and_state ON attachments (tenant, kind, state, id) WHERE kind IS NOT NULL",
        "CREATE INDEX attachments_by_run ON attachments (tenant, run, id) WHERE run <> ''",
        "CREATE INDEX attachments_by_expiry ON attachments (expires_at, key) WHERE expires_at IS NOT NULL",
        "CREATE INDEX attachments_by_source ON attachments (source) WHERE source IS NOT NULL",
        "CREATE INDEX attachments_by_code ON attachments (tenant, code, id) WHERE code IS NOT NULL",
        "CREATE INDEX attachments_by_code_and_job ON attachments (tenant, code, job, ordinal) WHERE code IS NOT NULL",
        """
        CREATE INDEX attachments_by_failure ON attachments (tenant, code, finished_at, job, kind)
            WHERE code IS NOT NULL
        """,
        """
        CREATE TABLE blobs (
            tenant text NOT NULL CHECK (tenant <> ''), sha256 bytea NOT NULL CHECK (length(sha256) = 32),
            name text NOT NULL UNIQUE, bytes bigint NOT NULL CHECK (bytes >= 0), refs int NOT NULL CHECK (refs >= 0),
            damaged boolean NOT NULL DEFAULT false, PRIMARY KEY (tenant, sha256, name)) WITH (fillfactor = 90)
        """,
        "CREATE UNIQUE INDEX blobs_live ON blobs (tenant, sha256) WHERE NOT damaged",
        "CREATE INDEX blobs_unused ON blobs (name) WHERE refs = 0",
        // Name, hash and size are repeated, so that a read needs no third table. The keys of renditions that are encrypted are
        // sealed with one that is outside of the database.
        """
        CREATE TABLE renditions (
            tenant text NOT NULL, attachment uuid NOT NULL,
            role text NOT NULL CHECK (role IN ('main', 'thumbnail', 'poster', 'waveform', 'original')),
            blob text NOT NULL REFERENCES blobs (name), sha256 bytea NOT NULL, bytes bigint NOT NULL,
            media_type text NOT NULL, width int CHECK (width > 0), height int CHECK (height > 0),
            duration float8 CHECK (duration >= 0), scheme text CHECK (scheme IN ('matrix', 'aesgcm')), key bytea,
            key_kid text, PRIMARY KEY (tenant, attachment, role),
            FOREIGN KEY (tenant, attachment) REFERENCES attachments (tenant, id) ON DELETE CASCADE,
            CHECK ((scheme IS NULL) = (key IS NULL) AND (scheme IS NULL) = (key_kid IS NULL)))
        """,
        "CREATE INDEX renditions_by_blob ON renditions (blob)",
        "CREATE INDEX renditions_by_key ON renditions (key_kid) WHERE key_kid IS NOT NULL",
        // Blobs whose bytes were removed, or are about to be: none may be referred to again.
        "CREATE TABLE tombstones (name text PRIMARY KEY, made_at bigint NOT NULL)",
        "CREATE INDEX tombstones_by_time ON tombstones (made_at)",
    ]

    private static let access = [
        // Grants, leases and links. No secret is here: tokens are derived from the id with the key `kid`.
        """
        CREATE TABLE access (
            id text PRIMARY KEY CHECK (length(id) = 22), kind text NOT NULL CHECK (kind IN ('grant', 'lease', 'link')),
            tenant text NOT NULL, attachment uuid NOT NULL, parent text, renditions text,
            lease_limit int CHECK (lease_limit >= 1), kid text NOT NULL,
            delivery text NOT NULL CHECK (delivery = 'private' OR (delivery = 'shared' AND kind = 'link')),
            by_job boolean NOT NULL CHECK (NOT by_job OR parent IS NULL), created_at bigint NOT NULL,
            expires_at bigint NOT NULL, ended_at bigint,
            FOREIGN KEY (tenant, attachment) REFERENCES attachments (tenant, id) ON DELETE CASCADE,
            CHECK ((kind = 'grant') = (lease_limit IS NOT NULL)), CHECK (kind <> 'link' OR parent IS NULL))
        """,
        // An attachment's, in the order in which they are listed.
        "CREATE INDEX access_of_attachment ON access (tenant, attachment, id COLLATE \"C\")",
        "CREATE INDEX access_by_parent ON access (parent, kind) WHERE parent IS NOT NULL",
        "CREATE INDEX access_by_expiry ON access (expires_at)",
        "CREATE INDEX access_live ON access (kind, expires_at) WHERE ended_at IS NULL",
        // Leases have an index of their own.
        """
        CREATE INDEX access_open ON access (tenant, kind, expires_at) WHERE ended_at IS NULL AND kind <> 'lease'
        """,
        "CREATE INDEX leases_live ON access (tenant, expires_at) WHERE ended_at IS NULL AND kind = 'lease'",
        """
        CREATE INDEX leases_live_under ON access (parent, expires_at)
            WHERE ended_at IS NULL AND kind = 'lease' AND parent IS NOT NULL
        """,
        // No key is here, only the hash of each.
        """
        CREATE TABLE api_keys (
            id text PRIMARY KEY CHECK (length(id) = 22), tenant text NOT NULL CHECK (tenant <> ''), name text NOT NULL,
            roles text NOT NULL, sha256 text NOT NULL CHECK (length(sha256) = 64), created_at bigint NOT NULL,
            expires_at bigint, revoked_at bigint)
        """,
        "CREATE INDEX api_keys_by_end ON api_keys (coalesce(revoked_at, expires_at))",
        "CREATE INDEX api_keys_by_tenant ON api_keys (tenant, created_at DESC, id COLLATE \"C\")",
        // Sessions of the console, and codes to sign in with.
        """
        CREATE TABLE console_sessions (
            hash text PRIMARY KEY CHECK (length(hash) = 64), kind text NOT NULL CHECK (kind IN ('code', 'session')),
            tenant text NOT NULL CHECK (tenant <> ''), roles text NOT NULL,
            key text REFERENCES api_keys (id) ON DELETE CASCADE, created_at bigint NOT NULL, used_at bigint NOT NULL,
            ends_at bigint NOT NULL, CHECK (kind = 'session' OR key IS NULL))
        """,
        "CREATE INDEX console_sessions_by_end ON console_sessions (ends_at)",
        "CREATE INDEX console_sessions_by_key ON console_sessions (key) WHERE key IS NOT NULL",
    ]

    private static let counts = [
        """
        CREATE TABLE usage (
            tenant text, slot smallint, stored_bytes bigint NOT NULL DEFAULT 0, unfinished_jobs bigint NOT NULL DEFAULT 0,
            open_leases bigint NOT NULL DEFAULT 0, PRIMARY KEY (tenant, slot)) WITH (fillfactor = 50)
        """,
        // The counts of all tenants together.
        """
        CREATE TABLE counters (
            slot int PRIMARY KEY, quick_jobs bigint NOT NULL, fetch_jobs bigint NOT NULL, expensive_jobs bigint NOT NULL,
            grants bigint NOT NULL, leases bigint NOT NULL, links bigint NOT NULL, leases_left_to_expire bigint NOT NULL,
            blobs bigint NOT NULL, blob_bytes bigint NOT NULL) WITH (fillfactor = 50)
        """,
        // How many attachments came to an end. The code is '' for none; histograms by bin.
        """
        CREATE TABLE tallies (
            tenant text CHECK (tenant <> ''), minute bigint CHECK (minute % 60000 = 0),
            lane text CHECK (lane IN \(lanes)), state text CHECK (state IN ('delivered', 'failed', 'cancelled')),
            code text CHECK ((state = 'failed') = (code <> '')), slot smallint,
            count bigint NOT NULL CHECK (count > 0), waiting bigint[] NOT NULL, work bigint[] NOT NULL,
            PRIMARY KEY (tenant, minute, lane, state, code, slot)) WITH (fillfactor = 50)
        """,
        "CREATE INDEX tallies_by_age ON tallies (minute)",
        // This makes a quota cost the same with any number of uploads.
        """
        CREATE TABLE pending_notifications (
            tenant text, slot smallint, count bigint NOT NULL, PRIMARY KEY (tenant, slot)) WITH (fillfactor = 50)
        """,
    ]

    private static let calls = [
        // One for each end that a job with a callback came to, and messages of other types.
        """
        CREATE TABLE calls (
            id text PRIMARY KEY CHECK (id <> ''), tenant text COLLATE "C" NOT NULL, type text NOT NULL,
            job bigint REFERENCES jobs (key) ON DELETE CASCADE, generation int, subject text, url text NOT NULL,
            receiver text COLLATE "C" NOT NULL, traceparent text, created_at bigint NOT NULL, give_up_at bigint,
            state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed', 'cancelled')),
            attempt int NOT NULL DEFAULT 0 CHECK (attempt >= 0), due_at bigint NOT NULL,
            node uuid, finished_at bigint, reason text,
            is_kept boolean NOT NULL DEFAULT true, answers text, body bytea, UNIQUE (job, generation),
            CHECK ((state = 'pending') = (finished_at IS NULL)), CHECK ((job IS NULL) = (generation IS NULL)),
            CHECK (job IS NOT NULL OR body IS NOT NULL), CHECK (node IS NULL OR state = 'pending'))
        """,
        "CREATE INDEX calls_due ON calls (due_at) WHERE state = 'pending' AND node IS NULL",
        "CREATE INDEX calls_by_receiver ON calls (tenant, receiver, due_at) WHERE state = 'pending' AND node IS NULL",
        "CREATE INDEX calls_by_node ON calls (node) WHERE node IS NOT NULL",
        "CREATE INDEX calls_by_end ON calls (finished_at) WHERE finished_at IS NOT NULL",
        "CREATE INDEX calls_by_subject ON calls (tenant, subject) WHERE subject IS NOT NULL",
        "CREATE INDEX calls_by_state ON calls (tenant, state, id)",
        "CREATE INDEX calls_by_type ON calls (tenant, type, state, id)",
    ]

    private static let notifications = [
        """
        CREATE TABLE categories (
            tenant text COLLATE "C" CHECK (tenant <> ''), id text COLLATE "C" CHECK (id <> ''), body text NOT NULL,
            PRIMARY KEY (tenant, id))
        """,
        """
        CREATE TABLE notifications (
            key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, tenant text NOT NULL CHECK (tenant <> ''),
            id text NOT NULL CHECK (id <> ''), revision int NOT NULL CHECK (revision >= 1),
            generation int NOT NULL CHECK (generation >= 1),
            state text NOT NULL CHECK (state IN ('pending', 'done', 'cancelled')), category text,
            next_at bigint CHECK (next_at IS NULL OR state = 'pending'), rules text, shown_at bigint, finished_at bigint,
            media_at bigint CHECK (media_at IS NULL OR state = 'pending'),
            media_job text CHECK (media_job IS NULL OR media_at IS NOT NULL), record text NOT NULL,
            UNIQUE (tenant, id), CHECK ((state = 'pending') = (finished_at IS NULL)))
            WITH (fillfactor = 70)
        """,
        "CREATE INDEX notifications_upcoming ON notifications (next_at, key) WHERE next_at IS NOT NULL",
        """
        CREATE INDEX notifications_pending ON notifications (tenant, coalesce(next_at, 9223372036854775807), key)
            WHERE state = 'pending'
        """,
        "CREATE INDEX notifications_shown ON notifications (tenant, shown_at, key) WHERE shown_at IS NOT NULL",
        """
        CREATE INDEX notifications_by_rules ON notifications (rules)
            WHERE next_at IS NOT NULL AND rules IS NOT NULL
        """,
        "CREATE INDEX notifications_media_due ON notifications (media_at) WHERE media_at IS NOT NULL",
        "CREATE INDEX notifications_by_end ON notifications (finished_at) WHERE finished_at IS NOT NULL",
        // What retention leaves alone.
        """
        CREATE TABLE notification_media (
            notification bigint REFERENCES notifications (key) ON DELETE CASCADE, attachment uuid, tenant text NOT NULL,
            PRIMARY KEY (notification, attachment))
        """,
        "CREATE INDEX notification_media_by_attachment ON notification_media (tenant, attachment)",
        // What media are made of that are prepared or tried again later; the headers for origins are encrypted.
        """
        CREATE TABLE notification_sources (
            notification bigint PRIMARY KEY REFERENCES notifications (key) ON DELETE CASCADE,
            profile bigint NOT NULL REFERENCES profiles (key), submission text NOT NULL, headers bytea, headers_kid text,
            CHECK ((headers IS NULL) = (headers_kid IS NULL)))
        """,
        """
        CREATE INDEX notification_sources_by_headers ON notification_sources (headers_kid)
            WHERE headers_kid IS NOT NULL
        """,
        """
        CREATE TABLE firings (
            id uuid PRIMARY KEY, tenant text NOT NULL,
            notification bigint NOT NULL REFERENCES notifications (key) ON DELETE CASCADE, generation int NOT NULL,
            number int NOT NULL CHECK (number >= 1),
            state text NOT NULL CHECK (state IN ('pending', 'delivered', 'failed', 'missed', 'removed')),
            scheduled_at bigint NOT NULL, is_manual boolean NOT NULL,
            idempotency_key text CHECK (idempotency_key IS NULL OR is_manual),
            waits_until bigint CHECK (waits_until IS NULL OR state = 'pending'), place bigint CHECK (place >= 1),
            created_at bigint NOT NULL, record text NOT NULL, UNIQUE (notification, number)) WITH (fillfactor = 70)
        """,
        // None is made twice.
        "CREATE UNIQUE INDEX firings_once ON firings (notification, generation, scheduled_at) WHERE NOT is_manual",
        """
        CREATE UNIQUE INDEX firings_by_key ON firings (notification, idempotency_key)
            WHERE idempotency_key IS NOT NULL
        """,
        "CREATE INDEX firings_waiting ON firings (waits_until) WHERE waits_until IS NOT NULL",
        "CREATE INDEX firings_open ON firings (notification) WHERE state = 'pending'",
        "CREATE UNIQUE INDEX firings_by_place ON firings (tenant, place) WHERE place IS NOT NULL",
        "CREATE INDEX firings_by_age ON firings (created_at)",
    ]

    private static let responses = [
        // Tickets, the sessions that are opened by them, and the responses that came in.
        """
        CREATE TABLE tickets (
            id text PRIMARY KEY CHECK (length(id) = 22), tenant text NOT NULL,
            notification bigint NOT NULL REFERENCES notifications (key) ON DELETE CASCADE,
            kind text NOT NULL CHECK (kind IN ('respond', 'preview')), kid text NOT NULL, expires_at bigint NOT NULL,
            ended_at bigint, record text NOT NULL)
        """,
        "CREATE INDEX tickets_by_notification ON tickets (notification, kind)",
        "CREATE INDEX tickets_by_expiry ON tickets (expires_at)",
        // One notification that was opened on one device.
        """
        CREATE TABLE response_sessions (
            ticket text REFERENCES tickets (id) ON DELETE CASCADE, id uuid, record text NOT NULL, PRIMARY KEY (ticket, id))
            WITH (fillfactor = 50)
        """,
        // They outlive their tickets. The place in the tenant's list is given out in the order of commits.
        """
        CREATE TABLE responses (
            ticket text, id uuid, tenant text NOT NULL, place bigint NOT NULL CHECK (place >= 1),
            notification bigint NOT NULL REFERENCES notifications (key) ON DELETE CASCADE,
            session uuid NOT NULL, firing int CHECK (firing >= 1), is_preview boolean NOT NULL,
            received_at bigint NOT NULL, record text NOT NULL, PRIMARY KEY (ticket, id), UNIQUE (tenant, place))
            WITH (fillfactor = 70)
        """,
        "CREATE INDEX responses_by_notification ON responses (notification, place)",
        "CREATE INDEX responses_by_firing ON responses (notification, firing) WHERE NOT is_preview",
        "CREATE INDEX responses_by_age ON responses (received_at)",
    ]

    private static let uploads = [
        // Uploads, and what a tenant's take up. Where the bytes are that come to a bucket is JSON.
        """
        CREATE TABLE uploads (
            tenant text COLLATE "C" CHECK (tenant <> ''), id uuid,
            ticket text NOT NULL UNIQUE CHECK (length(ticket) = 22), kid text NOT NULL,
            state text NOT NULL
                CHECK (state IN ('open', 'complete', 'consumed', 'expired', 'failed', 'cancelled')),
            length bigint CHECK (length >= 0), received bigint NOT NULL DEFAULT 0 CHECK (received >= 0),
            source text NOT NULL CHECK (source <> ''), writer uuid, used_by text,
            is_closed boolean NOT NULL DEFAULT false, sha256 text CHECK (length(sha256) = 64),
            created_at bigint NOT NULL, touched_at bigint NOT NULL, expires_at bigint NOT NULL, finished_at bigint,
            terms text NOT NULL, error text, parts text, PRIMARY KEY (tenant, id),
            CHECK (received <= length OR length IS NULL),
            CHECK ((state = 'open') = (sha256 IS NULL) OR state NOT IN ('open', 'complete', 'consumed')),
            CHECK ((state = 'consumed') = (used_by IS NOT NULL)),
            CHECK ((state IN ('open', 'complete')) = (finished_at IS NULL)))
            WITH (fillfactor = 50)
        """,
        "CREATE INDEX uploads_by_state ON uploads (tenant, state, id)",
        "CREATE INDEX uploads_by_expiry ON uploads (expires_at) WHERE state IN ('open', 'complete')",
        "CREATE INDEX uploads_by_touch ON uploads (touched_at) WHERE state = 'open'",
        "CREATE INDEX uploads_by_end ON uploads (finished_at) WHERE finished_at IS NOT NULL",
        "CREATE INDEX uploads_by_source ON uploads (source) WHERE state IN ('open', 'complete')",
        "CREATE INDEX uploads_by_kid ON uploads (kid) WHERE state IN ('open', 'complete', 'consumed')",
        """
        CREATE TABLE upload_usage (
            tenant text PRIMARY KEY, open bigint NOT NULL CHECK (open >= 0), bytes bigint NOT NULL CHECK (bytes >= 0))
            WITH (fillfactor = 50)
        """,
    ]

    private static let tenants = [
        // What is known of tenants as such; those of which nothing is have no row. Places in a tenant's lists, of firings and of
        // responses, are given out in the order of commits: the row is locked until then. The numbers that signing secrets are
        // derived with are a JSON array, the current one first; NULL before a rotation.
        """
        CREATE TABLE tenants (
            tenant text PRIMARY KEY CHECK (tenant <> ''), last_place bigint NOT NULL DEFAULT 0 CHECK (last_place >= 0),
            last_response bigint NOT NULL DEFAULT 0 CHECK (last_response >= 0), signing text, removed_at bigint)
            WITH (fillfactor = 50)
        """,
        // What was done about access, by whom: written with what it tells, and never changed.
        """
        CREATE TABLE audit (
            key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, tenant text NOT NULL CHECK (tenant <> ''),
            at bigint NOT NULL,
            action text NOT NULL CHECK (action IN ('made', 'revoked', 'rotated', 'deleted', 'signed_in')),
            subject_kind text NOT NULL CHECK (subject_kind IN
                ('grant', 'lease', 'link', 'ticket', 'key', 'secret', 'attachment', 'session')),
            subject text NOT NULL CHECK (subject <> ''), attachment uuid,
            actor_kind text NOT NULL CHECK (actor_kind IN ('key', 'grant', 'command', 'service')), actor text,
            detail text, CHECK (actor IS NULL OR actor_kind IN ('key', 'grant')))
        """,
        "CREATE INDEX audit_by_tenant ON audit (tenant, at, key)",
        "CREATE INDEX audit_by_action ON audit (tenant, action, at, key)",
        "CREATE INDEX audit_by_kind ON audit (tenant, actor_kind, at, key)",
        "CREATE INDEX audit_by_actor ON audit (tenant, actor, at, key) WHERE actor IS NOT NULL",
        "CREATE INDEX audit_by_time ON audit (at)",
    ]
}
