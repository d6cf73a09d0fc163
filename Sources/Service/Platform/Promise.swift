import Synchronization

/// A value that is made once, and that any number of tasks may wait for.
package final class Promise<Value: Sendable>: Sendable {
    private enum State {
        case awaited([CheckedContinuation<Value, any Error>])
        case made(Result<Value, any Error>)
    }

    private let state = Mutex(State.awaited([]))

    package init() {}

    /// The first call counts.
    package func make(_ value: Result<Value, any Error>) {
        let waiting = state.withLock { state -> [CheckedContinuation<Value, any Error>] in
            guard case .awaited(let waiting) = state else { return [] }
            state = .made(value)
            return waiting
        }
        for continuation in waiting { continuation.resume(with: value) }
    }

    /// Waits without a look at the task's cancellation: whoever wants that makes the promise an error.
    package var value: Value {
        get async throws {
            try await withCheckedThrowingContinuation { continuation in
                let made = state.withLock { state -> Result<Value, any Error>? in
                    switch state {
                    case .made(let value): return value
                    case .awaited(let waiting):
                        state = .awaited(waiting + [continuation])
                        return nil
                    }
                }
                if let made { continuation.resume(with: made) }
            }
        }
    }
}
