internal import Dispatch
internal import Synchronization

/// Threads with a connection each to one database: some for writes and some for reads, so that a long read keeps no write
/// waiting. A connection is made when it is needed, and made anew when it was lost.
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

    /// After so long without an answer, a server that stays connected counts as silent.
    public static let longestSilence: Duration = .seconds(3)

    /// Makes all reads fail while the server is silent, those that wait too.
    public func readers(areCut: Bool) { readers.cut.set(areCut) }

    /// Round trips so far, for tests of what an operation costs.
    package var roundTrips: Int { trips.count.load(ordering: .relaxed) }

    /// - Parameter limit: Of each attempt at a batch, and of each round trip of a transaction, where it is given none.
    public init(
        _ parameters: PostgresParameters, writers: Int = 4, readers: Int = 2, limit: Duration = deadline
    ) {
        self.parameters = parameters
        self.limit = limit
        self.writers = Line(writers, parameters)
        self.readers = Line(readers, parameters)
    }

    /// Closes what is idle now, and what is in use once it is idle.
    public func close() async {
        writers.close()
        readers.close()
    }

    // MARK: Batches

    /// Statements as one transaction in one round trip. Done again where a deadlock or a serialization undid it, and where
    /// the connection was lost: so it must come to the same when it is done twice.
    ///
    /// - Parameter limit: Of each attempt.
    public func batch(
        _ statements: [Statement], on use: Use = .write, within limit: Duration? = nil
    ) async throws(PostgresError) -> [PostgresRows] {
        let limit = limit ?? self.limit
        return try await repeating(on: use, within: limit) { [trips] attempt, connection throws(PostgresError) in
            trips.add()
            return try connection.batch(statements, within: attempt.limit)
        }
    }

    /// One statement that changes nothing, without a transaction of its own.
    public func rows(
        _ sql: String, _ values: [SQLValue] = [], on use: Use = .read, within limit: Duration? = nil
    ) async throws(PostgresError) -> PostgresRows {
        // A pooler bounds the time of a statement only within a transaction.
        let isPooled = parameters.isPooled
        let statement = [Statement(sql, values)]
        return try await repeating(on: use, within: limit ?? self.limit) {
            [trips] attempt, connection throws(PostgresError) in
            trips.add()
            return try isPooled
                ? connection.batch(statement, within: attempt.limit)[0]
                : connection.send(statement, within: attempt.limit)[0]
        }
    }

    /// Statements that depend on each other's answers, as one transaction; what `body` throws takes it back. Done again as
    /// ``batch(_:on:within:)`` is, where nothing of it stays but its outcome may be unknown. It runs to its end whatever
    /// becomes of the calling task.
    ///
    /// - Parameters:
    ///   - limit: Of each round trip.
    ///   - body: What it asks, it asks the transaction that it gets. It blocks a thread of the pool.
    public func transaction<Value: Sendable>(
        _ isolation: PostgresIsolation = .readCommitted, on use: Use = .write, within limit: Duration? = nil,
        _ body: @escaping @Sendable (PostgresTransaction) throws -> Value
    ) async throws -> Value {
        let result: Result<Value, any Error> = try await repeating(on: use, within: limit ?? self.limit) {
            [trips] attempt, connection throws(PostgresError) in
            let transaction = PostgresTransaction(
                connection: connection, limit: attempt.limit, mayHaveCommitted: attempt.mayHaveCommitted, trips: trips)
            connection.begin(isolation)
            do {
                let value = try body(transaction)
                trips.add()
                try connection.commit(within: attempt.limit)
                return .success(value)
            } catch {
                connection.rollBack(within: attempt.limit)
                if let error = error as? PostgresError { throw error }
                return .failure(error)
            }
        }
        return try result.get()
    }

    struct Attempt: Sendable {
        /// The limit of each round trip.
        var limit: Duration
        var number = 0
        /// The connection was lost while a commit was under way.
        var mayHaveCommitted = false
    }

    private func repeating<Value: Sendable>(
        on use: Use, within limit: Duration,
        _ body: @escaping @Sendable (Attempt, PostgresConnection) throws(PostgresError) -> Value
    ) async throws(PostgresError) -> Value {
        let line = use == .write ? writers : readers
        let end = ContinuousClock.now + Self.patience
        var attempt = Attempt(limit: limit)
        var pause = Self.firstPause
        while true {
            attempt.number += 1
            do throws(PostgresError) {
                return try await line.perform(attempt, body)
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
    public func send(_ statements: [Statement]) throws(PostgresError) -> [PostgresRows] {
        guard !statements.isEmpty else { return [] }
        trips.add()
        return try connection.send(statements, within: limit)
    }

    @discardableResult
    public func run(_ sql: String, _ values: [SQLValue] = []) throws(PostgresError) -> PostgresRows {
        try send([Statement(sql, values)])[0]
    }
}

/// How often a server was asked.
private final class RoundTrips: Sendable {
    let count = Atomic<Int>(0)

    func add() { count.add(1, ordering: .relaxed) }
}

/// A thread with a connection of its own.
private final class Seat: Sendable {
    /// A serial queue has a thread of its own while something on it waits.
    let thread = DispatchQueue(label: "satchel.postgres")
    let connection = Mutex<PostgresConnection?>(nil)

    func connection(
        _ parameters: PostgresParameters, unless stop: PollStop
    ) throws(PostgresError) -> PostgresConnection {
        try connection.withLock { connection throws(PostgresError) in
            if let connection, connection.isOpen { return connection }
            let new = try PostgresConnection.connect(parameters, unless: stop)
            connection = new
            return new
        }
    }

    func close() {
        connection.withLock { $0 = nil }
    }
}

/// Some seats, and the work that waits for one.
private final class Line: Sendable {
    /// Returns what tells the answer: once that is told, nothing of the work is held here.
    private typealias Work = @Sendable (Seat) -> @Sendable () -> Void

    private struct State {
        var idle: [Seat]
        var waiting: [Work] = []
        var isClosed = false
    }

    /// Ends what waits for the server.
    let cut = PollStop()
    private let parameters: PostgresParameters
    private let state: Mutex<State>

    init(_ count: Int, _ parameters: PostgresParameters) {
        self.parameters = parameters
        state = Mutex(State(idle: (0..<max(count, 1)).map { _ in Seat() }))
    }

    /// Carries out an attempt on a thread of its own, with that thread's connection. What it waited for a thread counts
    /// toward its limit.
    func perform<Value: Sendable>(
        _ attempt: PostgresPool.Attempt,
        _ body: @escaping @Sendable (PostgresPool.Attempt, PostgresConnection) throws(PostgresError) -> Value
    ) async throws(PostgresError) -> Value {
        let began = ContinuousClock.now
        return try await withCheckedContinuation { continuation in
            let work: Work = { [parameters, cut] seat in
                let result = Result { () throws(PostgresError) in
                    var left = attempt
                    left.limit -= ContinuousClock.now - began
                    do throws(PostgresError) {
                        guard left.limit > .zero, !cut.isSet else {
                            throw .timedOut(after: .zero, isOutcomeKnown: true)
                        }
                        return try body(left, seat.connection(parameters, unless: cut))
                    } catch {
                        guard case .timedOut(_, let isKnown) = error else { throw error }
                        throw .timedOut(
                            after: cut.isSet ? PostgresPool.longestSilence : attempt.limit, isOutcomeKnown: isKnown)
                    }
                }
                // What a server says that takes no writes any more, it will say again.
                if case .failure(.statement(let failure)) = result, failure.isPassing || failure.isOutdated {
                    seat.close()
                }
                return { continuation.resume(returning: result) }
            }
            let (seat, isClosed) = state.withLock { state -> (Seat?, Bool) in
                if state.isClosed { return (nil, true) }
                state.waiting.append(work)
                return (state.idle.popLast(), false)
            }
            if isClosed { return continuation.resume(returning: .failure(.closed)) }
            seat?.thread.async { [self] in
                if let seat { while let answer = next(for: seat)?(seat) { answer() } }
            }
        }.get()
    }

    /// What waits for a seat; nil where nothing does, and the seat is idle.
    private func next(for seat: Seat) -> Work? {
        state.withLock { state in
            if !state.waiting.isEmpty { return state.waiting.removeFirst() }
            if state.isClosed { seat.close() }
            state.idle.append(seat)
            return nil
        }
    }

    func close() {
        let idle = state.withLock { state in
            state.isClosed = true
            return state.idle
        }
        for seat in idle { seat.close() }
    }
}
