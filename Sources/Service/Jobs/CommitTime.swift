import Synchronization

/// Learns how long a commit takes, so that work can stop in time for it.
///
/// An exponentially weighted mean (1/8 of each new value, as TCP's round-trip estimator in RFC 6298 does), doubled as a
/// margin; never under 20 ms, never over 2 s.
final class CommitTime: Sendable {
    private let mean = Mutex(Duration.milliseconds(20))

    var estimate: Duration {
        min(max(mean.withLock { $0 } * 2, .milliseconds(20)), .seconds(2))
    }

    func measure<Value: Sendable>(_ body: () async throws -> Value) async rethrows -> Value {
        let start = ContinuousClock.now
        let value = try await body()
        let taken = ContinuousClock.now - start
        mean.withLock { $0 = ($0 * 7 + taken) / 8 }
        return value
    }
}
