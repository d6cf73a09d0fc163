extension Schema {
    /// Who is signed in to the console, and codes to sign in with.
    static let console = """
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
        CREATE INDEX console_sessions_by_end ON console_sessions(ends_at);
        CREATE INDEX console_sessions_by_key ON console_sessions(key) WHERE key IS NOT NULL;
        CREATE TRIGGER console_sessions_keep_their_terms
        BEFORE UPDATE OF hash, kind, tenant, roles, key, created_at, ends_at ON console_sessions
        BEGIN SELECT RAISE(ABORT, 'who is signed in keeps their terms'); END;
        """
}
