extension SQLiteSchema {
    /// What the bytes of renditions are called, and what refers to them.
    static let bytes = """
        CREATE TABLE blobs (
            name TEXT PRIMARY KEY CHECK (name <> ''),
            sha256 TEXT NOT NULL CHECK (length(sha256) = 64),
            bytes INTEGER NOT NULL CHECK (bytes >= 0),
            -- How many renditions refer to it; triggers of `renditions` keep the count.
            refs INTEGER NOT NULL DEFAULT 0 CHECK (refs >= 0),
            -- Set by verify; no new rendition refers to it.
            damaged INTEGER NOT NULL DEFAULT 0 CHECK (damaged IN (0, 1)),
            tenant TEXT NOT NULL CHECK (tenant <> '')
        ) STRICT;
        CREATE UNIQUE INDEX blobs_by_hash ON blobs(tenant, sha256) WHERE damaged = 0;
        CREATE TRIGGER blobs_are_counted AFTER INSERT ON blobs
        BEGIN UPDATE holdings SET blobs = blobs + 1, blob_bytes = blob_bytes + NEW.bytes; END;
        CREATE TRIGGER blobs_are_immutable BEFORE UPDATE OF name, sha256, bytes, tenant ON blobs
        BEGIN SELECT RAISE(ABORT, 'a blob never changes'); END;
        CREATE TRIGGER blobs_are_not_condemned BEFORE INSERT ON blobs
        WHEN EXISTS (SELECT 1 FROM tombstones WHERE name = NEW.name)
        BEGIN SELECT RAISE(ABORT, 'the bytes were removed before they were delivered'); END;
        CREATE TRIGGER deleted_blobs_are_condemned AFTER DELETE ON blobs
        BEGIN INSERT OR IGNORE INTO tombstones (name, made_at) VALUES (OLD.name, 0); END;
        CREATE TRIGGER deleted_blobs_are_counted AFTER DELETE ON blobs
        BEGIN UPDATE holdings SET blobs = blobs - 1, blob_bytes = blob_bytes - OLD.bytes; END;

        CREATE TABLE renditions (
            tenant TEXT NOT NULL,
            attachment TEXT NOT NULL,
            role TEXT NOT NULL CHECK (role IN ('main', 'thumbnail', 'poster', 'waveform', 'original')),
            blob TEXT NOT NULL REFERENCES blobs(name),
            media_type TEXT NOT NULL,
            width INTEGER CHECK (width > 0),
            height INTEGER CHECK (height > 0),
            duration REAL CHECK (duration >= 0),
            -- How it is encrypted. The key is sealed with a key outside the store, which `key_kid` names.
            scheme TEXT CHECK (scheme IN ('matrix', 'aesgcm')),
            key BLOB CHECK ((key IS NULL) = (scheme IS NULL)),
            key_kid TEXT CHECK ((key_kid IS NULL) = (scheme IS NULL)),
            PRIMARY KEY (tenant, attachment, role),
            FOREIGN KEY (tenant, attachment) REFERENCES attachments(tenant, id) ON DELETE CASCADE
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX renditions_by_blob ON renditions(blob);
        CREATE INDEX renditions_by_key ON renditions(key_kid) WHERE key_kid IS NOT NULL;
        CREATE TRIGGER deleted_renditions_are_counted AFTER DELETE ON renditions
        BEGIN
            UPDATE usage SET stored_bytes = stored_bytes - (SELECT bytes FROM blobs WHERE name = OLD.blob)
            WHERE tenant = OLD.tenant;
        END;
        CREATE TRIGGER renditions_are_counted AFTER INSERT ON renditions
        BEGIN
            INSERT INTO usage (tenant, stored_bytes)
            VALUES (NEW.tenant, (SELECT bytes FROM blobs WHERE name = NEW.blob))
            ON CONFLICT (tenant) DO UPDATE SET stored_bytes = stored_bytes + excluded.stored_bytes;
        END;
        CREATE TRIGGER renditions_are_delivered BEFORE INSERT ON renditions
        WHEN (SELECT state FROM attachments WHERE tenant = NEW.tenant AND id = NEW.attachment) IS NOT 'delivered'
        BEGIN SELECT RAISE(ABORT, 'only a delivered attachment has renditions'); END;
        CREATE TRIGGER renditions_are_immutable
        BEFORE UPDATE OF tenant, attachment, role, blob, media_type, width, height, duration, scheme ON renditions
        BEGIN SELECT RAISE(ABORT, 'a rendition never changes'); END;
        CREATE TRIGGER renditions_are_in_blobs_of_their_tenant BEFORE INSERT ON renditions
        WHEN NEW.tenant IS NOT (SELECT tenant FROM blobs WHERE name = NEW.blob)
        BEGIN SELECT RAISE(ABORT, 'a rendition is in a blob of its tenant'); END;
        CREATE TRIGGER renditions_let_go AFTER DELETE ON renditions
        BEGIN UPDATE blobs SET refs = refs - 1 WHERE name = OLD.blob; END;
        CREATE TRIGGER renditions_refer AFTER INSERT ON renditions
        BEGIN UPDATE blobs SET refs = refs + 1 WHERE name = NEW.blob; END;

        CREATE TABLE tombstones (
            name TEXT PRIMARY KEY,
            made_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX tombstones_by_time ON tombstones(made_at);
        CREATE TRIGGER condemned_is_nothing_in_use BEFORE INSERT ON tombstones
        WHEN EXISTS (SELECT 1 FROM blobs WHERE name = NEW.name)
        BEGIN SELECT RAISE(ABORT, 'a record refers to these bytes'); END;

        CREATE TABLE holdings (
            only INTEGER PRIMARY KEY CHECK (only = 1),
            blobs INTEGER NOT NULL CHECK (blobs >= 0),
            blob_bytes INTEGER NOT NULL CHECK (blob_bytes >= 0),
            -- Leases that ended by themselves and were swept.
            leases_left_to_expire INTEGER NOT NULL DEFAULT 0 CHECK (leases_left_to_expire >= 0),
            pending_calls INTEGER NOT NULL DEFAULT 0 CHECK (pending_calls >= 0)
        ) STRICT;
        INSERT INTO holdings VALUES (1, 0, 0, 0, 0);
        """
}
