import SatchelCore
import GRDB
import TestSupport
import PostgresTestSupport
import Testing

@testable import Stores

@Suite struct TenancyTests {
    /// Every call that takes a tenant, with ids that are another tenant's.
    @Test(arguments: Backend.allCases)
    func `nothing of one tenant is found, changed or counted by another`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let records = fixture.records
        let owner = TenantID(rawValue: "owner")
        let other = TenantID(rawValue: "other")

        var submission = JobSubmission.sample(tenant: owner, id: JobID(rawValue: "done"), digest: "a")
        submission.callback = "https://example.com/hook"
        submission.leaseTTL = 300
        let key = IdempotencyKey(text: "k", bodyDigest: "a")
        _ = try await fixture.submit(submission, idempotency: key)
        let claim = try await fixture.claim()
        let blob = try await fixture.store.commit("text")
        _ = try await records.deliver([.delivered(claim.attachments[0], [.main: blob])], under: claim)
        let attachment = claim.attachments[0]
        let done = JobID(rawValue: "done")
        let waiting = try await fixture.accepted(.sample(tenant: owner, id: JobID(rawValue: "waiting"), digest: "b"))
        let failed = try await fixture.accepted(.sample(tenant: owner, id: JobID(rawValue: "failed"), digest: "c"))
        _ = try await records.cancel(failed.id, of: owner)
        try await records.enqueue(.sample("message", tenant: owner, subject: "subject"))
        let granted = try await records.grant(
            on: attachment, in: .owner(owner), renditions: nil, for: .seconds(600), leaseLimit: 5)
        let (grant, grantToken) = try #require(granted)
        let started = try await records.startLease(
            on: attachment, in: .owner(owner), renditions: nil, for: .seconds(600))
        let (lease, leaseToken) = try #require(started)
        let linked = try await records.link(
            to: attachment, of: owner, renditions: nil, for: .seconds(600), delivery: .shared)
        let (link, _) = try #require(linked)
        _ = try await records.createKey(named: "", for: owner, roles: [.admin], lasting: nil)
        _ = try await records.putCategory(.sample(), of: owner)
        let answered = NotificationID(rawValue: "a")
        try await records.putNotification(of: owner)
        let (ticket, _) = try await records.newTicket(of: owner)
        let (preview, _) = try await records.newPreview(tenant: owner)
        try await records.fireNotification(of: owner, opening: ticket)
        #expect(try await records.open([preview], []))
        _ = try await records.take(.sample(1), by: ticket)
        // The other tenant has the same of its own, so that a look under its name finds something.
        let own = try await fixture.store.deliver([.main: "text"], tenant: other)
        let ownGranted = try await records.grant(
            on: own.id, in: .owner(other), renditions: nil, for: .seconds(600), leaseLimit: 5)
        let ownGrant = try #require(ownGranted).1

