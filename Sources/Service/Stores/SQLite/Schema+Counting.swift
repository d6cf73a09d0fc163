extension Schema {
    /// What keeps the cost of a question from growing with the store: counts in the place of counting, and indexes that
    /// hold only what is asked for.
    static let third = """
        -- Grants, leases and links that were not ended; some may have run out.
        CREATE TABLE open_access (
            kind TEXT PRIMARY KEY CHECK (kind IN ('grant', 'lease', 'link')),
            open INTEGER NOT NULL CHECK (open >= 0)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO open_access
        SELECT value, (SELECT count(*) FROM access WHERE kind = value AND ended_at IS NULL)
        FROM json_each('["grant", "lease", "link"]');
        CREATE TRIGGER open_access_is_counted AFTER INSERT ON access WHEN NEW.ended_at IS NULL
        BEGIN UPDATE open_access SET open = open + 1 WHERE kind = NEW.kind; END;
        CREATE TRIGGER ended_access_is_counted AFTER UPDATE OF ended_at ON access
        WHEN OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL
        BEGIN UPDATE open_access SET open = open - 1 WHERE kind = NEW.kind; END;
        CREATE TRIGGER deleted_access_is_counted AFTER DELETE ON access WHEN OLD.ended_at IS NULL
        BEGIN UPDATE open_access SET open = open - 1 WHERE kind = OLD.kind; END;

        ALTER TABLE holdings ADD COLUMN pending_callbacks INTEGER NOT NULL DEFAULT 0 CHECK (pending_callbacks >= 0);
        UPDATE holdings SET pending_callbacks = (SELECT count(*) FROM callbacks WHERE state = 'pending');
        CREATE TRIGGER callbacks_are_counted AFTER INSERT ON callbacks WHEN NEW.state = 'pending'
        BEGIN UPDATE holdings SET pending_callbacks = pending_callbacks + 1; END;
        CREATE TRIGGER changed_callbacks_are_counted AFTER UPDATE OF state ON callbacks WHEN OLD.state <> NEW.state
        BEGIN
            UPDATE holdings
            SET pending_callbacks = pending_callbacks + (NEW.state = 'pending') - (OLD.state = 'pending');
        END;
        CREATE TRIGGER deleted_callbacks_are_counted AFTER DELETE ON callbacks WHEN OLD.state = 'pending'
        BEGIN UPDATE holdings SET pending_callbacks = pending_callbacks - 1; END;

        -- A grant that lasts for a month may have seen many leases come and go.
        CREATE INDEX leases_live_under ON access(parent, expires_at)
            WHERE ended_at IS NULL AND kind = 'lease' AND parent IS NOT NULL;

        -- What is pending has no kind yet.
        DROP INDEX attachments_by_kind;
        CREATE INDEX attachments_by_kind ON attachments(tenant, kind, id) WHERE kind IS NOT NULL;
        CREATE INDEX attachments_by_kind_and_state ON attachments(tenant, kind, state, id) WHERE kind IS NOT NULL;
        """
}
