import SatchelCore
import GRDB
import PostgresTestSupport
import TestSupport
import Testing

@testable import Stores

/// The rules hold even where the code is wrong: these tests go around it.
@Suite struct SchemaTests {
    @Test func `commits are durable, and foreign keys hold`() async throws {
        let fixture = try Fixture()
        let settings = try await fixture.sqlite.connections.writeWithoutTransaction { database in
            try ["journal_mode", "synchronous", "foreign_keys", "secure_delete"].map { name in
                try String.fetchOne(database, sql: "PRAGMA \(name)")
            }
        }
        #expect(settings == ["wal", "2", "1", "2"])
    }

    @Test(arguments: [
        "UPDATE jobs SET generation = 0",
        "UPDATE queue SET claim = NULL WHERE state = 'running'",
        "UPDATE queue SET node = NULL WHERE state = 'running'",
        "UPDATE jobs SET state = 'lost'",
        "UPDATE jobs SET state = 'delivered'",
        "UPDATE jobs SET tenant = 'other'",
        "UPDATE attachments SET tenant = 'other'",
        "UPDATE attachments SET state = 'delivered'",
        "UPDATE blobs SET refs = -1",
        "DELETE FROM blobs",
        "UPDATE renditions SET role = 'other'",
        "INSERT INTO store VALUES (2, 0)",
        "INSERT INTO attachments (tenant, id, job, run, generation, ordinal, identifier, state, details, created_at) SELECT 'other', 'x', key, '', 9, 0, 'x', 'pending', '{}', 0 FROM jobs",
        "UPDATE access SET lease_limit = NULL WHERE kind = 'grant'",
        "INSERT INTO calls (id, tenant, type, url, receiver, created_at, due_at) VALUES ('x', 'other', 'job.finished', 'https://a.example', '', 0, 0)",
        "UPDATE calls SET state = 'pending' WHERE state = 'cancelled'",
        "INSERT INTO response_sessions VALUES ('abcdefghijklmnopqrstuv', 'x', '{}')",
        "INSERT INTO responses SELECT tenant, 9, notification, ticket, id, session, firing, is_preview, received_at, record FROM responses",
        "INSERT INTO responses SELECT tenant, place, notification, ticket, 'x', session, firing, is_preview, received_at, record FROM responses",
        "UPDATE responses SET place = 0",
        "UPDATE attachments SET code = 'corrupt' WHERE state <> 'failed'",
        "INSERT INTO tallies VALUES ('local', 60001, 'quick', 'delivered', '', 0, 1, '', '')",
        "INSERT INTO tallies VALUES ('local', 60000, 'quick', 'failed', '', 0, 1, '', '')",
        "INSERT INTO tallies VALUES ('local', 60000, 'quick', 'delivered', '', 0, 0, '', '')",
    ])
    func `what breaks a rule is refused`(statement: String) async throws {
        let fixture = try Fixture()
        let attachment = try await fixture.store.deliver([.main: "text"])
        _ = try await fixture.sqlite.submit([.sample()], SubmissionOptions())
        _ = try await fixture.claim()
        try await fixture.sqlite.enqueue(.sample("message", subject: "subject"))
        try await fixture.sqlite.cancelCalls(of: "subject", tenant: .local)
        let granted = try await fixture.sqlite.grant(
            on: attachment.id, in: .owner(.local), renditions: nil, for: .seconds(60), leaseLimit: 3)
        let (_, token) = try #require(granted)
        _ = try await fixture.sqlite.startLease(in: .bearer(token), renditions: nil, for: .seconds(60))
        try await fixture.sqlite.putNotification()
        let (ticket, _) = try await fixture.sqlite.newTicket()
        try await fixture.sqlite.fireNotification(opening: ticket)
        _ = try await fixture.sqlite.take(.sample(1), by: ticket)
        _ = try await fixture.sqlite.settle(.sample(1), by: ticket, ResponseSettlement(answer: nil))
        #expect(try await fixture.sqlite.remove(NotificationID(rawValue: "a"), of: .local, from: .delivered))
        await #expect(throws: DatabaseError.self) {
            try await fixture.sqlite.connections.write { try $0.execute(sql: statement) }
        }
    }

    @Test func `every statement of a full store is found by an index, however much there is`() async throws {
        let fixture = try Fixture()
        _ = try await StoreCopyTests.fill(fixture.store, fixture.clock)
        let engine = fixture.sqlite.file
        // Of few rows, or looked through by a sweep and by hand.
        let small = ["profiles", "counters", "virtual_time", "store", "run_nodes", "upload_usage", "usage"]
        let tables = try await engine.connections.read { database in
            try String.fetchAll(database, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
        }
        for (text, isOfOne) in engine.statements.all.flatMap({ [($0, false), ($0, true)] }) {
            let plan = try await engine.connections.read { database in
                let statement = SQLiteStatement(text, isOfOne: isOfOne)
                let nothing = [DatabaseValue](repeating: .null, count: statement.count)
                return try Row.fetchAll(
                    database, sql: "EXPLAIN QUERY PLAN " + statement.sql, arguments: StatementArguments(nothing)
                ).map { $0["detail"] as String }
            }
            for step in plan where step.hasPrefix("SCAN") {
                let name = String(step.split(separator: " ")[1])
                let isLarge = tables.contains(name) && !small.contains(name)
                #expect(!isLarge || step.contains("INDEX"), "\(text): \(step)")
            }
        }
    }

    @Test func `PostgreSQL prepares every statement of a full store in SQLite`() async throws {
        let filled = try await FilledStore.filled(20)
        for question in Question.all.values.flatMap(\.self) { try await question.ask(filled) }
        let fixture = try Fixture()
        _ = try await StoreCopyTests.fill(fixture.store, fixture.clock)
        let texts = filled.fixture.sqlite.file.statements.all.union(fixture.sqlite.file.statements.all)
        #expect(texts.count > 200)
        let database = try RecordDatabase()
        // These two functions stand for what each engine says in its own way.
        for text in texts where !["add_bins(", "node_lives("].contains(where: text.contains) {
            #expect(throws: Never.self) {
                try database.server.execute("PREPARE one AS \(text); DEALLOCATE one", in: database.name)
            }
        }
    }

    @Test func `a table has numbers of rows where its key is one number, and none otherwise`() async throws {
        let fixture = try Fixture()
        try await fixture.sqlite.file.connections.read { database in
            let tables = try Row.fetchAll(
                database, sql: "SELECT name, wr, strict FROM pragma_table_list WHERE name NOT LIKE 'sqlite_%'")
            #expect(tables.count > 20)
            for table in tables {
                let (name, hasNone, isStrict): (String, Bool, Bool) = (table["name"], table["wr"], table["strict"])
                let key = try String.fetchAll(
                    database, sql: "SELECT type FROM pragma_table_info(?) WHERE pk > 0", arguments: [name])
                #expect(hasNone == (key != ["INTEGER"]) && isStrict, "\(name)")
            }
        }
    }

    @Test func `the columns of a key come first, else SQLite's check finds faults where there are none`() async throws {
        let fixture = try Fixture()
        try await fixture.sqlite.file.connections.read { database in
            let tables = try String.fetchAll(
                database, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%WITHOUT ROWID%'")
            #expect(tables.count > 20)
            for table in tables {
                let key = try database.primaryKey(table).columns
                #expect(try database.columns(in: table).prefix(key.count).map(\.name) == key, "\(table)")
            }
        }
    }
}
