extension Schema {
    /// What jobs and failures are found by, and how many attachments came to an end.
    static let search = """
        ALTER TABLE attachments ADD COLUMN code TEXT CHECK (code IS NULL OR state = 'failed');
        UPDATE attachments SET code = json_extract(details, '$.error.code') WHERE state = 'failed';
        CREATE INDEX attachments_by_code ON attachments(tenant, code, id) WHERE code IS NOT NULL;
        CREATE INDEX attachments_by_code_and_job ON attachments(tenant, code, job, ordinal) WHERE code IS NOT NULL;
        CREATE INDEX attachments_by_failure ON attachments(tenant, code, finished_at, job, kind) WHERE code IS NOT NULL;

        CREATE INDEX profiles_by_name ON profiles(name);

        -- Of each job's metadata what can be found: the first 20 pairs by key whose values have at most 200 bytes.
        CREATE TABLE labels (
            tenant TEXT NOT NULL,
            key TEXT NOT NULL,
            value TEXT NOT NULL CHECK (length(CAST(value AS BLOB)) <= 200),
            job INTEGER NOT NULL,
            PRIMARY KEY (tenant, key, value, job)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX labels_by_job ON labels(job);
        INSERT INTO labels
        SELECT tenant, label.key, label.value, jobs.key
        FROM jobs, json_each(jobs.metadata) AS label
        WHERE length(CAST(label.value AS BLOB)) <= 200 AND (
            SELECT count(*) FROM json_each(jobs.metadata) AS earlier
            WHERE length(CAST(earlier.value AS BLOB)) <= 200 AND earlier.key < label.key) < 20;
        CREATE TRIGGER jobs_are_labelled AFTER INSERT ON jobs WHEN NEW.metadata <> '{}'
        BEGIN
            INSERT INTO labels
            SELECT NEW.tenant, key, value, NEW.key FROM json_each(NEW.metadata)
            WHERE length(CAST(value AS BLOB)) <= 200 ORDER BY key LIMIT 20;
        END;
        CREATE TRIGGER changed_jobs_are_labelled AFTER UPDATE OF metadata ON jobs WHEN OLD.metadata <> NEW.metadata
        BEGIN
            DELETE FROM labels WHERE job = OLD.key;
            INSERT INTO labels
            SELECT NEW.tenant, key, value, NEW.key FROM json_each(NEW.metadata)
            WHERE length(CAST(value AS BLOB)) <= 200 ORDER BY key LIMIT 20;
        END;
        CREATE TRIGGER deleted_jobs_lose_their_labels AFTER DELETE ON jobs WHEN OLD.metadata <> '{}'
        BEGIN
            DELETE FROM labels WHERE job = OLD.key;
        END;

        -- How many attachments of a tenant came to one end in one minute; histograms by bin, with commas between.
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
        CREATE INDEX tallies_by_age ON tallies(minute);

        -- Leases have an index of their own.
        CREATE INDEX access_open ON access(tenant, kind, expires_at) WHERE ended_at IS NULL AND kind <> 'lease';
        """
}
