internal import SatchelCore
internal import Postgres

/// The schema of the records in PostgreSQL: ``RecordSchema``, and what many nodes need. ``Schema`` lists the tables.
enum PostgresSchema {
    /// Statement by statement.
    static let tables =
        RecordSchema.tables + cluster.split(separator: ";\n", omittingEmptySubsequences: true).map(String.init)

    /// What everything begins with. Beside the version a row that one migration at a time has locked.
    static let beginning = [
        """
        CREATE TABLE IF NOT EXISTS schema_version (
            only_row int PRIMARY KEY CHECK (only_row = 1), version int NOT NULL, step int NOT NULL, least_node int NOT NULL,
            at bigint NOT NULL)
        """,
        "CREATE TABLE IF NOT EXISTS migration (only_row int PRIMARY KEY CHECK (only_row = 1))",
        "INSERT INTO schema_version VALUES (1, 0, 0, 0, 0) ON CONFLICT DO NOTHING",
        "INSERT INTO migration VALUES (1) ON CONFLICT DO NOTHING",
    ]

    /// Looks whether a program of this version may use what is there, and whether it can write there. A server with a later
    /// version is left alone, unless that says that this program may use it.
    ///
    /// - Throws: `noSchema`, `developmentStore`, `olderSchema`, `newerSchema`, `unusableDatabase`.
    static func check(_ pool: PostgresPool, version: Int = Schema.version) async throws(StoreError) {
        let path = pool.parameters.description
        let (found, least) = try await self.version(in: pool)
        if found == 0 { throw .noSchema(path: path) }
        if found < version { throw .olderSchema(path: path) }
        if least > version { throw .newerSchema(path: path) }
    }

    /// The version that is there, and the oldest program that may use it; zeros where there are no records.
    ///
    /// - Throws: `developmentStore`, `unusableDatabase`.
    static func version(in pool: PostgresPool) async throws(StoreError) -> (version: Int, leastNode: Int) {
        let isOfDevelopment: Bool
        do throws(PostgresError) {
            do throws(PostgresError) {
                let rows = try await pool.batch([Statement("SELECT version, least_node FROM schema_version")])
                guard let row = rows[0].first else { throw PostgresError.unexpectedColumn("version") }
                return (try row.int("version"), try row.int("least_node"))
            } catch {
                guard error.isFailure("42P01") else { throw error }
            }
            isOfDevelopment =
                try await !pool.rows(
                    "SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass('schema') AND attname = 'least_node'"
                ).isEmpty
        } catch {
            throw StoreError(error)
        }
        if isOfDevelopment { throw .developmentStore(path: pool.parameters.description) }
        return (0, 0)
    }
}
