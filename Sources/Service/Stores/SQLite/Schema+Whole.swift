extension Schema {
    /// All that the migrations make of an empty file, in a tenth of their time. `WholeSchemaTests` holds it to them, and
    /// writes this file.
    static let whole = """
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
            -- When it was stopped or revoked.
            ended_at INTEGER, delivery TEXT NOT NULL DEFAULT 'private'
            CHECK (delivery IN ('private', 'shared') AND (delivery = 'private' OR kind = 'link')), by_job INTEGER NOT NULL DEFAULT 0
            CHECK (by_job IN (0, 1) AND (by_job = 0 OR parent IS NULL)),
            FOREIGN KEY (tenant, attachment) REFERENCES attachments(tenant, id) ON DELETE CASCADE,
            CHECK ((kind = 'grant') = (lease_limit IS NOT NULL)),
            CHECK (kind <> 'link' OR parent IS NULL)
        ) STRICT, WITHOUT ROWID;
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
        CREATE TABLE attachments (
            key INTEGER PRIMARY KEY,
            tenant TEXT NOT NULL CHECK (tenant <> ''),
            id TEXT NOT NULL CHECK (id <> ''),
            job INTEGER NOT NULL REFERENCES jobs(key) ON DELETE CASCADE,
            run TEXT NOT NULL,
            generation INTEGER NOT NULL CHECK (generation >= 1),
            ordinal INTEGER NOT NULL CHECK (ordinal BETWEEN 0 AND 9),
            identifier TEXT NOT NULL,
            -- A file of the spool that the work still needs.
            spool TEXT,
            state TEXT NOT NULL CHECK (state IN ('pending', 'running', 'delivered', 'failed', 'cancelled')),
            fidelity TEXT CHECK (fidelity IN ('full', 'reduced', 'partial', 'original')),
            kind TEXT CHECK (kind IN ('image', 'animation', 'audio', 'video')),
            best TEXT CHECK (best IN ('main', 'thumbnail', 'poster', 'waveform', 'original')),
            -- JSON: what is shown and never searched.
            details TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            finished_at INTEGER,
            expires_at INTEGER, code TEXT CHECK (code IS NULL OR state = 'failed'),
            UNIQUE (tenant, id),
            UNIQUE (job, generation, ordinal),
            UNIQUE (job, generation, identifier),
            CHECK ((state = 'delivered') = (fidelity IS NOT NULL)),
            CHECK ((state = 'delivered') = (best IS NOT NULL)),
            CHECK ((state IN ('pending', 'running')) = (finished_at IS NULL)),
            CHECK (spool IS NULL OR state IN ('pending', 'running'))
        ) STRICT;
        CREATE TABLE audit (
            -- Grows, and none comes twice.
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
        CREATE TABLE "blobs" (
            name TEXT PRIMARY KEY CHECK (name <> ''),
            sha256 TEXT NOT NULL CHECK (length(sha256) = 64),
            bytes INTEGER NOT NULL CHECK (bytes >= 0),
            -- Kept by the triggers of renditions.
            refs INTEGER NOT NULL DEFAULT 0 CHECK (refs >= 0),
            -- Set by verify; no new rendition refers to it.
            damaged INTEGER NOT NULL DEFAULT 0 CHECK (damaged IN (0, 1)),
            -- NULL: from before there were tenants, and perhaps of several.
            tenant TEXT CHECK (tenant <> '')
        ) STRICT;
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
            body BLOB, answers TEXT,
            UNIQUE (job, generation),
            CHECK ((job IS NULL) = (generation IS NULL)),
            CHECK ((job IS NULL) = (body IS NOT NULL)),
            CHECK ((state = 'pending') = (finished_at IS NULL))
        ) STRICT;
        CREATE TABLE categories (
            tenant TEXT NOT NULL CHECK (tenant <> ''),
            id TEXT NOT NULL CHECK (id <> ''),
            -- JSON; its id is the row's.
            body TEXT NOT NULL CHECK (json_extract(body, '$.id') = id),
            PRIMARY KEY (tenant, id)
        ) STRICT, WITHOUT ROWID;
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
        CREATE TABLE firings (
            id TEXT PRIMARY KEY CHECK (id <> ''),
            tenant TEXT NOT NULL,
            notification INTEGER NOT NULL REFERENCES notifications(key) ON DELETE CASCADE,
            generation INTEGER NOT NULL,
            number INTEGER NOT NULL CHECK (number >= 1),
            state TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'failed', 'missed', 'removed')),
            scheduled_at INTEGER NOT NULL,
            is_manual INTEGER NOT NULL CHECK (is_manual IN (0, 1)),
            idempotency_key TEXT CHECK (idempotency_key IS NULL OR is_manual),
            -- While its payload is still to be made.
            waits_until INTEGER CHECK (waits_until IS NULL OR state = 'pending'),
            place INTEGER CHECK (place >= 1),
            created_at INTEGER NOT NULL,
            record TEXT NOT NULL,
            UNIQUE (notification, number)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
        CREATE TABLE holdings (
            only INTEGER PRIMARY KEY CHECK (only = 1),
            blobs INTEGER NOT NULL CHECK (blobs >= 0),
            blob_bytes INTEGER NOT NULL CHECK (blob_bytes >= 0),
            -- Leases that ended by themselves and were swept.
            leases_left_to_expire INTEGER NOT NULL DEFAULT 0 CHECK (leases_left_to_expire >= 0)
        , pending_calls INTEGER NOT NULL DEFAULT 0 CHECK (pending_calls >= 0)) STRICT;
        CREATE TABLE idempotency_keys (
            tenant TEXT NOT NULL,
            key TEXT NOT NULL CHECK (key <> ''),
            body_digest TEXT NOT NULL,
            job INTEGER NOT NULL REFERENCES jobs(key) ON DELETE CASCADE,
            created_at INTEGER NOT NULL,
            PRIMARY KEY (tenant, key)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE "jobs" (
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
        CREATE TABLE labels (
            tenant TEXT NOT NULL,
            key TEXT NOT NULL,
            value TEXT NOT NULL CHECK (length(CAST(value AS BLOB)) <= 200),
            job INTEGER NOT NULL,
            PRIMARY KEY (tenant, key, value, job)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE lanes (
            lane TEXT PRIMARY KEY CHECK (lane IN ('quick', 'fetch', 'expensive')),
            pending INTEGER NOT NULL CHECK (pending >= 0),
            running INTEGER NOT NULL CHECK (running >= 0)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE lines (
            lane TEXT NOT NULL CHECK (lane IN ('quick', 'fetch', 'expensive')),
            priority INTEGER NOT NULL CHECK (priority IN (0, 1)),
            -- The greatest rank that was ever claimed there.
            claimed_rank INTEGER NOT NULL DEFAULT 0 CHECK (claimed_rank >= 0),
            PRIMARY KEY (lane, priority)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE notification_media (
            notification INTEGER NOT NULL REFERENCES notifications(key) ON DELETE CASCADE,
            tenant TEXT NOT NULL,
            attachment TEXT NOT NULL,
            PRIMARY KEY (notification, attachment)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE notification_sources (
            notification INTEGER PRIMARY KEY REFERENCES notifications(key) ON DELETE CASCADE,
            profile INTEGER NOT NULL REFERENCES profiles(key),
            submission TEXT NOT NULL,
            headers BLOB,
            headers_kid TEXT CHECK ((headers IS NULL) = (headers_kid IS NULL))
        ) STRICT;
        CREATE TABLE notifications (
            key INTEGER PRIMARY KEY,
            tenant TEXT NOT NULL CHECK (tenant <> ''),
            id TEXT NOT NULL CHECK (id <> ''),
            -- Counts every change: by it is seen whether a notification is still as it was read.
            revision INTEGER NOT NULL CHECK (revision >= 1),
            generation INTEGER NOT NULL CHECK (generation >= 1),
            state TEXT NOT NULL CHECK (state IN ('pending', 'done', 'cancelled')),
            category TEXT,
            next_at INTEGER CHECK (next_at IS NULL OR state = 'pending'),
            -- Of the zone rules by which the next instant was made.
            rules TEXT,
            -- Of its latest firing that is in the list of delivered ones.
            shown_at INTEGER,
            finished_at INTEGER,
            -- When something is to be done about its media, and the job that has to end first.
            media_at INTEGER CHECK (media_at IS NULL OR state = 'pending'),
            media_job TEXT CHECK (media_job IS NULL OR media_at IS NOT NULL),
            record TEXT NOT NULL,
            UNIQUE (tenant, id),
            CHECK ((state = 'pending') = (finished_at IS NULL))
        ) STRICT;
        CREATE TABLE open_access (
            kind TEXT PRIMARY KEY CHECK (kind IN ('grant', 'lease', 'link')),
            open INTEGER NOT NULL CHECK (open >= 0)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE profiles (
            key INTEGER PRIMARY KEY,
            digest TEXT NOT NULL UNIQUE,
            name TEXT NOT NULL,
            body TEXT NOT NULL
        ) STRICT;
        CREATE TABLE released_spool (
            name TEXT PRIMARY KEY
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE renditions (
            tenant TEXT NOT NULL,
            attachment TEXT NOT NULL,
            role TEXT NOT NULL CHECK (role IN ('main', 'thumbnail', 'poster', 'waveform', 'original')),
            blob TEXT NOT NULL REFERENCES blobs(name),
            media_type TEXT NOT NULL,
            width INTEGER CHECK (width > 0),
            height INTEGER CHECK (height > 0),
            duration REAL CHECK (duration >= 0), scheme TEXT CHECK (scheme IN ('matrix', 'aesgcm')), key BLOB CHECK ((key IS NULL) = (scheme IS NULL)), key_kid TEXT CHECK ((key_kid IS NULL) = (scheme IS NULL)),
            PRIMARY KEY (tenant, attachment, role),
            FOREIGN KEY (tenant, attachment) REFERENCES attachments(tenant, id) ON DELETE CASCADE
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE response_sessions (
            ticket TEXT NOT NULL REFERENCES tickets(id) ON DELETE CASCADE,
            id TEXT NOT NULL CHECK (id <> ''),
            record TEXT NOT NULL,
            PRIMARY KEY (ticket, id)
        ) STRICT;
        CREATE TABLE responses (
            tenant TEXT NOT NULL,
            -- In the tenant's list, given out in the order of commits.
            place INTEGER NOT NULL CHECK (place >= 1),
            notification INTEGER NOT NULL REFERENCES notifications(key) ON DELETE CASCADE,
            ticket TEXT NOT NULL,
            id TEXT NOT NULL CHECK (id <> ''),
            session TEXT NOT NULL CHECK (session <> ''),
            firing INTEGER CHECK (firing >= 1),
            is_preview INTEGER NOT NULL CHECK (is_preview IN (0, 1)),
            received_at INTEGER NOT NULL,
            record TEXT NOT NULL,
            UNIQUE (tenant, place),
            UNIQUE (ticket, id)
        ) STRICT;
        CREATE TABLE retained_spool (
            job INTEGER NOT NULL REFERENCES retained_submissions(job) ON DELETE CASCADE,
            name TEXT NOT NULL,
            PRIMARY KEY (job, name)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE retained_submissions (
            job INTEGER PRIMARY KEY REFERENCES jobs(key) ON DELETE CASCADE,
            generation INTEGER NOT NULL,
            submission TEXT NOT NULL,
            kept_until INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE store (
            only INTEGER PRIMARY KEY CHECK (only = 1),
            last_instant INTEGER NOT NULL
        , revocations INTEGER NOT NULL DEFAULT 0) STRICT;
        CREATE TABLE tallies (
            tenant TEXT NOT NULL CHECK (tenant <> ''),
            minute INTEGER NOT NULL CHECK (minute % 60000 = 0),
            lane TEXT NOT NULL CHECK (lane IN ('quick', 'fetch', 'expensive')),
            state TEXT NOT NULL CHECK (state IN ('delivered', 'failed', 'cancelled')),
            -- '' for none.
            code TEXT NOT NULL CHECK ((state = 'failed') = (code <> '')),
            count INTEGER NOT NULL CHECK (count > 0),
            waiting TEXT NOT NULL,
            work TEXT NOT NULL,
            PRIMARY KEY (tenant, minute, lane, state, code)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE tenants (
            tenant TEXT PRIMARY KEY CHECK (tenant <> ''),
            last_place INTEGER NOT NULL DEFAULT 0 CHECK (last_place >= 0),
            last_response INTEGER NOT NULL DEFAULT 0 CHECK (last_response >= 0),
            -- So that a quota costs the same with any number of them.
            pending_notifications INTEGER NOT NULL DEFAULT 0 CHECK (pending_notifications >= 0)
        , signing TEXT, removed_at INTEGER) STRICT, WITHOUT ROWID;
        CREATE TABLE tickets (
            id TEXT PRIMARY KEY CHECK (length(id) = 22),
            tenant TEXT NOT NULL,
            notification INTEGER NOT NULL REFERENCES notifications(key) ON DELETE CASCADE,
            kind TEXT NOT NULL CHECK (kind IN ('respond', 'preview')),
            kid TEXT NOT NULL,
            expires_at INTEGER NOT NULL,
            ended_at INTEGER,
            -- Without its end.
            record TEXT NOT NULL
        ) STRICT;
        CREATE TABLE "tombstones" (
            name TEXT PRIMARY KEY,
            made_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE upload_usage (
            tenant TEXT PRIMARY KEY,
            open INTEGER NOT NULL CHECK (open >= 0),
            bytes INTEGER NOT NULL CHECK (bytes >= 0)
        ) STRICT, WITHOUT ROWID;
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
            error TEXT, parts TEXT,
            UNIQUE (tenant, id),
            CHECK (received <= length OR length IS NULL),
            CHECK ((state = 'open') = (sha256 IS NULL) OR state NOT IN ('open', 'complete', 'consumed')),
            CHECK ((state = 'consumed') = (used_by IS NOT NULL)),
            CHECK ((state IN ('open', 'complete')) = (finished_at IS NULL))
        ) STRICT;
        CREATE TABLE usage (
            tenant TEXT PRIMARY KEY,
            stored_bytes INTEGER NOT NULL DEFAULT 0 CHECK (stored_bytes >= 0),
            unfinished_jobs INTEGER NOT NULL DEFAULT 0 CHECK (unfinished_jobs >= 0),
            -- Leases that were not stopped; some may have run out.
            open_leases INTEGER NOT NULL DEFAULT 0 CHECK (open_leases >= 0)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO grdb_migrations VALUES ('1');
        INSERT INTO grdb_migrations VALUES ('10');
        INSERT INTO grdb_migrations VALUES ('11');
        INSERT INTO grdb_migrations VALUES ('12');
        INSERT INTO grdb_migrations VALUES ('13');
        INSERT INTO grdb_migrations VALUES ('14');
        INSERT INTO grdb_migrations VALUES ('15');
        INSERT INTO grdb_migrations VALUES ('16');
        INSERT INTO grdb_migrations VALUES ('17');
        INSERT INTO grdb_migrations VALUES ('18');
        INSERT INTO grdb_migrations VALUES ('2');
        INSERT INTO grdb_migrations VALUES ('3');
        INSERT INTO grdb_migrations VALUES ('4');
        INSERT INTO grdb_migrations VALUES ('5');
        INSERT INTO grdb_migrations VALUES ('6');
        INSERT INTO grdb_migrations VALUES ('7');
        INSERT INTO grdb_migrations VALUES ('8');
        INSERT INTO grdb_migrations VALUES ('9');
        INSERT INTO holdings VALUES (1, 0, 0, 0, 0);
        INSERT INTO lanes VALUES ('expensive', 0, 0);
        INSERT INTO lanes VALUES ('fetch', 0, 0);
        INSERT INTO lanes VALUES ('quick', 0, 0);
        INSERT INTO lines VALUES ('expensive', 0, 0);
        INSERT INTO lines VALUES ('expensive', 1, 0);
        INSERT INTO lines VALUES ('fetch', 0, 0);
        INSERT INTO lines VALUES ('fetch', 1, 0);
        INSERT INTO lines VALUES ('quick', 0, 0);
        INSERT INTO lines VALUES ('quick', 1, 0);
        INSERT INTO open_access VALUES ('grant', 0);
        INSERT INTO open_access VALUES ('lease', 0);
        INSERT INTO open_access VALUES ('link', 0);
        INSERT INTO store VALUES (1, 0, 0);
        CREATE INDEX access_by_attachment ON access(tenant, attachment);
        CREATE INDEX access_by_expiry ON access(expires_at);
        CREATE INDEX access_by_parent ON access(parent, kind) WHERE parent IS NOT NULL;
        CREATE INDEX access_live ON access(kind, expires_at) WHERE ended_at IS NULL;
        CREATE INDEX access_open ON access(tenant, kind, expires_at) WHERE ended_at IS NULL AND kind <> 'lease';
        CREATE INDEX api_keys_by_end ON api_keys(coalesce(revoked_at, expires_at));
        CREATE INDEX api_keys_by_tenant ON api_keys(tenant, created_at);
        CREATE INDEX api_keys_by_time ON api_keys(created_at);
        CREATE INDEX attachments_by_code ON attachments(tenant, code, id) WHERE code IS NOT NULL;
        CREATE INDEX attachments_by_code_and_job ON attachments(tenant, code, job, ordinal) WHERE code IS NOT NULL;
        CREATE INDEX attachments_by_expiry ON attachments(expires_at) WHERE expires_at IS NOT NULL;
        CREATE INDEX attachments_by_failure ON attachments(tenant, code, finished_at, job, kind) WHERE code IS NOT NULL;
        CREATE INDEX attachments_by_kind ON attachments(tenant, kind, id) WHERE kind IS NOT NULL;
        CREATE INDEX attachments_by_kind_and_state ON attachments(tenant, kind, state, id) WHERE kind IS NOT NULL;
        CREATE INDEX attachments_by_run ON attachments(tenant, run, id) WHERE run <> '';
        CREATE INDEX attachments_by_spool ON attachments(spool) WHERE spool IS NOT NULL;
        CREATE INDEX attachments_by_state ON attachments(tenant, state, id);
        CREATE INDEX audit_by_action ON audit(tenant, action, at);
        CREATE INDEX audit_by_actor ON audit(tenant, actor, at) WHERE actor IS NOT NULL;
        CREATE INDEX audit_by_kind ON audit(tenant, actor_kind, at);
        CREATE INDEX audit_by_tenant ON audit(tenant, at);
        CREATE INDEX audit_by_time ON audit(at);
        CREATE UNIQUE INDEX blobs_by_hash ON blobs(tenant, sha256) WHERE damaged = 0 AND tenant IS NOT NULL;
        CREATE INDEX calls_by_end ON calls(finished_at) WHERE finished_at IS NOT NULL;
        CREATE INDEX calls_by_receiver ON calls(tenant, receiver, due_at) WHERE state = 'pending';
        CREATE INDEX calls_by_state ON calls(tenant, state, id);
        CREATE INDEX calls_by_subject ON calls(tenant, subject) WHERE subject IS NOT NULL;
        CREATE INDEX calls_by_type ON calls(tenant, type, state, id);
        CREATE INDEX calls_due ON calls(due_at) WHERE state = 'pending';
        CREATE INDEX console_sessions_by_end ON console_sessions(ends_at);
        CREATE INDEX console_sessions_by_key ON console_sessions(key) WHERE key IS NOT NULL;
        CREATE INDEX firings_by_age ON firings(created_at);
        CREATE UNIQUE INDEX firings_by_key ON firings(notification, idempotency_key) WHERE idempotency_key IS NOT NULL;
        CREATE UNIQUE INDEX firings_by_place ON firings(tenant, place) WHERE place IS NOT NULL;
        CREATE UNIQUE INDEX firings_once ON firings(notification, generation, scheduled_at) WHERE NOT is_manual;
        CREATE INDEX firings_open ON firings(notification) WHERE state = 'pending';
        CREATE INDEX firings_waiting ON firings(waits_until) WHERE waits_until IS NOT NULL;
        CREATE INDEX idempotency_keys_by_job ON idempotency_keys(job);
        CREATE INDEX idempotency_keys_by_time ON idempotency_keys(created_at);
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
        CREATE INDEX labels_by_job ON labels(job);
        CREATE INDEX leases_live ON access(tenant, expires_at) WHERE ended_at IS NULL AND kind = 'lease';
        CREATE INDEX leases_live_under ON access(parent, expires_at)
            WHERE ended_at IS NULL AND kind = 'lease' AND parent IS NOT NULL;
        CREATE INDEX notification_media_by_attachment ON notification_media(tenant, attachment);
        CREATE INDEX notification_sources_by_headers ON notification_sources(headers_kid) WHERE headers_kid IS NOT NULL;
        CREATE INDEX notifications_by_end ON notifications(finished_at) WHERE finished_at IS NOT NULL;
        CREATE INDEX notifications_by_rules ON notifications(rules) WHERE next_at IS NOT NULL AND rules IS NOT NULL;
        CREATE INDEX notifications_due ON notifications(next_at) WHERE next_at IS NOT NULL;
        CREATE INDEX notifications_media_due ON notifications(media_at) WHERE media_at IS NOT NULL;
        CREATE INDEX notifications_pending ON notifications(tenant, coalesce(next_at, 9223372036854775807), key)
            WHERE state = 'pending';
        CREATE INDEX notifications_shown ON notifications(tenant, shown_at, key) WHERE shown_at IS NOT NULL;
        CREATE INDEX profiles_by_name ON profiles(name);
        CREATE INDEX renditions_by_blob ON renditions(blob);
        CREATE INDEX renditions_by_key ON renditions(key_kid) WHERE key_kid IS NOT NULL;
        CREATE INDEX responses_by_age ON responses(received_at);
        CREATE INDEX responses_by_firing ON responses(notification, firing) WHERE NOT is_preview;
        CREATE INDEX responses_by_notification ON responses(notification, place);
        CREATE INDEX retained_spool_by_name ON retained_spool(name);
        CREATE INDEX retained_submissions_by_time ON retained_submissions(kept_until);
        CREATE INDEX tallies_by_age ON tallies(minute);
        CREATE INDEX tickets_by_expiry ON tickets(expires_at);
        CREATE INDEX tickets_by_notification ON tickets(notification, kind);
        CREATE INDEX tombstones_by_time ON tombstones(made_at);
        CREATE INDEX uploads_by_end ON uploads(finished_at) WHERE finished_at IS NOT NULL;
        CREATE INDEX uploads_by_expiry ON uploads(expires_at) WHERE state IN ('open', 'complete');
        CREATE INDEX uploads_by_kid ON uploads(kid) WHERE state IN ('open', 'complete', 'consumed');
        CREATE INDEX uploads_by_source ON uploads(source) WHERE state IN ('open', 'complete');
        CREATE INDEX uploads_by_state ON uploads(tenant, state, id);
        CREATE INDEX uploads_by_touch ON uploads(touched_at) WHERE state = 'open';
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
        CREATE TRIGGER access_keeps_its_manner BEFORE UPDATE OF delivery, by_job ON access
        BEGIN SELECT RAISE(ABORT, 'access keeps its terms'); END;
        CREATE TRIGGER access_keeps_its_terms
        BEFORE UPDATE OF id, kind, tenant, attachment, parent, renditions, lease_limit, kid ON access
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
        CREATE TRIGGER audit_is_immutable BEFORE UPDATE ON audit
        BEGIN SELECT RAISE(ABORT, 'what was done stays as it was'); END;
        CREATE TRIGGER blobs_are_counted AFTER INSERT ON blobs
        BEGIN UPDATE holdings SET blobs = blobs + 1, blob_bytes = blob_bytes + NEW.bytes; END;
        CREATE TRIGGER blobs_are_immutable BEFORE UPDATE OF name, sha256, bytes, tenant ON blobs
        BEGIN SELECT RAISE(ABORT, 'a blob never changes'); END;
        CREATE TRIGGER blobs_are_not_condemned BEFORE INSERT ON blobs
        WHEN EXISTS (SELECT 1 FROM tombstones WHERE name = NEW.name)
        BEGIN SELECT RAISE(ABORT, 'the bytes were removed before they were delivered'); END;
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
        CREATE TRIGGER condemned_is_nothing_in_use BEFORE INSERT ON "tombstones"
        WHEN EXISTS (SELECT 1 FROM blobs WHERE name = NEW.name)
        BEGIN SELECT RAISE(ABORT, 'a record refers to these bytes'); END;
        CREATE TRIGGER console_sessions_keep_their_terms
        BEFORE UPDATE OF hash, kind, tenant, roles, key, created_at, ends_at ON console_sessions
        BEGIN SELECT RAISE(ABORT, 'who is signed in keeps their terms'); END;
        CREATE TRIGGER deleted_access_is_counted AFTER DELETE ON access WHEN OLD.ended_at IS NULL
        BEGIN UPDATE open_access SET open = open - 1 WHERE kind = OLD.kind; END;
        CREATE TRIGGER deleted_attachments_release_their_spool AFTER DELETE ON attachments
        WHEN OLD.spool IS NOT NULL
        BEGIN INSERT OR IGNORE INTO released_spool VALUES (OLD.spool); END;
        CREATE TRIGGER deleted_blobs_are_condemned AFTER DELETE ON blobs
        BEGIN INSERT OR IGNORE INTO tombstones (name, made_at) VALUES (OLD.name, 0); END;
        CREATE TRIGGER deleted_blobs_are_counted AFTER DELETE ON blobs
        BEGIN UPDATE holdings SET blobs = blobs - 1, blob_bytes = blob_bytes - OLD.bytes; END;
        CREATE TRIGGER deleted_calls_are_counted AFTER DELETE ON calls WHEN OLD.state = 'pending'
        BEGIN UPDATE holdings SET pending_calls = pending_calls - 1; END;
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
        CREATE TRIGGER deleted_leases_are_counted AFTER DELETE ON access
        WHEN OLD.kind = 'lease' AND OLD.ended_at IS NULL
        BEGIN UPDATE usage SET open_leases = open_leases - 1 WHERE tenant = OLD.tenant; END;
        CREATE TRIGGER deleted_renditions_are_counted AFTER DELETE ON renditions
        BEGIN
            UPDATE usage SET stored_bytes = stored_bytes - (SELECT bytes FROM blobs WHERE name = OLD.blob)
            WHERE tenant = OLD.tenant;
        END;
        CREATE TRIGGER ended_access_is_counted AFTER UPDATE OF ended_at ON access
        WHEN OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL
        BEGIN UPDATE open_access SET open = open - 1 WHERE kind = NEW.kind; END;
        CREATE TRIGGER ended_leases_are_counted AFTER UPDATE OF ended_at ON access
        WHEN NEW.kind = 'lease' AND OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL
        BEGIN UPDATE usage SET open_leases = open_leases - 1 WHERE tenant = NEW.tenant; END;
        CREATE TRIGGER idempotency_keys_have_the_tenant_of_their_job BEFORE INSERT ON idempotency_keys
        WHEN NEW.tenant <> (SELECT tenant FROM jobs WHERE key = NEW.job)
        BEGIN SELECT RAISE(ABORT, 'an idempotency key has the tenant of its job'); END;
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
        CREATE TRIGGER jobs_generations_only_rise BEFORE UPDATE OF generation ON jobs WHEN NEW.generation < OLD.generation
        BEGIN SELECT RAISE(ABORT, 'the generation of a job only rises'); END;
        CREATE TRIGGER jobs_keep_their_name BEFORE UPDATE OF tenant, id, created_at ON jobs
        WHEN OLD.tenant <> NEW.tenant OR OLD.id <> NEW.id
        BEGIN SELECT RAISE(ABORT, 'a job keeps its name'); END;
        CREATE TRIGGER leases_are_counted AFTER INSERT ON access WHEN NEW.kind = 'lease' AND NEW.ended_at IS NULL
        BEGIN
            INSERT INTO usage (tenant, open_leases) VALUES (NEW.tenant, 1)
            ON CONFLICT (tenant) DO UPDATE SET open_leases = open_leases + 1;
        END;
        CREATE TRIGGER lines_only_advance BEFORE UPDATE OF claimed_rank ON lines
        WHEN NEW.claimed_rank < OLD.claimed_rank
        BEGIN SELECT RAISE(ABORT, 'a line never goes back'); END;
        CREATE TRIGGER lines_stay BEFORE DELETE ON lines
        BEGIN SELECT RAISE(ABORT, 'a line must keep its place'); END;
        CREATE TRIGGER notifications_change AFTER UPDATE OF state ON notifications WHEN NEW.state <> OLD.state
        BEGIN
            UPDATE tenants SET pending_notifications =
                pending_notifications + (NEW.state = 'pending') - (OLD.state = 'pending')
            WHERE tenant = NEW.tenant;
        END;
        CREATE TRIGGER notifications_come AFTER INSERT ON notifications WHEN NEW.state = 'pending'
        BEGIN
            INSERT INTO tenants (tenant, pending_notifications) VALUES (NEW.tenant, 1)
            ON CONFLICT (tenant) DO UPDATE SET pending_notifications = pending_notifications + 1;
        END;
        CREATE TRIGGER notifications_go AFTER DELETE ON notifications WHEN OLD.state = 'pending'
        BEGIN UPDATE tenants SET pending_notifications = pending_notifications - 1 WHERE tenant = OLD.tenant; END;
        CREATE TRIGGER open_access_is_counted AFTER INSERT ON access WHEN NEW.ended_at IS NULL
        BEGIN UPDATE open_access SET open = open + 1 WHERE kind = NEW.kind; END;
        CREATE TRIGGER places_only_advance BEFORE UPDATE OF last_place, last_response ON tenants
        WHEN NEW.last_place < OLD.last_place OR NEW.last_response < OLD.last_response
        BEGIN SELECT RAISE(ABORT, 'a list never goes back'); END;
        CREATE TRIGGER renditions_are_counted AFTER INSERT ON renditions
        BEGIN
            INSERT INTO usage (tenant, stored_bytes)
            VALUES (NEW.tenant, (SELECT bytes FROM blobs WHERE name = NEW.blob))
            ON CONFLICT (tenant) DO UPDATE SET stored_bytes = stored_bytes + excluded.stored_bytes;
        END;
        CREATE TRIGGER renditions_are_delivered BEFORE INSERT ON renditions
        WHEN (SELECT state FROM attachments WHERE tenant = NEW.tenant AND id = NEW.attachment) IS NOT 'delivered'
        BEGIN SELECT RAISE(ABORT, 'only a delivered attachment has renditions'); END;
        CREATE TRIGGER renditions_are_immutable
        BEFORE UPDATE OF tenant, attachment, role, blob, media_type, width, height, duration, scheme ON renditions
        BEGIN SELECT RAISE(ABORT, 'a rendition never changes'); END;
        CREATE TRIGGER renditions_are_in_blobs_of_their_tenant BEFORE INSERT ON renditions
        WHEN NEW.tenant IS NOT (SELECT tenant FROM blobs WHERE name = NEW.blob)
        BEGIN SELECT RAISE(ABORT, 'a rendition is in a blob of its tenant'); END;
        CREATE TRIGGER renditions_let_go AFTER DELETE ON renditions
        BEGIN UPDATE blobs SET refs = refs - 1 WHERE name = OLD.blob; END;
        CREATE TRIGGER renditions_refer AFTER INSERT ON renditions
        BEGIN UPDATE blobs SET refs = refs + 1 WHERE name = NEW.blob; END;
        CREATE TRIGGER responses_are_decided_once BEFORE UPDATE OF record ON responses
        WHEN json_extract(OLD.record, '$.answer') IS NOT NULL
        BEGIN SELECT RAISE(ABORT, 'a response is decided once'); END;
        CREATE TRIGGER responses_are_kept_as_they_came
        BEFORE UPDATE OF tenant, place, notification, ticket, id, session, firing, is_preview, received_at ON responses
        BEGIN SELECT RAISE(ABORT, 'a response is kept as it came'); END;
        CREATE TRIGGER responses_have_the_tenant_of_their_notification BEFORE INSERT ON responses
        WHEN NEW.tenant <> (SELECT tenant FROM notifications WHERE key = NEW.notification)
        BEGIN SELECT RAISE(ABORT, 'a response has the tenant of its notification'); END;
        CREATE TRIGGER retained_submissions_release_their_spool AFTER DELETE ON retained_spool
        BEGIN INSERT OR IGNORE INTO released_spool VALUES (OLD.name); END;
        CREATE TRIGGER store_stays BEFORE DELETE ON store
        BEGIN SELECT RAISE(ABORT, 'the store must keep its time'); END;
        CREATE TRIGGER store_time_never_goes_back BEFORE UPDATE OF last_instant ON store
        WHEN NEW.last_instant < OLD.last_instant
        BEGIN SELECT RAISE(ABORT, 'time would go back'); END;
        CREATE TRIGGER tickets_are_deleted AFTER DELETE ON tickets WHEN OLD.ended_at IS NULL
        BEGIN UPDATE store SET revocations = revocations + 1; END;
        CREATE TRIGGER tickets_end AFTER UPDATE OF ended_at ON tickets
        WHEN OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL
        BEGIN UPDATE store SET revocations = revocations + 1; END;
        CREATE TRIGGER tickets_have_the_tenant_of_their_notification BEFORE INSERT ON tickets
        WHEN NEW.tenant <> (SELECT tenant FROM notifications WHERE key = NEW.notification)
        BEGIN SELECT RAISE(ABORT, 'a ticket has the tenant of its notification'); END;
        CREATE TRIGGER tickets_keep_their_terms
        BEFORE UPDATE OF id, tenant, notification, kind, kid, expires_at, record ON tickets
        BEGIN SELECT RAISE(ABORT, 'a ticket keeps its terms'); END;
        CREATE TRIGGER tickets_that_ended_stay_ended BEFORE UPDATE OF ended_at ON tickets
        WHEN OLD.ended_at IS NOT NULL AND NEW.ended_at IS NOT OLD.ended_at
        BEGIN SELECT RAISE(ABORT, 'a ticket that has ended stays ended'); END;
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
        """
}
