internal import Dispatch
internal import Glibc
internal import Synchronization

/// Receives what is notified on some channels, on a thread and a connection of its own, which is made anew when it is lost.
/// Wake-ups, not truth: what comes while there is no connection is missed.
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
    private let end: PollStop

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
        let end = PollStop()
        self.shared = shared
        self.end = end
        Self.thread().async {
            var pause = PostgresPool.firstPause
            // One name for all tries: behind a pooler each stays with a connection of the server's.
            let echo = Self.echoName()
            while !end.isSet {
                var status = Status.unknown
                do throws(PostgresError) {
                    let connection = try PostgresConnection.connect(parameters)
                    status = try Self.listen(on: connection, parameters, channels, echo, limit, end, handler) {
                        shared.value.withLock { $0 = .works }
                        return true
                    }
                } catch {
                    // What the server has to say of the statements themselves it will say again.
                    if case .statement(let failure) = error, !failure.isPassing { status = .fails }
                }
                shared.value.withLock { $0 = status == .fails ? .fails : .unknown }
                switch status {
                case .works: pause = PostgresPool.firstPause
                case .unknown: pause = min(pause * 2, PostgresPool.longestPause)
                case .fails: pause = Self.retryInterval
                }
                end.wait(for: pause)
            }
        }
    }

    deinit {
        end.set(true)
    }

    /// Whether what is notified comes through now.
    ///
    /// - Parameter limit: How long a call may take to come back.
    /// - Throws: Where there is no connection.
    public static func receives(
        _ parameters: PostgresParameters, within limit: Duration = echoTime
    ) async throws(PostgresError) -> Bool {
        try await withCheckedContinuation { answer in
            thread().async {
                answer.resume(
                    returning: Result { () throws(PostgresError) in
                        let connection = try PostgresConnection.connect(parameters)
                        do throws(PostgresError) {
                            let status = try listen(on: connection, parameters, [], echoName(), limit, nil) { _ in
                            } begin: {
                                false
                            }
                            guard status != .unknown else {
                                throw .connectionLost(reason: "it was closed", isOutcomeKnown: true)
                            }
                            return status == .works
                        } catch {
                            // What the server has to say of the statements themselves it will say again.
                            if case .statement(let failure) = error, !failure.isPassing { return false }
                            throw error
                        }
                    })
            }
        }.get()
    }

    /// A serial queue has a thread of its own while something on it waits.
    private static func thread() -> DispatchQueue { DispatchQueue(label: "satchel.postgres.listener") }

    private static func echoName() -> String { "satchel_echo_" + String(UInt64.random(in: .min ... .max), radix: 16) }

    /// - Parameter begin: Called once it is known to receive. Returns whether it goes on.
    /// - Returns: Whether it received, when the connection is lost or the end is there.
    private static func listen(
        on connection: PostgresConnection, _ parameters: PostgresParameters, _ channels: [String], _ echo: String,
        _ limit: Duration, _ end: PollStop?, _ handler: (String) -> Void, begin: () -> Bool
    ) throws(PostgresError) -> Status {
        _ = try connection.send(
            (channels + [echo]).map { Statement("LISTEN \"\($0)\"") }, within: PostgresParameters.statementTimeout)
        for channel in channels { handler(channel) }
        // The notification comes from another connection.
        _ = try PostgresConnection.connect(parameters).batch(
            [Statement("NOTIFY \"\(echo)\"")], within: PostgresParameters.statementTimeout)
        var deadline: ContinuousClock.Instant? = .now + limit
        while let heard = connection.notifications(until: deadline, unless: end?.descriptor) {
            if heard.isEmpty { return .fails }
            for channel in heard where channel != echo { handler(channel) }
            if heard.contains(echo) {
                deadline = nil
                if !begin() { return .works }
            }
        }
        return deadline == nil ? .works : .unknown
    }
}
