extension PostgresSchema {
    /// What is known of tenants as such; those of which nothing is have no row.
    static let tenants = Migration(
        version: 9, leastNode: 1,
        steps: [
            // The numbers that signing secrets are derived with: a JSON array, the current one first; NULL before a rotation.
            .together(["ALTER TABLE tenants ADD COLUMN signing text"]),
            .index("api_keys_by_tenant", on: "api_keys (tenant, created_at DESC, id COLLATE \"C\")"),
        ])
}
