internal import SatchelCore
internal import Postgres

extension PostgresSchema {
    /// From one version to the next. It only adds: what an older program doesn't know must not stand in its way. What nobody
    /// needs any more goes with a later version.
    struct Migration: Sendable {
        enum Step: Sendable {
            /// In one transaction.
            case together([String])
            /// An index, made beside others' writes and so outside of a transaction. What is left of an attempt that was cut
            /// off goes first: PostgreSQL would keep it, and never use it.
            case index(String, on: String)
            /// Again and again, until it changes no row.
            case repeated(String)
        }

        var version: Int
        /// The oldest program, by its own schema's version, that may open the records once this has begun.
        var leastNode: Int
        var steps: [Step]
    }

    static let migrations = [
        Migration(version: 1, leastNode: 1, steps: [.together(first)]), calls, categories, notifications,
        responses, search, uploads, console, uploadParts, tenants, callAnswers, encryption, upcoming,
        cluster, sharing,
    ]

    /// For a lock that others' statements would have to wait behind; then it is tried again.
    private static let lockTimeout: Duration = .seconds(2)
    private static let mostAttempts = 100
    private static let lockNotAvailable = "55P03"
    private static let pause: Duration = .milliseconds(500)
    /// Of a step: an index of a large table takes its time.
    private static let limit: Duration = .seconds(86_400)

    /// Makes or updates the schema, beside programs that use it. One at a time does; another waits for it and finds it done.
    /// One that was cut off is gone on with.
    ///
    /// - Throws: `newerSchema`, `unusableDatabase`.
    static func migrate(
        _ parameters: PostgresParameters, with migrations: [Migration] = migrations
    ) async throws(StoreError) {
        // Sessions of their own, as their settings are: one has the row locked while the other works.
        let lock = PostgresPool(parameters, writers: 1, readers: 1)
        let work = PostgresPool(parameters, writers: 1, readers: 1)
        do {
            try await begin(work)
            while try await !alone(lock, { for migration in migrations { try await carryOut(migration, work) } }) {
                try await Task.sleep(for: pause)
            }
            let last = migrations.last?.version ?? 0
            try await check(work, version: last)
            await lock.close()
            await work.close()
        } catch {
            await lock.close()
            await work.close()
            throw error as? StoreError
                ?? .unusableDatabase(reason: (error as? PostgresError)?.description ?? "\(error)")
        }
    }

    /// Does something while nobody else does that.
    ///
    /// - Returns: False where somebody else does it just now. Nobody waits for that in a transaction: an index that is made
    ///   beside others' writes waits for all statements that were begun before.
    private static func alone(_ pool: PostgresPool, _ body: () async throws -> Void) async throws -> Bool {
        try await pool.transaction(within: limit) { transaction in
            do {
                try await transaction.run("SELECT 1 FROM migration FOR UPDATE NOWAIT")
            } catch let error as PostgresError where error.isFailure(lockNotAvailable) {
                return false
            }
            // This also ends the statement before, whose snapshot is kept until the next: an index would wait for it, too.
            try await transaction.run("SET LOCAL idle_in_transaction_session_timeout TO 0")
            try await body()
            return true
        }
    }

    /// Tables that two make at once fail one of them, which finds the other's the next time.
    private static func begin(_ pool: PostgresPool) async throws(PostgresError) {
        let statements = beginning.map { PostgresStatement($0) }
        do {
            _ = try await pool.batch(statements)
        } catch {
            // The row, the table, or the type that each table has.
            let codes = [PostgresFailure.uniqueViolation, "42P07", "42710"]
            guard codes.contains(where: error.isFailure) else { throw error }
            _ = try await pool.batch(statements)
        }
    }

    private static func carryOut(_ migration: Migration, _ pool: PostgresPool) async throws(PostgresError) {
        let row = try await pool.rows("SELECT version, step FROM schema", on: .write).first
        guard try row?.int("version") == migration.version - 1 else { return }
        _ = try await pool.batch([
            PostgresStatement(
                "UPDATE schema SET least_node = greatest(least_node, $1)", [.int(migration.leastNode)])
        ])
        for (index, step) in migration.steps.enumerated().dropFirst(try row?.int("step") ?? 0) {
            try await untilLocked { () throws(PostgresError) in try await carryOut(step, number: index, pool) }
        }
        _ = try await pool.batch([
            PostgresStatement(
                "UPDATE schema SET version = $1, step = 0, at = \(PostgresClock.sql)", [.int(migration.version)])
        ])
    }

    private static func carryOut(
        _ step: Migration.Step, number: Int, _ pool: PostgresPool
    ) async throws(PostgresError) {
        let done = PostgresStatement("UPDATE schema SET step = $1", [.int(number + 1)])
        let timeout = "lock_timeout TO \(lockTimeout.wholeMilliseconds)"
        let own = [PostgresStatement("SET LOCAL statement_timeout TO 0"), PostgresStatement("SET LOCAL \(timeout)")]
        switch step {
        case .together(let statements):
            // An earlier attempt may have been committed, whose answer was lost.
            if try await pool.rows("SELECT step FROM schema", on: .write).first?.int("step") == number + 1 { return }
            _ = try await pool.batch(own + statements.map { PostgresStatement($0) } + [done], within: limit)
        case .index(let name, let columns):
            for setting in ["statement_timeout TO 0", timeout] { _ = try await pool.rows("SET \(setting)", on: .write) }
            for statement in [
                "DROP INDEX CONCURRENTLY IF EXISTS \(name)", "CREATE INDEX CONCURRENTLY \(name) ON \(columns)",
            ] {
                _ = try await pool.rows(statement, on: .write, within: limit)
            }
            _ = try await pool.batch([done])
        case .repeated(let statement):
            while try await pool.batch(own + [PostgresStatement(statement)], within: limit)[2].changes > 0 {}
            _ = try await pool.batch([done])
        }
    }

    /// Again where a lock wasn't to be had in time: meanwhile those have their turn that waited behind.
    private static func untilLocked(
        _ body: () async throws(PostgresError) -> Void
    ) async throws(PostgresError) {
        for attempt in 1...mostAttempts {
            do throws(PostgresError) {
                return try await body()
            } catch {
                guard error.isFailure(lockNotAvailable), attempt < mostAttempts else { throw error }
            }
            try? await Task.sleep(for: pause)
        }
    }
}
