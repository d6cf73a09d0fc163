extension Schema {
    /// What is known of tenants as such; those of which nothing is have no row.
    static let tenants = """
        -- The numbers that signing secrets are derived with: a JSON array, the current one first; NULL before a rotation.
        ALTER TABLE tenants ADD COLUMN signing TEXT;
        """
}
