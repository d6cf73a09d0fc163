import SatchelCore
import Foundation
import TestSupport
import Postgres
import Testing

@testable import Stores

@Suite struct SubmissionTests {
    let other = TenantID(rawValue: "other")

    @Test(arguments: WorkState.allCases, Backend.allCases)
    func `the same body under the same id is the same job, whatever became of it`(state: WorkState, backend: Backend)
        async throws
    {
        let fixture = try Fixture(backend)
        let id = JobID(rawValue: "push-1")
        let first = try await fixture.accepted(.sample(id: id, digest: "a"))
        try await fixture.bring(first, to: state)
        let before = try #require(try await fixture.records.job(id, of: .local))
        #expect(before.state == state)
        let answer = try await fixture.submit(.sample(id: id, digest: "a", identifiers: ["else"]))
        #expect(answer == .unchanged(before))
        #expect(try await fixture.records.job(id, of: .local) == before)
    }

    @Test(arguments: Backend.allCases)
    func `a worker with a free place has the claim at once, where no other job comes first`(backend: Backend)
        async throws
    {
        let fixture = try Fixture(backend)
        let offer = ClaimOffer(worker: WorkerID(rawValue: "me"), duration: .seconds(60))
        let first = try await fixture.submit(.sample(id: JobID(rawValue: "first"), digest: "a"), offer: offer)
        guard case .claimed(let job, let claim) = first else { throw Unexpected() }
        #expect(job.state == .running)
        #expect(job.attempt == 1)
        #expect(try await fixture.records.job(job.id, of: .local) == job)
        #expect(claim.attachments == job.attachments.map(\.id))
        #expect(claim.lane == .fetch)
        // Nobody else gets it, and it is delivered under that claim.
        #expect(try await fixture.claimAll().isEmpty)
        let blob = try await fixture.store.commit("bytes")
        let end = try await fixture.records.deliver([.delivered(claim.attachments[0], [.main: blob])], under: claim)
        #expect(end.state == .delivered)

        let waiting = try await fixture.accepted(.sample(id: JobID(rawValue: "waiting"), digest: "b"))
        let late = try await fixture.submit(.sample(id: JobID(rawValue: "late"), digest: "c"), offer: offer)
        guard case .accepted(let pending) = late else { throw Unexpected() }
        #expect(pending.state == .pending)
        #expect(try await fixture.claimAll().map(\.job) == [waiting.id, pending.id])
        // Repeated it is the same job, claimed by nobody.
        #expect(
            try await fixture.submit(.sample(id: JobID(rawValue: "first"), digest: "a"), offer: offer)
                == .unchanged(end))
    }

    @Test(arguments: WorkState.allCases, Backend.allCases)
    func `another body is a new generation, and the old one's writes are lost`(state: WorkState, backend: Backend)
        async throws
    {
        let fixture = try Fixture(backend)
        let id = JobID(rawValue: "push-1")
        let first = try await fixture.accepted(.sample(id: id, digest: "a"))
        let claim = try await fixture.bring(first, to: state)
        let second = try await fixture.accepted(.sample(id: id, digest: "b"))
        #expect(second.generation == 2)
        #expect(second.state == .pending)
        #expect(second.attempt == 0)
        if state == .running, let claim {
            await #expect(throws: ClaimError.lost) {
                try await fixture.records.deliver(
                    [.failed(claim.attachments[0], .unreadable(Finding(.checksumDiffers)))], under: claim)
            }
        }
        if state == .delivered {
            // Until the new one delivers, the old results are there.
            let old = first.attachments[0].id
            #expect(try await fixture.records.blob(of: .main, of: old, tenant: .local) != nil)
            let next = try await fixture.claim()
            let blob = try await fixture.store.commit("new")
            _ = try await fixture.records.deliver([.delivered(next.attachments[0], [.main: blob])], under: next)
            #expect(try await fixture.records.blob(of: .main, of: old, tenant: .local) == nil)
        }
    }

    @Test(arguments: Backend.allCases)
    func `an idempotency key names one submission for a day`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let key = IdempotencyKey(text: "k", bodyDigest: "a")
        #expect(try await fixture.records.job(submittedWith: "k", of: .local) == nil)
        guard case .accepted(let job) = try await fixture.submit(.sample(digest: "a"), idempotency: key) else {
            throw Unexpected()
        }
        #expect(try await fixture.records.job(submittedWith: "k", of: .local) == job)
        #expect(try await fixture.records.job(submittedWith: "k", of: other) == nil)
        #expect(try await fixture.submit(.sample(digest: "a"), idempotency: key) == .unchanged(job))
        let another = IdempotencyKey(text: "k", bodyDigest: "b")
        #expect(try await fixture.submit(.sample(digest: "b"), idempotency: another) == .conflict)
        guard case .accepted = try await fixture.submit(.sample(tenant: other, digest: "b"), idempotency: another)
        else { throw Unexpected() }
        fixture.clock.advance(IdempotencyKey.lifetime - .milliseconds(1))
        #expect(try await fixture.submit(.sample(digest: "b"), idempotency: another) == .conflict)
        fixture.clock.advance(.milliseconds(1))
        #expect(try await fixture.records.job(submittedWith: "k", of: .local) == nil)
        guard case .accepted(let later) = try await fixture.submit(.sample(digest: "b"), idempotency: another)
        else { throw Unexpected() }
        #expect(later.id != job.id)
        // A deleted job leaves its key free.
        #expect(try await fixture.records.deleteJob(later.id, of: .local))
        #expect(try await fixture.records.job(submittedWith: "k", of: .local) == nil)
    }

    @Test(arguments: Backend.allCases)
    func `a tenant gets no more than its quotas, and is told which it was`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let quotas = Quotas(storedBytes: 10, pendingJobs: 2)
        let first = try await fixture.accepted(.sample(digest: "a"), within: quotas)
        _ = try await fixture.accepted(.sample(digest: "b"), within: quotas)
        await fixture.expect(.quotaExceeded(.pendingJobs, used: 2, allowed: 2), within: quotas)
        // Another body for an unfinished job is no job more.
        _ = try await fixture.accepted(.sample(id: first.id, digest: "c"), within: quotas)
        // Neither does one tenant's use touch another's.
        _ = try await fixture.accepted(.sample(tenant: other, digest: "a"), within: quotas)
        #expect(try await fixture.records.overview(of: .local).usage == TenantUsage(pendingJobs: 2))

        for claim in try await fixture.claimAll(tenant: .local) {
            let blob = try await fixture.store.commit("12345")
            _ = try await fixture.records.deliver([.delivered(claim.attachments[0], [.main: blob])], under: claim)
        }
        // Equal bytes are kept once, and count twice.
        #expect(try await fixture.records.overview(of: .local).usage == TenantUsage(storedBytes: 10))
        #expect(try await fixture.records.statistics().blobBytes == 5)
        await fixture.expect(.quotaExceeded(.storedBytes, used: 10, allowed: 10), within: quotas)
        #expect(try await fixture.records.deleteJob(first.id, of: .local))
        _ = try await fixture.accepted(.sample(digest: "d"), within: quotas)
        try await fixture.records.expectTrueCounts()
    }

    @Test(arguments: Backend.allCases)
    func `no more jobs wait than may, over all tenants`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let first = try await fixture.accepted(.sample(digest: "a"), queueLimit: 2)
        _ = try await fixture.accepted(.sample(tenant: other, digest: "a"), queueLimit: 2)
        await fixture.expect(.queueFull, queueLimit: 2)
        #expect(try await fixture.submit(.sample(id: first.id, digest: "a"), queueLimit: 2) == .unchanged(first))
        // A command's jobs are in a queue of their own.
        _ = try await fixture.records.submit([.sample(run: .generate())], SubmissionOptions())
        _ = try await fixture.claim()
        _ = try await fixture.accepted(.sample(tenant: TenantID(rawValue: "third"), digest: "c"), queueLimit: 2)
    }

    @Test(arguments: Backend.allCases)
    func `a failed or cancelled job can be tried again for a day, without its credentials`(backend: Backend)
        async throws
    {
        for state in [WorkState.failed, .cancelled] {
            let fixture = try Fixture(backend)
            var submission = JobSubmission.sample(digest: "a", identifiers: ["a", "b"])
            submission.callback = "https://example.com/hook"
            submission.attachments[0].location = .url("https://example.com/a", headers: ["Authorization": "x-canary"])
            let job = try await fixture.accepted(submission)
            #expect(try await fixture.records.retry(job.id, of: .local) == .unneeded(job))
            #expect(try await fixture.records.retry(job.id, of: other) == nil)
            try await fixture.bring(job, to: state)
            // What was deleted meanwhile is not wanted again.
            #expect(try await fixture.records.delete(job.attachments[1].id, of: .local))
            guard case .accepted(let again) = try await fixture.records.retry(job.id, of: .local) else {
                throw Unexpected()
            }
            #expect(again.generation == 2)
            #expect(again.attachments.map(\.identifier) == ["a"])
            let claim = try await fixture.claim()
            #expect(claim.submission.attachments.map(\.location) == [.url("https://example.com/a", headers: [:])])
            #expect(claim.submission.callback == submission.callback)
            #expect(claim.submission.profile == submission.profile)
            // It is still the job of its body.
            guard case .unchanged = try await fixture.submit(.sample(id: job.id, digest: "a")) else {
                throw Unexpected()
            }
            _ = try await fixture.records.cancel(job.id, of: .local)
            fixture.clock.advance(.seconds(86_400))
            guard case .forgotten = try await fixture.records.retry(job.id, of: .local) else { throw Unexpected() }
        }
    }

    @Test(arguments: Backend.allCases)
    func `an upload stays for as long as some attempt may need it, and no longer`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        var texts: [SourceName: String] = [:]
        func left() async throws -> [String] {
            try await fixture.store.sourceNames().compactMap { texts[$0] }.sorted()
        }
        func submission(_ id: JobID, _ digest: String, _ text: String) async throws -> JobSubmission {
            let source = try await fixture.store.accept(text)
            texts[source] = text
            var submission = JobSubmission.sample(id: id, digest: digest)
            submission.attachments[0].location = .spool(name: source)
            return submission
        }
        let id = JobID(rawValue: "push-1")
        _ = try await fixture.accepted(submission(id, "a", "one"))
        #expect(try await left() == ["one"])
        let second = try await fixture.accepted(submission(id, "b", "two"))
        #expect(try await left() == ["two"], "an older generation's is gone")
        try await fixture.bring(second, to: .failed, for: .storeFull)
        #expect(try await fixture.store.sweep(sparing: nil).leftovers == 0)
        #expect(try await left() == ["two"], "it can be tried again")
        guard case .accepted(let third) = try await fixture.records.retry(id, of: .local) else { throw Unexpected() }
        #expect(try await left() == ["two"])
        try await fixture.bring(third, to: .delivered)
        #expect(try await left() == [], "a delivered job needs it no more")

        let damaged = try await fixture.accepted(submission(JobID(rawValue: "push-4"), "a", "five"))
        try await fixture.bring(damaged, to: .failed)
        #expect(try await left() == [], "the same bytes would fail again")
        guard case .forgotten = try await fixture.records.retry(damaged.id, of: .local) else { throw Unexpected() }

        let cancelled = try await fixture.accepted(submission(JobID(rawValue: "push-2"), "a", "three"))
        try await fixture.bring(cancelled, to: .cancelled)
        #expect(try await left() == ["three"])
        fixture.clock.advance(.seconds(86_400))
        _ = try await fixture.store.sweep()
        #expect(try await left() == [])

        let deleted = try await fixture.accepted(submission(JobID(rawValue: "push-3"), "a", "four"))
        try await fixture.bring(deleted, to: .failed, for: .storeFull)
        #expect(try await fixture.records.deleteJob(deleted.id, of: .local))
        #expect(try await left() == [])
    }

    @Test(arguments: Backend.allCases)
    func `a finished job of the service is forgotten with what it held`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let tenant = TenantID(rawValue: "acme")
        let failed = try await fixture.accepted(.sample(tenant: tenant, profile: .notification, digest: "a"))
        try await fixture.bring(failed, to: .failed)
        let mixed = try await fixture.accepted(
            .sample(tenant: tenant, profile: .notification, digest: "b", identifiers: ["good", "bad"]))
        let claim = try #require(try await fixture.claimAll(tenant: tenant).first)
        let blob = try await fixture.store.commit("x")
        _ = try await fixture.records.deliver(
            [
                .delivered(claim.attachments[0], [.main: blob]),
                .failed(claim.attachments[1], .unreadable(Finding(.checksumDiffers))),
            ], under: claim)
        let kept = try await fixture.accepted(.sample(tenant: tenant, profile: .archive, digest: "c"))
        try await fixture.bring(kept, to: .failed)
        let retention = try #require(Profile.notification.retention)
        fixture.clock.advance(.seconds(fraction: retention) - .milliseconds(1))
        _ = try await fixture.store.sweep()
        #expect(try await fixture.records.job(failed.id, of: tenant) != nil)
        #expect(try await fixture.records.job(mixed.id, of: tenant) != nil)
        fixture.clock.advance(.milliseconds(1))
        _ = try await fixture.store.sweep()
        #expect(try await fixture.records.job(failed.id, of: tenant) == nil)
        #expect(try await fixture.records.job(mixed.id, of: tenant) == nil)
        #expect(try await fixture.records.job(kept.id, of: tenant) != nil)
        try await fixture.records.expectTrueCounts()
    }
}

