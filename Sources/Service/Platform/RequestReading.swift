package import SatchelCore
import Synchronization

/// Tells how old the request is that the current task works for.
///
/// A node that was paused may wake with requests whose clients have given up. They have long tried elsewhere, so nothing that
/// such a request asks for may still be done.
package final class RequestReading: Sendable {
    /// Nil outside requests, and where work has to be completed whatever became of its client.
    @TaskLocal package static var current: RequestReading?

    /// A transaction refuses a request that is older.
    package static let longestAge: Duration = .seconds(10)

    private let arrival: @Sendable () async throws -> Instant
    private let state: Mutex<(readAt: Instant, limit: Duration)>

    /// - Parameter arrival: Returns the store's time at which the last byte arrived; throws if the client reset the connection.
    package init(_ arrival: @escaping @Sendable () async throws -> Instant) async throws {
        self.arrival = arrival
        state = Mutex((try await arrival(), Self.longestAge))
    }

    /// More of the request was read, or work for it took its time.
    package func renew() async throws {
        let readAt = try await arrival()
        state.withLock { $0.readAt = readAt }
    }

    /// The client asked to wait until now.
    package func waited(until now: Instant) {
        state.withLock { $0 = (now, Self.longestAge) }
    }

    /// The client wants no answer after this time. One that wants it within a second gets to know that it came too late.
    package func end(within deadline: Duration) {
        state.withLock { $0.limit = min($0.limit, max(deadline, .seconds(1))) }
    }

    /// Whether it may still change something.
    ///
    /// - Parameter now: The time of the transaction.
    package func isInTime(at now: Instant) -> Bool { state.withLock { now - $0.readAt <= $0.limit } }
}
