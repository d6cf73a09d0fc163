extension PostgresSchema {
    /// Uploads, and what a tenant's take up.
    static let uploads = Migration(
        version: 7, leastNode: 1,
        steps: [
            .together([
                """
                CREATE TABLE uploads (
                    tenant text COLLATE "C" CHECK (tenant <> ''), id uuid, ticket text NOT NULL UNIQUE
                        CHECK (length(ticket) = 22), kid text NOT NULL,
                    state text NOT NULL
                        CHECK (state IN ('open', 'complete', 'consumed', 'expired', 'failed', 'cancelled')),
                    length bigint CHECK (length >= 0), received bigint NOT NULL DEFAULT 0 CHECK (received >= 0),
                    source text NOT NULL CHECK (source <> ''), writer uuid, used_by text,
                    is_closed boolean NOT NULL DEFAULT false, sha256 text CHECK (length(sha256) = 64),
                    created_at bigint NOT NULL, touched_at bigint NOT NULL, expires_at bigint NOT NULL,
                    finished_at bigint, terms text NOT NULL, error text, PRIMARY KEY (tenant, id),
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
            ])
        ])
}
