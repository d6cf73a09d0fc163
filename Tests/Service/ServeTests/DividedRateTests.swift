import Foundation
import Glibc
import ServiceTestSupport
import TestSupport
import Testing

/// What each node counts for itself is its share: by how many live and take requests, whatever else uses the store.
@Suite(.needs(.ceph), .timeLimit(.minutes(5))) struct DividedRateTests {
    private static let rate = 20
    /// Between a half and a whole: one request or another may be sent twice.
    private static let middle = 15

    /// How many submissions of one tenant each node takes before it refuses one. A tenant that nobody knows yet has all of its rate, and
    /// regains so little of it meanwhile that a half is no whole within half a minute.
    private static func shares(_ nodes: [ServiceProcess], of harness: borrowing ServiceHarness) async throws -> [Int] {
        let key = try await harness.makeKey("--tenant", "t" + UUID().uuidString.lowercased().prefix(8))
        var shares: [Int] = []
        for node in nodes {
            var taken = 0
            while true {
                let answer = try await node.send(
                    "POST", "/v1/jobs?profile=message", ["Content-Type": "image/jpeg"], body: Data("x".utf8), key: key)
                if answer.status == 429 {
                    #expect(try answer.json["code"] as? String == "rate_limited")
                    break
                }
                try #require(answer.status == 202, "\(answer.text)")
                taken += 1
            }
            shares.append(taken)
        }
        return shares
    }

    @Test func `of a tenant's submissions a minute each of two nodes takes half, and whoever is left takes all`()
        async throws
    {
        let harness = try ServiceHarness(.cluster)
        let key = try await harness.makeKey("--role", "admin")
        func serve(_ role: String) async throws -> ServiceProcess {
            try await harness.serve("--role", role, "--set", "quotas.submissions_per_minute=\(Self.rate)", key: key)
        }
        let first = try await serve("api")
        // Takes none, and commands don't either, of which each look is one.
        let worker = try await serve("worker")
        func expectWhole() async throws {
            try await eventually("one node takes all") {
                try await Self.shares([first], of: harness)[0] > Self.middle
            }
        }
        func expectHalves(with other: ServiceProcess) async throws {
            try await eventually("each node takes half") {
                let shares = try await Self.shares([first, other], of: harness)
                return shares.allSatisfy { $0 < Self.middle && $0 > Self.rate / 4 }
            }
        }
        try await expectWhole()
        let second = try await serve("all")
        try await expectHalves(with: second)
        // It says that it ends, and then that it is gone.
        #expect(try await second.stop().status == 0)
        try await expectWhole()
        let third = try await serve("api")
        try await expectHalves(with: third)
        // It says nothing: its heartbeats stay out.
        _ = try await third.stop(SIGKILL)
        try await expectWhole()
        #expect(try await worker.get("/livez").status == 200)
    }
}
