internal import Synchronization

/// Tells whoever calls webhooks that one became due, once it is durable.
final class WebhookNotifier: Sendable {
    /// That of the store whose transaction this is.
    @TaskLocal static var current: WebhookNotifier?

    private struct State {
        var listener: (@Sendable () -> Void)?
        var isDue = false
    }

    private let state = Mutex(State())

    func listen(_ listener: @escaping @Sendable () -> Void) {
        state.withLock { $0.listener = listener }
    }

    /// Within a transaction that made one due.
    func markDue() {
        state.withLock { $0.isDue = true }
    }

    /// After a transaction, whatever became of it: to look in vain costs little.
    func notify() {
        let listener = state.withLock { state in
            defer { state.isDue = false }
            return state.isDue ? state.listener : nil
        }
        listener?()
    }
}
