import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import Stores

@Suite struct ServiceAccessTests {
    @Test(arguments: DeliveryMode.allCases, Backend.allCases)
    func `a delivery starts the access that was asked for, in the same breath`(mode: DeliveryMode, backend: Backend)
        async throws
    {
        let fixture = try Fixture(backend)
        let records = fixture.records
        var submission = JobSubmission.sample(digest: "a", identifiers: ["good", "bad"])
        submission.leaseTTL = 300
        submission.delivery = mode
        let job = try await fixture.accepted(submission)
        let claim = try await fixture.claim()
        #expect(try await records.access(openedBy: job.id, of: .local).isEmpty)
        let blob = try await fixture.store.commit("text")
        let outcomes: [AttachmentOutcome] = [
            .delivered(claim.attachments[0], [.main: blob]),
            .failed(claim.attachments[1], .unreadable(Finding(.checksumDiffers))),
        ]
        _ = try await records.deliver(outcomes, under: claim)
        _ = try await records.deliver(outcomes, under: claim)
        let opened = try await records.access(openedBy: job.id, of: .local)
        #expect(opened.map(\.attachment) == [claim.attachments[0]])
        #expect(opened.map(\.kind) == [mode == .shared ? .link : .lease])
        #expect(opened.map(\.expiresAt) == [fixture.clock.now + .seconds(300)])
        // The same tokens each time, in every process.
        #expect(try await fixture.reopened().records.access(openedBy: job.id, of: .local) == opened)
        let token = try #require(opened.first?.token)
        let content = try #require(try await records.open(token, role: .main))
        #expect(content.blob == blob.name)
        #expect(content.delivery == mode)
        #expect(content.id == opened.first?.id)
        #expect(content.tenant == .local)
        #expect(content.attachment == claim.attachments[0])
        #expect(content.rendition.bytes == blob.bytes)
        #expect(content.expiresAt == opened.first?.expiresAt)
        #expect(try await records.open(token, role: .thumbnail) == nil)
        // What others start is not the job's.
        _ = try await fixture.lease(on: claim.attachments[0], for: .seconds(60))
        #expect(try await records.access(openedBy: job.id, of: .local).count == 1)
        fixture.clock.advance(.seconds(300))
        #expect(try await records.open(token, role: .main) == nil)
        #expect(try await records.access(openedBy: job.id, of: .local).isEmpty)
        try fixture.expectNowhere(token.secretText)
    }

    @Test(arguments: Backend.allCases)
    func `the bearer of a grant reaches what was derived from it, and nothing beside`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let records = fixture.records
        let attachment = try await fixture.store.deliver([.main: "text"])
        func grant() async throws -> (AccessEntry, AccessToken) {
            let granted = try await records.grant(
                on: attachment.id, in: .owner(.local), renditions: nil, for: .seconds(1000), leaseLimit: 5)
            return try #require(granted)
        }
        let (root, rootToken) = try await grant()
        let (stranger, strangerToken) = try await grant()
        let narrowed = try await records.grant(
            on: nil, in: .bearer(rootToken), renditions: nil, for: .seconds(500), leaseLimit: nil)
        let (child, childToken) = try #require(narrowed)
        let started = try await records.startLease(in: .bearer(childToken), renditions: nil, for: .seconds(100))
        let (lease, _) = try #require(started)
        let owned = try await fixture.lease(on: attachment.id, for: .seconds(100)).0

        #expect(try await records.grant(of: rootToken) == root)
        #expect(try await records.grant(root.id, in: .owner(.local)) == root)
        #expect(try await records.lease(lease.id, in: .bearer(rootToken)) == lease)
        #expect(try await records.lease(lease.id, in: .bearer(childToken)) == lease)
        #expect(try await records.lease(lease.id, in: .bearer(strangerToken)) == nil)
        #expect(try await records.lease(owned.id, in: .bearer(rootToken)) == nil)
        #expect(try await records.lease(child.id, in: .bearer(rootToken)) == nil, "a grant is no lease")

        let renewed = try await records.renewLease(lease.id, in: .bearer(rootToken), for: .seconds(10_000))
        #expect(renewed?.expiresAt == child.expiresAt, "never beyond its grant")
        #expect(try await records.renewLease(lease.id, in: .bearer(strangerToken), for: .seconds(10)) == nil)
        #expect(try await records.renewLease(owned.id, in: .bearer(rootToken), for: .seconds(10)) == nil)

