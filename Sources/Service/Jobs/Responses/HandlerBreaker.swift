/// Leaves a handler alone that fails again and again.
struct HandlerBreaker: Hashable, Sendable {
    /// In a row, until it is left alone.
    static let patience = 5
    static let pause: Duration = .seconds(30)

    private enum State: Hashable {
        case asking(failures: Int)
        case leaving(until: ContinuousClock.Instant)
    }

    private var state = State.asking(failures: 0)

    /// Whether it may be asked.
    func admits(at now: ContinuousClock.Instant) -> Bool {
        switch state {
        case .asking: true
        case .leaving(let end): now >= end
        }
    }

    /// Whether it is as if it had never failed.
    var isClosed: Bool { state == .asking(failures: 0) }

    mutating func note(success: Bool, at now: ContinuousClock.Instant) {
        guard !success else {
            state = .asking(failures: 0)
            return
        }
        switch state {
        case .asking(let failures) where failures + 1 < Self.patience: state = .asking(failures: failures + 1)
        // One that was tried again after its pause has one attempt.
        case .asking, .leaving: state = .leaving(until: now + Self.pause)
        }
    }
}
