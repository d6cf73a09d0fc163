import SatchelCore
import Platform
import Testing

@testable import Ingest

/// Whose fetch holds a place, and whose is next.
@Suite struct FetchOrderTests {
    private struct Fetches {
        var order = FetchOrder(concurrency: FetchConcurrency(all: 40, tenant: 16, origin: 8))
        var underway: [FetchPlace] = []
        var waiting: [Int: FetchPlace] = [:]
        var asked = 0

        /// - Returns: Whether it has its place at once.
        @discardableResult
        mutating func ask(_ tenant: String, _ origin: String, bulk isBulk: Bool = true) -> Bool {
            let place = FetchPlace(tenant: TenantID(rawValue: tenant), origin: origin, isBulk: isBulk)
            if order.takeAtOnce(place) {
                underway.append(place)
                return true
            }
            asked += 1
            order.wait(asked, for: place)
            waiting[asked] = place
            return false
        }

        /// Asks 50 times.
        ///
        /// - Returns: How often there was a place at once.
        mutating func askOften(bulk isBulk: Bool = true, _ who: (Int) -> (tenant: String, origin: String)) -> Int {
            var granted = 0
            for number in 0..<50 where ask(who(number).tenant, who(number).origin, bulk: isBulk) { granted += 1 }
            return granted
        }

        /// Gives everybody a place who may have one.
        mutating func admit() -> [FetchPlace] {
            var admitted: [FetchPlace] = []
            while let number = order.next() {
                guard let place = waiting.removeValue(forKey: number) else { continue }
                underway.append(place)
                admitted.append(place)
            }
            return admitted
        }

        mutating func end(where isMeant: (FetchPlace) -> Bool) {
            guard let index = underway.firstIndex(where: isMeant) else { return }
            order.giveBack(underway.remove(at: index))
        }
    }

    @Test func `an origin, a tenant and all have their limits, a quarter of each without bulk work`() {
        var fetches = Fetches()
        var granted: [Int] = []
        granted.append(fetches.askOften { _ in ("ada", "https://slow") })
        granted.append(fetches.askOften { ("ada", "https://origin-\($0)") })
        granted.append(fetches.askOften { ("tenant-\($0)", "https://slow") })
        granted.append(fetches.askOften { ("tenant-\($0)", "https://other-\($0)") })
        #expect(granted == [6, 6, 0, 18], "6 of an origin, 12 of a tenant, 30 in all")
        granted = []
        granted.append(fetches.askOften(bulk: false) { _ in ("ada", "https://slow") })
        granted.append(fetches.askOften(bulk: false) { ("ada", "https://more-\($0)") })
        granted.append(fetches.askOften(bulk: false) { ("tenant-\($0)", "https://most-\($0)") })
        #expect(granted == [2, 2, 6])
        #expect(fetches.order.used(bulk: true) == 30 && fetches.order.used(bulk: false) == 10)
        let admitted = fetches.admit()
        #expect(admitted.isEmpty)
    }

    @Test func `10,000 that wait for a slow origin hold up nobody else`() {
        var fetches = Fetches()
        for _ in 0..<10_000 { fetches.ask("bob", "https://slow") }
        #expect(fetches.order.waiting(bulk: true) == 9994)
        let others = [
            fetches.ask("ada", "https://good"), fetches.ask("bob", "https://good"),
            fetches.ask("bob", "https://slow", bulk: false),
        ]
        #expect(others == [true, true, true])
    }

    @Test func `whoever waits for an answer goes first, then tenants by turns`() {
        var fetches = Fetches()
        for tenant in 0..<5 { for origin in 0..<6 { fetches.ask("t\(tenant)", "https://\(tenant)-\(origin)") } }
        for number in 0..<100 { fetches.ask("bob", "https://bob-\(number)") }
        for number in 0..<3 { fetches.ask("ada", "https://ada-\(number)") }
        for number in 0..<10 { fetches.ask("filler-\(number)", "https://filler-\(number)", bulk: false) }
        let isEveAdmitted = fetches.ask("eve", "https://eve", bulk: false)
        #expect(!isEveAdmitted)
        var order: [String] = []
        for _ in 0..<8 {
            fetches.end { $0.isBulk }
            order += fetches.admit().map(\.tenant.rawValue)
        }
        #expect(order.first == "eve" && order.count == 8)
        #expect(order.prefix(7).filter { $0 == "ada" }.count == 3, "\(order)")
    }

    @Test func `whoever no longer waits takes no place`() {
        var fetches = Fetches()
        for _ in 0..<8 { fetches.ask("bob", "https://slow") }
        for (number, place) in fetches.waiting { fetches.order.withdraw(number, from: place) }
        #expect(fetches.order.waiting(bulk: true) == 0)
        fetches.end { _ in true }
        let admitted = fetches.admit()
        #expect(admitted.isEmpty && fetches.order.used(bulk: true) == 5)
    }

    @Test func `a wait ends with its time or its task, and the place goes to the next`() async {
        let places = FetchPlaces(FetchConcurrency(all: 1, tenant: 1, origin: 1))
        let place = FetchPlace(tenant: TenantID(rawValue: "ada"), origin: "https://a", isBulk: false)
        #expect(await places.acquire(place, until: nil) == .granted)
        #expect(await places.acquire(place, until: .now + .milliseconds(20)) == .late)
        let cancelled = Task { await places.acquire(place, until: nil) }
        let next = Task { await places.acquire(place, until: .now + .seconds(30)) }
        while places.waiting(bulk: false) < 2 { await Task.yield() }
        #expect(places.waitingSince(bulk: false) != nil && places.waitingSince(bulk: true) == nil)
        cancelled.cancel()
        #expect(await cancelled.value == .cancelled)
        places.release(place)
        #expect(await next.value == .granted)
        #expect(places.waiting(bulk: false) == 0 && places.used(bulk: false) == 1)
    }
}