@Suite struct LaneTests {
    @Test(arguments: Backend.allCases)
    func `a job is carried out in its lane, and moves with its deadline but without the attempt`(backend: Backend)
        async throws
    {
        let fixture = try Fixture(backend)
        let job = try await fixture.accepted(.sample(deadline: 30, digest: "a"))
        fixture.clock.advance(.seconds(1))
        let fetched = try await fixture.claim()
        #expect(fetched.lane == .fetch)
        try await fixture.records.move(fetched, to: .expensive)
        #expect(try await fixture.records.job(job.id, of: .local)?.attempt == 0)
        #expect(try await fixture.claimAll(from: .fetch).isEmpty)
        await #expect(throws: ClaimError.lost) { try await fixture.records.move(fetched, to: .fetch) }
        let queues = try await fixture.records.statistics().queues
        #expect(queues[.fetch] == StoreStatistics.Queue())
        var waiting = StoreStatistics.Queue()
        (waiting.pending, waiting.oldestAges) = (1, [.bulk: .seconds(1)])
        #expect(queues[.expensive] == waiting)
        let costly = try #require(try await fixture.claimAll(from: .expensive).first)
        #expect(costly.lane == .expensive)
        #expect(costly.attempt == 1)
        #expect(costly.id != fetched.id)
        #expect(costly.deadlineAt == fetched.deadlineAt)
        #expect(!costly.isLate)

        // Interrupted, it stays where it is, whichever lane notices.
        fixture.clock.advance(.seconds(61))
        #expect(try await fixture.claimAll(from: .fetch).isEmpty)
        let late = try #require(try await fixture.claimAll(from: .expensive).first)
        #expect(late.isLate)
        // Another body begins anew.
        _ = try await fixture.accepted(.sample(id: job.id, digest: "b"))
        #expect(try await fixture.claimAll(from: .fetch).map(\.job) == [job.id])
        try await fixture.records.expectTrueCounts()
    }
}

