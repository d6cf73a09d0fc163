internal import Synchronization

/// Connections to one database: some for writes and some for reads, so that a long read keeps no write waiting. Each is
/// made when it is needed, and made anew when it was lost.
public final class PostgresPool: Sendable {
    public enum Use: Hashable, Sendable {
        case write
        case read
    }

    public let parameters: PostgresParameters
    private let writers: Line
    private let readers: Line
    private let trips = RoundTrips()

    /// How long a batch waits for a server that takes writes, and no attempt follows another sooner than at first.
    public static let patience: Duration = .seconds(5)
    static let firstPause: Duration = .milliseconds(50)
    static let longestPause: Duration = .milliseconds(500)
    /// Attempts at a batch that others got in the way of.
    static let mostAttempts = 8

    /// Of a batch: after that its connection is closed. Longer than the server gives a statement, so that it is the server
    /// that says what took so long.
    public static let deadline: Duration = PostgresParameters.statementTimeout + .seconds(2)

    private let limit: Duration

    /// Round trips so far, for tests of what an operation costs.
    package var roundTrips: Int { trips.count.load(ordering: .relaxed) }

    /// - Parameter limit: Of each attempt at a batch, and of each round trip of a transaction, where it is given none.
    public init(
        _ parameters: PostgresParameters, writers: Int = 4, readers: Int = 2, limit: Duration = deadline
    ) {
        self.parameters = parameters
        self.limit = limit
        self.writers = Line(writers)
        self.readers = Line(readers)
    }

    deinit {
        for connection in writers.takeIdle() + readers.takeIdle() { Task { await connection.close() } }
    }

    /// Closes what is idle now, and what is in use when it is given back.
    public func close() async {
        for connection in writers.close() + readers.close() { await connection.close() }
    }

    // MARK: Batches

    /// Statements as one transaction in one round trip. Done again where a deadlock or a serialization undid it, and where
    /// the connection was lost: so it must come to the same when it is done twice.
    ///
    /// - Parameter limit: Of each attempt.
    public func batch(
        _ statements: [PostgresStatement], on use: Use = .write, within limit: Duration? = nil
    ) async throws(PostgresError) -> [PostgresRows] {
        let limit = limit ?? self.limit
        return try await repeating(on: use) { _, connection throws(PostgresError) in
            trips.add()
            return try await connection.batch(statements, within: limit)
        }
    }

    /// One statement that changes nothing, without a transaction of its own.
    public func rows(
        _ sql: String, _ values: [PostgresValue] = [], on use: Use = .read, within limit: Duration? = nil
    ) async throws(PostgresError) -> PostgresRows {
        let limit = limit ?? self.limit
        return try await repeating(on: use) { _, connection throws(PostgresError) in
            // Behind a pooler the time of a statement is bounded within a transaction only.
            let statement = [PostgresStatement(sql, values)]
            trips.add()
            return try await self.parameters.isPooled
                ? connection.batch(statement, within: limit)[0] : connection.send(statement, within: limit)[0]
        }
    }

    /// Statements that depend on each other's answers, as one transaction; what `body` throws takes it back. Done again as
    /// ``batch(_:on:within:)`` is, where nothing of it stays but its outcome may be unknown.
    ///
    /// - Parameters:
    ///   - limit: Of each round trip.
    ///   - body: What it asks, it asks the transaction that it gets.
    public func transaction<Value: Sendable>(
        _ isolation: PostgresIsolation = .readCommitted, on use: Use = .write, within limit: Duration? = nil,
        _ body: (PostgresTransaction) async throws -> Value
    ) async throws -> Value {
        let limit = limit ?? self.limit
        let result: Result<Value, any Error> = try await repeating(on: use) {
            attempt, connection throws(PostgresError) in
            let transaction = PostgresTransaction(
                connection: connection, limit: limit, mayHaveCommitted: attempt.mayHaveCommitted, trips: trips)
            await connection.begin(isolation)
            do {
                let value = try await body(transaction)
                trips.add()
                try await connection.commit(within: limit)
                return .success(value)
            } catch {
                await connection.rollBack(within: limit)
                if let error = error as? PostgresError { throw error }
                return .failure(error)
            }
        }
        return try result.get()
    }

    struct Attempt {
        var number = 0
        /// The connection was lost while a commit was under way.
        var mayHaveCommitted = false
    }

