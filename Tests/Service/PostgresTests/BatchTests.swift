import Glibc
import Postgres
import PostgresTestSupport
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct BatchTests {
    @Test func `a batch is done whole or not at all`() async throws {
        let database = try Database(Database.numbers)
        let error = await #expect(throws: PostgresError.self) {
            try await database.pool.batch([
                Statement("INSERT INTO numbers VALUES (1)"),
                Statement("INSERT INTO numbers VALUES ($1)", [-1]),
                Statement("INSERT INTO numbers VALUES (2)"),
            ])
        }
        guard case .statement(let failure) = error else { throw Unexpected() }
        #expect(failure.code == PostgresFailure.checkViolation)
        #expect(failure.constraint == "numbers_n_check")
        #expect(failure.sql == "INSERT INTO numbers VALUES ($1)")
        #expect(try database.count() == 0)
        // The connection goes on.
        try await database.pool.insert(3)
        #expect(try database.count() == 1)
    }

    @Test func `no value is in an error`() async throws {
        let database = try Database()
        for (sql, value) in [
            ("SELECT $1::bigint", "tok_secret"), ("SELECT $1::uuid", "tok_secret"), ("SELECT $1::jsonb", "{tok_secret"),
        ] {
            let error = await #expect(throws: PostgresError.self) {
                try await database.pool.rows(sql, [.text(value)])
            }
            #expect(error.map { "\($0)".contains("secret") } == false)
        }
    }

    @Test func `a rule that is checked at the end takes the batch back as well`() async throws {
        let database = try Database(
            "CREATE TABLE numbers (n bigint, UNIQUE (n) DEFERRABLE INITIALLY DEFERRED)")
        let error = await #expect(throws: PostgresError.self) {
            try await database.pool.batch([
                Statement("INSERT INTO numbers VALUES (1)"),
                Statement("INSERT INTO numbers VALUES (1)"),
            ])
        }
        #expect(error?.isFailure(PostgresFailure.uniqueViolation) == true)
        #expect(try database.count() == 0)
    }

    @Test func `a transaction sees what it did, and what its body throws takes it back`() async throws {
        let database = try Database(Database.numbers)
        struct Stop: Error {}
        await #expect(throws: Stop.self) {
            try await database.pool.transaction { transaction in
                try transaction.run("INSERT INTO numbers VALUES (1)")
                let count = try transaction.run("SELECT count(*) AS n FROM numbers")
                #expect(try count.first?.int("n") == 1)
                throw Stop()
            }
        }
        #expect(try database.count() == 0)
        let value = try await database.pool.transaction { transaction in
            try transaction.send([
                Statement("INSERT INTO numbers VALUES (1)"),
                Statement("INSERT INTO numbers VALUES (2)"),
            ]).map(\.changes)
        }
        #expect(value == [1, 1])
        #expect(try database.count() == 2)
    }

    @Test func `a snapshot sees one moment, and changes nothing`() async throws {
        let database = try Database(Database.numbers)
        try await database.pool.transaction(.snapshot, on: .read) { transaction in
            #expect(try transaction.run("SELECT * FROM numbers").isEmpty)
            try database.server.execute("INSERT INTO numbers VALUES (1)", in: database.name)
            #expect(try transaction.run("SELECT * FROM numbers").isEmpty)
        }
        let error = await #expect(throws: PostgresError.self) {
            try await database.pool.transaction(.snapshot) { _ = try $0.run("DELETE FROM numbers") }
        }
        #expect(error?.isFailure("25006") == true)
    }

    @Test func `transactions in a deadlock all come to their end`() async throws {
        let database = try Database(Database.numbers + "; INSERT INTO numbers VALUES (1), (2)")
        let met = Shared(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for order in [[1, 2], [2, 1]] {
                group.addTask {
                    try await database.pool.transaction { transaction in
                        try transaction.run("UPDATE numbers SET word = 'x' WHERE n = $1", [.int(order[0])])
                        met.change { $0 += 1 }
                        // Both hold a row before either wants the other's.
                        while met.value < 2 { sched_yield() }
                        try transaction.run("UPDATE numbers SET word = 'x' WHERE n = $1", [.int(order[1])])
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(met.value > 2, "there was no deadlock")
    }

    @Test func `requests that come while a batch is under way form the next, at most 128`() async throws {
        let database = try Database(Database.numbers)
        let sizes = Mutex<[Int]>([])
        let group = PostgresGroup<Int, Bool>()
        let batch: PostgresGroup<Int, Bool>.Batch = { requests throws(PostgresError) in
            sizes.withLock { $0.append(requests.count) }
            let rows = try await database.pool.batch([
                Statement("SELECT pg_sleep(0.02)"),
                Statement(
                    "INSERT INTO numbers SELECT * FROM unnest($1::bigint[])", [.ints(requests.map { Int64($0) })]),
            ])
            return requests.map { _ in rows[1].changes == requests.count }
        }
        try await withThrowingTaskGroup(of: Bool.self) { tasks in
            for number in 0..<300 { tasks.addTask { try await group(number, by: batch) } }
            for try await isDone in tasks { #expect(isDone) }
        }
        #expect(try database.count() == 300)
        let largest = try #require(sizes.withLock { $0.max() })
        #expect(largest > 1 && largest <= 128)
        // Alone it waits for nobody.
        #expect(try await group(1000, by: batch))
        #expect(sizes.withLock { $0.last } == 1)
    }

    @Test func `of a group only the bad request fails`() async throws {
        let database = try Database(Database.numbers + "; INSERT INTO numbers VALUES (7)")
        let group = PostgresGroup<Int, Int>()
        let batch: PostgresGroup<Int, Int>.Batch = { requests throws(PostgresError) in
            let rows = try await database.pool.batch([
                Statement("SELECT pg_sleep(0.02)"),
                Statement(
                    "INSERT INTO numbers SELECT * FROM unnest($1::bigint[])", [.ints(requests.map { Int64($0) })]),
            ])
            return requests.map { _ in rows[1].changes }
        }
        let failed = await withTaskGroup(of: Int?.self) { tasks in
            for number in [1, -1, 2, 7, 3, 4, 5] {
                tasks.addTask {
                    do {
                        _ = try await group(number, by: batch)
                        return nil
                    } catch {
                        return number
                    }
                }
            }
            return await tasks.reduce(into: []) { $0.append($1) }.compactMap(\.self)
        }
        #expect(Set(failed) == [-1, 7])
        #expect(try database.count() == 6)
    }

    @Test func `behind a pooler nothing of a session is used`() async throws {
        let database = try Database(Database.numbers, isPooled: true)
        for number in 0..<5 { try await database.pool.insert(number) }
        let rows = try await database.pool.batch([
            Statement("SELECT count(*) AS n FROM pg_prepared_statements"),
            Statement("SELECT current_setting('statement_timeout') AS t"),
        ])
        #expect(try rows[0].first?.int("n") == 0)
        #expect(try rows[1].first?.text("t") == "10s")
        let alone = try await database.pool.rows("SELECT current_setting('statement_timeout') AS t")
        #expect(try alone.first?.text("t") == "10s")
    }

    @Test func `statements are prepared once per connection`() async throws {
        let database = try Database(Database.numbers, writers: 1)
        for number in 0..<5 { try await database.pool.insert(number) }
        let rows = try await database.pool.batch([
            Statement(
                "SELECT count(*) AS n FROM pg_prepared_statements WHERE statement LIKE 'INSERT INTO numbers%'")
        ])
        #expect(try rows[0].first?.int("n") == 1)
    }

    @Test func `more users than connections take turns`() async throws {
        let database = try Database(Database.numbers, writers: 2)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for number in 0..<50 { tasks.addTask { try await database.pool.insert(number) } }
            try await tasks.waitForAll()
        }
        #expect(try database.count() == 50)
        let rows = try database.server.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = '\(database.name)'", in: "postgres")
        #expect(rows == [["2"]])
        await database.pool.close()
        await #expect(throws: PostgresError.closed) { try await database.pool.insert(99) }
        try await eventually("the connections are closed") {
            try database.server.execute(
                "SELECT 1 FROM pg_stat_activity WHERE datname = '\(database.name)'", in: "postgres"
            ).isEmpty
        }
    }

    @Test func `a pool that is let go closes its connections`() async throws {
        let server = try PostgresServer.shared()
        let name: String
        do {
            let database = try Database(Database.numbers)
            name = database.name
            try await database.pool.insert(1)
        }
        try await eventually("the connections are closed") {
            try server.execute("SELECT 1 FROM pg_stat_activity WHERE datname = '\(name)'", in: "postgres").isEmpty
        }
    }

    @Test func `who listens hears what is notified, also after the connection was lost`() async throws {
        let database = try Database()
        let heard = Mutex<[String]>([])
        let listener = PostgresListener(database.pool.parameters, to: ["work", "ended"]) { channel in
            heard.withLock { $0.append(channel) }
        }
        func hears(_ channel: String) async throws {
            heard.withLock { $0 = [] }
            _ = try await database.pool.batch([Statement("NOTIFY \(channel)")])
            try await eventually("\(channel) is heard") { heard.withLock { $0.contains(channel) } }
        }
        try await eventually("it listens") { heard.withLock { $0.count } == 2 }
        try await hears("work")
        try await hears("ended")
        heard.withLock { $0 = [] }
        try database.server.execute(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE query LIKE 'LISTEN%' AND datname = current_database()
            """, in: database.name)
        try await eventually("it listens again") { heard.withLock { $0.count } >= 2 }
        try await hears("work")
        withExtendedLifetime(listener) {}
    }

    @Test func `who listens behind a pooler in transaction mode finds out that nothing is passed on`() async throws {
        let database = try Database()
        let pooler = try PgBouncer(before: database.server, connections: 2)
        let pooled = try PostgresParameters(pooler.url(database.name), application: "tests", isPooled: true)
        #expect(try await PostgresListener.receives(database.pool.parameters))
        #expect(try await !PostgresListener.receives(pooled, within: .seconds(1)))
        let heard = Mutex<[String]>([])
        let listener = PostgresListener(pooled, to: ["work"], within: .seconds(1)) { channel in
            heard.withLock { $0.append(channel) }
        }
        try await eventually("it gives up") { listener.status == .fails }
        // As it began: something may have been missed.
        #expect(heard.withLock(\.self) == ["work"])
        withExtendedLifetime((pooler, listener)) {}
    }
}

struct Unexpected: Error {}
