import SatchelCore
import TestSupport
import Testing

@Suite struct WebhookScheduleTests {
    /// The waits of a receiver that never takes the call, each of which lasts `seconds`.
    private func waits(
        _ schedule: WebhookSchedule, calls seconds: Double, retryAfter: Duration? = nil, seed: UInt64
    ) -> [Duration] {
        var random = SeededGenerator(seed: seed)
        var age = Duration.zero
        var waits: [Duration] = []
        while waits.count < 1000 {
            age += .milliseconds(Int64(seconds * 1000))
            guard let wait = schedule.wait(after: waits.count + 1, age: age, retryAfter: retryAfter, using: &random)
            else { return waits }
            waits.append(wait)
            age += wait
        }
        return waits
    }

    @Test(arguments: [0, 0.1, 15])
    func `a receiver that never answers well is called for a day, and not longer`(seconds: Double) {
        let schedule = WebhookSchedule()
        for seed in 0..<200 as Range<UInt64> {
            let waits = waits(schedule, calls: seconds, seed: seed)
            let total = waits.reduce(.zero, +)
            let calls = Duration.milliseconds(Int64(seconds * 1000)) * waits.count
            // The last call is at the end of the day, but where one before it lasts until then.
            let left = schedule.lifetime - total - calls
            #expect((.zero ... .milliseconds(Int64(seconds * 1000))).contains(left), "seed \(seed)")
            #expect((9...60).contains(waits.count), "\(waits.count) calls, seed \(seed)")
        }
    }

    @Test func `each wait is anywhere between its bounds`() {
        let schedule = WebhookSchedule()
        var random = SeededGenerator(seed: 7)
        for attempt in 1...40 {
            var bound = schedule.base
            for _ in 1..<attempt { bound = min(bound * 4, schedule.limit) }
            let waits = (0..<400).compactMap { _ in schedule.wait(after: attempt, age: .zero, using: &random) }
            #expect(waits.count == 400)
            #expect(waits.allSatisfy { $0 >= schedule.minimum && $0 <= bound }, "attempt \(attempt)")
            // Full jitter: some are near either bound, and about half are under the middle.
            #expect(waits.contains { $0 < bound * 0.25 } && waits.contains { $0 > bound * 0.9 }, "attempt \(attempt)")
            #expect((140...260).contains(waits.count { $0 < bound * 0.5 }), "attempt \(attempt)")
        }
    }

    @Test func `a receiver may ask for a longer wait within bounds, never for a shorter one`() {
        let schedule = WebhookSchedule()
        var random = SeededGenerator(seed: 11)
        for _ in 0..<1000 {
            let asked = Duration.seconds(Int64.random(in: 0...Int64(UInt32.max), using: &random))
            let attempt = Int.random(in: 1...30, using: &random)
            let age = Duration.milliseconds(Int64.random(in: 0...86_399_999, using: &random))
            var same = random
            guard let plain = schedule.wait(after: attempt, age: age, using: &same),
                let wait = schedule.wait(after: attempt, age: age, retryAfter: asked, using: &random)
            else {
                Issue.record("given up at \(age)")
                continue
            }
            #expect(wait == max(plain, min(asked, schedule.limit, schedule.lifetime - age)))
            #expect(wait <= schedule.limit && wait <= schedule.lifetime - age)
        }
    }

    @Test func `a call that ends is made for the last time a moment before`() {
        let creation = Instant(milliseconds: 5000)
        for seconds in [60, 3600, 86_400 * 3] {
            let schedule = WebhookSchedule().ending(at: creation + .seconds(seconds), since: creation)
            for seed in 0..<50 as Range<UInt64> {
                let total = waits(schedule, calls: 0, seed: seed).reduce(.zero, +)
                #expect(total == .seconds(seconds) - WebhookSchedule.margin, "seed \(seed)")
            }
        }
        #expect(WebhookSchedule().ending(at: nil, since: creation) == WebhookSchedule())
        var random = SeededGenerator(seed: 1)
        let short = WebhookSchedule().ending(at: creation + .seconds(1), since: creation)
        #expect(short.wait(after: 1, age: .zero, using: &random) == nil, "there is time for one alone")
    }

    @Test func `after the lifetime it is given up`() {
        let schedule = WebhookSchedule()
        var random = SeededGenerator(seed: 3)
        for age in [schedule.lifetime, schedule.lifetime + .seconds(1), .seconds(1 << 40)] {
            #expect(schedule.wait(after: 1, age: age, retryAfter: .seconds(5), using: &random) == nil)
        }
        #expect(schedule.wait(after: Int.max, age: .zero, using: &random).map { $0 <= schedule.limit } == true)
    }
}
