import Glibc
import Postgres
import PostgresTestSupport
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(4))) struct FaultTests {
    @Test func `a connection that the server ends is made anew, and its batch done again`() async throws {
        let database = try Database(Database.numbers, writers: 1)
        try await database.pool.insert(1)
        try database.server.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(database.name)'", in: "postgres")
        try await database.pool.insert(2)
        #expect(try database.count() == 2)
        // In the middle of one.
        let insert = Task {
            try await database.pool.batch([
                Statement("INSERT INTO numbers VALUES (3)"),
                Statement("SELECT pg_sleep(CASE WHEN (SELECT word FROM numbers WHERE n = 1) = '' THEN 60 END)"),
            ])
        }
        try await eventually("it sleeps") {
            try !database.server.execute(
                "SELECT 1 FROM pg_stat_activity WHERE datname = '\(database.name)' AND wait_event = 'PgSleep'",
                in: "postgres"
            ).isEmpty
        }
        try database.server.execute("UPDATE numbers SET word = 'on' WHERE n = 1", in: database.name)
        try database.server.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(database.name)' AND wait_event = 'PgSleep'",
            in: "postgres")
        _ = try await insert.value
        #expect(try database.count() == 3)
    }

    @Test func `writers go on through crashes of the server, and nothing that was acknowledged is lost`() async throws {
        let server = try PostgresServer(isDurable: true)
        let database = try Database(on: server, Database.numbers)
        let acknowledged = Shared<Set<Int>>([])
        let isOver = Shared(false)
        let failures = Shared<[PostgresError]>([])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    var number = writer
                    while !isOver.value {
                        do throws(PostgresError) {
                            // To be repeated: the node names the row.
                            _ = try await database.pool.batch([
                                Statement(
                                    "INSERT INTO numbers VALUES ($1) ON CONFLICT DO NOTHING", [.int(number)])
                            ])
                            acknowledged.change { _ = $0.insert(number) }
                            number += 4
                        } catch {
                            failures.change { $0.append(error) }
                        }
                    }
                }
            }
            for round in 1...3 {
                let before = acknowledged.value.count
                try await eventually("writes go on, \(round)") { acknowledged.value.count > before + 20 }
                try server.crash()
                try server.start()
            }
            let before = acknowledged.value.count
            try await eventually("writes go on") { acknowledged.value.count > before + 20 }
            isOver.change { $0 = true }
            try await group.waitForAll()
        }
        let kept = try Set(
            server.execute("SELECT n FROM numbers", in: database.name).compactMap { $0[0].flatMap { Int($0) } })
        #expect(acknowledged.value.isSubset(of: kept))
        // A busy machine may take longer to recover than a batch waits.
        let lasting = failures.value.filter { !$0.isPassing }
        #expect(lasting == [])
    }

    @Test func `a server that answers nobody is given up at the deadline`() async throws {
        let server = try PostgresServer()
        let database = try Database(on: server, Database.numbers, writers: 1)
        try await database.pool.insert(1)
        try server.pause()
        let begin = ContinuousClock.now
        let error = await #expect(throws: PostgresError.self) {
            try await database.pool.batch([Statement("INSERT INTO numbers VALUES (2)")], within: .seconds(1))
        }
        #expect(error == .timedOut(after: .seconds(1), isOutcomeKnown: false))
        #expect(ContinuousClock.now - begin < .seconds(30))
        try server.resume()
        try await database.pool.insert(3)
        #expect(try database.count() >= 2)
    }

    @Test func `a connection isn't waited for longer than it may take`() async throws {
        let server = try PostgresServer()
        try server.pause()
        let parameters = try PostgresParameters(server.networkURL("postgres", ""), application: "tests")
        let error = #expect(throws: PostgresError.self) { try PostgresConnection.connect(parameters) }
        #expect(error == .unreachable(reason: "no answer within 2 s"))
        try server.resume()
    }

    @Test func `the server ends a statement that takes too long, and a transaction that sleeps`() async throws {
        let database = try Database(Database.numbers, writers: 1)
        let error = await #expect(throws: PostgresError.self) {
            try await database.pool.batch([
                Statement("SET LOCAL statement_timeout = 50"), Statement("SELECT pg_sleep(60)"),
            ])
        }
        #expect(error?.isFailure("57014") == true)
        let settings = try await database.pool.rows(
            """
            SELECT current_setting('statement_timeout') AS s, current_setting('idle_in_transaction_session_timeout') AS i,
                current_setting('application_name') AS a, current_setting('tcp_keepalives_idle') AS k
            """)
        #expect(try settings.first?.text("s") == "10s")
        #expect(try settings.first?.text("i") == "5s")
        #expect(try settings.first?.text("a") == "tests")
    }

    @Test func `a transaction that slept until the server ended it is done again, however long it slept`() async throws
    {
        let database = try Database(Database.numbers, writers: 1)
        let attempts = Shared(0)
        try await database.pool.transaction { transaction in
            _ = try transaction.run("INSERT INTO numbers VALUES (1)")
            attempts.change { $0 += 1 }
            if attempts.value == 1 {
                usleep(UInt32((PostgresPool.patience + .milliseconds(500)) / .microseconds(1)))
            }
            _ = try transaction.run("INSERT INTO numbers VALUES (2)")
        }
        #expect(attempts.value == 2)
        #expect(try database.count() == 2)
    }

    @Test func `without a server a batch waits for one, and then says what would help`() async throws {
        let server = try PostgresServer()
        let database = try Database(on: server, Database.numbers)
        try server.crash()
        let begin = ContinuousClock.now
        let error = await #expect(throws: PostgresError.self) { try await database.pool.insert(1) }
        guard case .unreachable = error else { throw Unexpected() }
        #expect(ContinuousClock.now - begin >= PostgresPool.patience)
    }
}
