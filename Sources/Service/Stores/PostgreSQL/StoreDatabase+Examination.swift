public import SatchelCore
internal import Postgres

/// What a node finds of its database, for whoever runs it.
public struct DatabaseExamination: Hashable, Sendable {
    /// `15.14`.
    public var version: String
    /// The schema's; nil where there is none.
    public var schema: Int?
    /// The median of some statements.
    public var roundTrip: Duration
    /// What the server's clock is ahead of this machine's.
    public var clockOffset: Duration
    /// Whether a commit waits for a standby, so that none is lost with the primary.
    public var hasSynchronousStandby: Bool
    /// Standbys that stream now.
    public var standbys: Int
    /// Settings that make an acknowledged commit one that can be lost: `fsync=off`.
    public var risks: [String]
    /// Tables that this role may not read and write.
    public var forbidden: [String]
    /// Whether this role owns the schema, which a service needn't.
    public var ownsSchema: Bool
    /// What the server takes, and what is in use.
    public var connectionLimit: Int
    public var connections: Int
    /// Whether nodes hear each other's wake-ups; nil where they don't try.
    public var hearsWakeups: Bool?
    /// Nodes and commands that live.
    public var nodes: [LivingNode]

    /// One that had its heartbeats.
    public struct LivingNode: Hashable, Sendable {
        public var name: String
        /// What it does; nil for a command.
        public var role: NodeRole?
        /// Whether it is about to end.
        public var isDraining: Bool
        /// Where others reach it, empty where none wants to; nil where it doesn't say.
        public var url: String?
        /// How far its machine's clock is ahead of the database's.
        public var clockAhead: Duration
    }
}

extension StoreDatabase {
    /// Looks at the database, and changes nothing.
    ///
    /// - Throws: `unusableDatabase`.
    public func examine() async throws(StoreError) -> DatabaseExamination {
        do throws(PostgresError) { return try await withPool(examined) } catch { throw StoreError(error) }
    }

    private func examined(in pool: PostgresPool) async throws(PostgresError) -> DatabaseExamination {
        // The first makes the connection.
        _ = try await pool.rows("SELECT 1", on: .write)
        var trips: [Duration] = []
        var offset = Duration.zero
        for _ in 0..<5 {
            let (start, clock) = (ContinuousClock.now, Instant.wallClock())
            let server = try await pool.rows("SELECT \(PostgresClock.sql) AS now", on: .write).first?.int64("now") ?? 0
            trips.append(ContinuousClock.now - start)
            offset = Instant(milliseconds: server) - (clock + trips[trips.count - 1] / 2)
        }
        guard
            let row = try await pool.rows(
                """
                SELECT current_setting('server_version') AS version,
                    current_setting('synchronous_standby_names') <> '' AS synchronous,
                    current_setting('synchronous_commit') AS synchronous_commit, current_setting('fsync') AS fsync,
                    current_setting('full_page_writes') AS full_page_writes,
                    current_setting('max_connections')::int AS most,
                    (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS connections,
                    (SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming') AS standbys,
                    to_regclass('schema_version') IS NOT NULL AS has_schema
                """, on: .write
            ).first
        else { throw .unexpectedColumn("version") }
        var examination = DatabaseExamination(
            version: try row.text("version"), schema: nil, roundTrip: trips.sorted()[trips.count / 2],
            clockOffset: offset, hasSynchronousStandby: try row.bool("synchronous"), standbys: try row.int("standbys"),
            risks: [], forbidden: [], ownsSchema: false, connectionLimit: try row.int("most"),
            connections: try row.int("connections"), hearsWakeups: try await hearsWakeups, nodes: [])
        for setting in ["synchronous_commit", "fsync", "full_page_writes"] where try row.text(setting) == "off" {
            examination.risks.append("\(setting)=off")
        }
        guard try row.bool("has_schema") else { return examination }
        let tables = try await pool.rows(
            """
            SELECT tablename AS name,
                has_table_privilege(quote_ident(schemaname) || '.' || quote_ident(tablename),
                    'SELECT') AND has_table_privilege(quote_ident(schemaname) || '.' || quote_ident(tablename), 'INSERT')
                    AND has_table_privilege(quote_ident(schemaname) || '.' || quote_ident(tablename), 'UPDATE')
                    AND has_table_privilege(quote_ident(schemaname) || '.' || quote_ident(tablename), 'DELETE') AS allowed,
                tableowner = current_user AS own
            FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1
            """, on: .write)
        for table in tables {
            let name = try table.text("name")
            // Its row is for whoever migrates.
            let isAllowed = try table.bool("allowed")
            if name != "schema_version", !isAllowed { examination.forbidden.append(name) }
            if try table.bool("own") { examination.ownsSchema = true }
        }
        examination.schema = try await pool.rows("SELECT version FROM schema_version", on: .write).first?.int("version")
        // An older schema's nodes say nothing of it.
        guard examination.schema == Schema.version else { return examination }
        let nodes = try await pool.rows(
            "SELECT name, role, draining, url, clock_ahead FROM nodes WHERE \(PostgresNode.isAlive(within: deadAfter)) ORDER BY name",
            on: .write)
        for node in nodes {
            examination.nodes.append(
                DatabaseExamination.LivingNode(
                    name: try node.text("name"), role: try node.optionalText("role").flatMap(NodeRole.init(rawValue:)),
                    isDraining: try node.bool("draining"), url: try node.optionalText("url"),
                    clockAhead: .milliseconds(try node.int64("clock_ahead"))))
        }
        return examination
    }

    private var hearsWakeups: Bool? {
        get async throws(PostgresError) {
            guard notifies, !parameters.isPooled else { return nil }
            return try await PostgresListener.receives(parameters)
        }
    }
}
