import SatchelCore
import GRDB
import Foundation
import TestSupport
import Testing

@testable import Stores

@Suite struct TenantRemovalTests {
    let acme = TenantID(rawValue: "acme")
    let other = TenantID(rawValue: "other")

    /// Something of every kind; what opens something is answered.
    private func fill(_ store: Store, _ tenant: TenantID) async throws -> (
        key: AccessToken, tokens: [AccessToken], attachment: AttachmentRecord
    ) {
        let records = store.records
        let attachment = try await store.deliver([.main: "equal", .thumbnail: "small"], tenant: tenant)
        let (_, grant) = try #require(
            try await records.grant(
                on: attachment.id, in: .owner(tenant), renditions: nil, for: .seconds(900), leaseLimit: 5))
        let (_, lease) = try #require(
            try await records.startLease(on: nil, in: .bearer(grant), renditions: nil, for: .seconds(900)))
        let (_, link) = try #require(
            try await records.link(
                to: attachment.id, of: tenant, renditions: nil, for: .seconds(900), delivery: .private))
        let (key, token) = try await records.createKey(named: "", for: tenant, roles: [.admin], lasting: nil)
        _ = try #require(try await records.signIn(with: key))
        _ = try await records.putCategory(.sample(), of: tenant)
        _ = try await records.rotateSigningNumber(of: tenant, overlap: .seconds(60))
        for number in 0..<5 {
            var job = JobSubmission.sample(tenant: tenant, id: JobID(rawValue: "waiting-\(number)"))
            job.callback = "https://hooks.example.com/"
            job.attachments[0].location = .spool(name: try await store.accept("source \(number)"))
            _ = try await records.submit(
                job, SubmissionOptions(idempotency: IdempotencyKey(text: "\(number)", bodyDigest: "d")))
        }
        try await records.putNotification(of: tenant)
        let (ticket, response) = try await records.newTicket(of: tenant)
        try await records.fireNotification(of: tenant, opening: ticket)
        try await records.enqueue(.sample("call of \(tenant.rawValue)", tenant: tenant, subject: "x", body: Data([1])))
        return (token, [grant, lease, link, response], attachment)
    }

    /// Whether a token opens anything.
    private func opens(_ token: AccessToken, _ records: RecordStore) async throws -> Bool {
        if try await records.grant(of: token) != nil { return true }
        if try await records.open(token, role: .main) != nil { return true }
        return try await records.ticket(of: token, .respond) != nil
    }

    @Test(arguments: Backend.allCases)
    func `with the first transaction nothing opens any more, at the end nothing is left, and others' equal bytes are`(
        backend: Backend
    ) async throws {
        let fixture = try Fixture(backend)
        let (store, records) = (fixture.store, fixture.records)
        let (key, tokens, _) = try await fill(store, acme)
        let (otherKey, otherTokens, kept) = try await fill(store, other)
        for token in tokens { #expect(try await opens(token, records)) }
        let running = try #require(
            try await records.claim(
                ClaimCapacity(1), from: .lane(.quick), by: WorkerID(rawValue: "w"), for: .seconds(60)
            )
            .first)
        try await records.beginRemoval(of: acme)
        #expect(try await records.authenticate(key) == nil)
        for token in tokens { #expect(try await !opens(token, records)) }
        #expect(try await records.tenantsInRemoval() == [acme])
        if running.tenant == acme {
            await #expect(throws: (any Error).self) { _ = try await records.heartbeat(running, for: .seconds(60)) }
        }
        let claims = try await records.claim(
            ClaimCapacity(20), from: .lane(.quick), by: WorkerID(rawValue: "w"), for: .seconds(60))
        #expect(claims.allSatisfy { $0.tenant == other })
        #expect(try await records.dueWebhooks(20).allSatisfy { $0.tenant == other })

        // Cut off after any part, the same call goes on.
        #expect(try await !records.removePart(of: acme, limit: 1))
        try await store.remove(acme, limit: 2)
        #expect(try await records.tenantsInRemoval().isEmpty)
        #expect(try await records.jobs(of: acme, where: RecordFilter(), after: nil, limit: 9).elements.isEmpty)
        #expect(try await records.attachments(of: acme, where: RecordFilter(), after: nil, limit: 9).elements.isEmpty)
        #expect(try await records.keys(of: acme).isEmpty)
        #expect(try await records.categories(of: acme).isEmpty)
        #expect(try await records.calls(of: acme, where: CallFilter(), after: nil, limit: 9).elements.isEmpty)
        #expect(try await records.audit(of: acme, where: AuditFilter(), after: nil, limit: 9).elements.isEmpty)
        #expect(try await records.overview(of: acme).usage == TenantUsage())
        try await records.expectTrueCounts()
        _ = try await store.sweep(sparing: nil)
        #expect(try await store.blobs.list(after: nil, limit: 10).elements.count == 2, "those of the other")
        let blob = try #require(try await records.blob(of: .main, of: kept.id, tenant: other))
        #expect(try await store.blobs.read(0..<9, of: blob) == Array("equal".utf8))
        #expect(try await records.authenticate(otherKey)?.tenant == other)
        #expect(try await records.categories(of: other).count == 1, "the other's of the same name")
        for number in 0..<5 { #expect(try await records.job(submittedWith: "\(number)", of: other) != nil) }
        for token in otherTokens { #expect(try await opens(token, records)) }
        // The name is free for another beginning.
        _ = try await records.createKey(named: "", for: acme, roles: [.read], lasting: nil)
        #expect(try await records.keys(of: acme).count == 1)
    }

    @Test(arguments: [Backend.files, .postgres])
    func `no row of any table is left`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        _ = try await fill(fixture.store, acme)
        try await fixture.store.remove(acme)
        if backend == .files {
            let sqlite = fixture.sqlite
            let tables = try await sqlite.connections.read { database in
                try String.fetchAll(
                    database,
                    sql: """
                        SELECT DISTINCT m.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c
                        WHERE m.type = 'table' AND c.name = 'tenant'
                        """)
            }
            #expect(tables.count > 15)
            for table in tables {
                let left = try await sqlite.connections.read { database in
                    try Int.fetchOne(database, sql: "SELECT count(*) FROM \(table) WHERE tenant = 'acme'")
                }
                #expect(left == 0, "\(table)")
            }
        }
    }

    @Test(arguments: Backend.allCases)
    func `what was found due before its tenant's removal began doesn't fire`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let occurrence = Occurrence.at(fixture.clock.now + .seconds(60))
        _ = try await fixture.records.put(
            .sample("a", tenant: acme, next: occurrence, acceptedAt: fixture.clock.now), limit: nil)
        fixture.clock.advance(.seconds(60))
        let due = try #require(try await fixture.records.dueNotifications(limit: 10).elements.first)
        let decided = try #require(DecidedFiring.due(due))
        try await fixture.records.beginRemoval(of: acme)
        #expect(try await fixture.records.carryOut([decided]) == [false])
        #expect(try await fixture.records.dueNotifications(limit: 10).elements.isEmpty)
    }

    @Test(arguments: Backend.allCases)
    func `a removal that was cut off is completed by the next sweep`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        _ = try await fill(fixture.store, acme)
        try await fixture.records.beginRemoval(of: acme)
        _ = try await fixture.reopened().sweep()
        #expect(try await fixture.records.tenantsInRemoval().isEmpty)
        #expect(try await fixture.records.keys(of: acme).isEmpty)
    }
}
