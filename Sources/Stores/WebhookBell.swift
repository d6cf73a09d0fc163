internal import Synchronization

/// Tells whoever calls webhooks that one became due, once it is durable.
final class WebhookBell: Sendable {
    /// That of the store whose transaction this is.
    @TaskLocal static var current: WebhookBell?

    private struct State {
        var listener: (@Sendable () -> Void)?
        var isPulled = false
    }

    private let state = Mutex(State())

    func listen(_ listener: @escaping @Sendable () -> Void) {
        state.withLock { $0.listener = listener }
    }

    /// Within a transaction that made one due.
    func pull() {
        state.withLock { $0.isPulled = true }
    }

    /// After a transaction, whatever became of it: to look in vain costs little.
    func ring() {
        let listener = state.withLock { state in
            defer { state.isPulled = false }
            return state.isPulled ? state.listener : nil
        }
        listener?()
    }
}
