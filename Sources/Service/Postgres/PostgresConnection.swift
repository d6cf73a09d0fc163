internal import CPostgres
internal import Synchronization

/// A connection to a PostgreSQL server in pipeline mode: statements that belong together are sent together. The calling
/// thread waits for the answers with `poll`. One thread at a time uses it; another waits for its turn.
public final class PostgresConnection: Sendable {
    private let isPooled: Bool
    private let stop: PollStop?
    private let session: Mutex<Session>

    /// Statements that a connection keeps prepared; further ones are sent whole each time.
    private static let mostPrepared = 256
    static let commit = Statement("COMMIT")

    private struct Session: ~Copyable {
        var link: PostgresLink
        /// The names of prepared statements.
        var prepared: [String: String] = [:]
        /// Statements that were prepared, for their names.
        var preparations = 0
        /// Sent with the next statements: what opens a transaction.
        var prelude: Statement?

        init(_ link: consuming PostgresLink) {
            self.link = link
        }
    }

    /// What is sent and not yet answered.
    private enum Expected {
        case preparation(sql: String)
        case statement(index: Int)
        case sync
    }

    private init(_ link: consuming PostgresLink, isPooled: Bool, unless stop: PollStop?) {
        self.isPooled = isPooled
        self.stop = stop
        session = Mutex(Session(link))
    }

    /// Connects to the first of the hosts that takes writes, and waits for that.
    ///
    /// - Throws: Why the last of them didn't, or the first that refused for a reason that waiting won't change.
    public static func connect(_ parameters: PostgresParameters) throws(PostgresError) -> PostgresConnection {
        try connect(parameters, unless: nil)
    }

    /// - Parameter stop: Ends this and all later waiting while it is set.
    static func connect(
        _ parameters: PostgresParameters, unless stop: PollStop?
    ) throws(PostgresError) -> PostgresConnection {
        var failure = PostgresError.unreachable(reason: "there is no host")
        for host in parameters.hosts {
            do throws(PostgresError) {
                return PostgresConnection(
                    try link(to: host, within: parameters.patience, unless: stop), isPooled: parameters.isPooled,
                    unless: stop)
            } catch {
                failure = error
                if !error.isPassing, parameters.hosts.count == 1 { break }
            }
        }
        throw failure
    }

    private static func link(
        to host: [String: String], within patience: Duration, unless stop: PollStop?
    ) throws(PostgresError) -> PostgresLink {
        let link = PostgresLink(host)
        if link.isBad { throw PostgresError(connecting: link.message) }
        let deadline = ContinuousClock.now + patience
        // libpq begins as if it wanted to write.
        var state = PGRES_POLLING_WRITING
        while state != PGRES_POLLING_OK {
            guard
                link.wait(
                    reading: state == PGRES_POLLING_READING, writing: state == PGRES_POLLING_WRITING, deadline,
                    unless: stop?.descriptor)
            else { throw .unreachable(reason: "no answer within \(patience.components.seconds) s") }
            state = link.poll()
            guard [PGRES_POLLING_OK, PGRES_POLLING_READING, PGRES_POLLING_WRITING].contains(state) else {
                throw PostgresError(connecting: link.message)
            }
        }
        guard link.version >= PostgresParameters.oldestVersion else { throw .tooOld(version: link.version) }
        guard link.enterPipeline() else { throw .unreachable(reason: "it knows no pipeline") }
        return link
    }

    /// Whether it can be used, as far as is known.
    public var isOpen: Bool {
        session.withLock { session in
            if !session.link.isBad, session.link.isReadable, !session.link.consume() { session.link = PostgresLink() }
            return !session.link.isBad
        }
    }

    /// Closes the connection, once it isn't used.
    public func close() {
        session.withLock { $0.link = PostgresLink() }
    }

    // MARK: Statements

    /// Statements that become one transaction, in one round trip: all or none.
    ///
    /// - Parameter limit: After that the connection is closed.
    /// - Returns: Of each statement its rows.
    public func batch(_ statements: [Statement], within limit: Duration) throws(PostgresError) -> [PostgresRows] {
        begin()
        do throws(PostgresError) {
            return Array(try send(statements + [Self.commit], within: limit).dropLast())
        } catch {
            rollBack(within: limit)
            throw error
        }
    }

    /// Has the next statements begin a transaction.
    func begin(_ isolation: PostgresIsolation = .readCommitted) {
        session.withLock { $0.prelude = Statement(isolation.sql) }
    }

    func commit(within limit: Duration) throws(PostgresError) {
        let isBegun = session.withLock { session in
            defer { session.prelude = nil }
            return session.prelude == nil
        }
        // Nothing was asked, so nothing was begun.
        if isBegun { _ = try send([Self.commit], within: limit) }
    }

    func rollBack(within limit: Duration) {
        let isBegun = session.withLock { session in
            session.prelude = nil
            return session.link.isInTransaction
        }
        guard isBegun else { return }
        // What can't be taken back ends with the connection.
        do throws(PostgresError) { _ = try send([Statement("ROLLBACK")], within: limit) } catch { close() }
    }

