internal import CPostgres
internal import Dispatch
internal import Synchronization

/// A connection to a PostgreSQL server in pipeline mode: what belongs together is sent together, and nothing waits but
/// tasks. One batch or transaction at a time: a ``PostgresPool`` gives it to one user after the other.
public actor PostgresConnection {
    private nonisolated let executor = QueueExecutor(label: "satchel.postgres")
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    private let parameters: PostgresParameters
    private var link = PostgresLink()
    private var watch: SocketWatch?
    private var exchange: Exchange?
    private var prepared: [String: String] = [:]
    /// Sent with the next statements: what opens a transaction.
    private var prelude: PostgresStatement?
    /// While it is being connected: what is waited for, and who is told.
    private var polled: (any DispatchSourceProtocol)?
    private var connecting: CheckedContinuation<PostgresError?, Never>?
    private var handler: (@Sendable (String) -> Void)?
    private nonisolated let open = Atomic<Bool>(false)

    /// Statements that a connection keeps prepared; what comes after is sent whole each time.
    private static let mostPrepared = 256

    /// What is sent and not yet answered.
    private struct Exchange {
        enum Expected {
            case preparation(sql: String)
            case statement(index: Int)
            case sync
        }

        let deadline: ContinuousClock.Instant
        let limit: Duration
        let statements: [PostgresStatement]
        let commits: Bool
        var expected: [Expected]
        /// Of those, answered.
        var done = 0
        var rows: [PostgresRows]
        var error: PostgresError?
        let answer: CheckedContinuation<Result<[PostgresRows], PostgresError>, Never>
    }

    /// For the names of statements.
    private var exchanges = 0
    private var isTicking = false

    private init(_ parameters: PostgresParameters) {
        self.parameters = parameters
    }

    /// Connects to the first of the hosts that takes writes.
    ///
    /// - Throws: Why the last of them didn't, or the first that refused for a reason that waiting won't change.
    public static func connect(_ parameters: PostgresParameters) async throws(PostgresError) -> PostgresConnection {
        var failure = PostgresError.unreachable(reason: "there is no host")
        for host in parameters.hosts {
            let connection = PostgresConnection(parameters)
            do throws(PostgresError) {
                try await connection.connect(host)
                return connection
            } catch {
                await connection.close()
                failure = error
                if !error.isPassing, parameters.hosts.count == 1 { break }
            }
        }
        throw failure
    }

    /// Whether it can be used, as far as is known.
    public nonisolated var isOpen: Bool { open.load(ordering: .acquiring) }

    /// Whether a transaction was begun that hasn't ended.
    var isInTransaction: Bool { prelude == nil && link.isInTransaction }

    /// The number of the server's process, as `pg_terminate_backend` wants it.
    public var processID: Int32 { link.processID }

    /// Closes the connection; what is under way fails.
    public func close() {
        close(because: .closed)
    }

    // MARK: Statements

    /// Statements that become one transaction, in one round trip: all or none.
    ///
    /// - Parameter limit: After that the connection is closed.
    /// - Returns: Of each statement its rows.
    public func batch(
        _ statements: [PostgresStatement], within limit: Duration
    ) async throws(PostgresError) -> [PostgresRows] {
        begin()
        do throws(PostgresError) {
            let rows = try await send(statements + [Self.commit], within: limit)
            return Array(rows.dropLast())
        } catch {
            await rollBack(within: limit)
            throw error
        }
    }

    private static let commit = PostgresStatement("COMMIT")

    /// Has the next statements begin a transaction.
    func begin(_ isolation: PostgresIsolation = .readCommitted) {
        prelude = PostgresStatement(isolation.sql)
    }

    func commit(within limit: Duration) async throws(PostgresError) {
        // Nothing was asked, so nothing was begun.
        guard prelude == nil else { return prelude = nil }
        _ = try await send([Self.commit], within: limit)
    }

    func rollBack(within limit: Duration) async {
        prelude = nil
        guard isOpen, link.isInTransaction else { return }
        // What can't be taken back ends with the connection.
        do { _ = try await send([PostgresStatement("ROLLBACK")], within: limit) } catch { close(because: error) }
    }

    /// Sends statements and waits for all their answers. Without a transaction that was begun they are one by themselves.
    func send(
        _ statements: [PostgresStatement], within limit: Duration
    ) async throws(PostgresError) -> [PostgresRows] {
        guard isOpen else { throw .connectionLost(reason: "it was closed before", isOutcomeKnown: true) }
        precondition(exchange == nil, "one batch at a time")
        var all = statements
        if let first = prelude {
            prelude = nil
            all.insert(first, at: 0)
            if parameters.isPooled {
                let local = PostgresParameters.timeouts.map { name, duration in
                    PostgresStatement("SET LOCAL \(name) = \(duration.components.seconds * 1000)")
                }
                all.insert(contentsOf: local, at: 1)
            }
        }
        let added = all.count - statements.count
        var values: [[(bytes: [UInt8], isBinary: Bool)?]] = []
        for statement in all {
            var own: [(bytes: [UInt8], isBinary: Bool)?] = []
            for value in statement.values { own.append(try value.wire()) }
            values.append(own)
        }
        let result = await withCheckedContinuation { answer in
            exchanges += 1
            exchange = Exchange(
                deadline: .now + limit, limit: limit, statements: all,
                commits: all.contains { $0.sql == Self.commit.sql }, expected: [],
                rows: Array(repeating: PostgresRows(), count: all.count), answer: answer)
            dispatch(all, values)
            tick()
        }
        return Array(try result.get().dropFirst(added))
    }

    private func dispatch(_ statements: [PostgresStatement], _ values: [[(bytes: [UInt8], isBinary: Bool)?]]) {
        var expected: [Exchange.Expected] = []
        for (index, statement) in statements.enumerated() {
            var name = parameters.isPooled ? nil : prepared[statement.sql]
            if name == nil, !parameters.isPooled, prepared.count < Self.mostPrepared {
                let new = "s\(prepared.count)_\(exchanges)"
                guard link.prepare(statement.sql, as: new) else { return lose() }
                prepared[statement.sql] = new
                expected.append(.preparation(sql: statement.sql))
                name = new
            }
            guard link.send(statement, as: name, values[index]) else { return lose() }
            expected.append(.statement(index: index))
        }
        guard link.sync() else { return lose() }
        expected.append(.sync)
        exchange?.expected = expected
        flush()
    }

    /// Looks at the deadline, and at the socket: where a server is killed, sources of dispatch on Linux were seen to miss a
    /// hang-up that comes together with data.
    private func tick() {
        guard !isTicking else { return }
        isTicking = true
        executor.queue.asyncAfter(deadline: .now() + Self.interval) { [weak self] in
            self?.assumeIsolated { $0.look() }
        }
    }

    private static let interval = DispatchTimeInterval.milliseconds(50)

    private func look() {
        isTicking = false
        guard isOpen, exchange != nil || handler != nil else { return }
        read()
        if let exchange, exchange.deadline <= .now {
            close(because: .timedOut(after: exchange.limit, isOutcomeKnown: !exchange.commits))
        }
        if isOpen { tick() }
    }

    // MARK: The socket

    /// Where there is no room, libpq reads so that the server gets on: what it read then may be all that comes.
    private func flush() {
        guard isOpen else { return }
        guard let isLeft = link.flush() else { return lose() }
        watch?.isWritingWatched = isLeft
        takeAnswers()
    }

    /// While something is to be sent it is read as well: a server that nobody reads from takes nothing more.
    private func read() {
        guard isOpen else { return }
        let isThere = link.consume()
        takeAnswers()
        guard isThere else { return lose() }
        if watch?.isWritingWatched ?? false { flush() }
        while let channel = link.notification() { handler?(channel) }
    }

    private func takeAnswers() {
        while let exchange, exchange.done < exchange.expected.count, isOpen, !link.isBusy {
            let expected = exchange.expected[exchange.done]
            guard let answer = link.next() else {
                // The end of a statement's answers; a sync has none.
                if case .sync = expected { return lose() }
                self.exchange?.done += 1
                continue
            }
            take(answer, of: expected)
        }
    }

    private func take(_ answer: PostgresAnswer, of expected: Exchange.Expected) {
        switch (answer.status, expected) {
        case (PGRES_PIPELINE_SYNC, .sync):
            guard let exchange else { return }
            self.exchange = nil
            exchange.answer.resume(returning: exchange.error.map { .failure($0) } ?? .success(exchange.rows))
        case (PGRES_TUPLES_OK, .statement(let index)), (PGRES_COMMAND_OK, .statement(let index)):
            exchange?.rows[index] = PostgresRows(answer)
        case (PGRES_COMMAND_OK, .preparation): break
        case (_, .preparation(let sql)):
            prepared[sql] = nil
            note(answer, of: sql)
        case (_, .statement(let index)): note(answer, of: exchange?.statements[index].sql ?? "")
        default: lose()
        }
    }

    /// The first error is the cause; what comes after it was not done.
    private func note(_ answer: PostgresAnswer, of sql: String) {
        guard answer.status == PGRES_FATAL_ERROR, exchange?.error == nil else { return }
        exchange?.error = .statement(answer.failure(of: sql))
    }

    /// The connection is gone. What the server said last is its reason, where it said something.
    private func lose() {
        let reason = PostgresError.clause(
            link.message.split(separator: "\n").first { !$0.isEmpty }.map { String($0) } ?? "it was closed")
        close(because: .connectionLost(reason: reason, isOutcomeKnown: !(exchange?.commits ?? false)))
    }

    private func close(because error: PostgresError) {
        open.store(false, ordering: .releasing)
        if let exchange {
            self.exchange = nil
            exchange.answer.resume(returning: .failure(error))
        }
        handler?("")
        handler = nil
        watch = nil
        link = PostgresLink()
    }

    // MARK: Connecting

    /// From step to step on the queue alone: a task would have to wait for a thread of its own between two, however little
    /// time is left.
    private func connect(_ options: [String: String]) async throws(PostgresError) {
        link = PostgresLink(options)
        if link.isBad { throw PostgresError(connecting: link.message) }
        let error: PostgresError? = await withCheckedContinuation { answer in
            connecting = answer
            executor.queue.asyncAfter(deadline: .now() + parameters.patience.interval) { [weak self] in
                self?.assumeIsolated { connection in
                    let reason = "no answer within \(connection.parameters.patience.components.seconds) s"
                    connection.endConnecting(with: .unreachable(reason: reason))
                }
            }
            // As if it had said that it wants to write.
            wait(toRead: false)
        }
        if let error { throw error }
        guard link.version >= PostgresParameters.oldestVersion else { throw .tooOld(version: link.version) }
        guard link.enterPipeline() else { throw .unreachable(reason: "it knows no pipeline") }
        watch = SocketWatch(
            link.socket, on: executor.queue,
            read: { [weak self] in self?.assumeIsolated { $0.read() } },
            write: { [weak self] in self?.assumeIsolated { $0.flush() } })
        guard watch != nil else { throw .unreachable(reason: "there are no more descriptors") }
        open.store(true, ordering: .releasing)
    }

    private func endConnecting(with error: PostgresError?) {
        guard let answer = connecting else { return }
        connecting = nil
        polled?.cancel()
        polled = nil
        answer.resume(returning: error)
    }

    /// Waits for the socket, which libpq may close afterwards: so each time with a source of its own, that has let go of it
    /// before libpq goes on.
    private func wait(toRead: Bool) {
        let source: any DispatchSourceProtocol =
            toRead
            ? DispatchSource.makeReadSource(fileDescriptor: link.socket, queue: executor.queue)
            : DispatchSource.makeWriteSource(fileDescriptor: link.socket, queue: executor.queue)
        source.setEventHandler { source.cancel() }
        source.setCancelHandler { [weak self] in self?.assumeIsolated { $0.goOnConnecting() } }
        polled = source
        source.resume()
    }

    private func goOnConnecting() {
        guard connecting != nil else { return }
        switch link.poll() {
        case PGRES_POLLING_OK: endConnecting(with: nil)
        case PGRES_POLLING_READING: wait(toRead: true)
        case PGRES_POLLING_WRITING: wait(toRead: false)
        default: endConnecting(with: PostgresError(connecting: link.message))
        }
    }

    // MARK: Listening

    /// Has `handler` called with the channel of each notification, on the connection's queue, and with an empty name when the
    /// connection is gone.
    func listen(to channels: [String], _ handler: @escaping @Sendable (String) -> Void) async throws(PostgresError) {
        self.handler = handler
        tick()
        _ = try await send(
            channels.map { PostgresStatement("LISTEN \"\($0)\"") }, within: PostgresParameters.statementTimeout)
    }
}

/// What a transaction sees of others.
public enum PostgresIsolation: Hashable, Sendable {
    /// Each statement what was committed before it.
    case readCommitted
    /// All statements what was committed before the first; it changes nothing.
    case snapshot

    var sql: String {
        switch self {
        case .readCommitted: "BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE"
        case .snapshot: "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"
        }
    }
}

extension Duration {
    var interval: DispatchTimeInterval {
        .nanoseconds(Int(components.seconds) * 1_000_000_000 + Int(components.attoseconds / 1_000_000_000))
    }
}
