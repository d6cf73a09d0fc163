import SatchelCore
import Foundation
import Postgres
import PostgresTestSupport
import TestSupport
import Testing

@testable import Stores

/// The schema in PostgreSQL, over versions.
@Suite struct PostgresSchemaTests {
    /// Made up: what a next version may bring, and what one after it that takes something away from older programs.
    private static let next = SchemaStep(
        version: Schema.version + 1, summary: "Adds notes to jobs.", leastNode: Schema.version, sqlite: "",
        postgres: [
            // What an older program writes has a value too.
            .together([
                "ALTER TABLE jobs ADD COLUMN note text", "ALTER TABLE jobs ALTER COLUMN note SET DEFAULT 'new'",
            ]),
            .index("jobs_by_note", on: "jobs (note)"),
            .repeated(
                """
                UPDATE jobs SET note = id WHERE (tenant, key) IN (
                    SELECT tenant, key FROM jobs WHERE note IS NULL ORDER BY key LIMIT 2)
                """),
            .together([
                "ALTER TABLE jobs ADD CONSTRAINT jobs_have_notes CHECK (note <> '') NOT VALID",
                "ALTER TABLE jobs VALIDATE CONSTRAINT jobs_have_notes",
            ]),
        ])
    private static let contracting = SchemaStep(
        version: Schema.version + 2, summary: "Takes away the default.", leastNode: Schema.version + 1, sqlite: "",
        postgres: [.together(["ALTER TABLE jobs ALTER COLUMN note DROP DEFAULT"])])

    private func pool(_ server: PostgresServer, _ database: String) throws -> PostgresPool {
        PostgresPool(try PostgresParameters(server.url(database), application: "tests"))
    }

