extension SQLiteSchema {
    /// Notifications, their firings, and the responses to them.
    static let notifications = """
        CREATE TABLE tenants (
            tenant TEXT PRIMARY KEY CHECK (tenant <> ''),
            last_place INTEGER NOT NULL DEFAULT 0 CHECK (last_place >= 0),
            last_response INTEGER NOT NULL DEFAULT 0 CHECK (last_response >= 0),
            -- Counted here, so that a quota costs the same with any number of notifications.
            pending_notifications INTEGER NOT NULL DEFAULT 0 CHECK (pending_notifications >= 0),
            -- The numbers that signing secrets are derived with, the current one first. NULL before a rotation.
            signing TEXT,
            -- The instant at which the removal of the tenant began.
            removed_at INTEGER
        ) STRICT, WITHOUT ROWID;
        CREATE TRIGGER places_only_advance BEFORE UPDATE OF last_place, last_response ON tenants
        WHEN NEW.last_place < OLD.last_place OR NEW.last_response < OLD.last_response
        BEGIN SELECT RAISE(ABORT, 'a list never goes back'); END;

        CREATE TABLE categories (
            tenant TEXT NOT NULL CHECK (tenant <> ''),
            id TEXT NOT NULL CHECK (id <> ''),
            -- JSON with the same id.
            body TEXT NOT NULL CHECK (json_extract(body, '$.id') = id),
            PRIMARY KEY (tenant, id)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE notifications (
            key INTEGER PRIMARY KEY,
            tenant TEXT NOT NULL CHECK (tenant <> ''),
            id TEXT NOT NULL CHECK (id <> ''),
            -- Counts every change, so that a writer sees whether the notification is still as it was read.
            revision INTEGER NOT NULL CHECK (revision >= 1),
            generation INTEGER NOT NULL CHECK (generation >= 1),
            state TEXT NOT NULL CHECK (state IN ('pending', 'done', 'cancelled')),
            category TEXT,
            next_at INTEGER CHECK (next_at IS NULL OR state = 'pending'),
            -- The version of the time zone rules that gave the next instant.
            rules TEXT,
            -- The instant of its latest firing in the list of delivered notifications.
            shown_at INTEGER,
            finished_at INTEGER,
            -- The instant at which its media are due for work, and the job that has to end first.
            media_at INTEGER CHECK (media_at IS NULL OR state = 'pending'),
            media_job TEXT CHECK (media_job IS NULL OR media_at IS NOT NULL),
            record TEXT NOT NULL,
            UNIQUE (tenant, id),
            CHECK ((state = 'pending') = (finished_at IS NULL))
        ) STRICT;
        CREATE INDEX notifications_by_end ON notifications(finished_at) WHERE finished_at IS NOT NULL;
        CREATE INDEX notifications_by_rules ON notifications(rules) WHERE next_at IS NOT NULL AND rules IS NOT NULL;
        CREATE INDEX notifications_due ON notifications(next_at) WHERE next_at IS NOT NULL;
        CREATE INDEX notifications_media_due ON notifications(media_at) WHERE media_at IS NOT NULL;
        CREATE INDEX notifications_pending ON notifications(tenant, coalesce(next_at, 9223372036854775807), key)
            WHERE state = 'pending';
        CREATE INDEX notifications_shown ON notifications(tenant, shown_at, key) WHERE shown_at IS NOT NULL;
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

        CREATE TABLE notification_media (
            notification INTEGER NOT NULL REFERENCES notifications(key) ON DELETE CASCADE,
            tenant TEXT NOT NULL,
            attachment TEXT NOT NULL,
            PRIMARY KEY (notification, attachment)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX notification_media_by_attachment ON notification_media(tenant, attachment);

        CREATE TABLE notification_sources (
            notification INTEGER PRIMARY KEY REFERENCES notifications(key) ON DELETE CASCADE,
            profile INTEGER NOT NULL REFERENCES profiles(key),
            submission TEXT NOT NULL,
            headers BLOB,
            headers_kid TEXT CHECK ((headers IS NULL) = (headers_kid IS NULL))
        ) STRICT;
        CREATE INDEX notification_sources_by_headers ON notification_sources(headers_kid) WHERE headers_kid IS NOT NULL;

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
            -- Set while its payload is still to be made.
            waits_until INTEGER CHECK (waits_until IS NULL OR state = 'pending'),
            place INTEGER CHECK (place >= 1),
            created_at INTEGER NOT NULL,
            record TEXT NOT NULL,
            UNIQUE (notification, number)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX firings_by_age ON firings(created_at);
        CREATE UNIQUE INDEX firings_by_key ON firings(notification, idempotency_key) WHERE idempotency_key IS NOT NULL;
        CREATE UNIQUE INDEX firings_by_place ON firings(tenant, place) WHERE place IS NOT NULL;
        CREATE UNIQUE INDEX firings_once ON firings(notification, generation, scheduled_at) WHERE NOT is_manual;
        CREATE INDEX firings_open ON firings(notification) WHERE state = 'pending';
        CREATE INDEX firings_waiting ON firings(waits_until) WHERE waits_until IS NOT NULL;

        CREATE TABLE tickets (
            id TEXT PRIMARY KEY CHECK (length(id) = 22),
            tenant TEXT NOT NULL,
            notification INTEGER NOT NULL REFERENCES notifications(key) ON DELETE CASCADE,
            kind TEXT NOT NULL CHECK (kind IN ('respond', 'preview')),
            kid TEXT NOT NULL,
            expires_at INTEGER NOT NULL,
            ended_at INTEGER,
            -- JSON without the end, which is in `ended_at`.
            record TEXT NOT NULL
        ) STRICT;
        CREATE INDEX tickets_by_expiry ON tickets(expires_at);
        CREATE INDEX tickets_by_notification ON tickets(notification, kind);
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

        CREATE TABLE response_sessions (
            ticket TEXT NOT NULL REFERENCES tickets(id) ON DELETE CASCADE,
            id TEXT NOT NULL CHECK (id <> ''),
            record TEXT NOT NULL,
            PRIMARY KEY (ticket, id)
        ) STRICT;

        CREATE TABLE responses (
            tenant TEXT NOT NULL,
            -- The place in the tenant's list. Places are given out in the order of commits.
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
        CREATE INDEX responses_by_age ON responses(received_at);
        CREATE INDEX responses_by_firing ON responses(notification, firing) WHERE NOT is_preview;
        CREATE INDEX responses_by_notification ON responses(notification, place);
        CREATE TRIGGER responses_are_decided_once BEFORE UPDATE OF record ON responses
        WHEN json_extract(OLD.record, '$.answer') IS NOT NULL
        BEGIN SELECT RAISE(ABORT, 'a response is decided once'); END;
        CREATE TRIGGER responses_are_kept_as_they_came
        BEFORE UPDATE OF tenant, place, notification, ticket, id, session, firing, is_preview, received_at ON responses
        BEGIN SELECT RAISE(ABORT, 'a response is kept as it came'); END;
        CREATE TRIGGER responses_have_the_tenant_of_their_notification BEFORE INSERT ON responses
        WHEN NEW.tenant <> (SELECT tenant FROM notifications WHERE key = NEW.notification)
        BEGIN SELECT RAISE(ABORT, 'a response has the tenant of its notification'); END;
        """
}
