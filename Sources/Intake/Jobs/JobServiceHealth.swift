public import Attachments
import Synchronization

extension JobService {
    /// What keeps the workers from working, for a readiness check.
    public struct Health: Hashable, Sendable {
        /// A failure that lasts.
        public struct Failure: Hashable, Sendable {
            /// For an operator.
            public var reason: String
            public var since: Instant
        }

        /// The store failed the last time that it was asked; nil while it works.
        public var store: Failure?
        /// A codec process can be had at once.
        public var codecsAreReady: Bool
        /// No more jobs are taken.
        public var isDraining: Bool

        public var isGood: Bool { store == nil && codecsAreReady && !isDraining }
    }
}

/// Remembers whether the store works.
final class StoreHealth: Sendable {
    private struct State {
        var failure: JobService.Health.Failure?
        var latest = ContinuousClock.now
    }

    /// After this long without another failure it is believed to be over: a lane asks every few seconds.
    private static let memory: Duration = .seconds(30)

    private let state = Mutex(State())

    var failure: JobService.Health.Failure? {
        state.withLock { .now - $0.latest < Self.memory ? $0.failure : nil }
    }

    func failed(_ error: AttachmentError) {
        let since = failure?.since ?? .wallClock()
        state.withLock { state in
            state.failure = JobService.Health.Failure(reason: error.description, since: since)
            state.latest = .now
        }
        Meters.gauge("store_failing", 1)
    }

    func works() {
        let recovered = state.withLock { $0.failure.take() != nil }
        if recovered { Meters.gauge("store_failing", 0) }
    }
}
