extension PostgresSchema {
    static let categories = Migration(
        version: 3, leastNode: 1,
        steps: [
            .together([
                """
                CREATE TABLE categories (
                    tenant text COLLATE "C" CHECK (tenant <> ''), id text COLLATE "C" CHECK (id <> ''),
                    body text NOT NULL CHECK (body::json ->> 'id' = id), PRIMARY KEY (tenant, id))
                """
            ])
        ])
}
