import SatchelCore
import Stores
import Testing

@Suite struct OperationTests {
    @Test(arguments: Backend.allCases)
    func `leases that nobody stopped are counted, swept or not`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let attachment = try await fixture.store.deliver([.main: "bytes"])
        for _ in 0..<3 {
            _ = try await fixture.records.startLease(
                on: attachment.id, in: .owner(.local), renditions: nil, for: .seconds(60))
        }
        let stopped = try #require(
            try await fixture.records.startLease(
                on: attachment.id, in: .owner(.local), renditions: nil, for: .seconds(60)))
        _ = try await fixture.records.revoke(stopped.0.id, in: .owner(.local))
        #expect(try await fixture.records.statistics().leasesLeftToExpire == 0)
        fixture.clock.advance(.seconds(61))
        #expect(try await fixture.records.statistics().leasesLeftToExpire == 3)
        _ = try await fixture.records.expire(limit: 2, from: nil).blobs
        #expect(try await fixture.records.statistics().leasesLeftToExpire == 3)
        _ = try await fixture.records.expire(limit: 100, from: nil).blobs
        #expect(try await fixture.records.statistics().leasesLeftToExpire == 3)
    }

    @Test(arguments: Backend.allCases)
    func `a callback knows the trace of its submission`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        var job = JobSubmission.sample(tenant: TenantID(rawValue: "default"))
        job.callback = "https://example.com/hook"
        job.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        _ = try await fixture.records.submit(job, SubmissionOptions(queueLimit: 10))
        let claim = try #require(
            try await fixture.records.claim(
                ClaimCapacity(1), from: .lane(.fetch), by: WorkerID(rawValue: "worker"), for: .seconds(60)
            ).first)
        #expect(claim.submission.traceparent == job.traceparent)
        _ = try await fixture.records.deliver(
            [.failed(claim.attachments[0], .unreadable(Finding(.checksumDiffers)))], under: claim)
        let webhooks = try await fixture.records.dueWebhooks(10)
        #expect(webhooks.map(\.traceparent) == [job.traceparent])
    }
}
