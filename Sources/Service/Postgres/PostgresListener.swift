internal import Synchronization

/// Receives what is notified on some channels, on a connection of its own, which is made anew when it is lost. Wake-ups, not
/// truth: what comes while there is no connection is missed.
///
/// A pooler in transaction mode takes `LISTEN` and passes nothing on, and some servers refuse it: so each connection calls
/// itself by a channel of its own first, and listens where that comes back.
public final class PostgresListener: Sendable {
    /// Whether what is notified comes here.
    public enum Status: Hashable, Sendable {
        /// There is no connection yet, or no more.
        case unknown
        case works
        /// It is refused or swallowed on the way. Tried again after ``PostgresListener/retryInterval``.
        case fails
    }

    private final class SharedStatus: Sendable {
        let value = Mutex(Status.unknown)
    }

    /// How long a call may take to come back.
    public static let echoTime: Duration = .seconds(5)
    /// Until a server that passes nothing on is tried again: somebody may have changed the pooler.
    static let retryInterval: Duration = .seconds(60)

    private let shared: SharedStatus
    private let task: Task<Void, Never>

    public var status: Status { shared.value.withLock(\.self) }

    /// - Parameters:
    ///   - channels: Names that the program has, not its users.
    ///   - handler: Called with the channel of each notification, and with each channel after each beginning, as something may
    ///     have been missed. It must not block.
    ///   - limit: How long a call of its own may take to come back.
    public init(
        _ parameters: PostgresParameters, to channels: [String], within limit: Duration = echoTime,
        _ handler: @escaping @Sendable (String) -> Void
    ) {
        let shared = SharedStatus()
        self.shared = shared
        task = Task {
            var pause = PostgresPool.firstPause
            // One name for all tries: behind a pooler each stays with a connection of the server's.
            let echo = Self.echoName()
            while !Task.isCancelled {
                let status = await Self.listen(parameters, channels, echo, limit, handler) {
                    shared.value.withLock { $0 = .works }
                }
                shared.value.withLock { $0 = status == .fails ? .fails : .unknown }
                switch status {
                case .works: pause = PostgresPool.firstPause
                case .unknown: pause = min(pause * 2, PostgresPool.longestPause)
                case .fails: pause = Self.retryInterval
                }
                try? await Task.sleep(for: pause)
            }
        }
    }

    deinit {
        task.cancel()
    }

    /// Whether what is notified comes through now.
    ///
    /// - Parameter limit: How long a call may take to come back.
    /// - Throws: Where there is no connection.
    public static func receives(
        _ parameters: PostgresParameters, within limit: Duration = echoTime
    ) async throws(PostgresError) -> Bool {
        let connection = try await PostgresConnection.connect(parameters)
        let result: Result<Bool, PostgresError>
        do throws(PostgresError) {
            result = .success(try await receives(echo: echoName(), on: connection, parameters, limit))
        } catch {
            result = .failure(error)
        }
        await connection.close()
        return try result.get()
    }

    private static func echoName() -> String { "satchel_echo_" + String(UInt64.random(in: .min ... .max), radix: 16) }

    /// - Parameter begin: Called once it is known to receive.
    /// - Returns: When the connection is lost; else why there was none.
    private static func listen(
        _ parameters: PostgresParameters, _ channels: [String], _ echo: String, _ limit: Duration,
        _ handler: @escaping @Sendable (String) -> Void, _ begin: () -> Void
    ) async -> Status {
        guard let connection = try? await PostgresConnection.connect(parameters) else { return .unknown }
        let (events, feed) = AsyncStream.makeStream(of: EchoEvent.self)
        var answer = Status.unknown
        do throws(PostgresError) {
            try await connection.listen(to: channels + [echo]) { channel in
                if channel.isEmpty {
                    feed.finish()
                } else if channel == echo {
                    feed.yield(.echo)
                } else {
                    handler(channel)
                }
            }
            for channel in channels { handler(channel) }
            try await call(echo, parameters)
            let alarm = Task {
                try await Task.sleep(for: limit)
                feed.yield(.silence)
            }
            defer { alarm.cancel() }
            // Ends when the connection is lost, and when the task is cancelled.
            waiting: for await event in events {
                switch event {
                case .echo:
                    answer = .works
                    begin()
                case .silence where answer == .unknown:
                    answer = .fails
                    break waiting
                case .silence: break
                }
            }
        } catch {
            // What the server has to say of the statements themselves it will say again.
            if case .statement(let failure) = error, !failure.isPassing { answer = .fails }
        }
        await connection.close()
        return answer
    }

    private enum EchoEvent {
        case echo
        /// The call didn't come back.
        case silence
    }

    /// Whether a call from another connection is received on this one.
    private static func receives(
        echo: String, on connection: PostgresConnection, _ parameters: PostgresParameters, _ limit: Duration
    ) async throws(PostgresError) -> Bool {
        let (echoes, answer) = AsyncStream.makeStream(of: Bool.self)
        do throws(PostgresError) {
            try await connection.listen(to: [echo]) { answer.yield($0 == echo) }
            try await call(echo, parameters)
        } catch {
            // What the server has to say of the statements themselves it will say again.
            if case .statement(let failure) = error, !failure.isPassing { return false }
            throw error
        }
        let alarm = Task {
            try? await Task.sleep(for: limit)
            answer.finish()
        }
        defer { alarm.cancel() }
        for await isEcho in echoes {
            guard isEcho else { throw .connectionLost(reason: "it was closed", isOutcomeKnown: true) }
            return true
        }
        return false
    }

    private static func call(_ channel: String, _ parameters: PostgresParameters) async throws(PostgresError) {
        let caller = try await PostgresConnection.connect(parameters)
        let result: Result<Void, PostgresError>
        do throws(PostgresError) {
            _ = try await caller.batch(
                [PostgresStatement("NOTIFY \"\(channel)\"")], within: PostgresParameters.statementTimeout)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await caller.close()
        try result.get()
    }
}
