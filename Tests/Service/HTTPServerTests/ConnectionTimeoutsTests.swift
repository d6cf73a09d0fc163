import NIOCore
import Testing

@testable import HTTPServer

/// What has gone on for too long, decided without a clock.
@Suite struct ConnectionTimeoutsTests {
    private static let limits: ConnectionLimits = {
        var limits = ConnectionLimits()
        limits.header = .seconds(10)
        limits.idle = .seconds(60)
        limits.rateWindow = .seconds(5)
        limits.minimumRate = 1000
        limits.body = .seconds(100)
        limits.response = .seconds(1000)
        limits.linger = .seconds(2)
        return limits
    }()

    private static func at(_ seconds: Int64) -> NIODeadline { .uptimeNanoseconds(1_000_000_000) + .seconds(seconds) }

    private static func make(_ stage: ConnectionTimeouts.Stage, exchange: Int = 1) -> ConnectionTimeouts {
        var timeouts = ConnectionTimeouts(limits, at: at(0))
        timeouts.enter(stage, exchange: exchange, at: at(0))
        return timeouts
    }

    @Test(
        arguments: [
            (.opening, 10, .close), (.idle, 60, .close), (.head, 10, .refuse), (.lingering, 2, .close),
        ] as [(ConnectionTimeouts.Stage, Int64, ConnectionTimeouts.Verdict)])
    func `each stage has its time`(
        stage: ConnectionTimeouts.Stage, seconds: Int64, verdict: ConnectionTimeouts.Verdict
    ) {
        var timeouts = Self.make(stage)
        for second in 0...seconds { #expect(timeouts.verdict(at: Self.at(second), buffered: 0) == .fine) }
        #expect(timeouts.verdict(at: Self.at(seconds + 1), buffered: 0) == verdict)
    }

    @Test func `a body has to keep up its rate, but for times when nothing is expected`() {
        var steady = Self.make(.body)
        for second in 1...90 {
            steady.received(1100)
            #expect(steady.verdict(at: Self.at(Int64(second)), buffered: 0) == .fine)
        }
        #expect(steady.verdict(at: Self.at(101), buffered: 0) == .refuse)
        var silent = Self.make(.body)
        silent.excuse(at: Self.at(20))
        #expect(silent.verdict(at: Self.at(25), buffered: 0) == .fine)
        #expect(silent.verdict(at: Self.at(26), buffered: 0) == .refuse)
    }

    @Test func `an answer has to be taken at its rate, and whole in its time`() {
        var stuck = Self.make(.answering)
        stuck.wrote(1_000_000, at: Self.at(0))
        #expect(stuck.verdict(at: Self.at(5), buffered: 1_000_000) == .fine)
        #expect(stuck.verdict(at: Self.at(6), buffered: 999_000) == .cut)
        var slow = Self.make(.answering)
        slow.wrote(10_000_000, at: Self.at(0))
        for second in stride(from: Int64(1), through: 1000, by: 1) {
            #expect(slow.verdict(at: Self.at(second), buffered: 10_000_000 - Int(second) * 1500) == .fine)
        }
        #expect(slow.verdict(at: Self.at(1001), buffered: 1_000_000) == .cut)
    }

    @Test func `the time of an answer begins anew with each request`() {
        for stage in [ConnectionTimeouts.Stage.idle, .answering] {
            var timeouts = Self.make(.answering)
            timeouts.wrote(10, at: Self.at(0))
            timeouts.enter(stage, exchange: stage == .idle ? 1 : 2, at: Self.at(990))
            timeouts.enter(.answering, exchange: 2, at: Self.at(990))
            timeouts.wrote(10, at: Self.at(999))
            #expect(timeouts.verdict(at: Self.at(1010), buffered: 0) == .fine)
        }
    }

    @Test func `who closed its side gets its answer as long as it takes some of it`() {
        var timeouts = Self.make(.answering)
        timeouts.wrote(100_000, at: Self.at(0))
        timeouts.closedInput(at: Self.at(0))
        for second in 1...4 {
            #expect(timeouts.verdict(at: Self.at(Int64(second)), buffered: 100_000 - second * 5000) == .fine)
        }
        #expect(timeouts.verdict(at: Self.at(7), buffered: 80_000) == .cut)
    }

    @Test func `when the server stops everything is over by its deadline`() {
        for stage in [ConnectionTimeouts.Stage.opening, .idle, .head, .body, .answering, .lingering] {
            var timeouts = Self.make(stage)
            timeouts.endBy(Self.at(1))
            #expect(timeouts.verdict(at: Self.at(0), buffered: 0) == .fine)
            #expect(timeouts.verdict(at: Self.at(1), buffered: 0) == .cut)
        }
    }
}
