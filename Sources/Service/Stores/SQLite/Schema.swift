internal import GRDB

/// The schema, version by version. Rules live here, where no caller can go around them.
enum Schema {
    /// `application_id` of the database file: "SatR".
    static let applicationID: Int32 = 0x5361_7452

    static let migrator: DatabaseMigrator = {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { database in
            try database.execute(sql: first)
            try database.execute(sql: "PRAGMA application_id = \(applicationID)")
        }
        migrator.registerMigration("2") { database in try database.execute(sql: second) }
        migrator.registerMigration("3") { database in try database.execute(sql: third) }
        migrator.registerMigration("4") { database in try database.execute(sql: webhookReceivers) }
        migrator.registerMigration("5") { database in try database.execute(sql: order) }
        migrator.registerMigration("6") { database in try database.execute(sql: claims) }
        migrator.registerMigration("7") { database in try database.execute(sql: names) }
        migrator.registerMigration("8") { database in try database.execute(sql: calls) }
        migrator.registerMigration("9") { database in try database.execute(sql: categories) }
        migrator.registerMigration("10") { database in try database.execute(sql: notifications) }
        migrator.registerMigration("11") { database in try database.execute(sql: responses) }
        migrator.registerMigration("12") { database in try database.execute(sql: search) }
        migrator.registerMigration("13") { database in try database.execute(sql: uploads) }
        migrator.registerMigration("14") { database in try database.execute(sql: console) }
        migrator.registerMigration("15") { database in try database.execute(sql: uploadParts) }
        migrator.registerMigration("16") { database in try database.execute(sql: tenants) }
        migrator.registerMigration("17") { database in try database.execute(sql: callAnswers) }
        migrator.registerMigration("18") { database in try database.execute(sql: encryption) }
        return migrator
    }()

    /// Makes of a database in which nothing is what the migrations would; leaves any other as it is.
    static func makeWhole(_ database: Database) throws {
        guard try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema") == 0 else { return }
        try database.execute(sql: whole)
        try database.execute(sql: "PRAGMA application_id = \(applicationID)")
    }

