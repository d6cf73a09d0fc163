internal import SatchelCore
internal import Dispatch
internal import Postgres
internal import Synchronization

extension PostgresSchema {
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
    /// - Throws: `developmentStore`, `newerSchema`, `olderNodes`, `unusableDatabase`.
    static func migrate(
        _ parameters: PostgresParameters, with steps: [SchemaStep] = Schema.steps
    ) async throws(StoreError) {
        // Sessions of their own, as their settings are: one has the row locked while the other works.
        let lock = PostgresPool(parameters, writers: 1, readers: 1)
        let work = PostgresPool(parameters, writers: 1, readers: 1)
        do {
            if try await version(in: work).version == 0 { try await begin(work) }
            while try await !alone(lock, { for step in steps { try await carryOut(step, work) } }) {
                try await Task.sleep(for: pause)
            }
            try await check(work, version: steps.last?.version ?? 0)
            await lock.close()
            await work.close()
        } catch {
            await lock.close()
            await work.close()
            throw error as? StoreError ?? (error as? PostgresError).map(StoreError.init)
                ?? .unusableDatabase(reason: "\(error)")
        }
    }

    /// Does something that one program does at a time.
    ///
    /// - Returns: False if another program does it now. The caller must not wait in a transaction, because an index that is
    ///   made beside others' writes waits for all statements that began before.
    private static func alone(
        _ pool: PostgresPool, _ body: @escaping @Sendable () async throws -> Void
    ) async throws -> Bool {
        try await pool.transaction(within: limit) { transaction in
            do {
                try transaction.run("SELECT 1 FROM migration FOR UPDATE NOWAIT")
            } catch let error as PostgresError where error.isFailure(lockNotAvailable) {
                return false
            }
            // This also ends the statement before, whose snapshot is kept until the next: an index would wait for it, too.
            try transaction.run("SET LOCAL idle_in_transaction_session_timeout TO 0")
            // Other connections do this while this thread keeps the row locked.
            let isOver = DispatchSemaphore(value: 0)
            let result = Mutex<Result<Void, any Error>>(.success(()))
            Task {
                do { try await body() } catch { result.withLock { $0 = .failure(error) } }
                isOver.signal()
            }
            isOver.wait()
            try result.withLock(\.self).get()
            return true
        }
    }

    /// Tables that two make at once fail one of them, which finds the other's the next time.
    private static func begin(_ pool: PostgresPool) async throws(PostgresError) {
        let statements = beginning.map { Statement($0) }
        do {
            _ = try await pool.batch(statements)
        } catch {
            // The row, the table, or the type that each table has.
            let codes = [PostgresFailure.uniqueViolation, "42P07", "42710"]
            guard codes.contains(where: error.isFailure) else { throw error }
            _ = try await pool.batch(statements)
        }
    }

    private static func carryOut(_ step: SchemaStep, _ pool: PostgresPool) async throws {
        let row = try await pool.rows("SELECT version, step FROM schema_version", on: .write).first
        guard try row?.int("version") == step.version - 1 else { return }
        // There are no nodes before there are tables.
        let older =
            step.version == 1
            ? "false"
            : """
            EXISTS (SELECT 1 FROM nodes
                WHERE version::int < $1 AND \(PostgresNode.isAlive(within: PostgresNode.Timing().deadAfter)))
            """
        let allowed = try await pool.batch([
            Statement(
                "UPDATE schema_version SET least_node = greatest(least_node, $1) WHERE NOT \(older)",
                [.int(step.leastNode)])
        ])
        guard allowed[0].changes == 1 else { throw StoreError.olderNodes(path: pool.parameters.description) }
        for (index, part) in step.postgres.enumerated().dropFirst(try row?.int("step") ?? 0) {
            try await untilLocked { () throws(PostgresError) in try await carryOut(part, number: index, pool) }
        }
        _ = try await pool.batch([
            Statement(
                "UPDATE schema_version SET version = $1, step = 0, at = \(PostgresClock.sql)", [.int(step.version)])
        ])
    }

    private static func carryOut(
        _ part: SchemaStep.PostgresPart, number: Int, _ pool: PostgresPool
    ) async throws(PostgresError) {
        let done = Statement("UPDATE schema_version SET step = $1", [.int(number + 1)])
        let timeout = "lock_timeout TO \(lockTimeout.wholeMilliseconds)"
        let own = [Statement("SET LOCAL statement_timeout TO 0"), Statement("SET LOCAL \(timeout)")]
        switch part {
        case .together(let statements):
            // An earlier attempt may have been committed, whose answer was lost.
            if try await pool.rows("SELECT step FROM schema_version", on: .write).first?.int("step") == number + 1 {
                return
            }
            _ = try await pool.batch(own + statements.map { Statement($0) } + [done], within: limit)
        case .index(let name, let columns):
            for setting in ["statement_timeout TO 0", timeout] { _ = try await pool.rows("SET \(setting)", on: .write) }
            for statement in [
                "DROP INDEX CONCURRENTLY IF EXISTS \(name)", "CREATE INDEX CONCURRENTLY \(name) ON \(columns)",
            ] {
                _ = try await pool.rows(statement, on: .write, within: limit)
            }
            _ = try await pool.batch([done])
        case .repeated(let statement):
            while try await pool.batch(own + [Statement(statement)], within: limit)[2].changes > 0 {}
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
