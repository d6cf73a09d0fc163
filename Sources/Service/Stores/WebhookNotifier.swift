internal import Synchronization

/// Tells whoever calls webhooks that one became due, once it is durable.
final class WebhookNotifier: Sendable {
    private let listener = Mutex<(@Sendable () -> Void)?>(nil)

    func listen(_ tell: @escaping @Sendable () -> Void) {
        listener.withLock { $0 = tell }
    }

    /// Call this after a transaction that made a call due. A needless look costs little.
    func notify() {
        listener.withLock(\.self)?()
    }
}
