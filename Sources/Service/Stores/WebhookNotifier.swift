internal import Synchronization

/// Tells the sender of webhooks that calls may be due: a transaction that made one due is durable, or a node has left.
final class WebhookNotifier: Sendable {
    private let listener = Mutex<(@Sendable () -> Void)?>(nil)

    func listen(_ tell: @escaping @Sendable () -> Void) {
        listener.withLock { $0 = tell }
    }

    /// A needless look costs little.
    func notify() {
        listener.withLock(\.self)?()
    }
}
