import SatchelCore
import PostgresTestSupport
import TestSupport
import Testing

@testable import Stores

/// Where claims begin to look.
@Suite struct ClaimLowsTests {
    private let line = ClaimLows.Line(run: "", lane: .fetch, priority: 1)
    private let now = ContinuousClock.now

    @Test func `a claim that got all it asked for has the next begin a margin below`() {
        var lows = ClaimLows()
        #expect(lows.low(of: line, at: now) == 0)
        lows.note([200_000, 200_007], of: line, wanted: 2, from: 0, at: now)
        #expect(lows.low(of: line, at: now) == 199_000)
        var other = line
        other.priority = 0
        #expect(lows.low(of: other, at: now) == 0)
        // Nothing was asked for.
        lows.note([], of: line, wanted: 0, from: 199_000, at: now)
        #expect(lows.low(of: line, at: now) == 199_000)
        lows.note([10], of: line, wanted: 1, from: 0, at: now)
        #expect(lows.low(of: line, at: now) == 0)
    }

    @Test func `a claim that found fewer than it had room for has the next look from the start within a second`() {
        var lows = ClaimLows()
        lows.note([], of: line, wanted: 2, from: 0, at: now)
        #expect(lows.low(of: line, at: now) == 0)
        lows.note([200_000], of: line, wanted: 2, from: 0, at: now)
        // It took all that there was.
        #expect(lows.low(of: line, at: now + .milliseconds(999)) == 199_000)
        lows.note([], of: line, wanted: 2, from: 199_000, at: now + .milliseconds(500))
        #expect(lows.low(of: line, at: now + .milliseconds(999)) == 199_000)
        #expect(lows.low(of: line, at: now + .seconds(1)) == 0)
        // Something came back, and nothing else is there.
        lows.note([10], of: line, wanted: 2, from: 0, at: now + .seconds(1))
        #expect(lows.low(of: line, at: now + .seconds(1)) == 199_000)
    }

    @Test func `the end of a run is looked for from the start`() {
        var lows = ClaimLows()
        let run = ClaimLows.Line(run: "run", lane: nil, priority: 1)
        lows.note([200_000], of: run, wanted: 1, from: 0, at: now)
        #expect(lows.low(of: run, at: now) == 199_000)
        lows.note([200_001], of: run, wanted: 2, from: 199_000, at: now)
        #expect(lows.low(of: run, at: now) == 0)
    }

    @Test func `every five seconds it is from the start, however busy the line`() {
        var lows = ClaimLows()
        lows.note([200_000], of: line, wanted: 1, from: 0, at: now)
        for second in 1..<5 {
            lows.note([200_000], of: line, wanted: 1, from: 199_000, at: now + .seconds(second))
            #expect(lows.low(of: line, at: now + .seconds(second)) == 199_000)
        }
        #expect(lows.low(of: line, at: now + .seconds(5)) == 0)
        lows.note([200_000], of: line, wanted: 1, from: 0, at: now + .seconds(5))
        #expect(lows.low(of: line, at: now + .seconds(9)) == 199_000)
        lows.forget()
        #expect(lows.low(of: line, at: now + .seconds(9)) == 0)
    }

    @Test func `what another node gives back far below is found soon after the line runs out`() async throws {
        let fixture = try Fixture(.postgres)
        let other = try fixture.reopened()
        _ = try await fixture.records.submit(.sample())
        let held = try #require(try await other.claimNext())
        // Much has passed meanwhile.
        let database = try fixture.requireDatabase()
        try database.server.execute("UPDATE virtual_time SET rank = 200000", in: database.name)
        for tenant in ["a", "b", "c"] {
            _ = try await fixture.records.submit(.sample(tenant: TenantID(rawValue: tenant)))
        }
        func claim(_ count: Int) async throws -> [Claim] {
            try await fixture.records.claim(
                ClaimCapacity(count), from: .lane(.fetch), by: WorkerID(rawValue: "me"), for: .seconds(60))
        }
        #expect(try await claim(1).map(\.tenant.rawValue) == ["a"])
        try await other.records.release(held, after: .zero, countsAttempt: false)
        // Where it stands among the others depends on whether a look from the start was due by then.
        var found: Set<TenantID> = []
        try await eventually("all are found") {
            found.formUnion(try await claim(found.count < 2 ? 1 : 2).map(\.tenant))
            return found == Set(["b", "c", "local"].map(TenantID.init(rawValue:)))
        }
    }
}
