extension PostgresSchema {
    /// Who is signed in to the console, and codes to sign in with.
    static let console = Migration(
        version: 8, leastNode: 1,
        steps: [
            .together([
                """
                CREATE TABLE console_sessions (
                    hash text PRIMARY KEY CHECK (length(hash) = 64),
                    kind text NOT NULL CHECK (kind IN ('code', 'session')), tenant text NOT NULL CHECK (tenant <> ''),
                    roles text NOT NULL, key text REFERENCES api_keys ON DELETE CASCADE, created_at bigint NOT NULL,
                    used_at bigint NOT NULL, ends_at bigint NOT NULL, CHECK (kind = 'session' OR key IS NULL))
                """,
                "CREATE INDEX console_sessions_by_end ON console_sessions (ends_at)",
                "CREATE INDEX console_sessions_by_key ON console_sessions (key) WHERE key IS NOT NULL",
            ])
        ])
}
