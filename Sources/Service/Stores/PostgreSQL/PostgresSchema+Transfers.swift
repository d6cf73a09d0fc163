extension PostgresSchema {
    /// Uploads, and calls to receivers.
    static let transfers = """
        CREATE TABLE uploads (
            tenant text COLLATE "C" CHECK (tenant <> ''), id uuid, ticket text NOT NULL UNIQUE CHECK (length(ticket) = 22),
            kid text NOT NULL,
            state text NOT NULL CHECK (state IN ('open', 'complete', 'consumed', 'expired', 'failed', 'cancelled')),
            length bigint CHECK (length >= 0), received bigint NOT NULL DEFAULT 0 CHECK (received >= 0),
            source text NOT NULL CHECK (source <> ''), writer uuid, used_by text,
            is_closed boolean NOT NULL DEFAULT false, sha256 text CHECK (length(sha256) = 64),
            created_at bigint NOT NULL, touched_at bigint NOT NULL, expires_at bigint NOT NULL,
            finished_at bigint, terms text NOT NULL, error text, parts text, PRIMARY KEY (tenant, id),
            CHECK (received <= length OR length IS NULL),
            CHECK ((state = 'open') = (sha256 IS NULL) OR state NOT IN ('open', 'complete', 'consumed')),
            CHECK ((state = 'consumed') = (used_by IS NOT NULL)),
            CHECK ((state IN ('open', 'complete')) = (finished_at IS NULL)))
            WITH (fillfactor = 50);
        CREATE INDEX uploads_by_state ON uploads (tenant, state, id);
        CREATE INDEX uploads_by_expiry ON uploads (expires_at) WHERE state IN ('open', 'complete');
        CREATE INDEX uploads_by_touch ON uploads (touched_at) WHERE state = 'open';
        CREATE INDEX uploads_by_end ON uploads (finished_at) WHERE finished_at IS NOT NULL;
        CREATE INDEX uploads_by_source ON uploads (source) WHERE state IN ('open', 'complete');
        CREATE INDEX uploads_by_kid ON uploads (kid) WHERE state IN ('open', 'complete', 'consumed');

        CREATE TABLE upload_usage (
            tenant text PRIMARY KEY, open bigint NOT NULL CHECK (open >= 0), bytes bigint NOT NULL CHECK (bytes >= 0))
            WITH (fillfactor = 50);

        -- A call for the end of a job has no body: its text is made when it is sent. A message has a body.
        CREATE TABLE calls (
            id text PRIMARY KEY CHECK (id <> ''), tenant text COLLATE "C" NOT NULL,
            job bigint REFERENCES jobs (key) ON DELETE CASCADE, generation int, url text NOT NULL,
            receiver text COLLATE "C" GENERATED ALWAYS AS (lower(substring(url FROM '^[^:]*://[^/?#]*'))) STORED,
            traceparent text, created_at bigint NOT NULL,
            state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed', 'cancelled')),
            attempt int NOT NULL DEFAULT 0 CHECK (attempt >= 0), due_at bigint NOT NULL,
            underway boolean NOT NULL DEFAULT false, finished_at bigint, reason text, type text NOT NULL, subject text,
            body bytea, give_up_at bigint, is_kept boolean NOT NULL DEFAULT true, answers text, UNIQUE (job, generation),
            CHECK ((state = 'pending') = (finished_at IS NULL)),
            CHECK ((job IS NULL) = (generation IS NULL) AND (job IS NULL) = (body IS NOT NULL)));
        CREATE INDEX calls_due ON calls (due_at) WHERE state = 'pending';
        CREATE INDEX calls_by_receiver ON calls (tenant, receiver, due_at) WHERE state = 'pending';
        CREATE INDEX calls_by_end ON calls (finished_at) WHERE finished_at IS NOT NULL;
        CREATE INDEX calls_by_subject ON calls (tenant, subject) WHERE subject IS NOT NULL;
        CREATE INDEX calls_by_state ON calls (tenant, state, id);
        CREATE INDEX calls_by_type ON calls (tenant, type, state, id);
        """
}
