import SatchelCore
import TestSupport
import Testing

@testable import Stores

/// In which order jobs are given out, and what becomes of those that wait for too long.
@Suite struct OrderTests {
    private let me = WorkerID(rawValue: "me")
    private let ada = TenantID(rawValue: "ada")
    private let bob = TenantID(rawValue: "bob")

    private func accept(_ jobs: [JobSubmission], in fixture: borrowing Fixture) async throws {
        _ = try await fixture.records.submit(jobs, SubmissionOptions())
    }

    private func next(_ count: Int, in fixture: borrowing Fixture) async throws -> [Claim] {
        try await fixture.records.claim(ClaimCapacity(count), from: .lane(.fetch), by: me, for: .seconds(60))
    }

    private func upload(
        _ tenant: TenantID, priority: JobPriority = .bulk, deadline: Double? = nil
    ) -> JobSubmission {
        var job = JobSubmission.sample(tenant: tenant, priority: priority, deadline: deadline)
        job.attachments[0].location = .spool(name: SourceName(rawValue: job.id.rawValue))
        return job
    }

    // MARK: Order

    @Test(arguments: Backend.allCases)
    func `10,000 pending jobs of one tenant delay another's by at most one`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        // A database is asked for each job.
        let part = backend.keepsRecordsInPostgres ? 100 : 1000
        for _ in 0..<10 { try await accept((0..<part).map { _ in .sample(tenant: ada) }, in: fixture) }
        #expect(try await next(40, in: fixture).allSatisfy { $0.tenant == ada })
        try await accept([.sample(tenant: bob), .sample(tenant: bob)], in: fixture)
        let claimed = try await next(6, in: fixture).map(\.tenant)
        // By turns from where the line had got to.
        #expect(claimed.filter { $0 == bob }.count == 2)
        #expect(claimed.prefix(2).contains(bob) && claimed.prefix(4).filter { $0 == bob }.count == 2)
    }

    @Test(arguments: Backend.allCases)
    func `a job of many attachments counts as so many`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let large = (0..<3).map { _ in JobSubmission.sample(tenant: ada, identifiers: ["a", "b", "c", "d"]) }
        let small = (0..<9).map { _ in JobSubmission.sample(tenant: bob) }
        try await accept(large + small, in: fixture)
        let claimed = try await next(12, in: fixture).map(\.tenant)
        #expect(claimed == [ada, bob, bob, bob, bob, ada, bob, bob, bob, bob, ada, bob])
    }

    @Test(arguments: Backend.allCases)
    func `a job keeps its place when it is handed back or rescued, and takes a new one in another lane`(
        backend: Backend
    )
        async throws
    {
        let fixture = try Fixture(backend)
        let first = JobSubmission.sample(tenant: ada)
        try await accept([first] + (0..<5).map { _ in .sample(tenant: ada) }, in: fixture)
        let claim = try #require(try await next(1, in: fixture).first)
        _ = try await next(2, in: fixture)
        try await fixture.records.release(claim, after: .zero, countsAttempt: true)
        let again = try #require(try await next(1, in: fixture).first)
        #expect(again.job == first.id)
        // Its claim runs out.
        fixture.clock.advance(.seconds(61))
        let rescued = try #require(try await next(1, in: fixture).first)
        #expect(rescued.job == first.id)

        let moved = try await next(4, in: fixture)
        for claim in moved.reversed() { try await fixture.records.move(claim, to: .expensive) }
        let other = try await fixture.records.claim(
            ClaimCapacity(9), from: .lane(.expensive), by: me, for: .seconds(60))
        #expect(other.map(\.job) == moved.reversed().map(\.job), "as they came there")
    }

    @Test(arguments: Backend.allCases)
    func `another try takes a new place`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let tried = JobSubmission.sample(tenant: ada)
        try await accept([tried] + (0..<3).map { _ in .sample(tenant: ada) }, in: fixture)
        _ = try await fixture.records.cancel(tried.id, of: ada)
        _ = try await fixture.records.retry(tried.id, of: ada)
        #expect(try await next(9, in: fixture).map(\.job).last == tried.id)
    }

    @Test(arguments: Backend.allCases)
    func `what a tenant has in one line puts it back in no other`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        try await accept((0..<50).map { _ in .sample(tenant: ada) }, in: fixture)
        let both = [upload(ada), upload(bob), .sample(tenant: ada, priority: .interactive)]
        try await accept(both + [.sample(tenant: bob, priority: .interactive)], in: fixture)
        let quick = try await fixture.records.claim(ClaimCapacity(2), from: .lane(.quick), by: me, for: .seconds(60))
        let prompt = ClaimCapacity(all: 2, bulk: 0)
        let fetched = try await fixture.records.claim(prompt, from: .lane(.fetch), by: me, for: .seconds(60))
        #expect(Set((quick + fetched).map(\.job)).isSuperset(of: both.map(\.id)))
        // Had those of ada moved a line on, this one would stand behind 50.
        try await accept([.sample(tenant: bob)], in: fixture)
        #expect(try await next(2, in: fixture).contains { $0.tenant == bob })
    }

    @Test(arguments: Backend.allCases)
    func `how far a line has got is remembered`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        try await accept((0..<20).map { _ in .sample(tenant: ada) }, in: fixture)
        _ = try await next(10, in: fixture)
        let other = try fixture.reopened()
        _ = try await other.records.submit([.sample(tenant: bob)], SubmissionOptions())
        let claims = try await other.records.claim(
            ClaimCapacity(3), from: .lane(.fetch), by: WorkerID(rawValue: "you"), for: .seconds(60))
        #expect(claims.count == 3 && claims.prefix(2).contains { $0.tenant == bob })
        #expect(claims.contains { $0.tenant == ada }, "nor does a newcomer pass everybody for ever")
    }

    @Test(arguments: Backend.allCases)
    func `each lane and each priority has places of its own`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let jobs = (0..<3).flatMap { _ in
            [
                upload(ada), upload(ada, priority: .interactive), .sample(tenant: ada),
                .sample(tenant: ada, priority: .interactive),
            ]
        }
        try await accept(jobs, in: fixture)
        func kinds(_ capacity: ClaimCapacity, _ lane: JobLane) async throws -> [String: Int] {
            let claims = try await fixture.records.claim(capacity, from: .lane(lane), by: me, for: .seconds(60))
            for claim in claims { try await fixture.records.release(claim, after: .zero, countsAttempt: false) }
            return Dictionary(
                grouping: claims.map {
                    "\($0.submission.priority) \($0.submission.needsFetching ? "fetched" : "present")"
                }, by: \.self
            ).mapValues(\.count)
        }
        #expect(try await kinds(ClaimCapacity(0), .quick).isEmpty)
        #expect(try await kinds(ClaimCapacity(1), .quick) == ["interactive present": 1])
        #expect(try await kinds(ClaimCapacity(1), .fetch) == ["interactive fetched": 1])
        #expect(
            try await kinds(ClaimCapacity(all: 9, bulk: 1), .quick) == ["interactive present": 3, "bulk present": 1])
        #expect(
            try await kinds(ClaimCapacity(all: 4, bulk: 2), .fetch) == ["interactive fetched": 3, "bulk fetched": 1])
        #expect(try await kinds(ClaimCapacity(9), .expensive).isEmpty)
    }

    @Test(arguments: Backend.allCases)
    func `a tenant that has as many as it may is passed over, and the others go by rank`(backend: Backend) async throws
    {
        let fixture = try Fixture(backend)
        let eve = TenantID(rawValue: "eve")
        try await accept((0..<50).map { _ in .sample(tenant: ada) }, in: fixture)
        _ = try await next(10, in: fixture)
        try await accept([.sample(tenant: eve), .sample(tenant: eve), .sample(tenant: bob)], in: fixture)
        func claim(_ busy: Set<TenantID>) async throws -> [TenantID] {
            let capacity = ClaimCapacity(all: 3, bulk: 3, busy: [.bulk: busy])
            return try await fixture.records.claim(capacity, from: .lane(.fetch), by: me, for: .seconds(60)).map(
                \.tenant)
        }
        #expect(try await claim([ada, bob, eve]).isEmpty)
        #expect(try await claim([ada]) == [eve, bob], "the first of each")
        #expect(try await claim([ada]) == [eve])
        #expect(try await claim([ada]).isEmpty)
        #expect(try await claim([bob]) == [ada])
        #expect(try await claim([]) == [ada, ada, ada])
    }

    @Test(arguments: Backend.allCases)
    func `a job is begun as it is submitted only where none of its kind comes before it`(backend: Backend) async throws
    {
        let fixture = try Fixture(backend)
        let offer = ClaimOffer(worker: me, duration: .seconds(60))
        func begins(_ job: JobSubmission) async throws -> Bool {
            let answer = try await fixture.records.submit(
                job, SubmissionOptions(queueLimit: 100, offer: offer))
            if case .claimed = answer { return true } else { return false }
        }
        try await accept([.sample(tenant: ada, priority: .interactive)], in: fixture)
        #expect(try await !begins(.sample(tenant: bob)))
        #expect(try await begins(upload(bob)), "a fetch takes none of its places")
        #expect(try await begins(upload(bob, priority: .interactive)))
    }

    // MARK: Deadlines

    @Test(arguments: Backend.allCases)
    func `a job ends at its deadline while it is pending, and is told of and tried again like another`(backend: Backend)
        async throws
    {
        let fixture = try Fixture(backend)
        var hurried = JobSubmission.sample(tenant: ada, deadline: 10, identifiers: ["a", "b"])
        hurried.callback = "https://example.com/hook"
        try await accept([.sample(tenant: bob, deadline: 30), hurried, .sample(tenant: ada)], in: fixture)
        #expect(try await fixture.records.endOverdue(100) == OverdueJobs(next: .seconds(10)))
        fixture.clock.advance(.seconds(10))
        let overdue = try await fixture.records.endOverdue(100)
        #expect(overdue.ended.map(\.id) == [hurried.id] && overdue.next == .seconds(20))
        let ended = try #require(overdue.ended.first)
        #expect(ended.state == .failed && ended.finishedAt == fixture.clock.now)
        #expect(ended.attachments.map { $0.error?.code } == [.deadlineExceeded, .deadlineExceeded])
        #expect(ended.attachments[0].source.name == "a.jpg" && ended.attachments[0].steps.map(\.name) == ["wait"])
        #expect(try await fixture.records.job(hurried.id, of: ada) == ended)
        #expect(try await fixture.records.dueWebhooks(9).map(\.content) == [.job(hurried.id)])
        #expect(try await next(9, in: fixture).count == 2)
        try await fixture.records.expectTrueCounts()
        guard case .accepted(let again) = try await fixture.records.retry(hurried.id, of: ada) else {
            throw Unexpected()
        }
        #expect(again.state == .pending && again.deadlineAt == fixture.clock.now + .seconds(10))
    }

    @Test(arguments: Backend.allCases)
    func `what runs, or was interrupted and has its time anew, is not ended`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        try await accept([.sample(deadline: 10), .sample(deadline: 10)], in: fixture)
        let claims = try await next(2, in: fixture)
        try await fixture.records.release(claims[0], after: .seconds(60), countsAttempt: false)
        fixture.clock.advance(.seconds(20))
        #expect(try await fixture.records.endOverdue(100) == OverdueJobs())
        // Whoever held it until then lost nothing by the look.
        _ = try await fixture.records.heartbeat(claims[1], for: .seconds(60))
    }

    @Test(arguments: Backend.allCases)
    func `many that are over are ended some at a time`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        try await accept((0..<25).map { .sample(deadline: Double($0 + 1)) }, in: fixture)
        fixture.clock.advance(.seconds(60))
        var ended: [Int] = []
        while let next = try await Optional(fixture.records.endOverdue(10)), !next.ended.isEmpty {
            ended.append(next.ended.count)
        }
        #expect(ended == [10, 10, 5])
    }

    @Test(arguments: Backend.allCases)
    func `an upload that waited for too long is kept to be tried again`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let job = upload(ada, deadline: 1)
        try await accept([job], in: fixture)
        fixture.clock.advance(.seconds(2))
        #expect(try await fixture.records.endOverdue(1).ended.count == 1)
        guard case .accepted = try await fixture.records.retry(job.id, of: ada) else { throw Unexpected() }
        let again = try await fixture.records.claim(ClaimCapacity(1), from: .lane(.quick), by: me, for: .seconds(60))
        #expect(again.first?.submission.attachments[0].location == .spool(name: SourceName(rawValue: job.id.rawValue)))
    }
}
