extension Schema {
    /// Tickets, the sessions that are opened by them, and the responses that came in.
    static let responses = """
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
        CREATE INDEX tickets_by_notification ON tickets(notification, kind);
        CREATE INDEX tickets_by_expiry ON tickets(expires_at);
        CREATE TRIGGER tickets_have_the_tenant_of_their_notification BEFORE INSERT ON tickets
        WHEN NEW.tenant <> (SELECT tenant FROM notifications WHERE key = NEW.notification)
        BEGIN SELECT RAISE(ABORT, 'a ticket has the tenant of its notification'); END;
        CREATE TRIGGER tickets_keep_their_terms
        BEFORE UPDATE OF id, tenant, notification, kind, kid, expires_at, record ON tickets
        BEGIN SELECT RAISE(ABORT, 'a ticket keeps its terms'); END;
        CREATE TRIGGER tickets_that_ended_stay_ended BEFORE UPDATE OF ended_at ON tickets
        WHEN OLD.ended_at IS NOT NULL AND NEW.ended_at IS NOT OLD.ended_at
        BEGIN SELECT RAISE(ABORT, 'a ticket that has ended stays ended'); END;
        CREATE TRIGGER tickets_end AFTER UPDATE OF ended_at ON tickets
        WHEN OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL
        BEGIN UPDATE store SET revocations = revocations + 1; END;
        CREATE TRIGGER tickets_are_deleted AFTER DELETE ON tickets WHEN OLD.ended_at IS NULL
        BEGIN UPDATE store SET revocations = revocations + 1; END;

        -- One notification that was opened on one device.
        CREATE TABLE response_sessions (
            ticket TEXT NOT NULL REFERENCES tickets(id) ON DELETE CASCADE,
            id TEXT NOT NULL CHECK (id <> ''),
            record TEXT NOT NULL,
            PRIMARY KEY (ticket, id)
        ) STRICT;

        -- They outlive their tickets.
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
        CREATE INDEX responses_by_notification ON responses(notification, place);
        CREATE INDEX responses_by_firing ON responses(notification, firing) WHERE NOT is_preview;
        CREATE INDEX responses_by_age ON responses(received_at);
        CREATE TRIGGER responses_have_the_tenant_of_their_notification BEFORE INSERT ON responses
        WHEN NEW.tenant <> (SELECT tenant FROM notifications WHERE key = NEW.notification)
        BEGIN SELECT RAISE(ABORT, 'a response has the tenant of its notification'); END;
        CREATE TRIGGER responses_are_kept_as_they_came
        BEFORE UPDATE OF tenant, place, notification, ticket, id, session, firing, is_preview, received_at ON responses
        BEGIN SELECT RAISE(ABORT, 'a response is kept as it came'); END;
        CREATE TRIGGER responses_are_decided_once BEFORE UPDATE OF record ON responses
        WHEN json_extract(OLD.record, '$.answer') IS NOT NULL
        BEGIN SELECT RAISE(ABORT, 'a response is decided once'); END;
        """
}