    private func repeating<Value>(
        on use: Use, _ body: (Attempt, PostgresConnection) async throws(PostgresError) -> Value
    ) async throws(PostgresError) -> Value {
        let line = use == .write ? writers : readers
        let end = ContinuousClock.now + Self.patience
        var attempt = Attempt()
        var pause = Self.firstPause
        while true {
            attempt.number += 1
            do throws(PostgresError) {
                let connection = try await line.take(parameters)
                do throws(PostgresError) {
                    let value = try await body(attempt, connection)
                    await line.giveBack(connection)
                    return value
                } catch {
                    // What a server says that takes no writes any more, it will say again.
                    if case .statement(let failure) = error, failure.isPassing || failure.isOutdated {
                        await connection.close()
                    }
                    await line.giveBack(connection)
                    throw error
                }
            } catch {
                if !error.isOutcomeKnown { attempt.mayHaveCommitted = true }
                let isConflict =
                    if case .statement(let failure) = error { failure.isConflict || failure.isOutdated } else { false }
                // A node that is so busy, or slept, that its first attempt took as long has lost it to the server's own limit.
                let isFirst = if case .connectionLost = error { attempt.number == 1 } else { false }
                let goesOn =
                    isConflict
                    ? attempt.number < Self.mostAttempts : error.isPassing && (isFirst || ContinuousClock.now < end)
                guard goesOn else { throw error }
            }
            // With full jitter, so that those that met don't meet again.
            let most = Int(pause.components.attoseconds / 1_000_000_000_000_000)
            await Self.sleep(.milliseconds(Int.random(in: 1...max(1, most))))
            pause = min(pause * 2, Self.longestPause)
        }
    }

    /// Also for a task that was cancelled: it may have to clean up.
    private static func sleep(_ duration: Duration) async {
        await Task { try? await Task.sleep(for: duration) }.value
    }
}

/// A transaction that is under way.
public struct PostgresTransaction: Sendable {
    let connection: PostgresConnection
    let limit: Duration
    /// Whether an earlier attempt at the same may have been committed, for whoever can tell its own first try.
    public let mayHaveCommitted: Bool
    fileprivate let trips: RoundTrips

    /// Statements that are sent together.
    public func send(_ statements: [PostgresStatement]) async throws(PostgresError) -> [PostgresRows] {
        guard !statements.isEmpty else { return [] }
        trips.add()
        return try await connection.send(statements, within: limit)
    }

    @discardableResult
    public func run(_ sql: String, _ values: [PostgresValue] = []) async throws(PostgresError) -> PostgresRows {
        trips.add()
        return try await connection.send([PostgresStatement(sql, values)], within: limit)[0]
    }
}

/// How often a server was asked.
private final class RoundTrips: Sendable {
    let count = Atomic<Int>(0)

    func add() { count.add(1, ordering: .relaxed) }
}

/// So many connections, and whoever waits for one.
private final class Line: Sendable {
    private struct State {
        var free: Int
        var idle: [PostgresConnection] = []
        var waiting: [CheckedContinuation<Void, Never>] = []
        var isClosed = false
    }

    private let state: Mutex<State>

    init(_ count: Int) {
        state = Mutex(State(free: max(count, 1)))
    }

    /// A connection of one's own, an idle one or a new one.
    func take(_ parameters: PostgresParameters) async throws(PostgresError) -> PostgresConnection {
        await withCheckedContinuation { place in
            let isFree = state.withLock { state in
                guard state.free > 0 else {
                    state.waiting.append(place)
                    return false
                }
                state.free -= 1
                return true
            }
            if isFree { place.resume() }
        }
        while true {
            let (connection, isClosed) = state.withLock { ($0.idle.popLast(), $0.isClosed) }
            if isClosed {
                release()
                throw .closed
            }
            guard let connection else { break }
            if connection.isOpen { return connection }
        }
        do throws(PostgresError) {
            return try await PostgresConnection.connect(parameters)
        } catch {
            release()
            throw error
        }
    }

    func giveBack(_ connection: PostgresConnection) async {
        let isKept = state.withLock { state in
            guard !state.isClosed, connection.isOpen else { return false }
            state.idle.append(connection)
            return true
        }
        if !isKept { await connection.close() }
        release()
    }

    private func release() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.free += 1
            return nil
        }
        next?.resume()
    }

    func takeIdle() -> [PostgresConnection] {
        state.withLock { state in
            defer { state.idle = [] }
            return state.idle
        }
    }

    func close() -> [PostgresConnection] {
        state.withLock { $0.isClosed = true }
        return takeIdle()
    }
}
