extension PostgresSchema {
    /// Notifications, their firings, and the responses to them.
    static let notifications = """
        -- Places in the lists of firings and responses are given out in the order of commits: the row is locked until then.
        CREATE TABLE tenants (
            tenant text PRIMARY KEY CHECK (tenant <> ''), last_place bigint NOT NULL DEFAULT 0 CHECK (last_place >= 0),
            last_response bigint NOT NULL DEFAULT 0 CHECK (last_response >= 0), signing text, removed_at bigint)
            WITH (fillfactor = 50);

        -- Counted here, so that a quota costs the same with any number of notifications. Slots work as in `usage`.
        CREATE TABLE pending_notifications (
            tenant text, slot smallint, count bigint NOT NULL, PRIMARY KEY (tenant, slot)) WITH (fillfactor = 50);

        CREATE TABLE categories (
            tenant text COLLATE "C" CHECK (tenant <> ''), id text COLLATE "C" CHECK (id <> ''),
            body text NOT NULL CHECK (body::json ->> 'id' = id), PRIMARY KEY (tenant, id));

        CREATE TABLE notifications (
            key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, tenant text NOT NULL CHECK (tenant <> ''),
            id text NOT NULL CHECK (id <> ''), revision int NOT NULL CHECK (revision >= 1),
            generation int NOT NULL CHECK (generation >= 1),
            state text NOT NULL CHECK (state IN ('pending', 'done', 'cancelled')), category text,
            next_at bigint CHECK (next_at IS NULL OR state = 'pending'), rules text, shown_at bigint, finished_at bigint,
            media_at bigint CHECK (media_at IS NULL OR state = 'pending'),
            media_job text CHECK (media_job IS NULL OR media_at IS NOT NULL), record text NOT NULL,
            UNIQUE (tenant, id), CHECK ((state = 'pending') = (finished_at IS NULL)))
            WITH (fillfactor = 70);
        -- The order in which notifications are prepared before they are due.
        CREATE INDEX notifications_upcoming ON notifications (next_at, key) WHERE next_at IS NOT NULL;
        CREATE INDEX notifications_pending ON notifications (tenant, coalesce(next_at, 9223372036854775807), key)
            WHERE state = 'pending';
        CREATE INDEX notifications_shown ON notifications (tenant, shown_at, key) WHERE shown_at IS NOT NULL;
        CREATE INDEX notifications_by_rules ON notifications (rules) WHERE next_at IS NOT NULL AND rules IS NOT NULL;
        CREATE INDEX notifications_media_due ON notifications (media_at) WHERE media_at IS NOT NULL;
        CREATE INDEX notifications_by_end ON notifications (finished_at) WHERE finished_at IS NOT NULL;

        CREATE TABLE notification_media (
            notification bigint REFERENCES notifications ON DELETE CASCADE, tenant text NOT NULL, attachment uuid,
            PRIMARY KEY (notification, attachment));
        CREATE INDEX notification_media_by_attachment ON notification_media (tenant, attachment);

        CREATE TABLE notification_sources (
            notification bigint PRIMARY KEY REFERENCES notifications ON DELETE CASCADE,
            profile bigint NOT NULL REFERENCES profiles, submission text NOT NULL, headers bytea, headers_kid text,
            CHECK ((headers IS NULL) = (headers_kid IS NULL)));
        CREATE INDEX notification_sources_by_headers ON notification_sources (headers_kid) WHERE headers_kid IS NOT NULL;

        CREATE TABLE firings (
            id uuid PRIMARY KEY, tenant text NOT NULL,
            notification bigint NOT NULL REFERENCES notifications ON DELETE CASCADE, generation int NOT NULL,
            number int NOT NULL CHECK (number >= 1),
            state text NOT NULL CHECK (state IN ('pending', 'delivered', 'failed', 'missed', 'removed')),
            scheduled_at bigint NOT NULL, is_manual boolean NOT NULL,
            idempotency_key text CHECK (idempotency_key IS NULL OR is_manual),
            waits_until bigint CHECK (waits_until IS NULL OR state = 'pending'), place bigint CHECK (place >= 1),
            created_at bigint NOT NULL, record text NOT NULL, UNIQUE (notification, number)) WITH (fillfactor = 70);
        -- An instant fires once.
        CREATE UNIQUE INDEX firings_once ON firings (notification, generation, scheduled_at) WHERE NOT is_manual;
        CREATE UNIQUE INDEX firings_by_key ON firings (notification, idempotency_key) WHERE idempotency_key IS NOT NULL;
        CREATE INDEX firings_waiting ON firings (waits_until) WHERE waits_until IS NOT NULL;
        CREATE INDEX firings_open ON firings (notification) WHERE state = 'pending';
        CREATE UNIQUE INDEX firings_by_place ON firings (tenant, place) WHERE place IS NOT NULL;
        CREATE INDEX firings_by_age ON firings (created_at);

        CREATE TABLE tickets (
            id text PRIMARY KEY CHECK (length(id) = 22), tenant text NOT NULL,
            notification bigint NOT NULL REFERENCES notifications ON DELETE CASCADE,
            kind text NOT NULL CHECK (kind IN ('respond', 'preview')), kid text NOT NULL, expires_at bigint NOT NULL,
            ended_at bigint, record text NOT NULL);
        CREATE INDEX tickets_by_notification ON tickets (notification, kind);
        CREATE INDEX tickets_by_expiry ON tickets (expires_at);

        CREATE TABLE response_sessions (
            ticket text REFERENCES tickets ON DELETE CASCADE, id uuid, record text NOT NULL, PRIMARY KEY (ticket, id))
            WITH (fillfactor = 50);

        -- Responses outlive their tickets.
        CREATE TABLE responses (
            tenant text NOT NULL, place bigint NOT NULL CHECK (place >= 1),
            notification bigint NOT NULL REFERENCES notifications ON DELETE CASCADE, ticket text, id uuid,
            session uuid NOT NULL, firing int CHECK (firing >= 1), is_preview boolean NOT NULL,
            received_at bigint NOT NULL, record text NOT NULL, PRIMARY KEY (ticket, id), UNIQUE (tenant, place))
            WITH (fillfactor = 70);
        CREATE INDEX responses_by_notification ON responses (notification, place);
        CREATE INDEX responses_by_firing ON responses (notification, firing) WHERE NOT is_preview;
        CREATE INDEX responses_by_age ON responses (received_at);
        """
}
