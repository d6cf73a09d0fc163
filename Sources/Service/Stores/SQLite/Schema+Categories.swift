extension Schema {
    static let categories = """
        CREATE TABLE categories (
            tenant TEXT NOT NULL CHECK (tenant <> ''),
            id TEXT NOT NULL CHECK (id <> ''),
            -- JSON; its id is the row's.
            body TEXT NOT NULL CHECK (json_extract(body, '$.id') = id),
            PRIMARY KEY (tenant, id)
        ) STRICT, WITHOUT ROWID;
        """
}
