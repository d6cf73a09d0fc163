internal import GRDB

/// The schema of the records in SQLite. Rules are checks, keys and triggers, which no caller can go around. ``Schema`` lists
/// the tables.
enum SQLiteSchema {
    /// `application_id` of the database file: "Satc".
    static let applicationID: Int32 = 0x5361_7463
    /// That of development versions before 0.1.0.
    private static let developmentID: Int32 = 0x5361_7452

    static let tables = [store, jobs, bytes, access, notifications, transfers].joined(separator: "\n")

    /// The version of a database's schema; 0 if the database is empty.
    ///
    /// - Throws: `notAStore`, `developmentStore`, `newerSchema`.
    static func version(of database: Database, at path: String, _ steps: [SchemaStep] = Schema.steps) throws -> Int {
        guard try database.row("SELECT 1 FROM sqlite_schema LIMIT 1") != nil else { return 0 }
        switch try Int32.fetchOne(database, sql: "PRAGMA application_id") {
        case applicationID: break
        case developmentID: throw StoreError.developmentStore(path: path)
        default: throw StoreError.notAStore(path: path)
        }
        let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        guard version <= steps.last?.version ?? 0 else { throw StoreError.newerSchema(path: path) }
        return version
    }

    /// Where the records go as they were before an upgrade.
    static func copy(of path: String, version: Int) -> String {
        "\(path).version-\(version)"
    }

    /// Takes the steps that follow a version, all or none of them.
    static func upgrade(_ database: Database, from version: Int, _ steps: [SchemaStep] = Schema.steps) throws {
        // A step that makes a table anew drops the old one, whose rows would take along those that refer to them.
        try database.execute(sql: "PRAGMA foreign_keys = OFF")
        try database.inTransaction(.immediate) {
            for step in steps where step.version > version { try database.execute(sql: step.sqlite) }
            if version > 0 { try database.checkForeignKeys() }
            try database.execute(
                sql: "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(steps.last?.version ?? 0)")
            return .commit
        }
        try database.execute(sql: "PRAGMA foreign_keys = ON")
    }

    private static let store = """
        -- Time never goes back, whatever the clock of the machine does.
        CREATE TABLE store (
            only INTEGER PRIMARY KEY CHECK (only = 1),
            last_instant INTEGER NOT NULL,
            revocations INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        INSERT INTO store VALUES (1, 0, 0);
        CREATE TRIGGER store_stays BEFORE DELETE ON store
        BEGIN SELECT RAISE(ABORT, 'the store must keep its time'); END;
        CREATE TRIGGER store_time_never_goes_back BEFORE UPDATE OF last_instant ON store
        WHEN NEW.last_instant < OLD.last_instant
        BEGIN SELECT RAISE(ABORT, 'time would go back'); END;
        """
}
