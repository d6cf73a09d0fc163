package import SatchelCore
package import Platform
import Synchronization

/// How many sources are fetched at once.
public struct FetchConcurrency: Hashable, Sendable {
    public var all: Int
    /// For one tenant.
    public var tenant: Int
    /// From one origin, whoever wants it.
    public var origin: Int

    /// A fetch that waits costs a connection and a file, but no processor: there may be many more than codecs.
    public init(all: Int = 256, tenant: Int = 64, origin: Int = 32) {
        self.all = max(1, all)
        self.tenant = max(1, tenant)
        self.origin = max(1, origin)
    }
}

/// Who fetches from where.
package struct FetchPlace: Hashable, Sendable {
    package var tenant: TenantID
    /// Scheme, host and port of the URL; redirects count for the same.
    package var origin: String
    package var isBulk: Bool

    package init(tenant: TenantID, origin: String, isBulk: Bool) {
        self.tenant = tenant
        self.origin = origin
        self.isBulk = isBulk
    }
}

/// Decides whose fetch begins next, within the limits, a quarter of each of which is kept for interactive work: that goes
/// first, then fairly between tenants. One that waits for its origin or its tenant holds up nobody else.
struct FetchOrder: Sendable {
    private struct Count {
        var all = 0
        var bulk = 0

        func hasRoom(for place: FetchPlace, of width: Int) -> Bool {
            all < width && (!place.isBulk || bulk < ReservedPlaces.bulk(of: width))
        }

        mutating func change(by change: Int, for place: FetchPlace) {
            all += change
            if place.isBulk { bulk += change }
        }
    }

    private struct Waiter {
        var number: Int
        var rank: Int64
    }

    private let concurrency: FetchConcurrency
    private var all = Count()
    private var tenants: [TenantID: Count] = [:]
    private var origins: [String: Count] = [:]
    /// Each list in its order.
    private var waiting: [FetchPlace: [Waiter]] = [:]
    private var prompt = FairLine<TenantID>()
    private var patient = FairLine<TenantID>()

    init(concurrency: FetchConcurrency) {
        self.concurrency = concurrency
    }

    /// Fetches underway.
    func used(bulk isBulk: Bool) -> Int { isBulk ? all.bulk : all.all - all.bulk }

    /// Fetches that wait.
    func waiting(bulk isBulk: Bool) -> Int {
        waiting.reduce(0) { $0 + ($1.key.isBulk == isBulk ? $1.value.count : 0) }
    }

    /// Takes a place where there is room for it. Whoever waits and could take it has it already.
    mutating func takeAtOnce(_ place: FetchPlace) -> Bool {
        guard waiting[place] == nil, hasRoom(for: place) else { return false }
        advance(past: join(place), place)
        change(by: 1, for: place)
        return true
    }

    /// Has somebody wait for a place.
    mutating func wait(_ number: Int, for place: FetchPlace) {
        waiting[place, default: []].append(Waiter(number: number, rank: join(place)))
    }

    /// Has somebody wait no longer.
    mutating func withdraw(_ number: Int, from place: FetchPlace) {
        waiting[place]?.removeAll { $0.number == number }
        if waiting[place]?.isEmpty == true { waiting[place] = nil }
    }

    /// Whose place is taken next; nil where nobody that waits has room.
    mutating func next() -> Int? {
        var best: (place: FetchPlace, first: Waiter)?
        for (place, waiters) in waiting where hasRoom(for: place) {
            guard let first = waiters.first else { continue }
            if let best, !Self.comes(first, place, before: best.first, best.place) { continue }
            best = (place, first)
        }
        guard let best else { return nil }
        withdraw(best.first.number, from: best.place)
        advance(past: best.first.rank, best.place)
        change(by: 1, for: best.place)
        return best.first.number
    }

