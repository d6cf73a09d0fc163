import SatchelCore
import Foundation
import Postgres
import PostgresTestSupport
import TestSupport
import Testing

@testable import Stores

/// The schema in PostgreSQL, over versions.
@Suite struct PostgresSchemaTests {
    typealias Migration = PostgresSchema.Migration

    /// Made up: what a next version may bring, and what one after it that takes something away from older programs.
    private static let next = Migration(
        version: PostgresSchema.version + 1, leastNode: PostgresSchema.version,
        steps: [
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
    private static let contracting = Migration(
        version: PostgresSchema.version + 2, leastNode: PostgresSchema.version + 1,
        steps: [.together(["ALTER TABLE jobs ALTER COLUMN note DROP DEFAULT"])])

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
            try server.execute("SELECT version, step, least_node FROM schema", in: name) == [
                ["\(PostgresSchema.version)", "0", "1"]
            ])
    }

    @Test func `a program works on while its database is migrated to the next version, and beside it`() async throws {
        let fixture = try Fixture(.postgres)
        let database = try fixture.requireDatabase()
        let pool = try pool(database.server, database.name)
        for _ in 0..<5 { _ = try await fixture.records.submit(.sample()) }
        let all = PostgresSchema.migrations + [Self.next]
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

        try await PostgresSchema.migrate(pool.parameters, with: all + [Self.contracting])
        try await PostgresSchema.check(pool, version: Self.next.version)
        await #expect(throws: StoreError.newerSchema(path: pool.parameters.description)) {
            try await PostgresSchema.check(pool)
        }
    }

    @Test func `what was cut off is gone on with where it was`() async throws {
        let fixture = try Fixture(.postgres)
        let database = try fixture.requireDatabase()
        let pool = try pool(database.server, database.name)
        var broken = Self.next
        broken.steps[2] = .repeated("UPDATE jobs SET nothing = 1")
        _ = try await fixture.records.submit(.sample())
        let error = await #expect(throws: StoreError.self) {
            try await PostgresSchema.migrate(pool.parameters, with: PostgresSchema.migrations + [broken])
        }
        #expect(try #require(error?.description).contains("42703"))
        #expect(
            try database.server.execute("SELECT version, step FROM schema", in: database.name) == [
                ["\(PostgresSchema.version)", "2"]
            ])
        await #expect(throws: StoreError.olderSchema(path: pool.parameters.description)) {
            try await PostgresSchema.check(pool, version: Self.next.version)
        }
        try await PostgresSchema.migrate(pool.parameters, with: PostgresSchema.migrations + [Self.next])
        try await PostgresSchema.check(pool, version: Self.next.version)
    }

    @Test func `a migration that has to wait for a lock keeps nobody else waiting for long`() async throws {
        let fixture = try Fixture(.postgres)
        let database = try fixture.requireDatabase()
        let pool = try pool(database.server, database.name)
        let held = Promise()
        let holding = Task {
            try await pool.transaction { transaction in
                try await transaction.run("SET LOCAL idle_in_transaction_session_timeout TO 0")
                try await transaction.run("LOCK TABLE jobs IN ACCESS SHARE MODE")
                await held.wait()
            }
        }
        let migrating = Task {
            try await PostgresSchema.migrate(pool.parameters, with: PostgresSchema.migrations + [Self.next])
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

    /// How programs of the first version speak to the callbacks of jobs: they work on beside the next.
    private enum First {
        static let enqueue = """
            INSERT INTO callbacks (id, tenant, job, generation, url, traceparent, created_at, due_at)
            VALUES ($1, 'acme', $2, 1, 'https://Hook.example/a?b', NULL, 5, 5)
            """
        static let take = """
            WITH wanted AS MATERIALIZED (
                SELECT callbacks.id, line.place FROM unnest($1::text[]) WITH ORDINALITY AS line (id, place)
                    JOIN callbacks ON callbacks.id = line.id
                WHERE callbacks.state = 'pending' AND callbacks.due_at <= $2 FOR UPDATE OF callbacks SKIP LOCKED)
            UPDATE callbacks SET attempt = callbacks.attempt + 1, due_at = $3, underway = true
            FROM wanted JOIN callbacks AS before ON before.id = wanted.id JOIN jobs ON jobs.key = before.job
            WHERE callbacks.id = wanted.id
            RETURNING callbacks.id, jobs.id AS job_id, callbacks.receiver, callbacks.attempt
            """
        static let record = """
            UPDATE callbacks SET state = $2, underway = false, finished_at = $3 WHERE id = $1 AND state = 'pending'
            """
        static let look = """
            SELECT jobs.id, callbacks.state, callbacks.underway FROM jobs
                LEFT JOIN callbacks ON callbacks.job = jobs.key AND callbacks.generation = jobs.generation
            ORDER BY jobs.key
            """
        static let due = "SELECT id FROM callbacks WHERE state = 'pending' ORDER BY id"
        static let forget = """
            DELETE FROM callbacks WHERE id IN (
                SELECT id FROM callbacks WHERE finished_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)
            """
    }

    @Test func `callbacks become calls, and programs of the first version call on`() async throws {
        let server = try PostgresServer.shared()
        let database = RecordDatabase(server: server, name: try server.makeDatabase())
        let old = try pool(server, database.name)
        try await PostgresSchema.migrate(old.parameters, with: [PostgresSchema.migrations[0]])
        try server.execute(
            """
            INSERT INTO profiles (digest, name, body) VALUES ('d', 'archive', '{}');
            INSERT INTO jobs (tenant, id, run, generation, body_digest, profile, mode, priority, metadata, state, created_at,
                finished_at)
            SELECT 'acme', id, '', 1, 'd', 1, 'lenient', 0, '{}', 'failed', 5, 9
            FROM unnest(ARRAY['a', 'b', 'c', 'd']) AS ids (id)
            """, in: database.name)
        func take(_ id: String) async throws -> PostgresRows {
            try await old.rows(First.take, [.texts([id]), 5, 60_000], on: .write)
        }
        /// The states that jobs' callbacks have, to the programs of the first version.
        func states() async throws -> [String] {
            try await old.rows(First.look).map { try $0.optionalText("state") ?? "-" }
        }
        for (key, id) in ["a", "b", "c"].enumerated() {
            _ = try await old.rows(First.enqueue, [.text(id), .int(key + 1)], on: .write)
        }
        #expect(try await take("a").first?.text("receiver") == "https://hook.example")
        _ = try await old.rows(First.record, ["b", "delivered", 9], on: .write)
        _ = try await old.rows(First.record, ["c", "failed", 9], on: .write)
        #expect(try await states() == ["pending", "delivered", "failed", "-"])

        try await PostgresSchema.migrate(old.parameters)
        try await PostgresSchema.check(old, version: 1)
        #expect(try await states() == ["pending", "delivered", "failed", "-"])
        let store = try database.open(bytesIn: try StoreMemory(), TestClock())
        let acme = TenantID(rawValue: "acme")
        let calls = try await store.records.calls(of: acme, where: CallFilter(), after: nil, limit: 9).elements
        #expect(calls.map(\.id) == ["c", "b", "a"] && calls.allSatisfy { $0.type == .jobFinished })
        #expect(calls.map(\.content) == ["c", "b", "a"].map { .job(JobID(rawValue: $0)) })
        #expect(calls.map(\.report.state) == [.failed, .delivered, .waiting] && calls[2].report.attempts == 1)

        // Side by side: each sees what the other does about jobs, and the older nothing else.
        _ = try await old.rows(First.enqueue, ["d", 4], on: .write)
        try await store.records.enqueue(.sample("message", tenant: acme))
        #expect(try await old.rows(First.due).map { try $0.text("id") } == ["a", "d"])
        #expect(try await take("message").isEmpty)
        let taken = try await take("d")
        #expect(try taken.first?.int("attempt") == 1 && taken.first?.text("job_id") == "d")
        let due = try await store.records.dueWebhooks(10, for: .seconds(60))
        #expect(Set(due.map(\.id)) == ["a", "d", "message"], "the time of those who had the others in hand is over")
        for call in due { try await store.records.record(.delivered, of: call) }
        #expect(try await states() == ["delivered", "delivered", "failed", "delivered"])
        #expect(try await old.rows(First.forget, [9, 10], on: .write).changes == 2)
        #expect(try await store.records.calls(of: acme, where: CallFilter(), after: nil, limit: 9).elements.count == 3)
    }

    @Test func `a standby is named as one that takes no writes`() async throws {
        let server = try PostgresServer(settings: ["default_transaction_read_only=on"])
        let pool = try pool(server, "postgres")
        let error = await #expect(throws: StoreError.self) { try await PostgresSchema.check(pool) }
        #expect(error?.description == PostgresError.readOnly.description)
    }

    /// What is waited for until a test says so.
    private final class Promise: Sendable {
        private let stream = AsyncStream.makeStream(of: Void.self)

        func keep() { stream.continuation.finish() }

        func wait() async { for await _ in stream.stream {} }
    }
}
