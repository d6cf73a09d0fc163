extension PostgresSchema {
    /// What the bytes of renditions are called, and what refers to them.
    static let bytes = """
        CREATE TABLE blobs (
            tenant text NOT NULL CHECK (tenant <> ''), sha256 bytea NOT NULL CHECK (length(sha256) = 32),
            name text NOT NULL UNIQUE, bytes bigint NOT NULL CHECK (bytes >= 0), refs int NOT NULL CHECK (refs >= 0),
            damaged boolean NOT NULL DEFAULT false, PRIMARY KEY (tenant, sha256, name)) WITH (fillfactor = 90);
        CREATE UNIQUE INDEX blobs_live ON blobs (tenant, sha256) WHERE NOT damaged;
        CREATE INDEX blobs_unused ON blobs (name) WHERE refs = 0;

        -- Name, hash and size are repeated here, so that a read needs no third table. The key of an encrypted rendition is
        -- sealed with a key outside the database, which `key_kid` names.
        CREATE TABLE renditions (
            tenant text NOT NULL, attachment uuid NOT NULL,
            role text NOT NULL CHECK (role IN ('main', 'thumbnail', 'poster', 'waveform', 'original')),
            blob text NOT NULL REFERENCES blobs (name), sha256 bytea NOT NULL, bytes bigint NOT NULL,
            media_type text NOT NULL, width int CHECK (width > 0), height int CHECK (height > 0),
            duration float8 CHECK (duration >= 0), scheme text CHECK (scheme IN ('matrix', 'aesgcm')), key bytea, key_kid text,
            PRIMARY KEY (tenant, attachment, role),
            FOREIGN KEY (tenant, attachment) REFERENCES attachments ON DELETE CASCADE,
            CHECK ((scheme IS NULL) = (key IS NULL) AND (scheme IS NULL) = (key_kid IS NULL)));
        CREATE INDEX renditions_by_blob ON renditions (blob);
        CREATE INDEX renditions_by_key ON renditions (key_kid) WHERE key_kid IS NOT NULL;

        CREATE TABLE tombstones (name text PRIMARY KEY, made_at bigint NOT NULL);
        CREATE INDEX tombstones_by_time ON tombstones (made_at);
        """
}