extension JobSubmission {
    static func sample(
        tenant: TenantID = .local, id: JobID = .generate(), profile: Profile = .archive, deadline: Double? = nil,
        digest: String, identifiers: [String] = ["photo"]
    ) -> JobSubmission {
        var submission = sample(
            tenant: tenant, id: id, profile: profile, deadline: deadline, identifiers: identifiers)
        submission.bodyDigest = digest
        return submission
    }
}

extension Fixture {
    func submit(
        _ job: JobSubmission, idempotency: IdempotencyKey? = nil, within quotas: Quotas = Quotas(),
        queueLimit: Int = 1000, offer: ClaimOffer? = nil
    ) async throws -> SubmissionAnswer {
        try await records.submit(
            job, SubmissionOptions(idempotency: idempotency, quotas: quotas, queueLimit: queueLimit, offer: offer))
    }

    func accepted(
        _ job: JobSubmission, within quotas: Quotas = Quotas(), queueLimit: Int = 1000
    ) async throws -> JobRecord {
        guard case .accepted(let record) = try await submit(job, within: quotas, queueLimit: queueLimit)
        else { throw Unexpected() }
        return record
    }

    /// A submission now would be refused, and so would the announcement of one.
    func expect(_ refusal: AttachmentError, within quotas: Quotas = Quotas(), queueLimit: Int = 1000) async {
        let records = records
        await #expect(throws: refusal) {
            try await records.admit(.local, SubmissionOptions(quotas: quotas, queueLimit: queueLimit))
        }
        await #expect(throws: refusal) {
            _ = try await records.submit(
                .sample(digest: "refused"), SubmissionOptions(quotas: quotas, queueLimit: queueLimit))
        }
    }

    func claimAll(tenant: TenantID? = nil, from lane: JobLane = .fetch) async throws -> [Claim] {
        try await records.claim(ClaimCapacity(100), from: .lane(lane), by: WorkerID(rawValue: "me"), for: .seconds(60))
            .filter { $0.tenant == tenant ?? $0.tenant }
    }

    /// - Returns: The claim that brought it there.
    @discardableResult
    func bring(
        _ job: JobRecord, to state: WorkState, for error: AttachmentError = .unreadable(Finding(.checksumDiffers))
    ) async throws -> Claim? {
        if state == .pending { return nil }
        if state == .cancelled {
            _ = try await records.cancel(job.id, of: job.tenant)
            return nil
        }
        let claim = try #require(
            try await (claimAll(from: .fetch) + claimAll(from: .quick)).first { $0.job == job.id })
        var outcomes: [AttachmentOutcome] = []
        for id in claim.attachments {
            outcomes.append(
                state == .failed
                    ? .failed(id, error) : .delivered(id, [.main: try await store.commit("text")]))
        }
        if state != .running { _ = try await records.deliver(outcomes, under: claim) }
        return claim
    }
}

