import Synchronization

/// Tells one task that there is something new to look at. However often it is told meanwhile, it looks once.
package final class AsyncSignal: Sendable {
    private struct State {
        var isGiven = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    package init() {}

    package func give() {
        wake { $0.isGiven = true }
    }

    /// Returns when the signal was given since the last call, or the task was cancelled. One task waits at a time.
    package func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isGiven = state.withLock { state in
                    if state.isGiven || Task.isCancelled {
                        state.isGiven = false
                        return true
                    }
                    state.waiting = continuation
                    return false
                }
                if isGiven { continuation.resume() }
            }
        } onCancel: {
            wake { _ in }
        }
    }

    private func wake(_ change: (inout State) -> Void) {
        let waiting = state.withLock { state in
            change(&state)
            guard state.waiting != nil else { return CheckedContinuation<Void, Never>?.none }
            state.isGiven = false
            return state.waiting.take()
        }
        waiting?.resume()
    }
}
