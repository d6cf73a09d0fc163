internal import GRDB

/// The schema of the records in SQLite: ``RecordSchema`` in SQLite's words, and the store's time. ``Schema`` lists the tables.
enum SQLiteSchema {
    /// `application_id` of the database file: "Satc".
    static let applicationID: Int32 = 0x5361_7463
    /// The `application_id` of development versions before 0.1.0.
    private static let developmentID: Int32 = 0x5361_7452

    static let tables = (store + RecordSchema.tables.map(translated)).joined(separator: ";\n")

    /// The version of a database's schema; 0 if the database is empty.
    ///
    /// - Throws: `notAStore`, `developmentStore`, `newerSchema`.
    static func version(of database: Database, at path: String, _ steps: [SchemaStep] = Schema.steps) throws -> Int {
        guard try Int.fetchOne(database, sql: "SELECT 1 FROM sqlite_schema LIMIT 1") != nil else { return 0 }
        switch try Int32.fetchOne(database, sql: "PRAGMA application_id") {
        case applicationID: break
        case developmentID: throw StoreError.developmentStore(path: path)
        default: throw StoreError.notAStore(path: path)
        }
        let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        guard version <= steps.last?.version ?? 0 else { throw StoreError.newerSchema(path: path) }
        return version
    }

    /// The path of the copy that is made before an upgrade.
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
            try describeAsLarge(database)
            try database.execute(
                sql: "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(steps.last?.version ?? 0)")
            return .commit
        }
        try database.execute(sql: "PRAGMA foreign_keys = ON")
    }

    /// Columns that take few values.
    private static let coarse: Set = [
        "tenant", "state", "kind", "run", "lane", "priority", "type", "action", "actor_kind", "role", "code",
        "generation", "slot", "damaged", "refs",
    ]

    /// Tells SQLite of its indexes what ANALYZE would find in a large store. Without that it takes a tenant or a state for as
    /// selective as an id.
    private static func describeAsLarge(_ database: Database) throws {
        try database.execute(sql: "ANALYZE; DELETE FROM sqlite_stat1")
        let indexes = try Row.fetchAll(
            database,
            sql: """
                SELECT list.name, tables.name AS tbl_name, list."unique" AS is_unique, list.partial, EXISTS (
                    SELECT 1 FROM sqlite_schema WHERE type = 'index' AND name = list.name) AS is_apart
                FROM sqlite_schema AS tables, pragma_index_list(tables.name) AS list
                WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite_%'
                """)
        for index in indexes {
            let (name, isPartial): (String, Bool) = (index["name"], index["partial"])
            // SQLite assumes a million rows for a subquery. For a smaller table it would read all rows into a Bloom filter.
            var counts = [isPartial ? 50_000_000 : 100_000_000]
            for row in try Row.fetchAll(database, sql: "SELECT name FROM pragma_index_info(?)", arguments: [name]) {
                let (column, left): (String?, Int) = (row["name"], counts[counts.count - 1])
                let isCoarse = column.map(coarse.contains) ?? false
                counts.append(isCoarse ? max(left / 4, min(left, 10)) : min(left, 10))
            }
            if index["is_unique"] as Bool { counts[counts.count - 1] = 1 }
            try database.execute(
                sql: "INSERT INTO sqlite_stat1 VALUES (?, ?, ?)",
                arguments: [
                    index["tbl_name"] as String,
                    // The primary key of a table without row numbers is the table itself, and has its name there.
                    index["is_apart"] as Bool ? name : index["tbl_name"] as String,
                    counts.map(String.init).joined(separator: " "),
                ])
        }
        try database.execute(sql: "ANALYZE sqlite_schema")
    }

    /// Time never goes back, whatever the clock of the machine does.
    private static let store = [
        "CREATE TABLE store (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), last_instant INTEGER NOT NULL) STRICT",
        "INSERT INTO store VALUES (1, 0)",
    ]

    /// A statement of ``RecordSchema`` in SQLite's words: its own types, strict tables, and no second copy of a key.
    static func translated(_ statement: String) -> String {
        let isTable = statement.hasPrefix("CREATE TABLE")
        // The number is the key that SQLite knows rows by; what else is one is unique.
        let hasNumber = statement.contains("IDENTITY")
        let text = SQLWords.rewritten(statement) { word, words in
            switch word {
            case "WITH" where words.take("("):
                while !words.next().isEmpty {}
                return ""
            case _ where !isTable: return nil
            case "PRIMARY" where hasNumber && words.take("KEY", "("): return "UNIQUE ("
            case "bigint" where words.take("GENERATED", "ALWAYS", "AS", "IDENTITY"):
                if !words.take("PRIMARY", "KEY") { _ = words.take("UNIQUE") }
                return "INTEGER PRIMARY KEY"
            case "bigint" where words.take("[", "]"): return "TEXT"
            default: return types[word]
            }
        }
        return isTable ? text + (text.contains("INTEGER PRIMARY KEY") ? " STRICT" : " STRICT, WITHOUT ROWID") : text
    }

    private static let types = [
        "text": "TEXT", "uuid": "TEXT", "bytea": "BLOB", "float8": "REAL", "bigint": "INTEGER", "smallint": "INTEGER",
        "int": "INTEGER", "boolean": "INTEGER",
    ]
}
