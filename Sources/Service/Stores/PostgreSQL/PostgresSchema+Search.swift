extension PostgresSchema {
    /// What jobs and failures are found by, and how many attachments came to an end. What programs of earlier versions write
    /// meanwhile has neither labels nor codes.
    static let search = Migration(
        version: 6, leastNode: 1,
        steps: [
            .together([
                // A rule that isn't validated holds for what is written from now on.
                """
                ALTER TABLE attachments ADD COLUMN code text,
                    ADD CONSTRAINT attachments_have_codes CHECK (code IS NULL OR state = 'failed') NOT VALID
                """,
                // Of each job's metadata what can be found: the first 20 pairs by key whose values have at most 200 bytes.
                """
                CREATE TABLE labels (
                    tenant text NOT NULL, key text COLLATE "C" NOT NULL,
                    value text COLLATE "C" NOT NULL CHECK (octet_length(value) <= 200), job bigint NOT NULL,
                    PRIMARY KEY (tenant, key, value, job), FOREIGN KEY (tenant, job) REFERENCES jobs ON DELETE CASCADE)
                """,
                "CREATE INDEX labels_by_job ON labels (job)",
                // The sum over slots counts, as in `usage`. The code is '' for none; histograms by bin.
                """
                CREATE TABLE tallies (
                    tenant text CHECK (tenant <> ''), minute bigint CHECK (minute % 60000 = 0),
                    lane text CHECK (lane IN ('quick', 'fetch', 'expensive')),
                    state text CHECK (state IN ('delivered', 'failed', 'cancelled')),
                    code text CHECK ((state = 'failed') = (code <> '')), slot smallint,
                    count bigint NOT NULL CHECK (count > 0), waiting bigint[] NOT NULL, work bigint[] NOT NULL,
                    PRIMARY KEY (tenant, minute, lane, state, code, slot)) WITH (fillfactor = 50)
                """,
                "CREATE INDEX tallies_by_age ON tallies (minute)",
            ]),
            .together(["ALTER TABLE attachments VALIDATE CONSTRAINT attachments_have_codes"]),
            .together([
                """
                INSERT INTO labels
                SELECT found.tenant, label.key, label.value, found.key
                FROM (SELECT tenant, key, metadata FROM jobs WHERE metadata <> '{}' FOR KEY SHARE) AS found,
                    LATERAL (
                        SELECT key, value FROM json_each_text(found.metadata::json)
                        WHERE octet_length(value) <= 200 ORDER BY key COLLATE "C" LIMIT 20) AS label
                ON CONFLICT DO NOTHING
                """
            ]),
            .repeated(
                """
                UPDATE attachments SET code = details::json -> 'error' ->> 'code'
                WHERE ctid = ANY(ARRAY(
                    SELECT ctid FROM attachments
                    WHERE state = 'failed' AND code IS NULL AND details::json -> 'error' ->> 'code' IS NOT NULL
                    LIMIT 10000 FOR UPDATE))
                """),
            .index("attachments_by_code", on: "attachments (tenant, code, id) WHERE code IS NOT NULL"),
            .index(
                "attachments_by_code_and_job", on: "attachments (tenant, code, job, ordinal) WHERE code IS NOT NULL"),
            .index(
                "attachments_by_failure",
                on: "attachments (tenant, code, finished_at, job, kind) WHERE code IS NOT NULL"),
            // Leases have an index of their own.
            .index(
                "access_open", on: "access (tenant, kind, expires_at) WHERE ended_at IS NULL AND kind <> 'lease'"),
            // An attachment's, in the order in which they are listed.
            .index("access_of_attachment", on: "access (tenant, attachment, id COLLATE \"C\")"),
            .together(["DROP INDEX access_by_attachment"]),
        ])
}