    private static func comes(
        _ waiter: Waiter, _ place: FetchPlace, before other: Waiter, _ otherPlace: FetchPlace
    ) -> Bool {
        guard place.isBulk == otherPlace.isBulk else { return otherPlace.isBulk }
        return (waiter.rank, waiter.number) < (other.rank, other.number)
    }

    /// A fetch has ended.
    mutating func giveBack(_ place: FetchPlace) {
        change(by: -1, for: place)
    }

    private func hasRoom(for place: FetchPlace) -> Bool {
        all.hasRoom(for: place, of: concurrency.all)
            && tenants[place.tenant, default: Count()].hasRoom(for: place, of: concurrency.tenant)
            && origins[place.origin, default: Count()].hasRoom(for: place, of: concurrency.origin)
    }

    private mutating func change(by change: Int, for place: FetchPlace) {
        all.change(by: change, for: place)
        tenants[place.tenant, default: Count()].change(by: change, for: place)
        origins[place.origin, default: Count()].change(by: change, for: place)
        if tenants[place.tenant]?.all == 0 { tenants[place.tenant] = nil }
        if origins[place.origin]?.all == 0 { origins[place.origin] = nil }
    }

    private mutating func join(_ place: FetchPlace) -> Int64 {
        place.isBulk ? patient.join(place.tenant) : prompt.join(place.tenant)
    }

    private mutating func advance(past rank: Int64, _ place: FetchPlace) {
        if place.isBulk { patient.advance(past: rank) } else { prompt.advance(past: rank) }
    }
}

/// Has fetches wait for their turn: see ``FetchOrder``.
package final class FetchPlaces: Sendable {
    private struct Waiter {
        var place: FetchPlace
        var since: ContinuousClock.Instant
        var admit: @Sendable (AsyncSemaphore.Admission) -> Void
    }

    private struct State {
        var order: FetchOrder
        var waiters: [Int: Waiter] = [:]
    }

    private let state: Mutex<State>

    package init(_ concurrency: FetchConcurrency) {
        state = Mutex(State(order: FetchOrder(concurrency: concurrency)))
    }

    /// Waits for a place.
    package func acquire(_ place: FetchPlace, until moment: ContinuousClock.Instant?) async -> AsyncSemaphore.Admission
    {
        if state.withLock({ $0.order.takeAtOnce(place) }) { return .granted }
        let number = Readiness.shared.reserve()
        defer { Readiness.shared.release(number) }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // Whoever removes the waiter answers it.
                state.withLock { state in
                    state.order.wait(number, for: place)
                    state.waiters[number] = Waiter(place: place, since: .now) { continuation.resume(returning: $0) }
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

    package func release(_ place: FetchPlace) {
        state.withLock { $0.order.giveBack(place) }
        admit()
    }

    package func used(bulk isBulk: Bool) -> Int { state.withLock { $0.order.used(bulk: isBulk) } }

    package func waiting(bulk isBulk: Bool) -> Int { state.withLock { $0.order.waiting(bulk: isBulk) } }

    /// Since when somebody has been waiting; nil where nobody waits.
    package func waitingSince(bulk isBulk: Bool) -> ContinuousClock.Instant? {
        state.withLock { $0.waiters.values.filter { $0.place.isBulk == isBulk }.map(\.since).min() }
    }

    private func admit() {
        let admitted = state.withLock { state in
            var admitted: [(number: Int, waiter: Waiter)] = []
            while let number = state.order.next() {
                if let waiter = state.waiters.removeValue(forKey: number) { admitted.append((number, waiter)) }
            }
            return admitted
        }
        for (number, waiter) in admitted {
            Readiness.shared.cancel(number)
            waiter.admit(.granted)
        }
    }

    private func giveUp(_ number: Int, _ reason: AsyncSemaphore.Admission) {
        let waiter = state.withLock { state in
            let waiter = state.waiters.removeValue(forKey: number)
            if let waiter { state.order.withdraw(number, from: waiter.place) }
            return waiter
        }
        waiter?.admit(reason)
    }
}
