extension Schema {
    /// With what renditions are encrypted: the key of each is sealed with one that is outside of the store, and sealed anew
    /// when that is rotated.
    static let encryption = """
        ALTER TABLE renditions ADD COLUMN scheme TEXT CHECK (scheme IN ('matrix', 'aesgcm'));
        ALTER TABLE renditions ADD COLUMN key BLOB CHECK ((key IS NULL) = (scheme IS NULL));
        ALTER TABLE renditions ADD COLUMN key_kid TEXT CHECK ((key_kid IS NULL) = (scheme IS NULL));
        CREATE INDEX renditions_by_key ON renditions(key_kid) WHERE key_kid IS NOT NULL;
        DROP TRIGGER renditions_are_immutable;
        CREATE TRIGGER renditions_are_immutable
        BEFORE UPDATE OF tenant, attachment, role, blob, media_type, width, height, duration, scheme ON renditions
        BEGIN SELECT RAISE(ABORT, 'a rendition never changes'); END;
        """
}
