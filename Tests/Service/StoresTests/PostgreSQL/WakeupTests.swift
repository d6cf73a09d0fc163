import SatchelCore
import Foundation
import Postgres
import PostgresTestSupport
import Synchronization
import TestSupport
import Testing

@testable import Stores

/// Wake-ups between nodes that share records in PostgreSQL.
@Suite struct WakeupTests {
    /// What a node heard.
    private final class ReceivedEvents: Sendable {
        private let heard = Mutex<[QueueEvent: Int]>([:])

        func add(_ event: QueueEvent) { heard.withLock { $0[event, default: 0] += 1 } }

        func count(_ event: QueueEvent) -> Int { heard.withLock { $0[event, default: 0] } }
    }

    @Test func `a node hears that there is work, and that a job ended, from another`() async throws {
        let fixture = try Fixture(.postgres)
        let other = try fixture.reopened()
        let events = ReceivedEvents()
        other.records.listen { events.add($0) }
        // As it begins to listen: it may have missed some.
        try await eventually { events.count(.work) == 1 && events.count(.ended) == 1 }
        let submission = JobSubmission.sample()
        _ = try await fixture.records.submit(submission)
        try await eventually { events.count(.work) == 2 }
        #expect(events.count(.ended) == 1)
        let claim = try await fixture.claim()
        _ = try await fixture.records.deliver(
            [.failed(claim.attachments[0], .unrecognizedType(sniffed: nil))], under: claim)
        try await eventually { events.count(.ended) == 2 }
        #expect(events.count(.work) == 2)
        let status = try await other.records.status(of: [
            JobName(tenant: .local, job: submission.id), JobName(tenant: .local, job: .generate()),
        ])
        #expect(status == [JobName(tenant: .local, job: submission.id): JobStatus(generation: 1, state: .failed)])
    }

    @Test func `however much happens, a node sends no more than its share`() async throws {
        let fixture = try Fixture(.postgres)
        let other = try fixture.reopened()
        let events = ReceivedEvents()
        other.records.listen { events.add($0) }
        try await eventually { events.count(.work) == 1 }
        let wakeups = fixture.postgres.wakeups
        wakeups.divide(among: 5)
        let start = ContinuousClock.now
        for _ in 0..<400 {
            wakeups.send([.work])
            try await Task.sleep(for: .milliseconds(1))
        }
        let most = Int((ContinuousClock.now - start) / (PostgresWakeups.share * 5)) + 2
        // The last one comes after all.
        try await eventually { events.count(.work) > 1 }
        #expect(events.count(.work) - 1 <= most)
    }

    @Test func `where nodes don't hear each other they look more often`() async throws {
        let fixture = try Fixture(.postgres)
        let records = fixture.postgres
        let often = QueuePace(work: .milliseconds(100), ends: .milliseconds(50))
        // Until it listens.
        #expect(records.pace == often)
        records.listen { _ in }
        try await eventually { records.pace == QueuePace(work: .milliseconds(250), ends: .milliseconds(50)) }
        let quiet = RecordStore(
            PostgresPool(records.pool.parameters), keys: records.keys, garbage: records.garbage, notifies: false)
        quiet.listen { _ in }
        #expect(quiet.pace == often && quiet.wakeups.status == .unknown)
        let database = try fixture.requireDatabase()
        let pooler = try PgBouncer(before: database.server, connections: 2)
        // A pooler that nobody told of.
        let behind = RecordStore(
            PostgresPool(try PostgresParameters(pooler.url(database.name), application: "tests")), keys: records.keys,
            garbage: records.garbage)
        behind.listen { _ in }
        try await eventually { behind.wakeups.status == .fails }
        #expect(behind.pace == often)
        withExtendedLifetime(pooler) {}
    }
}
