import SatchelCore
import Foundation
import Postgres
import PostgresTestSupport
import TestSupport
import Testing

@testable import Stores

/// Nodes that share records in PostgreSQL, and live by their heartbeats.
@Suite struct NodeTests {
    let database: RecordDatabase
    let memory: StoreMemory
    let clock = TestClock()

    init() throws {
        database = try RecordDatabase()
        memory = try StoreMemory()
    }

    private func open(_ timing: PostgresNode.Timing) throws -> Store {
        try database.open(bytesIn: memory, clock, timing: timing)
    }

    private func number(_ sql: String) throws -> Int {
        try #require(try database.server.execute(sql, in: database.name).first?.first?.flatMap { Int($0) })
    }

    /// Says nothing after its first heartbeat.
    private static func silent(deadAfter: Duration) -> PostgresNode.Timing {
        PostgresNode.Timing(heartbeat: .seconds(3600), deadAfter: deadAfter)
    }

    @Test func `a silent node's jobs are taken by one that had all of its own heartbeats, and by no other`()
        async throws
    {
        let silent = try open(Self.silent(deadAfter: .seconds(1)))
        let steady = try open(
            PostgresNode.Timing(
                heartbeat: .milliseconds(50), deadAfter: .seconds(1), steadiness: .seconds(1), rescue: .zero))
        let fresh = try open(
            PostgresNode.Timing(
                heartbeat: .milliseconds(50), deadAfter: .seconds(1), steadiness: .seconds(3600), rescue: .zero))
        let claim = try #require(try await silent.claim())
        let rescued = try await whenFound("the job of the silent node", within: .seconds(300)) {
            #expect(try await fresh.claimNext() == nil)
            return try await steady.claimNext()
        }
        #expect(rescued.job == claim.job)
        #expect(rescued.isLate)
        await #expect(throws: ClaimError.lost) {
            try await silent.records.deliver(
                [.failed(claim.attachments[0], .unrecognizedType(sniffed: nil))], under: claim)
        }
    }

    @Test func `a queue is looked through for jobs of a node that has gone when it has, and else once in a while`()
        async throws
    {
        let gone = try open(Self.silent(deadAfter: .seconds(300)))
        let steady = try open(
            PostgresNode.Timing(
                heartbeat: .milliseconds(20), deadAfter: .seconds(300), steadiness: .zero, rescue: .seconds(3600)))
        let (left, over) = (try #require(try await gone.claim()), try #require(try await steady.claim()))
        // The first look was before: what runs out since is not found.
        clock.advance(.seconds(61))
        #expect(try await steady.claimNext() == nil)
        let id = gone.records.node.id
        try database.server.execute("DELETE FROM nodes WHERE id = '\(id)'", in: database.name)
        let rescued = try await whenFound("the jobs", within: .seconds(300)) { try await steady.claimNext() }
        let other = try #require(try await steady.claimNext())
        #expect(Set([rescued.job, other.job]) == [left.job, over.job])
    }

    @Test func `a node whose machine's clock is wrong is named`() async throws {
        let wrong = try open(
            PostgresNode.Timing(deadAfter: .seconds(300), wallClock: { .wallClock() + .seconds(600) }))
        let right = try open(PostgresNode.Timing(deadAfter: .seconds(300)))
        for store in [wrong, right] { await store.records.join(as: .all) }
        var examined = try StoreDatabase(database.url)
        examined.deadAfter = .seconds(300)
        let ahead = try await examined.examine().nodes.map(\.clockAhead).sorted()
        #expect(ahead.count == 2)
        #expect(abs(ahead[0].inSeconds) < 60 && abs(ahead[1].inSeconds - 600) < 60)
    }

    @Test func `what the record says that a node has, and nobody there knows of, it hands back`() async throws {
        let store = try open(
            PostgresNode.Timing(heartbeat: .milliseconds(20), deadAfter: .seconds(300), look: .milliseconds(20)))
        // Its end is over soon, by this machine's clock: it is held all the same.
        _ = try await store.records.submit(.sample())
        let known = try #require(
            try await store.records.claim(
                ClaimCapacity(1), from: .lane(.fetch), by: WorkerID(rawValue: "worker"), for: .milliseconds(10)
            ).first)
        let lost = JobSubmission.sample()
        _ = try await store.records.submit(lost)
        // As if the answer to a claim had been lost with the connection.
        try database.server.execute(
            """
            UPDATE queue SET state = 'running', claim = gen_random_uuid(), node = (SELECT id FROM nodes),
                claimed_until = due_at + 60000, attempt = 1 WHERE state = 'pending'
            """, in: database.name)
        let again = try await whenFound("the job that was handed back", within: .seconds(300)) {
            try await store.claimNext()
        }
        #expect(again.job == lost.id)
        #expect(again.attempt == 1)
        #expect(again.isLate)
        // Longer than a few looks.
        let looks = try number("SELECT heartbeat_at FROM nodes")
        try await eventually(within: .seconds(300)) { try number("SELECT heartbeat_at FROM nodes") > looks + 100 }
        _ = try await store.records.heartbeat(known, for: .seconds(60))
        _ = try await store.records.heartbeat(again, for: .seconds(60))
    }

    @Test func `after a silence a node writes no object before one has confirmed the claim`() async throws {
        let silent = try open(Self.silent(deadAfter: .milliseconds(100)))
        let other = try open(PostgresNode.Timing(deadAfter: .seconds(300), steadiness: .zero))
        let claim = try #require(try await silent.claim())
        func wait() async throws {
            try await eventually("the silence", within: .seconds(300)) {
                try number(
                    "SELECT count(*) FROM nodes WHERE heartbeat_at < extract(epoch FROM now()) * 1000 - 150") == 1
            }
        }
        try await wait()
        let kept = try await silent.commit("kept", under: claim.id)
        #expect(try await silent.blobNames() == [kept.name])
        try await wait()
        _ = try await other.records.cancel(claim.job, of: .local)
        let error = await #expect(throws: AttachmentError.self) { try await silent.commit("late", under: claim.id) }
        #expect(error?.code == .storeFailed)
        await #expect(throws: AttachmentError.self) { try await silent.blobs.copy(kept, under: claim.id) }
        #expect(try await silent.blobNames() == [kept.name])
    }

    @Test func `each node knows how many take requests, among whom rates are divided`() async throws {
        let timing = PostgresNode.Timing(heartbeat: .milliseconds(20), deadAfter: .seconds(300))
        let (one, worker, command) = (try open(timing), try open(timing), try open(timing))
        #expect(one.records.nodes == 1)
        await one.records.join(as: .all)
        await worker.records.join(as: .worker)
        #expect(try await command.claimNext() == nil)
        #expect([one, worker, command].map(\.records.nodes) == [1, 1, 1])
        do {
            // It claims nothing, and is counted all the same.
            let other = try open(timing)
            await other.records.join(as: .api)
            try await eventually("two nodes", within: .seconds(300)) {
                [one, worker, command, other].allSatisfy { $0.records.nodes == 2 }
            }
            await other.records.retire()
            try await eventually("one that is about to end", within: .seconds(300)) { one.records.nodes == 1 }
            #expect(try number("SELECT count(*) FROM nodes") == 4)
        }
        let ending = try open(timing)
        await ending.records.join(as: .all)
        try await eventually("two nodes", within: .seconds(300)) { one.records.nodes == 2 }
        withExtendedLifetime(ending) {}
    }

    @Test func `a node that takes requests alone has no claims, and what it leaves is nobody's to rescue`() async throws
    {
        let worker = try open(
            PostgresNode.Timing(heartbeat: .milliseconds(50), deadAfter: .seconds(1), steadiness: .zero, rescue: .zero))
        let silent = try open(Self.silent(deadAfter: .seconds(1)))
        await silent.records.join(as: .api)
        _ = try await silent.records.submit(.sample())
        let claim = try #require(try await worker.claimNext())
        try await eventually("the silence", within: .seconds(300)) {
            try number(
                "SELECT count(*) FROM nodes WHERE role = 'api' AND heartbeat_at < extract(epoch FROM now()) * 1000 - 1000"
            ) == 1
        }
        #expect(try await worker.claimNext() == nil)
        try await worker.records.forgetEndedWorkers()
        #expect(try number("SELECT count(*) FROM nodes WHERE role = 'api'") == 0)
        _ = try await worker.records.heartbeat(claim, for: .seconds(60))
    }

    @Test func `what was written while the server's clock was ahead keeps nobody waiting when it is back`() async throws
    {
        let silent = try open(Self.silent(deadAfter: .seconds(300)))
        let lost = try #require(try await silent.claim())
        let handedBack = try #require(try await silent.claim())
        try await silent.records.release(handedBack, after: .seconds(3), countsAttempt: true)
        #expect(try await silent.records.leads(.garbage))
        for written in [
            "queue SET due_at = due_at", "nodes SET heartbeat_at = heartbeat_at", "leaders SET until = until",
        ] {
            try database.server.execute("UPDATE \(written) + 3600000", in: database.name)
        }
        let other = try open(PostgresNode.Timing(deadAfter: .seconds(300), steadiness: .zero, rescue: .zero))
        #expect(
            Set([try await other.claimNext()?.job, try await other.claimNext()?.job]) == [lost.job, handedBack.job])
        #expect(try await other.records.leads(.garbage))
    }

    @Test func `a clock that is set is known from one that goes on`() {
        let (server, own) = (Instant(milliseconds: 1_763_720_100_000), ContinuousClock.now)
        var time = ServerTime()
        #expect(time.expected(at: own) == nil)
        func note(_ elapsed: Duration, offset: Duration) -> Bool {
            time.note(server + elapsed + offset, at: own + elapsed, tolerance: .seconds(5))
        }
        #expect(!note(.zero, offset: .zero))
        #expect(!note(.seconds(3600), offset: .seconds(4)), "a server that took its time")
        #expect(!note(.seconds(3602), offset: .zero))
        #expect(time.expected(at: own + .seconds(3603)) == server + .seconds(3603))
        #expect(note(.seconds(3604), offset: .seconds(3600)))
        #expect(!note(.seconds(3606), offset: .seconds(3600)))
        #expect(note(.seconds(3608), offset: .zero))
    }
}
