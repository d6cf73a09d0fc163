import Foundation
import GRDB
import TestSupport
import Testing

@testable import Stores

/// A new store is made in one step, and as the migrations would make it.
@Suite struct WholeSchemaTests {
    /// With `SATCHEL_WRITE_SCHEMA=1` the source file is written anew instead, after a migration was added.
    @Test func `a new store is what the migrations make of an empty file`() throws {
        let migrated = try DatabaseQueue()
        try Schema.migrator.migrate(migrated)
        let made = try migrated.read(Self.statements)
        if ProcessInfo.processInfo.environment["SATCHEL_WRITE_SCHEMA"] != nil {
            try Self.source(made).write(to: Self.file, atomically: true, encoding: .utf8)
            return
        }
        let whole = try DatabaseQueue()
        try whole.write(Schema.makeWhole)
        #expect(try whole.read(Self.statements) == made, "write \(Self.file.lastPathComponent) anew")
        for pragma in ["application_id", "user_version", "auto_vacuum"] {
            func value(_ queue: DatabaseQueue) throws -> Int? {
                try queue.read { try Int.fetchOne($0, sql: "PRAGMA \(pragma)") }
            }
            #expect(try value(whole) == value(migrated), "\(pragma)")
        }
        try Schema.migrator.migrate(whole)
        #expect(try whole.read(Self.statements) == made, "nothing is left to migrate")
    }

    @Test func `where there is something already nothing is made`() throws {
        let queue = try DatabaseQueue()
        try Schema.migrator.migrate(queue, upTo: "1")
        let before = try queue.read(Self.statements)
        try queue.write(Schema.makeWhole)
        #expect(try queue.read(Self.statements) == before)
    }

    private static let file = Repository.root.appending(path: "Sources/Service/Stores/SQLite/Schema+Whole.swift")

    /// All that makes a database as it is: tables, what is in them, and then what follows from that.
    private static func statements(of database: Database) throws -> [String] {
        func schema(_ types: String) throws -> [String] {
            try String.fetchAll(
                database,
                sql: """
                    SELECT sql || ';' FROM sqlite_schema
                    WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND type IN (\(types)) ORDER BY type, name
                    """)
        }
        let tables = try String.fetchAll(
            database,
            sql: """
                SELECT name FROM sqlite_schema
                WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name
                """)
        let rows = try tables.flatMap { table in
            let columns = try database.columns(in: table).map { "quote(\"\($0.name)\")" }
            return try String.fetchAll(
                database,
                sql: """
                    SELECT 'INSERT INTO \(table) VALUES (' || \(columns.joined(separator: " || ', ' || ")) || ');'
                    FROM \(table) ORDER BY 1
                    """)
        }
        return try schema("'table'") + rows + schema("'index', 'trigger'")
    }

    private static func source(_ statements: [String]) -> String {
        let text = statements.joined(separator: "\n").split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.isEmpty ? "" : "        \($0)" }.joined(separator: "\n")
        return """
            extension Schema {
                /// All that the migrations make of an empty file, in a tenth of their time. `WholeSchemaTests` holds it to them, and
                /// writes this file.
                static let whole = \"""
            \(text)
                    \"""
            }

            """
    }
}
