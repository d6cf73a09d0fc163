extension Schema {
    /// Names of blobs are opaque outside their store: a bucket's don't begin with a hash. The table is made anew, for SQLite
    /// can't drop a rule; with the old way of renaming tables, the rules of others that name it stay as they are.
    static let names = """
        PRAGMA legacy_alter_table = ON;
        CREATE TABLE new_blobs (
            name TEXT PRIMARY KEY CHECK (name <> ''),
            sha256 TEXT NOT NULL CHECK (length(sha256) = 64),
            bytes INTEGER NOT NULL CHECK (bytes >= 0),
            -- Kept by the triggers of renditions.
            refs INTEGER NOT NULL DEFAULT 0 CHECK (refs >= 0),
            -- Set by verify; no new rendition refers to it.
            damaged INTEGER NOT NULL DEFAULT 0 CHECK (damaged IN (0, 1)),
            -- NULL: from before there were tenants, and perhaps of several.
            tenant TEXT CHECK (tenant <> '')
        ) STRICT;
        INSERT INTO new_blobs (name, sha256, bytes, refs, damaged, tenant)
        SELECT name, sha256, bytes, refs, damaged, tenant FROM blobs;
        DROP TABLE blobs;
        ALTER TABLE new_blobs RENAME TO blobs;
        PRAGMA legacy_alter_table = OFF;

        CREATE UNIQUE INDEX blobs_by_hash ON blobs(tenant, sha256) WHERE damaged = 0 AND tenant IS NOT NULL;
        CREATE TRIGGER blobs_are_immutable BEFORE UPDATE OF name, sha256, bytes, tenant ON blobs
        BEGIN SELECT RAISE(ABORT, 'a blob never changes'); END;
        CREATE TRIGGER blobs_are_not_condemned BEFORE INSERT ON blobs
        WHEN EXISTS (SELECT 1 FROM tombstones WHERE name = NEW.name)
        BEGIN SELECT RAISE(ABORT, 'the bytes were removed before they were delivered'); END;
        CREATE TRIGGER deleted_blobs_are_condemned AFTER DELETE ON blobs
        BEGIN INSERT OR IGNORE INTO tombstones (name, made_at) VALUES (OLD.name, 0); END;
        CREATE TRIGGER blobs_are_counted AFTER INSERT ON blobs
        BEGIN UPDATE holdings SET blobs = blobs + 1, blob_bytes = blob_bytes + NEW.bytes; END;
        CREATE TRIGGER deleted_blobs_are_counted AFTER DELETE ON blobs
        BEGIN UPDATE holdings SET blobs = blobs - 1, blob_bytes = blob_bytes - OLD.bytes; END;
        """
}
