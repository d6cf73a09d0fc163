import SatchelCore
import Testing

@testable import Jobs

/// The arithmetic of stage times, over moments that the tests set.
@Suite struct StageTimesTests {
    private let start = ContinuousClock.now

    private func at(_ milliseconds: Int) -> ContinuousClock.Instant { start + .milliseconds(milliseconds) }

    private func report(_ role: RenditionRole, seconds: Double) -> RenditionReport {
        RenditionReport(role: role, type: .jpeg, bytes: 1, seconds: seconds, note: "")
    }

    @Test func `waiting, identifying, making and finishing sum up to the whole`() {
        var times = StageTimes(asked: at(0))
        times.identified(at: at(30))
        times.told(at: at(35))
        times.received(report(.thumbnail, seconds: 0.040), at: at(95))
        times.received(report(.main, seconds: 0.100), at: at(205))
        times.finished(at: at(225))
        // 25 before the probe result, 20 for its memory; what the decision took is nobody's.
        #expect(abs(times.waiting(identifying: 0.005) - 0.045) < 1e-9)
        #expect(abs(times.finishing - 0.030) < 1e-9)
        let sum = times.waiting(identifying: 0.005) + 0.005 + 0.040 + 0.100 + times.finishing
        #expect(abs(sum - 0.220) < 1e-9)
    }

    @Test(arguments: [0.0, 1e9, 0.02])
    func `no time is negative, whatever the codec says of itself`(seconds: Double) {
        var times = StageTimes(asked: at(0))
        #expect(times.waiting(identifying: seconds) == 0 && times.finishing == 0)
        times.identified(at: at(10))
        #expect(times.waiting(identifying: seconds) >= 0)
        times.told(at: at(11))
        times.received(report(.thumbnail, seconds: seconds), at: at(12))
        times.received(report(.main, seconds: seconds), at: at(13))
        times.finished(at: at(14))
        #expect(times.waiting(identifying: seconds) >= 0 && times.finishing >= 0)
    }

    @Test func `warnings are counted, bounded, and absent where there are none`() {
        #expect(Step(warnings: []) == nil && Step(warnings: [""]) == nil)
        #expect(Step(warnings: ["a", "b", "a"])?.note == "a (2 times); b")
        let many = Step(warnings: (0..<32).map { "warning number \($0) of a decoder" })?.note ?? ""
        #expect(many.count <= 200 && many.hasSuffix(" more") && many.hasPrefix("warning number 0 of a decoder; "))
        let long = Step(warnings: [String(repeating: "w", count: 300)])?.note ?? ""
        #expect(long.count <= 200)
    }
}