    /// A row of `blobs` and `profiles` belongs to nobody: who refers to it is in tables that name the tenant.
    private static let first = """
        -- Time never goes back, whatever the clock of the machine does.
        CREATE TABLE store (
            only INTEGER PRIMARY KEY CHECK (only = 1),
            last_instant INTEGER NOT NULL
        ) STRICT;
        INSERT INTO store VALUES (1, 0);
        CREATE TRIGGER store_time_never_goes_back BEFORE UPDATE OF last_instant ON store
        WHEN NEW.last_instant < OLD.last_instant
        BEGIN SELECT RAISE(ABORT, 'time would go back'); END;
        CREATE TRIGGER store_stays BEFORE DELETE ON store
        BEGIN SELECT RAISE(ABORT, 'the store must keep its time'); END;

        -- Policies are long and few: each is kept once.
        CREATE TABLE profiles (
            key INTEGER PRIMARY KEY,
            digest TEXT NOT NULL UNIQUE,
            name TEXT NOT NULL,
            body TEXT NOT NULL
        ) STRICT;

        CREATE TABLE jobs (
            key INTEGER PRIMARY KEY,
            tenant TEXT NOT NULL CHECK (tenant <> ''),
            id TEXT NOT NULL CHECK (id <> ''),
            work_key TEXT,
            -- The run of a command; '' for the service's.
            run TEXT NOT NULL,
            generation INTEGER NOT NULL CHECK (generation >= 1),
            -- Only while there is work to do: it may hold credentials for an origin.
            submission TEXT,
            body_digest TEXT NOT NULL,
            profile INTEGER NOT NULL REFERENCES profiles(key),
            mode TEXT NOT NULL CHECK (mode IN ('lenient', 'strict')),
            -- 0 is claimed before 1.
            priority INTEGER NOT NULL CHECK (priority IN (0, 1)),
            metadata TEXT NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('pending', 'running', 'delivered', 'failed', 'cancelled')),
            attempt INTEGER NOT NULL DEFAULT 0 CHECK (attempt >= 0),
            fence INTEGER NOT NULL DEFAULT 0 CHECK (fence >= 0),
            delivered_fence INTEGER,
            interrupted INTEGER NOT NULL DEFAULT 0 CHECK (interrupted IN (0, 1)),
            worker TEXT,
            claimed_until INTEGER,
            due_at INTEGER NOT NULL,
            created_at INTEGER NOT NULL,
            deadline_at INTEGER,
            finished_at INTEGER,
            UNIQUE (tenant, id),
            CHECK ((state = 'running') = (worker IS NOT NULL)),
            CHECK ((state = 'running') = (claimed_until IS NOT NULL)),
            CHECK ((state IN ('pending', 'running')) = (submission IS NOT NULL)),
            CHECK ((state IN ('pending', 'running')) = (finished_at IS NULL)),
            CHECK (state <> 'delivered' OR delivered_fence = fence)
        ) STRICT;
        CREATE UNIQUE INDEX jobs_by_work ON jobs(tenant, work_key) WHERE work_key IS NOT NULL;
        CREATE INDEX jobs_by_tenant ON jobs(tenant, key);
        CREATE INDEX jobs_by_state ON jobs(tenant, state, key);
        CREATE INDEX jobs_by_run ON jobs(tenant, run, key) WHERE run <> '';
        CREATE INDEX jobs_waiting ON jobs(run, priority, due_at) WHERE state = 'pending';
        CREATE INDEX jobs_running ON jobs(run, worker, claimed_until) WHERE state = 'running';

        CREATE TRIGGER jobs_change_state_by_the_rules BEFORE UPDATE OF state ON jobs
        WHEN NOT (
            OLD.state = NEW.state
            OR (OLD.state = 'pending' AND NEW.state IN ('running', 'cancelled', 'failed'))
            OR (OLD.state = 'running' AND NEW.state IN ('pending', 'delivered', 'failed', 'cancelled'))
            OR (NEW.state = 'pending' AND NEW.generation = OLD.generation + 1)
        )
        BEGIN SELECT RAISE(ABORT, 'a job cannot change its state like this'); END;
        CREATE TRIGGER jobs_fences_only_rise BEFORE UPDATE ON jobs
        WHEN NEW.fence < OLD.fence OR NEW.generation < OLD.generation
            OR (OLD.state = 'pending' AND NEW.state = 'running' AND NEW.fence <= OLD.fence)
        BEGIN SELECT RAISE(ABORT, 'the fence of a job only rises'); END;
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
            expires_at INTEGER,
            UNIQUE (tenant, id),
            UNIQUE (job, generation, ordinal),
            UNIQUE (job, generation, identifier),
            CHECK ((state = 'delivered') = (fidelity IS NOT NULL)),
            CHECK ((state = 'delivered') = (best IS NOT NULL)),
            CHECK ((state IN ('pending', 'running')) = (finished_at IS NULL)),
            CHECK (spool IS NULL OR state IN ('pending', 'running'))
        ) STRICT;
        CREATE INDEX attachments_by_state ON attachments(tenant, state, id);
        CREATE INDEX attachments_by_kind ON attachments(tenant, kind, id);
        CREATE INDEX attachments_by_run ON attachments(tenant, run, id) WHERE run <> '';
        CREATE INDEX attachments_by_expiry ON attachments(expires_at) WHERE expires_at IS NOT NULL;
        CREATE INDEX attachments_by_spool ON attachments(spool) WHERE spool IS NOT NULL;

        CREATE TRIGGER attachments_have_the_tenant_of_their_job BEFORE INSERT ON attachments
        WHEN NEW.tenant <> (SELECT tenant FROM jobs WHERE key = NEW.job)
        BEGIN SELECT RAISE(ABORT, 'an attachment has the tenant of its job'); END;
        CREATE TRIGGER attachments_keep_their_name BEFORE UPDATE OF tenant, id, job, generation ON attachments
        BEGIN SELECT RAISE(ABORT, 'an attachment keeps its name'); END;
        CREATE TRIGGER attachments_change_state_by_the_rules BEFORE UPDATE OF state ON attachments
        WHEN NOT (
            OLD.state = NEW.state
            OR (OLD.state = 'pending' AND NEW.state IN ('running', 'cancelled', 'failed'))
            OR (OLD.state = 'running' AND NEW.state IN ('pending', 'delivered', 'failed', 'cancelled'))
        )
        BEGIN SELECT RAISE(ABORT, 'an attachment cannot change its state like this'); END;

        CREATE TABLE blobs (
            name TEXT PRIMARY KEY CHECK (substr(name, 1, 65) = sha256 || '.'),
            sha256 TEXT NOT NULL CHECK (length(sha256) = 64),
            bytes INTEGER NOT NULL CHECK (bytes >= 0),
            -- Kept by the triggers of renditions.
            refs INTEGER NOT NULL DEFAULT 0 CHECK (refs >= 0),
            -- Set by verify; no new rendition refers to it.
            damaged INTEGER NOT NULL DEFAULT 0 CHECK (damaged IN (0, 1))
        ) STRICT;
        CREATE UNIQUE INDEX blobs_by_hash ON blobs(sha256) WHERE damaged = 0;
        CREATE TRIGGER blobs_are_immutable BEFORE UPDATE OF name, sha256, bytes ON blobs
        BEGIN SELECT RAISE(ABORT, 'a blob never changes'); END;

        -- Blobs whose files were removed, or are about to be: none may be referred to again.
        CREATE TABLE condemned (
            name TEXT PRIMARY KEY,
            condemned_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX condemned_by_time ON condemned(condemned_at);
        CREATE TRIGGER blobs_are_not_condemned BEFORE INSERT ON blobs
        WHEN EXISTS (SELECT 1 FROM condemned WHERE name = NEW.name)
        BEGIN SELECT RAISE(ABORT, 'the bytes were removed before they were delivered'); END;
        CREATE TRIGGER condemned_is_nothing_in_use BEFORE INSERT ON condemned
        WHEN EXISTS (SELECT 1 FROM blobs WHERE name = NEW.name)
        BEGIN SELECT RAISE(ABORT, 'a record refers to these bytes'); END;

        CREATE TABLE renditions (
            tenant TEXT NOT NULL,
            attachment TEXT NOT NULL,
            role TEXT NOT NULL CHECK (role IN ('main', 'thumbnail', 'poster', 'waveform', 'original')),
            blob TEXT NOT NULL REFERENCES blobs(name),
            media_type TEXT NOT NULL,
            width INTEGER CHECK (width > 0),
            height INTEGER CHECK (height > 0),
            duration REAL CHECK (duration >= 0),
            PRIMARY KEY (tenant, attachment, role),
            FOREIGN KEY (tenant, attachment) REFERENCES attachments(tenant, id) ON DELETE CASCADE
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX renditions_by_blob ON renditions(blob);
        CREATE TRIGGER renditions_are_delivered BEFORE INSERT ON renditions
        WHEN (SELECT state FROM attachments WHERE tenant = NEW.tenant AND id = NEW.attachment) IS NOT 'delivered'
        BEGIN SELECT RAISE(ABORT, 'only a delivered attachment has renditions'); END;
        CREATE TRIGGER renditions_are_immutable BEFORE UPDATE ON renditions
        BEGIN SELECT RAISE(ABORT, 'a rendition never changes'); END;
        CREATE TRIGGER renditions_refer AFTER INSERT ON renditions
        BEGIN UPDATE blobs SET refs = refs + 1 WHERE name = NEW.blob; END;
        CREATE TRIGGER renditions_let_go AFTER DELETE ON renditions
        BEGIN UPDATE blobs SET refs = refs - 1 WHERE name = OLD.blob; END;

        -- Grants, leases and links. No secret is here: tokens are derived from the id with the key `kid`.
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
            ended_at INTEGER,
            FOREIGN KEY (tenant, attachment) REFERENCES attachments(tenant, id) ON DELETE CASCADE,
            CHECK ((kind = 'grant') = (lease_limit IS NOT NULL)),
            CHECK (kind <> 'link' OR parent IS NULL)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX access_by_attachment ON access(tenant, attachment);
        CREATE INDEX access_by_parent ON access(parent, kind) WHERE parent IS NOT NULL;
        CREATE INDEX access_by_expiry ON access(expires_at);
        CREATE TRIGGER access_is_to_what_was_delivered BEFORE INSERT ON access
        WHEN (SELECT state FROM attachments WHERE tenant = NEW.tenant AND id = NEW.attachment) IS NOT 'delivered'
        BEGIN SELECT RAISE(ABORT, 'there is no access to what was not delivered'); END;
        CREATE TRIGGER access_stays_within_its_parent BEFORE INSERT ON access
        WHEN NEW.parent IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM access AS parent
            WHERE parent.id = NEW.parent AND parent.kind = 'grant' AND parent.ended_at IS NULL
                AND parent.tenant = NEW.tenant AND parent.attachment = NEW.attachment
                AND parent.expires_at >= NEW.expires_at
                AND (NEW.lease_limit IS NULL OR NEW.lease_limit <= parent.lease_limit)
        )
        BEGIN SELECT RAISE(ABORT, 'derived access stays within its grant'); END;
        CREATE TRIGGER access_renewed_stays_within_its_parent BEFORE UPDATE OF expires_at ON access
        WHEN OLD.ended_at IS NOT NULL OR (NEW.parent IS NOT NULL
            AND NEW.expires_at > (SELECT expires_at FROM access WHERE id = NEW.parent))
        BEGIN SELECT RAISE(ABORT, 'derived access stays within its grant'); END;
        CREATE TRIGGER access_that_ended_stays_ended BEFORE UPDATE OF ended_at ON access
        WHEN OLD.ended_at IS NOT NULL AND NEW.ended_at IS NOT OLD.ended_at
        BEGIN SELECT RAISE(ABORT, 'access that has ended stays ended'); END;
        CREATE TRIGGER access_keeps_its_terms
        BEFORE UPDATE OF id, kind, tenant, attachment, parent, renditions, lease_limit, kid ON access
        BEGIN SELECT RAISE(ABORT, 'access keeps its terms'); END;
        """
}
