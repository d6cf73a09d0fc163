import ServiceTestSupport
import Synchronization
import TestSupport

/// Stands before the gateway, and resets every connection while the bucket is away.
final class AbsentBucket: Sendable {
    private final class State: Sendable {
        let isAway = Mutex(false)
    }

    private let proxy: FaultProxy
    private let state: State

    init() async throws {
        let state = State()
        self.state = state
        proxy = try await FaultProxy(to: S3Gateway.shared().port) { _ in
            state.isAway.withLock(\.self) ? .resetRequest(after: 0) : nil
        }
    }

    var endpoint: String { "http://127.0.0.1:\(proxy.port)" }

    func leave() { state.isAway.withLock { $0 = true } }

    func comeBack() { state.isAway.withLock { $0 = false } }
}
