import SatchelCore
import Foundation
import PostgresTestSupport
import Synchronization
import TestSupport
import Testing

@testable import Stores

/// What a transaction in PostgreSQL makes superfluous.
@Suite struct GarbageTests {
    let database: RecordDatabase
    let memory: StoreMemory
    let clock = TestClock()

    init() throws {
        database = try RecordDatabase()
        memory = try StoreMemory()
    }

    private func open(
        garbage: (any GarbageCollector)? = nil, delay: Duration = .seconds(60)
    ) throws -> Store {
        try database.open(bytesIn: memory, clock, garbage: garbage, garbageDelay: delay)
    }

    private var rows: [[String?]] {
        get throws { try database.server.execute("SELECT kind, tries FROM garbage ORDER BY id", in: database.name) }
    }

    @Test func `the bytes of what was deleted stay for the delay, and go with the next sweep`() async throws {
        let store = try open()
        let attachment = try await store.deliver([.main: "text"])
        #expect(try await store.records.delete(attachment.id, of: .local))
        #expect(try await store.sweep().collected == 0)
        #expect(try await store.blobNames().count == 1)
        clock.advance(.seconds(61))
        #expect(try await store.sweep(inTurn: true).collected == 1)
        #expect(try await store.blobNames().isEmpty)
        #expect(try rows.isEmpty)
    }

    @Test func `what was written under a claim that was given back goes an hour later, and nothing else`() async throws
    {
        let store = try open()
        let first = try #require(try await store.claim())
        let stray = try await store.commit("stray", under: first.id)
        try await store.records.release(first, after: .zero, countsAttempt: true)
        let second = try #require(try await store.claimNext())
        let kept = try await store.commit("kept", under: second.id)
        _ = try await store.records.deliver([.delivered(second.attachments[0], [.main: kept])], under: second)
        clock.advance(.seconds(3599))
        #expect(try await store.records.collectGarbage() == 0)
        #expect(try await store.blobNames() == [stray.name, kept.name])
        clock.advance(.seconds(2))
        #expect(try await store.records.collectGarbage() == 1)
        #expect(try await store.blobNames() == [kept.name])
    }

    @Test(arguments: ["cancel", "delete", "renew", "rescue", "move"])
    func `whoever takes a claim away notes it`(way: String) async throws {
        let store = try open()
        let submission = JobSubmission.sample()
        let claim = try #require(try await store.claim(of: submission))
        switch way {
        case "cancel": _ = try await store.records.cancel(claim.job, of: .local)
        case "delete": _ = try await store.records.deleteJob(claim.job, of: .local)
        case "renew": _ = try await store.records.submit(.sample(id: submission.id, identifiers: ["other"]))
        case "move": try await store.records.move(claim, to: .expensive)
        default:
            clock.advance(.seconds(61))
            #expect(try await store.claimNext()?.isLate == true)
        }
        let names = try database.server.execute("SELECT name FROM garbage WHERE kind = 'claim'", in: database.name)
        #expect(names == [[claim.id.rawValue]])
    }

    /// After a failover that lost commits, a claim may be noted that was delivered after all.
    @Test func `what was delivered under a noted claim stays`() async throws {
        let store = try open()
        let claim = try #require(try await store.claim())
        let kept = try await store.commit("kept", under: claim.id)
        _ = try await store.records.deliver([.delivered(claim.attachments[0], [.main: kept])], under: claim)
        try database.server.execute(
            "INSERT INTO garbage (kind, job, name, due_at) SELECT 'claim', key, delivered_claim, 0 FROM jobs",
            in: database.name)
        #expect(try await store.records.collectGarbage() == 1)
        #expect(try await store.text(of: kept.name) == "kept")
        #expect(try rows.isEmpty)
    }

    @Test func `one node collects, until it doesn't ask for ten seconds`() async throws {
        let (first, second) = (try open(), try open())
        #expect(try await first.records.leads(.garbage))
        #expect(try await first.records.leads(.garbage))
        #expect(try await !second.records.leads(.garbage))
        #expect(try await second.records.leads(.expiry))
        let left = try database.server.execute(
            "SELECT until - extract(epoch FROM now()) * 1000 FROM leaders WHERE task = 'garbage'", in: database.name)
        #expect(try #require(left[0][0].flatMap(Double.init)) <= 10_000)
        try database.server.execute("UPDATE leaders SET until = 0", in: database.name)
        #expect(try await second.records.leads(.garbage))
        #expect(try await !first.records.leads(.garbage))
        // Once in so long, by whoever comes first.
        #expect(try await first.records.leads(.sources))
        #expect(try await !first.records.leads(.sources))
    }

    @Test func `of many who ask at once one collects, and another when that one is gone`() async throws {
        var stores: [Store] = []
        for _ in 0..<3 { stores.append(try open()) }
        func leaders() async throws -> Set<Int> {
            try await withThrowingTaskGroup(of: Int?.self) { group in
                for _ in 0..<4 {
                    for (index, store) in stores.enumerated() {
                        group.addTask { try await store.records.leads(.garbage) ? index : nil }
                    }
                }
                return try await group.reduce(into: []) { if let index = $1 { $0.insert(index) } }
            }
        }
        while !stores.isEmpty {
            let begun = ContinuousClock.now
            let found = try await leaders()
            let leader = try #require(found.first)
            let again = try await leaders()
            // On a busy machine its ten seconds pass meanwhile.
            if .now - begun < GarbageTiming.lead { #expect(found.count == 1 && again == found, "\(found) \(again)") }
            // It asks no more, and its ten seconds pass.
            stores.remove(at: leader)
            try database.server.execute("UPDATE leaders SET until = 0", in: database.name)
        }
    }

    @Test func `what can't be removed is tried again, later each time`() async throws {
        struct Broken: GarbageCollector {
            let works: Mended

            func remove(_ blobs: [BlobName], _ sources: [SourceName]) async throws(AttachmentError) {
                guard works.isSo else { throw .storeFailed(reason: "the bucket is away") }
            }

            func removeAll(under claim: ClaimID) async throws(AttachmentError) { try await remove([], []) }
        }
        final class Mended: Sendable {
            private let value = Mutex(false)
            var isSo: Bool {
                get { value.withLock(\.self) }
                set { value.withLock { $0 = newValue } }
            }
        }
        let works = Mended()
        // Also where it is removed at once.
        let store = try open(garbage: Broken(works: works), delay: .zero)
        let attachment = try await store.deliver([.main: "text"])
        let claim = try #require(try await store.claim())
        _ = try await store.records.cancel(claim.job, of: .local)
        #expect(try await store.records.delete(attachment.id, of: .local))
        #expect(try rows == [["claim", "0"], ["blob", "0"]])
        clock.advance(.seconds(7200))
        #expect(try await store.records.collectGarbage() == 0)
        #expect(try rows == [["claim", "1"], ["blob", "1"]])
        works.isSo = true
        #expect(try await store.records.collectGarbage() == 0)
        clock.advance(.seconds(31))
        #expect(try await store.records.collectGarbage() == 2)
        #expect(try rows.isEmpty)
    }
}
