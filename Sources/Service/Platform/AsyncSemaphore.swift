import Synchronization

/// Shares out a countable thing: prompt demands before patient ones, and among equals fairly between parties, each of
/// whose demands come in their order. A large demand isn't overtaken by small ones.
package final class AsyncSemaphore: Sendable {
    package enum Admission: Sendable {
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
        var isSparing: Bool
        /// Among the prompt or the patient ones.
        var rank: Int64
        var since: ContinuousClock.Instant
        var admit: @Sendable (Admission) -> Void
    }

    private struct State {
        var free: Int64
        /// What sparing demands may take of it.
        var spare: Int64
        var waiters: [Waiter] = []
        var prompt = FairLine<String>()
        var patient = FairLine<String>()
        /// Prompt ones that went before a patient one, since the last patient one.
        var preferred = 0

        /// Whose turn it is.
        var next: Int? {
            let patient = first { $0.isPatient && (!$0.isSparing || $0.amount <= spare) }
            if preferred >= AsyncSemaphore.precedence, let patient { return patient }
            return first { !$0.isPatient } ?? patient
        }

        private func first(where isMeant: (Waiter) -> Bool) -> Int? {
            waiters.indices.filter { isMeant(waiters[$0]) }.min {
                (waiters[$0].rank, waiters[$0].number) < (waiters[$1].rank, waiters[$1].number)
            }
        }

        mutating func take(_ amount: Int64, sparing isSparing: Bool) {
            free -= amount
            if isSparing { spare -= amount }
        }

        mutating func join(_ party: String, patiently isPatient: Bool) -> Int64 {
            isPatient ? patient.join(party) : prompt.join(party)
        }

        mutating func advance(past rank: Int64, patiently isPatient: Bool) {
            if isPatient { patient.advance(past: rank) } else { prompt.advance(past: rank) }
        }

        mutating func admitNext() -> Waiter? {
            guard let next, waiters[next].amount <= free else { return nil }
            let waiter = waiters.remove(at: next)
            take(waiter.amount, sparing: waiter.isSparing)
            advance(past: waiter.rank, patiently: waiter.isPatient)
            preferred = !waiter.isPatient && waiters.contains(where: \.isPatient) ? preferred + 1 : 0
            return waiter
        }
    }

    private let state: Mutex<State>

    /// - Parameter kept: How much of it sparing demands leave alone.
    package init(capacity: Int64, kept: Int64 = 0) {
        state = Mutex(State(free: capacity, spare: capacity - kept))
    }

    /// Waits for `amount`, which must not be more than there is in all.
    ///
    /// - Parameters:
    ///   - patiently: After prompt demands.
    ///   - sparing: Leaves alone what is kept; such a demand is a patient one.
    ///   - party: Who demands it.
    package func acquire(
        _ amount: Int64, until moment: ContinuousClock.Instant?, patiently: Bool = false,
        sparing isSparing: Bool = false, for party: String = ""
    ) async -> Admission {
        let isPatient = patiently || isSparing
        let isFree = state.withLock { state in
            guard state.waiters.isEmpty, state.free >= amount, !isSparing || state.spare >= amount else { return false }
            state.take(amount, sparing: isSparing)
            state.advance(past: state.join(party, patiently: isPatient), patiently: isPatient)
            return true
        }
        if isFree { return .granted }
        let number = Readiness.shared.reserve()
        defer { Readiness.shared.release(number) }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // Whoever removes the waiter answers it.
                state.withLock { state in
                    let rank = state.join(party, patiently: isPatient)
                    state.waiters.append(
                        Waiter(
                            number: number, amount: amount, isPatient: isPatient, isSparing: isSparing, rank: rank,
                            since: .now
                        ) {
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

    /// - Parameter sparing: As it was acquired.
    package func release(_ amount: Int64, sparing isSparing: Bool = false) {
        state.withLock { state in
            state.free += amount
            if isSparing { state.spare += amount }
        }
        admit()
    }

    /// How many wait, of the prompt or the patient ones.
    package func waiting(patiently isPatient: Bool) -> Int {
        state.withLock { $0.waiters.count { $0.isPatient == isPatient } }
    }

    /// Since when somebody has been waiting, of the prompt or the patient ones; nil where nobody waits.
    package func waitingSince(patiently isPatient: Bool) -> ContinuousClock.Instant? {
        state.withLock { $0.waiters.filter { $0.isPatient == isPatient }.map(\.since).min() }
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