        let before = try await fixture.dump()
        let revocations = records.revocations
        #expect(try await records.job(done, of: other) == nil)
        let all = RecordFilter()
        #expect(try await records.jobs(of: other, where: all, after: nil, limit: 9).elements.map(\.tenant) == [other])
        #expect(
            try await records.attachments(of: other, where: all, after: nil, limit: 9).elements.map(\.id) == [own.id])
        #expect(try await records.attachment(attachment, of: other) == nil)
        #expect(try await records.blob(of: .main, of: attachment, tenant: other) == nil)
        #expect(try await records.cancel(waiting.id, of: other) == nil)
        try await records.acknowledge(waiting.id, of: other)
        #expect(try await records.deleteJob(done, of: other) == false)
        #expect(try await records.delete(attachment, of: other) == false)
        #expect(try await records.job(submittedWith: "k", of: other) == nil)
        #expect(try await records.retry(failed.id, of: other) == nil)
        #expect(try await records.access(openedBy: done, of: other).isEmpty)
        #expect(try await records.replayWebhook(of: done, tenant: other) == false)
        #expect(
            try await records.grant(on: attachment, in: .owner(other), renditions: nil, for: .seconds(9), leaseLimit: 1)
                == nil)
        #expect(try await records.grant(grant.id, in: .owner(other)) == nil)
        #expect(
            try await records.startLease(on: attachment, in: .owner(other), renditions: nil, for: .seconds(9)) == nil)
        #expect(
            try await records.startLease(
                on: attachment, in: .owner(other), renditions: nil, for: .seconds(9), within: Quotas()) == nil)
        #expect(try await records.link(to: attachment, of: other, renditions: nil, for: .seconds(9)) == nil)
        #expect(
            try await records.link(to: attachment, of: other, renditions: nil, for: .seconds(9), delivery: .shared)
                == nil)
        #expect(try await records.lease(lease.id, in: .owner(other)) == nil)
        #expect(try await records.renewLease(lease.id, in: .owner(other), for: .seconds(9)) == nil)
        for id in [ticket.id, preview.id] { #expect(try await records.tokens([id], of: other).isEmpty) }
        #expect(try await records.endPreview(preview.id, of: other) == false)
        let (foreign, _) = try await records.newTicket(of: other)
        #expect(try await records.open([foreign], []) == false)
        #expect(try await records.responses(of: other, to: nil, after: nil, limit: 9).elements.isEmpty)
        #expect(try await records.responses(of: other, to: answered, after: nil, limit: 9).elements.isEmpty)
        #expect(try await records.responseCount(of: answered, firing: 1, tenant: other) == 0)
        for id in [grant.id, lease.id, link.id] {
            #expect(try await records.token(id, of: other) == nil)
            #expect(try await records.tokens([id], of: other).isEmpty)
            #expect(try await records.revoke(id, in: .owner(other)) == false)
            #expect(try await records.revoke(id, in: .bearer(ownGrant)) == false)
        }
        #expect(try await records.lease(lease.id, in: .bearer(ownGrant)) == nil)
        #expect(try await records.renewLease(lease.id, in: .bearer(ownGrant), for: .seconds(9)) == nil)
        #expect(try await records.keys(of: other).isEmpty)
        #expect(try await records.category(Category.sample().id, of: other) == nil)
        #expect(try await records.categories(of: other).isEmpty)
        #expect(try await records.deleteCategory(Category.sample().id, of: other) == false)
        #expect(try await records.overview(of: other).usage.pendingJobs == 0)
        let tight = Quotas(storedBytes: 5, pendingJobs: 1, liveLeases: 1)
        try await records.admit(other, SubmissionOptions(quotas: tight, queueLimit: 100))
        let callback = WebhookDelivery(
            id: try #require(try await fixture.webhookIDs().first), tenant: other, type: .jobFinished,
            content: .job(done), url: "", origin: "", attempt: 0, createdAt: fixture.clock.now)
        for outcome in [WebhookOutcome.delivered, .again(after: .zero, reason: ""), .failed(reason: ""), .gone] {
            try await records.record(outcome, of: callback)
        }
        #expect(try await records.call(callback.id, of: other) == nil)
        #expect(try await records.calls(of: other, where: CallFilter(), after: nil, limit: 9).elements.isEmpty)
        #expect(try await records.replayCall(callback.id, of: other) == false)
        try await records.cancelCalls(of: "subject", tenant: other)
        var stolen = claim
        stolen.tenant = other
        await #expect(throws: ClaimError.lost) { try await records.heartbeat(stolen, for: .seconds(9)) }
        await #expect(throws: ClaimError.lost) { try await records.move(stolen, to: .expensive) }
        await #expect(throws: ClaimError.lost) {
            try await records.release(stolen, after: .zero, countsAttempt: true)
        }
        await #expect(throws: ClaimError.lost) { _ = try await records.deliver([], under: stolen) }
        #expect(try await fixture.dump() == before)
        #expect(records.revocations == revocations)

        // The same names are free for the other tenant.
        submission.tenant = other
        guard case .accepted = try await fixture.submit(submission, idempotency: key) else { throw Unexpected() }
        #expect(try await records.job(done, of: owner)?.state == .delivered)
        #expect(try await records.open(leaseToken, role: .main)?.tenant == owner)
        #expect(try await records.grant(of: grantToken)?.tenant == owner)
    }

    @Test(arguments: Backend.allCases)
    func `a token costs the same to check, whatever it is and whoever's`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let records = fixture.records
        let attachment = try await fixture.store.deliver([.main: "text"])
        let (lease, good) = try await fixture.lease(on: attachment.id, for: .seconds(60))
        let secret = [UInt8](repeating: 7, count: 32)
        for text in [
            good.secretText, "", "nonsense", TokenFormat.compose(.lease, id: TokenFormat.newID(), secret: secret),
            TokenFormat.compose(.lease, id: lease.id, secret: secret),
            TokenFormat.compose(.grant, id: lease.id, secret: secret),
        ] {
            let token = AccessToken(secretText: text)
            let before = fixture.store.keys.derivations
            _ = try await records.open(token, role: .main)
            _ = try await records.grant(of: token)
            _ = try await records.lease(lease.id, in: .bearer(token))
            #expect(fixture.store.keys.derivations - before == 3, "\(token)")
        }
    }
}

extension Fixture {
    /// All rows of all tables but what time leaves.
    fileprivate func dump() async throws -> [String] {
        if let database { return try database.dump() }
        return try await sqlite.connections.read { database in
            let tables = try String.fetchAll(
                database,
                sql:
                    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name <> 'store'"
            )
            return try tables.flatMap { table in
                try Row.fetchAll(database, sql: "SELECT * FROM \(table)").map { "\(table): \($0.description)" }
            }
        }
    }

    fileprivate func webhookIDs() async throws -> [String] {
        if let database {
            return try database.server.execute("SELECT id FROM calls", in: database.name).compactMap { $0[0] }
        }
        return try await sqlite.read { work in try work.run("SELECT id FROM calls").map { try $0.text("id") } }
    }
}
