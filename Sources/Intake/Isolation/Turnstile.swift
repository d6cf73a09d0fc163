import Synchronization

/// Shares out a countable thing: prompt demands before patient ones, and among equals first come, first served. A large
/// demand isn't overtaken by small ones.
final class Turnstile: Sendable {
    enum Admission: Sendable {
        case granted
        case late
        case cancelled
    }

    /// Prompt demands that may go before a patient one that waits; then it is its turn.
    static let precedence = 8

    private struct Waiter {
        var number: Int
        var amount: Int64
        var isPatient: Bool
        var admit: @Sendable (Admission) -> Void
    }

    private struct State {
        var free: Int64
        var waiters: [Waiter] = []
        /// Prompt ones that went before a patient one, since the last patient one.
        var preferred = 0

        /// Whose turn it is.
        var next: Int? {
            let patient = waiters.firstIndex(where: \.isPatient)
            if preferred >= Turnstile.precedence, let patient { return patient }
            return waiters.firstIndex { !$0.isPatient } ?? patient
        }

        mutating func admitNext() -> Waiter? {
            guard let next, waiters[next].amount <= free else { return nil }
            let waiter = waiters.remove(at: next)
            free -= waiter.amount
            preferred = !waiter.isPatient && waiters.contains(where: \.isPatient) ? preferred + 1 : 0
            return waiter
        }
    }

    private let state: Mutex<State>

    init(capacity: Int64) {
        state = Mutex(State(free: capacity))
    }

    /// Waits for `amount`, which must not be more than there is in all.
    func acquire(
        _ amount: Int64, until moment: ContinuousClock.Instant?, patiently: Bool = false
    ) async -> Admission {
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
                        Waiter(number: number, amount: amount, isPatient: patiently) {
                            continuation.resume(returning: $0)
                        })
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
            while let waiter = state.admitNext() { admitted.append(waiter) }
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
