public import SatchelCore
import Platform
import Synchronization

/// Tells the metrics how the store does, and whether this process takes jobs.
public final class StoreHealth: Sendable {
    private struct State {
        var isFailing = false
        var pause = Duration.zero
        var pausedUntil = ContinuousClock.now
    }

    private let state = Mutex(State())
    private let pauses: ClosedRange<Duration>
    private let onOutage: @Sendable (AttachmentError) -> Void

    /// - Parameters:
    ///   - pauses: How long a process without room claims nothing: the first time, and at most.
    ///   - onOutage: Called with the first error of each outage.
    public init(
        pauses: ClosedRange<Duration> = .seconds(10) ... .seconds(60),
        onOutage: @escaping @Sendable (AttachmentError) -> Void = { _ in }
    ) {
        self.pauses = pauses
        self.onOutage = onOutage
    }

    public var isFailing: Bool { state.withLock(\.isFailing) }

    /// Whether the last look found room.
    var takesJobs: Bool { state.withLock { $0.pausedUntil <= .now } }

    /// - Returns: How long this node claims nothing from now on; `nil` if that is unchanged.
    @discardableResult
    public func failed(_ error: AttachmentError? = nil) -> Duration? {
        JobMetrics.gauge("store_failing", 1)
        let (isFirst, pause) = state.withLock { state -> (Bool, Duration?) in
            defer { state.isFailing = true }
            // Jobs that fail during a pause began before it.
            guard error?.code == .storeFull, state.pausedUntil <= .now else { return (!state.isFailing, nil) }
            state.pause = min(max(state.pause * 2, pauses.lowerBound), pauses.upperBound)
            state.pausedUntil = .now + state.pause
            return (!state.isFailing, state.pause)
        }
        if isFirst, let error { onOutage(error) }
        return pause
    }

    public func works() {
        state.withLock { state in
            if state.isFailing { JobMetrics.gauge("store_failing", 0) }
            state.isFailing = false
            if state.pausedUntil <= .now { state.pause = .zero }
        }
    }
}
