import Platform
import Synchronization

/// Tells the metrics whether the store fails.
final class StoreHealth: Sendable {
    private let isFailing = Atomic<Bool>(false)

    func failed() {
        isFailing.store(true, ordering: .relaxed)
        JobMetrics.gauge("store_failing", 1)
    }

    func works() {
        if isFailing.exchange(false, ordering: .relaxed) { JobMetrics.gauge("store_failing", 0) }
    }
}
