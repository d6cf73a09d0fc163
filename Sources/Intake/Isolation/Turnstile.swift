import Synchronization

/// Shares out a countable thing, first come, first served: a large demand isn't overtaken by small ones.
final class Turnstile: Sendable {
    enum Admission: Sendable {
        case granted
        case late
        case cancelled
    }

    private struct Waiter {
        var number: Int
        var amount: Int64
        var admit: @Sendable (Admission) -> Void
    }

    private struct State {
        var free: Int64
        var waiters: [Waiter] = []
    }

    private let state: Mutex<State>

    init(capacity: Int64) {
        state = Mutex(State(free: capacity))
    }

    /// Waits for `amount`, which must not be more than there is in all.
    func acquire(_ amount: Int64, until moment: ContinuousClock.Instant?) async -> Admission {
        let isFree = state.withLock { state in
            guard state.waiters.isEmpty, state.free >= amount else { return false }
            state.free -= amount
            return true
        }
        if isFree { return .granted }
        let number = Readiness.shared.reserve()
        defer { Readiness.shared.release(number) }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // Whoever removes the waiter answers it.
                state.withLock { state in
                    state.waiters.append(
                        Waiter(number: number, amount: amount) { continuation.resume(returning: $0) })
                }
                Readiness.shared.watch(number, until: moment) { [self] outcome in
                    giveUp(number, outcome == .late ? .late : .cancelled)
                }
                admit()
            }
        } onCancel: {
            Readiness.shared.cancel(number)
        }
    }

    func release(_ amount: Int64) {
        state.withLock { $0.free += amount }
        admit()
    }

    private func admit() {
        let admitted = state.withLock { state in
            var admitted: [Waiter] = []
            while let first = state.waiters.first, first.amount <= state.free {
                state.free -= first.amount
                admitted.append(state.waiters.removeFirst())
            }
            return admitted
        }
        for waiter in admitted {
            Readiness.shared.cancel(waiter.number)
            waiter.admit(.granted)
        }
    }

    private func giveUp(_ number: Int, _ reason: Admission) {
        let waiter = state.withLock { state in
            state.waiters.firstIndex { $0.number == number }.map { state.waiters.remove(at: $0) }
        }
        waiter?.admit(reason)
        // The one behind may need less.
        admit()
    }
}
