import SatchelCore
import Testing

@testable import Jobs

/// A watch that is looked at within an expectation.
private final class Watch {
    private var watch = ClockWatch()

    var steps: Int { watch.steps }

    func isSteady(_ clock: Instant, uptime: ClosedRange<Duration>) -> Bool {
        watch.isSteady(clock, uptime: uptime)
    }

    /// Of a clock that answers at once.
    func isSteady(_ clock: Instant, uptime: Duration) -> Bool {
        isSteady(clock, uptime: uptime...uptime)
    }
}

@Suite struct ClockWatchTests {
    private static let start = Instant(milliseconds: 1_763_720_100_000)

    @Test func `a clock that goes on is steady from the first look`() {
        let watch = Watch()
        // A second more or less in each of a thousand looks is a slow machine's or a clock's that is being corrected.
        for second in 0..<1000 {
            let drift = Duration.milliseconds(second % 2 == 0 ? 900 : -900)
            #expect(watch.isSteady(Self.start + .seconds(second) + drift, uptime: .seconds(second)))
        }
        #expect(watch.steps == 0)
    }

    @Test(arguments: [3600.0, -3600, 2.1, -2.1])
    func `after a step nothing is due until it has held for ten seconds`(step: Double) {
        let watch = Watch()
        func clock(_ second: Int) -> Instant { Self.start + .seconds(second) + .seconds(fraction: step) }
        #expect(watch.isSteady(Self.start, uptime: .zero))
        #expect(!watch.isSteady(clock(1), uptime: .seconds(1)))
        for second in 2..<11 { #expect(!watch.isSteady(clock(second), uptime: .seconds(second))) }
        #expect(watch.isSteady(clock(11), uptime: .seconds(11)))
        #expect(watch.steps == 1)
    }

    @Test func `set back at once it waits again`() {
        let watch = Watch()
        #expect(watch.isSteady(Self.start, uptime: .zero))
        #expect(!watch.isSteady(Self.start + .seconds(3605), uptime: .seconds(5)))
        #expect(!watch.isSteady(Self.start + .seconds(10), uptime: .seconds(10)))
        #expect(!watch.isSteady(Self.start + .seconds(19), uptime: .seconds(19)))
        #expect(watch.isSteady(Self.start + .seconds(20), uptime: .seconds(20)))
        #expect(watch.steps == 2)
    }

    @Test func `who is kept waiting for the answer has not seen the clock set`() {
        // Asked at 1 s, it said so at once, or at 8 s, or at some time between.
        for second in [1, 4, 8] {
            let watch = Watch()
            #expect(watch.isSteady(Self.start, uptime: .zero))
            #expect(watch.isSteady(Self.start + .seconds(second), uptime: .seconds(1) ... .seconds(8)))
            #expect(watch.isSteady(Self.start + .seconds(9), uptime: .seconds(9)))
            #expect(watch.steps == 0)
        }
        let watch = Watch()
        #expect(watch.isSteady(Self.start, uptime: .zero))
        #expect(!watch.isSteady(Self.start + .seconds(11), uptime: .seconds(1) ... .seconds(8)))
    }
}
