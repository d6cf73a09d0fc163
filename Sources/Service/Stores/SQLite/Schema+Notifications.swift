extension Schema {
    /// Notifications and their firings.
    static let notifications = """
        CREATE TABLE notifications (
            key INTEGER PRIMARY KEY,
            tenant TEXT NOT NULL CHECK (tenant <> ''),
            id TEXT NOT NULL CHECK (id <> ''),
            -- Counts every change: by it is seen whether a notification is still as it was read.
            revision INTEGER NOT NULL CHECK (revision >= 1),
            generation INTEGER NOT NULL CHECK (generation >= 1),
            state TEXT NOT NULL CHECK (state IN ('pending', 'done', 'cancelled')),
            category TEXT,
            next_at INTEGER CHECK (next_at IS NULL OR state = 'pending'),
            -- Of the zone rules by which the next instant was made.
            rules TEXT,
            -- Of its latest firing that is in the list of delivered ones.
            shown_at INTEGER,
            finished_at INTEGER,
            -- When something is to be done about its media, and the job that has to end first.
            media_at INTEGER CHECK (media_at IS NULL OR state = 'pending'),
            media_job TEXT CHECK (media_job IS NULL OR media_at IS NOT NULL),
            record TEXT NOT NULL,
            UNIQUE (tenant, id),
            CHECK ((state = 'pending') = (finished_at IS NULL))
        ) STRICT;
        CREATE INDEX notifications_due ON notifications(next_at) WHERE next_at IS NOT NULL;
        CREATE INDEX notifications_pending ON notifications(tenant, coalesce(next_at, 9223372036854775807), key)
            WHERE state = 'pending';
        CREATE INDEX notifications_shown ON notifications(tenant, shown_at, key) WHERE shown_at IS NOT NULL;
        CREATE INDEX notifications_by_rules ON notifications(rules) WHERE next_at IS NOT NULL AND rules IS NOT NULL;
        CREATE INDEX notifications_media_due ON notifications(media_at) WHERE media_at IS NOT NULL;
        CREATE INDEX notifications_by_end ON notifications(finished_at) WHERE finished_at IS NOT NULL;

        -- What retention leaves alone.
        CREATE TABLE notification_media (
            notification INTEGER NOT NULL REFERENCES notifications(key) ON DELETE CASCADE,
            tenant TEXT NOT NULL,
            attachment TEXT NOT NULL,
            PRIMARY KEY (notification, attachment)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX notification_media_by_attachment ON notification_media(tenant, attachment);

        -- What media are made of that are prepared or tried again later; the headers for origins are encrypted.
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
            -- While its payload is still to be made.
            waits_until INTEGER CHECK (waits_until IS NULL OR state = 'pending'),
            place INTEGER CHECK (place >= 1),
            created_at INTEGER NOT NULL,
            record TEXT NOT NULL,
            UNIQUE (notification, number)
        ) STRICT, WITHOUT ROWID;
        -- None is made twice.
        CREATE UNIQUE INDEX firings_once ON firings(notification, generation, scheduled_at) WHERE NOT is_manual;
        CREATE UNIQUE INDEX firings_by_key ON firings(notification, idempotency_key) WHERE idempotency_key IS NOT NULL;
        CREATE INDEX firings_waiting ON firings(waits_until) WHERE waits_until IS NOT NULL;
        CREATE INDEX firings_open ON firings(notification) WHERE state = 'pending';
        CREATE UNIQUE INDEX firings_by_place ON firings(tenant, place) WHERE place IS NOT NULL;
        CREATE INDEX firings_by_age ON firings(created_at);

        -- Places in a tenant's lists, of firings and of responses, are given out in the order of commits.
        CREATE TABLE tenants (
            tenant TEXT PRIMARY KEY CHECK (tenant <> ''),
            last_place INTEGER NOT NULL DEFAULT 0 CHECK (last_place >= 0),
            last_response INTEGER NOT NULL DEFAULT 0 CHECK (last_response >= 0),
            -- So that a quota costs the same with any number of them.
            pending_notifications INTEGER NOT NULL DEFAULT 0 CHECK (pending_notifications >= 0)
        ) STRICT, WITHOUT ROWID;
        CREATE TRIGGER notifications_come AFTER INSERT ON notifications WHEN NEW.state = 'pending'
        BEGIN
            INSERT INTO tenants (tenant, pending_notifications) VALUES (NEW.tenant, 1)
            ON CONFLICT (tenant) DO UPDATE SET pending_notifications = pending_notifications + 1;
        END;
        CREATE TRIGGER notifications_change AFTER UPDATE OF state ON notifications WHEN NEW.state <> OLD.state
        BEGIN
            UPDATE tenants SET pending_notifications =
                pending_notifications + (NEW.state = 'pending') - (OLD.state = 'pending')
            WHERE tenant = NEW.tenant;
        END;
        CREATE TRIGGER notifications_go AFTER DELETE ON notifications WHEN OLD.state = 'pending'
        BEGIN UPDATE tenants SET pending_notifications = pending_notifications - 1 WHERE tenant = OLD.tenant; END;
        CREATE TRIGGER places_only_advance BEFORE UPDATE OF last_place, last_response ON tenants
        WHEN NEW.last_place < OLD.last_place OR NEW.last_response < OLD.last_response
        BEGIN SELECT RAISE(ABORT, 'a list never goes back'); END;
        """
}