    @Test func `what is made is what the tests use, whoever makes it, and once`() async throws {
        let server = try PostgresServer.shared()
        let name = try server.makeDatabase()
        let pool = try pool(server, name)
        await #expect(throws: StoreError.noSchema(path: pool.parameters.description)) {
            try await PostgresSchema.check(pool)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 { group.addTask { try await PostgresSchema.migrate(pool.parameters) } }
            try await group.waitForAll()
        }
        try await PostgresSchema.check(pool)
        let columns =
            "SELECT table_name, column_name, data_type FROM information_schema.columns "
            + "WHERE table_schema = 'public' ORDER BY 1, 2"
        #expect(try server.execute(columns, in: name) == server.execute(columns, in: RecordDatabase().name))
        #expect(
            try server.execute("SELECT version, step, least_node FROM schema_version", in: name) == [
                ["\(Schema.version)", "0", "1"]
            ])
    }

    @Test func `a program works on while its database is migrated to the next version, and beside it`() async throws {
        let fixture = try Fixture(.postgres)
        let database = try fixture.requireDatabase()
        let pool = try pool(database.server, database.name)
        for _ in 0..<5 { _ = try await fixture.records.submit(.sample()) }
        let all = Schema.steps + [Self.next]
        let working = Task { [records = fixture.records] in
            var count = 0
            while !Task.isCancelled {
                _ = try await records.submit(.sample())
                count += 1
            }
            return count
        }
        try await PostgresSchema.migrate(pool.parameters, with: all)
        working.cancel()
        let count = try await working.value
        // The old program and the new one.
        try await PostgresSchema.check(pool)
        try await PostgresSchema.check(pool, version: Self.next.version)
        #expect(
            try database.server.execute("SELECT count(*) FROM jobs WHERE note = id", in: database.name)[0][0]
                .flatMap { Int($0) } ?? 0 >= 5)
        let claim = try await fixture.claim()
        let blob = try await fixture.store.commit("text")
        _ = try await fixture.records.deliver([.delivered(claim.attachments[0], [.main: blob])], under: claim)
        let jobs = try await fixture.records.statistics().queues.values.reduce(0) { $0 + $1.pending }
        #expect(jobs == 4 + count)
    }

    @Test func `what was cut off is gone on with where it was`() async throws {
        let fixture = try Fixture(.postgres)
        let database = try fixture.requireDatabase()
        let pool = try pool(database.server, database.name)
        var broken = Self.next
        broken.postgres[2] = .repeated("UPDATE jobs SET nothing = 1")
        _ = try await fixture.records.submit(.sample())
        let error = await #expect(throws: StoreError.self) {
            try await PostgresSchema.migrate(pool.parameters, with: Schema.steps + [broken])
        }
        #expect(try #require(error?.description).contains("42703"))
        #expect(
            try database.server.execute("SELECT version, step FROM schema_version", in: database.name) == [
                ["\(Schema.version)", "2"]
            ])
        await #expect(throws: StoreError.olderSchema(path: pool.parameters.description)) {
            try await PostgresSchema.check(pool, version: Self.next.version)
        }
        try await PostgresSchema.migrate(pool.parameters, with: Schema.steps + [Self.next])
        try await PostgresSchema.check(pool, version: Self.next.version)
    }

    @Test func `a migration that has to wait for a lock keeps nobody else waiting for long`() async throws {
        let fixture = try Fixture(.postgres)
        let database = try fixture.requireDatabase()
        let pool = try pool(database.server, database.name)
        let held = Promise()
        let holding = Task {
            try await pool.holding([
                "SET LOCAL idle_in_transaction_session_timeout TO 0", "LOCK TABLE jobs IN ACCESS SHARE MODE",
            ]) {
                await held.wait()
            }
        }
        let migrating = Task {
            try await PostgresSchema.migrate(pool.parameters, with: Schema.steps + [Self.next])
        }
        try await eventually("the migration waits", within: .seconds(300)) {
            try database.server.execute(
                "SELECT 1 FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock'", in: database.name
            ).count == 1
        }
        // Waits behind the migration, until that gives way.
        _ = try await fixture.records.submit(.sample())
        held.keep()
        try await holding.value
        try await migrating.value
        try await PostgresSchema.check(pool, version: Self.next.version)
    }

    @Test func `a step that older nodes can't work beside waits until none of them lives`() async throws {
        let database = try RecordDatabase()
        let pool = try pool(database.server, database.name)
        let all = Schema.steps + [Self.next, Self.contracting]
        var node: Store? = try database.open(
            bytesIn: StoreMemory(), TestClock(), timing: PostgresNode.Timing(heartbeat: .milliseconds(100)))
        await node?.records.join(as: .all)
        try await eventually("it lives", within: .seconds(300)) {
            try !database.server.execute("SELECT 1 FROM nodes", in: database.name).isEmpty
        }
        await #expect(throws: StoreError.olderNodes(path: pool.parameters.description)) {
            try await PostgresSchema.migrate(pool.parameters, with: all)
        }
        // The step before was taken, and the node works on.
        try await PostgresSchema.check(pool)
        try await PostgresSchema.check(pool, version: Self.next.version)
        node = nil
        try await eventually("its last heartbeat is gone", within: .seconds(300)) {
            try database.killNodes()
            do {
                try await PostgresSchema.migrate(pool.parameters, with: all)
                return true
            } catch StoreError.olderNodes {
                return false
            }
        }
        try await PostgresSchema.check(pool, version: Self.next.version)
        await #expect(throws: StoreError.newerSchema(path: pool.parameters.description)) {
            try await PostgresSchema.check(pool)
        }
    }

    @Test func `a database of a development version is refused, and stays as it is`() async throws {
        let server = try PostgresServer.shared()
        let name = try server.makeDatabase()
        let pool = try pool(server, name)
        try server.execute(
            "CREATE TABLE schema (only_row int, version int, step int, least_node int, at bigint)", in: name)
        let refusal = StoreError.developmentStore(path: pool.parameters.description)
        await #expect(throws: refusal) { try await PostgresSchema.check(pool) }
        await #expect(throws: refusal) { try await PostgresSchema.migrate(pool.parameters) }
        #expect(
            try server.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'", in: name) == [["schema"]])
    }

    @Test func `a plan names the steps that are missing`() async throws {
        let server = try PostgresServer.shared()
        let database = RecordDatabase(server: server, name: try server.makeDatabase())
        let place = try StoreDatabase(database.url)
        #expect(try await Store.upgradePlan(of: place).steps.map(\.version) == Array(1...Schema.version))
        #expect(try database.dump().isEmpty)
        try await Store.migrate(place)
        #expect(try await Store.upgradePlan(of: place) == SchemaPlan(from: Schema.version))
    }

    @Test func `a standby is named as one that takes no writes`() async throws {
        let server = try PostgresServer(settings: ["default_transaction_read_only=on"])
        let pool = try pool(server, "postgres")
        let error = await #expect(throws: StoreError.self) { try await PostgresSchema.check(pool) }
        #expect(error?.description == PostgresError.readOnly.description)
    }
}
