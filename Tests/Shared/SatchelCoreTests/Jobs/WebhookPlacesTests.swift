import SatchelCore
import TestSupport
import Testing

@Suite struct WebhookPlacesTests {
    private func receiver(_ tenant: String, _ origin: String) -> WebhookReceiver {
        WebhookReceiver(tenant: TenantID(rawValue: tenant), origin: origin)
    }

    /// Has a receiver answer so many calls that it has earned all that it may have.
    private func earn(_ places: inout WebhookPlaces, _ receiver: WebhookReceiver) {
        for _ in 0..<places.count where places.mayBegin(receiver) {
            places.begin(receiver)
            places.end(receiver, isAnswered: true)
        }
    }

    /// Begins calls as long as it may.
    private func fill(_ places: inout WebhookPlaces, with receiver: WebhookReceiver) -> Int {
        var count = 0
        while places.mayBegin(receiver) {
            places.begin(receiver)
            count += 1
        }
        return count
    }

    @Test func `a receiver has a third of the places, a tenant half of them, and an origin half`() {
        var places = WebhookPlaces(384)
        earn(&places, receiver("ada", "https://a"))
        earn(&places, receiver("bob", "https://b"))
        #expect(fill(&places, with: receiver("ada", "https://a")) == 128)
        for origin in 0..<400 { _ = fill(&places, with: receiver("ada", "https://\(origin)")) }
        #expect(places.calls(of: TenantID(rawValue: "ada")) == 192)
        #expect(fill(&places, with: receiver("bob", "https://b")) == 64)

        var shared = WebhookPlaces(384)
        for tenant in 0..<400 {
            earn(&shared, receiver("\(tenant)", "https://one"))
            _ = fill(&shared, with: receiver("\(tenant)", "https://one"))
        }
        #expect(shared.free == 192)
        #expect(fill(&shared, with: receiver("ada", "https://other")) > 0)
    }

    @Test func `whose places become fewer begins none until as many have ended`() {
        var places = WebhookPlaces(8)
        let receivers = (0..<4).map {
            WebhookReceiver(tenant: TenantID(rawValue: "t\($0)"), origin: "https://\($0).example.com")
        }
        for receiver in receivers { places.begin(receiver) }
        places.count = 3
        #expect(places.free == 0 && !receivers.contains(where: places.mayBegin))
        for receiver in receivers[..<3] { places.end(receiver, isAnswered: true) }
        #expect(places.free == 2 && places.mayBegin(receivers[0]))
    }

    @Test func `who doesn't answer has a few, so that dozens of them leave places for who comes new`() {
        var places = WebhookPlaces(384)
        let silent = (0..<60).map { receiver("\($0)", "https://\($0)") }
        for one in silent.prefix(20) { #expect(fill(&places, with: one) == 16) }
        // All are waited for in vain, again and again.
        for _ in 0..<8 {
            for one in silent {
                for _ in 0..<places.calls(to: one) { places.end(one, isAnswered: false) }
                _ = fill(&places, with: one)
            }
        }
        for one in silent.prefix(20) { #expect(places.calls(to: one) == 4) }
        let new = receiver("new", "https://new")
        #expect(fill(&places, with: new) == 16)
        // One that answers again earns its places again.
        for _ in 0..<4 { places.end(silent[0], isAnswered: true) }
        #expect(fill(&places, with: silent[0]) == 8)
        for _ in 0..<8 { places.end(silent[0], isAnswered: true) }
        #expect(fill(&places, with: silent[0]) == 16)
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `what was begun and ended leaves nothing behind`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var places = WebhookPlaces(40)
        var underway: [WebhookReceiver] = []
        for _ in 0..<500 {
            let some = receiver(
                "\(Int.random(in: 0..<4, using: &random))", "https://\(Int.random(in: 0..<4, using: &random))")
            if Bool.random(using: &random), places.mayBegin(some) {
                places.begin(some)
                underway.append(some)
            } else if let index = underway.indices.randomElement(using: &random) {
                places.end(underway.remove(at: index), isAnswered: Bool.random(using: &random))
            }
            #expect(places.free == 40 - underway.count && places.free >= 0)
            #expect(places.calls(to: some) == underway.count { $0 == some })
            #expect(places.calls(of: some.tenant) == underway.count { $0.tenant == some.tenant })
        }
        for one in underway { places.end(one, isAnswered: true) }
        #expect(places.free == 40)
        for one in underway { #expect(places.calls(to: one) == 0 && places.calls(of: one.tenant) == 0) }
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `who waits with much has no more than who waits with less, and nobody is passed over`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var places = WebhookPlaces(Int.random(in: 20...100, using: &random))
        var waiting: [WebhookReceiver: [Int]] = [:]
        var next = 0
        for tenant in 0..<Int.random(in: 1...6, using: &random) {
            for origin in 0..<Int.random(in: 1...4, using: &random) {
                let count = Int.random(in: 0...200, using: &random)
                waiting[receiver("\(tenant)", "https://\(tenant)-\(origin)")] = Array(next..<next + count)
                next += count
            }
        }
        let owners = Dictionary(
            uniqueKeysWithValues: waiting.flatMap { receiver, calls in calls.map { ($0, receiver) } })
        for receiver in waiting.keys { earn(&places, receiver) }
        let begun = places.begin(waiting)
        var left = waiting
        for call in begun {
            guard let owner = owners[call] else { continue }
            #expect(left[owner]?.first == call, "in their order")
            left[owner]?.removeFirst()
        }
        // Nobody waits who may begin.
        for (receiver, calls) in left where !calls.isEmpty { #expect(!places.mayBegin(receiver)) }
        let waitingTenants = Set(left.filter { !$0.value.isEmpty }.map(\.key.tenant))
        for tenant in waitingTenants {
            let own = places.calls(of: tenant)
            for other in Set(waiting.map(\.key.tenant)) { #expect(places.calls(of: other) <= own + max(own, 1)) }
        }
    }
}
