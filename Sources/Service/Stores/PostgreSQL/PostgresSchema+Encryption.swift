extension PostgresSchema {
    /// With what renditions are encrypted: the key of each is sealed with one that is outside of the database, and sealed anew
    /// when that is rotated.
    static let encryption = Migration(
        version: 12, leastNode: 1,
        steps: [
            .together([
                // A rule that isn't validated holds for what is written from now on.
                """
                ALTER TABLE renditions ADD COLUMN scheme text, ADD COLUMN key bytea, ADD COLUMN key_kid text,
                    ADD CONSTRAINT renditions_are_sealed CHECK (
                        (scheme IS NULL OR scheme IN ('matrix', 'aesgcm'))
                        AND (scheme IS NULL) = (key IS NULL) AND (scheme IS NULL) = (key_kid IS NULL)) NOT VALID
                """
            ]),
            .together(["ALTER TABLE renditions VALIDATE CONSTRAINT renditions_are_sealed"]),
            .index("renditions_by_key", on: "renditions (key_kid) WHERE key_kid IS NOT NULL"),
        ])
}
