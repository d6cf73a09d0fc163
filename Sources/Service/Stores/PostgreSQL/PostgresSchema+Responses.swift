extension PostgresSchema {
    /// Tickets, the sessions that are opened by them, and the responses that came in.
    static let responses = Migration(version: 5, leastNode: 1, steps: [.together(tables)])

    private static let tables = [
        """
        CREATE TABLE tickets (
            id text PRIMARY KEY CHECK (length(id) = 22), tenant text NOT NULL,
            notification bigint NOT NULL REFERENCES notifications ON DELETE CASCADE,
            kind text NOT NULL CHECK (kind IN ('respond', 'preview')), kid text NOT NULL, expires_at bigint NOT NULL,
            ended_at bigint, record text NOT NULL)
        """,
        "CREATE INDEX tickets_by_notification ON tickets (notification, kind)",
        "CREATE INDEX tickets_by_expiry ON tickets (expires_at)",
        // One notification that was opened on one device.
        """
        CREATE TABLE response_sessions (
            ticket text REFERENCES tickets ON DELETE CASCADE, id uuid, record text NOT NULL, PRIMARY KEY (ticket, id))
            WITH (fillfactor = 50)
        """,
        // They outlive their tickets. The place in the tenant's list is given out in the order of commits.
        """
        CREATE TABLE responses (
            tenant text NOT NULL, place bigint NOT NULL CHECK (place >= 1),
            notification bigint NOT NULL REFERENCES notifications ON DELETE CASCADE, ticket text, id uuid,
            session uuid NOT NULL, firing int CHECK (firing >= 1), is_preview boolean NOT NULL,
            received_at bigint NOT NULL, record text NOT NULL, PRIMARY KEY (ticket, id), UNIQUE (tenant, place))
            WITH (fillfactor = 70)
        """,
        "CREATE INDEX responses_by_notification ON responses (notification, place)",
        "CREATE INDEX responses_by_firing ON responses (notification, firing) WHERE NOT is_preview",
        "CREATE INDEX responses_by_age ON responses (received_at)",
    ]
}