extension RecordStore {
    /// The sums over the slots are what the rows come to.
    func expectTrueCounts() async throws {
        let access = ["grant", "lease", "link"].map {
            ("\($0)s", "SELECT count(*) FROM access WHERE kind = '\($0)' AND ended_at IS NULL")
        }
        let jobs = ["quick", "fetch", "expensive"].map {
            ("\($0)_jobs", "SELECT count(*) FROM queue WHERE run = '' AND lane = '\($0)'")
        }
        let bytes = [
            ("blobs", "SELECT count(*) FROM blobs"), ("blob_bytes", "SELECT coalesce(sum(bytes), 0) FROM blobs"),
        ]
        let totals = (jobs + access + bytes).map { total, rows in
            "SELECT 'all \(total)' WHERE (SELECT coalesce(sum(\(total)), 0) FROM counters) <> (\(rows))"
        }.joined(separator: " UNION ALL ")
        let differences = try await read { work in
            try work.run(
                """
                SELECT tenant AS name FROM (
                    SELECT tenant, sum(stored_bytes) AS bytes, sum(unfinished_jobs) AS jobs, sum(open_leases) AS leases
                    FROM usage GROUP BY tenant) AS counts
                WHERE jobs <> (SELECT count(*) FROM queue WHERE queue.tenant = counts.tenant AND run = '')
                    OR bytes <> (SELECT coalesce(sum(bytes), 0) FROM renditions WHERE renditions.tenant = counts.tenant)
                    OR leases <> (SELECT count(*) FROM access
                        WHERE access.tenant = counts.tenant AND kind = 'lease' AND ended_at IS NULL)
                UNION ALL
                SELECT name FROM blobs WHERE refs <> (SELECT count(*) FROM renditions WHERE renditions.blob = blobs.name)
                UNION ALL
                \(totals)
                """
            ).map { try $0.text("name") }
        }
        #expect(differences == [])
    }
}
