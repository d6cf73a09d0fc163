import Synchronization

/// Bounds how many files are submitted and not finished: whoever enters waits until there is room.
final class Room: Sendable {
    private struct State {
        var free: Int
        var isClosed = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(_ size: Int) {
        state = Mutex(State(free: size))
    }

    /// Takes a place, as soon as there is one; at once when the task is cancelled.
    func enter() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let enters = state.withLock { state in
                    if state.free > 0 || state.isClosed {
                        state.free -= 1
                        return true
                    }
                    state.waiting.append(continuation)
                    return false
                }
                if enters { continuation.resume() }
            }
        } onCancel: {
            let waiting = state.withLock { state in
                state.isClosed = true
                defer { state.waiting = [] }
                return state.waiting
            }
            for continuation in waiting { continuation.resume() }
        }
    }

    /// Gives a place back.
    func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if !state.waiting.isEmpty { return state.waiting.removeFirst() }
            state.free += 1
            return nil
        }
        next?.resume()
    }
}
