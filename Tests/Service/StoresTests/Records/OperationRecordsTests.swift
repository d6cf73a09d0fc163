import Testing

@testable import SatchelCore
@testable import Stores

/// What an operator asks of a tenant.
@Suite struct OperationRecordsTests {
    private static let tenant = TenantID(rawValue: "acme")

    /// Submits a job, and has it come to an end.
    private static func end(
        _ store: Store, _ error: AttachmentError?, tenant: TenantID = tenant, kind: MediaKind? = nil
    ) async throws -> JobRecord {
        let claim = try #require(try await store.claim(of: .sample(tenant: tenant)))
        var outcome: AttachmentOutcome
        if let error {
            outcome = .failed(claim.attachments[0], error)
            outcome.kind = kind
        } else {
            let blob = try await store.commit(claim.job.rawValue, under: claim.id)
            outcome = .delivered(claim.attachments[0], [.main: blob])
        }
        return try await store.records.deliver([outcome], under: claim)
    }

    @Test(arguments: Backend.allCases)
    func `ends are counted by the minute, with how long they took, for two days`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let (store, records) = (fixture.store, fixture.records)
        let first = fixture.clock.now.minute
        _ = try await Self.end(store, nil)
        _ = try await Self.end(store, nil)
        _ = try await Self.end(store, .unreadable(Finding(.checksumDiffers)))
        _ = try await Self.end(store, nil, tenant: .local)
        fixture.clock.advance(.seconds(60))
        let job = JobSubmission.sample(tenant: Self.tenant, identifiers: ["a", "b"])
        _ = try await records.submit(job)
        _ = try await records.cancel(job.id, of: Self.tenant)
        func key(_ minute: Instant, _ state: WorkState, _ code: ErrorCode? = nil) -> Tally.Key {
            Tally.Key(tenant: Self.tenant, minute: minute, lane: .fetch, state: state, code: code)
        }
        let tallies = try await records.overview(of: Self.tenant).tallies
        #expect(
            tallies.mapValues(\.count) == [
                key(first, .delivered): 2, key(first, .failed, .corrupt): 1, key(first + .seconds(60), .cancelled): 2,
            ])
        let delivered = try #require(tallies[key(first, .delivered)])
        #expect(delivered.work.total == 2 && delivered.waiting.total == 2)
        #expect((0.06...0.16).contains(delivered.work.quantile(0.5) ?? 0))
        fixture.clock.advance(TenantOverview.span)
        #expect(try await records.overview(of: Self.tenant).tallies.map(\.key.state) == [.cancelled])
        fixture.clock.advance(Retention.tallies)
        _ = try await records.expire(limit: 100, from: nil)
        fixture.clock.now = first + .seconds(60)
        #expect(try await records.overview(of: Self.tenant).tallies.isEmpty)
    }

    @Test(arguments: Backend.allCases)
    func `what a write that failed would have counted isn't`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let claim = try #require(try await fixture.store.claim(of: .sample(tenant: Self.tenant)))
        _ = try await fixture.records.cancel(claim.job, of: Self.tenant)
        await #expect(throws: ClaimError.lost) {
            try await fixture.records.deliver([.failed(claim.attachments[0], .storeFull)], under: claim)
        }
        let tallies = try await fixture.records.overview(of: Self.tenant).tallies
        #expect(tallies.map(\.key.state) == [.cancelled])
    }

    @Test(arguments: Backend.allCases)
    func `failures come by code, the latest first, until they are tried again`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let (store, records, tenant) = (fixture.store, fixture.records, Self.tenant)
        let start = fixture.clock.now
        var jobs: [JobID] = []
        for number in 0..<7 {
            jobs.append(try await Self.end(store, .fetchFailed(.status, status: 500, reason: "it is away")).id)
            if number == 2 { _ = try await Self.end(store, .unreadable(Finding(.checksumDiffers)), kind: .image) }
            fixture.clock.advance(.seconds(1))
        }
        _ = try await Self.end(store, .storeFull, tenant: .local)
        let groups = try await records.failures(of: tenant, with: nil, since: nil)
        #expect(groups.map(\.code) == [.fetchFailed, .corrupt] && groups.map(\.count) == [7, 1])
        let first = try #require(groups.first)
        #expect(first.firstAt == start && first.lastAt == start + .seconds(6) && first.kinds.isEmpty)
        #expect(first.error.retryable && first.error.message.contains("it is away"))
        #expect(first.jobs == jobs.suffix(5).reversed())
        #expect(groups[1].kinds == [.image] && !groups[1].error.retryable)
        let since = start + .seconds(3)
        #expect(try await records.failures(of: tenant, with: nil, since: since).map(\.count) == [4])
        #expect(try await records.failures(of: tenant, with: .corrupt, since: nil).map(\.code) == [.corrupt])
        #expect(try await records.failures(of: tenant, with: .storeFull, since: nil).isEmpty)

        let counts = try await records.retryAll(failedWith: .fetchFailed, since: since, of: tenant)
        #expect(counts == RetryCounts(accepted: 4))
        #expect(try await records.job(jobs[6], of: tenant)?.state == .pending)
        #expect(try await records.job(jobs[2], of: tenant)?.state == .failed)
        #expect(try await records.failures(of: tenant, with: .fetchFailed, since: nil).map(\.count) == [3])
        // Part by part, each behind the one before; what fails anew meanwhile is in none of them.
        let part = try await records.retryAll(failedWith: .fetchFailed, since: nil, of: tenant, limit: 2)
        #expect(part.accepted == 2 && part.next != nil)
        for id in [jobs[2], jobs[1]] { #expect(try await records.job(id, of: tenant)?.state == .pending) }
        let claims = try await records.claim(
            ClaimCapacity(10), from: .lane(.fetch), by: WorkerID(rawValue: "worker"), for: .seconds(60))
        let claim = try #require(claims.first { $0.job == jobs[2] })
        _ = try await records.deliver(
            [.failed(claim.attachments[0], .fetchFailed(.status, status: 500, reason: "it is away"))], under: claim)
        let rest = try await records.retryAll(
            failedWith: .fetchFailed, since: nil, of: tenant, after: part.next, limit: 2)
        #expect(rest == RetryCounts(accepted: 1))
        #expect(try await records.job(jobs[2], of: tenant)?.state == .failed)
        // What it takes is kept for a day.
        fixture.clock.advance(Retention.retry)
        let late = try await records.retryAll(failedWith: .fetchFailed, since: nil, of: tenant)
        #expect(late == RetryCounts(forgotten: 1))
    }

    @Test(arguments: Backend.allCases)
    func `failed fetches are grouped by their causes, each with its own jobs`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let start = fixture.clock.now
        let (gone, away) = (FetchCause(.status, status: 404), FetchCause(.status, status: 500))
        let (dns, slow) = (FetchCause(.dns), FetchCause(.tooSlow))
        let causes = [gone, dns, gone, away, slow, dns, gone]
        var jobs: [FetchCause: [JobID]] = [:]
        for cause in causes {
            let job = try await Self.end(
                fixture.store, .fetchFailed(cause.type, status: cause.status, reason: "x"), kind: .image)
            jobs[cause, default: []].insert(job.id, at: 0)
            fixture.clock.advance(.seconds(1))
        }
        _ = try await Self.end(fixture.store, .fetchTimeout(seconds: 3))
        let groups = try await fixture.records.failures(of: Self.tenant, with: nil, since: nil)
        #expect(groups.map(\.error.cause) == [slow, gone, dns, slow, away])
        #expect(groups.map(\.code) == [.fetchTimeout] + Array(repeating: .fetchFailed, count: 4))
        #expect(groups.map(\.count) == [1, 3, 2, 1, 1])
        for group in groups.dropFirst() {
            let cause = try #require(group.error.cause)
            #expect(group.jobs == jobs[cause] && group.kinds == [.image])
            let first = try #require(causes.firstIndex(of: cause))
            #expect(group.firstAt == start + .seconds(first))
        }
        let late = try await fixture.records.failures(of: Self.tenant, with: .fetchFailed, since: start + .seconds(5))
        #expect(late.map(\.count) == [1, 1])
    }

    @Test(arguments: Backend.allCases)
    func `the overview counts what lives, is due and fails, of its tenant alone`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let (records, tenant) = (fixture.records, Self.tenant)
        let attachment = try await fixture.store.deliver([.main: "text"], tenant: tenant).id
        _ = try await records.link(to: attachment, of: tenant, renditions: nil, for: .seconds(60))
        _ = try await records.link(to: attachment, of: tenant, renditions: nil, for: .seconds(600))
        let grant = try await records.grant(
            on: attachment, in: .owner(tenant), renditions: nil, for: .seconds(600), leaseLimit: 2)
        let ended = try await records.link(to: attachment, of: tenant, renditions: nil, for: .seconds(600))
        _ = try await records.revoke(#require(ended).0.id, in: .owner(tenant))
        _ = try await records.startLease(
            in: .bearer(#require(grant).1), renditions: nil, for: .seconds(600))
        try await records.putNotification(of: tenant)
        fixture.clock.advance(.seconds(120))
        let overview = try await records.overview(of: tenant)
        #expect(overview.links == 1 && overview.grants == 1 && overview.usage.liveLeases == 1)
        #expect(overview.usage.storedBytes == 4 && overview.at == fixture.clock.now)
        let other = try await records.overview(of: .local)
        #expect(other == TenantOverview(at: fixture.clock.now))

        let page = try await records.access(to: attachment, of: tenant, after: nil, limit: 3)
        let rest = try await records.access(to: attachment, of: tenant, after: page.next, limit: 3)
        let entries = page.elements + rest.elements
        #expect(page.elements.count == 3 && rest.next == nil && entries.map(\.id) == entries.map(\.id).sorted())
        #expect(entries.count { $0.kind == .link } == 3 && entries.count { $0.endedAt != nil } == 1)
        #expect(entries.first { $0.kind == .lease }?.parent == grant?.0.id)
        #expect(try await records.access(to: attachment, of: .local, after: nil, limit: 3).elements.isEmpty)
    }
}