        for (id, token) in [
            (owned.id, rootToken), (stranger.id, rootToken), (root.id, childToken), (lease.id, strangerToken),
        ] {
            #expect(try await records.revoke(id, in: .bearer(token)) == false)
        }
        #expect(try await records.revoke(lease.id, in: .bearer(rootToken)))
        #expect(try await records.revoke(lease.id, in: .bearer(rootToken)), "again is fine")
        #expect(try await records.lease(lease.id, in: .bearer(rootToken))?.endedAt != nil)
        #expect(try await records.renewLease(lease.id, in: .bearer(rootToken), for: .seconds(10)) == nil)
        #expect(try await records.revoke(child.id, in: .bearer(rootToken)))
        #expect(try await records.grant(of: childToken) == nil)
        #expect(try await records.grant(of: rootToken) == root)
        #expect(try await records.revoke(root.id, in: .bearer(rootToken)))
        #expect(try await records.grant(of: rootToken) == nil)
        #expect(try await records.revoke(root.id, in: .bearer(rootToken)) == false)
        #expect(try await records.grant(of: strangerToken) == stranger)
    }

    @Test(arguments: Backend.allCases)
    func `a tenant starts no more leases than it may`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let records = fixture.records
        let attachment = try await fixture.store.deliver([.main: "text"])
        let quotas = Quotas(liveLeases: 2)
        let granted = try await records.grant(
            on: attachment.id, in: .owner(.local), renditions: nil, for: .seconds(1000), leaseLimit: 5)
        let grant = try #require(granted)
        func start() async throws -> AccessEntry {
            let started = try await records.startLease(
                on: attachment.id, in: .owner(.local), renditions: nil, for: .seconds(60), within: quotas)
            return try #require(started).0
        }
        let first = try await start()
        _ = try await start()
        await #expect(throws: AttachmentError.quotaExceeded(.activeLeases, used: 2, allowed: 2)) {
            _ = try await start()
        }
        await #expect(throws: AttachmentError.quotaExceeded(.activeLeases, used: 2, allowed: 2)) {
            _ = try await records.startLease(
                on: nil, in: .bearer(grant.1), renditions: nil, for: .seconds(60), within: quotas)
        }
        #expect(try await records.revoke(first.id, in: .owner(.local)))
        _ = try await start()
        #expect(try await records.overview(of: .local).usage.liveLeases == 2)
        // Those that ran out are in nobody's way, swept or not.
        fixture.clock.advance(.seconds(60))
        #expect(try await records.overview(of: .local).usage.liveLeases == 0)
        _ = try await start()
        try await records.expectTrueCounts()
    }

    /// In two openings of the store, as two processes have; each makes the other's count rise before it returns.
    @Test(arguments: Backend.openings.filter(\.countsRevocations))
    func `whatever takes access back is counted in every process`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let other = try fixture.reopened()
        let records = fixture.records
        func rises(_ name: String, _ body: () async throws -> Void) async throws {
            let before = try #require(other.records.revocations)
            try await body()
            #expect(try #require(other.records.revocations) > before, "\(name)")
            #expect(other.records.revocations == records.revocations)
        }
        let attachment = try await fixture.store.deliver([.main: "text"])
        let second = try await fixture.store.deliver([.main: "other"])
        let leases = try await [
            fixture.lease(on: attachment.id, for: .seconds(60)).0,
            fixture.lease(on: attachment.id, for: .seconds(60)).0,
        ]
        _ = try await fixture.lease(on: second.id, for: .seconds(60))
        let (key, _) = try await records.createKey(named: "", for: .local, roles: [.read], lasting: nil)
        let (rotating, _) = try await records.createKey(named: "", for: .local, roles: [.read], lasting: nil)
        #expect(records.revocations == 0)
        _ = try await records.renewLease(leases[0].id, in: .owner(.local), for: .seconds(90))
        #expect(records.revocations == 0, "what is given takes nothing back")
        try await rises("stop") { _ = try await records.revoke(leases[0].id, in: .owner(.local)) }
        let stopped = records.revocations
        _ = try await records.revoke(leases[0].id, in: .owner(.local))
        #expect(records.revocations == stopped, "again is nothing new")
        try await rises("shorten") {
            _ = try await records.renewLease(leases[1].id, in: .owner(.local), for: .seconds(1))
        }
        try await rises("revoke a key") { _ = try await records.revokeKey(key.id) }
        try await rises("rotate a key") { _ = try await records.rotateKey(rotating.id, overlap: .seconds(5)) }
        try await rises("delete an attachment") { _ = try await fixture.records.delete(attachment.id, of: .local) }
        try await rises("delete a job") { _ = try await fixture.records.deleteJob(second.job, of: .local) }

        let tenant = TenantID(rawValue: "acme")
        let expiring = try await fixture.store.deliver([.main: "x"], tenant: tenant, profile: .notification)
        _ = try await records.grant(
            on: expiring.id, in: .owner(tenant), renditions: nil, for: .seconds(30 * 86_400), leaseLimit: 1)
        fixture.clock.advance(.seconds(8 * 86_400))
        try await rises("expire") { _ = try await fixture.store.sweep() }

        var submission = JobSubmission.sample(id: JobID(rawValue: "again"), digest: "a")
        submission.leaseTTL = 60
        try await fixture.bring(fixture.accepted(submission), to: .delivered)
        submission.bodyDigest = "b"
        let renewed = try await fixture.accepted(submission)
        try await rises("replace what an older generation delivered") {
            try await fixture.bring(renewed, to: .delivered)
        }
    }
}

extension Fixture {
    func lease(on attachment: AttachmentID, for duration: Duration) async throws -> (AccessEntry, AccessToken) {
        let started = try await records.startLease(on: attachment, in: .owner(.local), renditions: nil, for: duration)
        return try #require(started)
    }
}