    /// Sends statements and waits for all their answers. Without a transaction that was begun they are one by themselves.
    func send(_ statements: [Statement], within limit: Duration) throws(PostgresError) -> [PostgresRows] {
        try session.withLock { session throws(PostgresError) in
            try send(statements, within: limit, in: &session)
        }
    }

    private func send(
        _ statements: [Statement], within limit: Duration, in session: inout Session
    ) throws(PostgresError) -> [PostgresRows] {
        guard !session.link.isBad else {
            throw .connectionLost(reason: "it was closed before", isOutcomeKnown: true)
        }
        let all = prelude(in: &session) + statements
        var values: [[(bytes: [UInt8], isBinary: Bool)?]] = []
        for statement in all {
            var own: [(bytes: [UInt8], isBinary: Bool)?] = []
            for value in statement.values { own.append(try value.wire()) }
            values.append(own)
        }
        session.prelude = nil
        let commits = all.contains { $0.sql == Self.commit.sql }
        guard let expected = dispatch(all, values, in: &session) else { throw lose(commits, in: &session) }
        let deadline = ContinuousClock.now + limit
        var rows = Array(repeating: PostgresRows(), count: all.count)
        var failure: PostgresError?
        var done = 0
        while done < expected.count {
            // Also reads while it sends: a server stops reading once its own answers are not read.
            guard let isLeft = session.link.flush() else { throw lose(commits, in: &session) }
            guard session.link.wait(reading: true, writing: isLeft, deadline, unless: stop?.descriptor) else {
                session.link = PostgresLink()
                throw .timedOut(after: limit, isOutcomeKnown: !commits)
            }
            let isThere = session.link.consume()
            while done < expected.count, !session.link.isBusy {
                let answer = session.link.next()
                switch (answer?.status, expected[done]) {
                case (PGRES_PIPELINE_SYNC, .sync), (nil, .statement), (nil, .preparation): done += 1
                case (PGRES_TUPLES_OK, .statement(let index)), (PGRES_COMMAND_OK, .statement(let index)):
                    if let answer { rows[index] = PostgresRows(answer) }
                case (PGRES_COMMAND_OK, .preparation): break
                case (_, .preparation(let sql)):
                    session.prepared[sql] = nil
                    // The first error is the cause; what comes after it was not done.
                    failure = failure ?? answer?.error(of: sql)
                case (_, .statement(let index)): failure = failure ?? answer?.error(of: all[index].sql)
                default: throw lose(commits, in: &session)
                }
            }
            guard isThere || done == expected.count else { throw lose(commits, in: &session) }
        }
        if let failure { throw failure }
        return Array(rows.dropFirst(all.count - statements.count))
    }

    /// What comes before the statements of a transaction that was begun just now.
    private func prelude(in session: inout Session) -> [Statement] {
        guard let first = session.prelude else { return [] }
        guard isPooled else { return [first] }
        return [first]
            + PostgresParameters.timeouts.map { name, duration in
                Statement("SET LOCAL \(name) = \(duration.components.seconds * 1000)")
            }
    }

    /// - Returns: Nil where the connection is lost.
    private func dispatch(
        _ statements: [Statement], _ values: [[(bytes: [UInt8], isBinary: Bool)?]], in session: inout Session
    ) -> [Expected]? {
        var expected: [Expected] = []
        for (index, statement) in statements.enumerated() {
            var name = isPooled ? nil : session.prepared[statement.sql]
            if name == nil, !isPooled, session.prepared.count < Self.mostPrepared {
                session.preparations += 1
                let new = "s\(session.preparations)_\(UInt32.random(in: .min ... .max))"
                guard session.link.prepare(statement.sql, as: new) else { return nil }
                session.prepared[statement.sql] = new
                expected.append(.preparation(sql: statement.sql))
                name = new
            }
            guard session.link.send(statement, as: name, values[index]) else { return nil }
            expected.append(.statement(index: index))
        }
        expected.append(.sync)
        return session.link.sync() ? expected : nil
    }

    /// The connection is gone. What the server said last is its reason, where it said something.
    private func lose(_ commits: Bool, in session: inout Session) -> PostgresError {
        let reason = PostgresError.clause(
            session.link.message.split(separator: "\n").first { !$0.isEmpty }.map { String($0) } ?? "it was closed")
        session.link = PostgresLink()
        return .connectionLost(reason: reason, isOutcomeKnown: !commits)
    }

    // MARK: Listening

    /// Waits for notifications.
    ///
    /// - Parameter stop: A descriptor; its end stops all waiting.
    /// - Returns: Their channels, none at the deadline; nil where the connection is lost, and at the end of `stop`.
    func notifications(until deadline: ContinuousClock.Instant?, unless stop: Int32?) -> [String]? {
        session.withLock { session in
            while true {
                var channels: [String] = []
                while let channel = session.link.notification() { channels.append(channel) }
                if !channels.isEmpty { return channels }
                guard !session.link.isBad, session.link.wait(reading: true, writing: false, deadline, unless: stop)
                else { return session.link.isBad || deadline.map { $0 > .now } ?? true ? nil : [] }
                guard session.link.consume() else { return nil }
            }
        }
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
