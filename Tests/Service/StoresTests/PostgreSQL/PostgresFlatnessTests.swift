import SatchelCore
import Postgres
import PostgresTestSupport
import Testing

@testable import Stores

/// What PostgreSQL reads for a job grows neither with those that wait nor with those that passed. While somebody's snapshot is held,
/// as by a long backup or a forgotten transaction, no vacuum removes what a queue leaves behind.
@Suite struct PostgresFlatnessTests {
    @Test func `a claim reads no more where ten times as many wait`() async throws {
        try await compare(50, 500) { size, meter in
            let tenants = (0..<size).map { TenantID(rawValue: "tenant-\($0 % 10)") }
            _ = try await meter.records.submit(tenants.map { .sample(tenant: $0) }, Self.options)
            return { _ = try #require(try await claim(from: meter.records)) }
        }
    }

    @Test func `while a snapshot is held, a job costs no more reads where ten times as many have passed`() async throws
    {
        let few = try await reads(after: 8)
        let rounds = 80
        let many = try await reads(after: rounds)
        // A tenant's count has a version of each change until the vacuum, a hundred on a page. Each of ten jobs is submitted, and ends;
        // what ends side by side is mostly one change, and may be ten.
        let versions = rounds * 10 * 2 / 100
        for (question, counts) in few {
            for (place, count) in many[question] ?? [:] {
                let before = counts[place] ?? 0
                // Trees get another level, and rows that each job changes another version.
                #expect(
                    count <= before + before / 2 + 8 + (place.hasPrefix("usage") ? versions : 0),
                    "to \(question), of \(place): \(before) became \(count)")
            }
        }
    }

    @Test func `a run's claim reads no more where ten times as many of its jobs wait`() async throws {
        try await compare(50, 500) { size, meter in
            let run = RunID.generate()
            _ = try await meter.records.submit(
                (0..<size).map { _ in .sample(run: run, work: JobID.generate().rawValue) }, SubmissionOptions())
            return {
                let claims = try await meter.records.claim(
                    ClaimCapacity(4), from: .run(run), by: Self.worker, for: .seconds(60))
                #expect(claims.count == 4)
            }
        }
    }

    @Test(arguments: [false, true])
    func `whether the queue is full costs no more reads where ten times as many wait`(isFull: Bool) async throws {
        try await compare(50, 500) { size, meter in
            let tenants = (0..<size).map { TenantID(rawValue: "tenant-\($0 % 10)") }
            _ = try await meter.records.submit(tenants.map { .sample(tenant: $0) }, Self.options)
            let options = SubmissionOptions(queueLimit: isFull ? size : size * 2)
            return {
                var isRefused = false
                do throws(AttachmentError) {
                    try await meter.records.admit(.local, options)
                } catch {
                    isRefused = error.code == .queueFull
                }
                #expect(isRefused == isFull)
            }
        }
    }

    /// The rows that count all jobs have a version of each change until the vacuum. They are summed now and then, and no one of them has
    /// all changes.
    @Test func `while a snapshot is held, the limit of the queue costs no more reads where more jobs came and went`()
        async throws
    {
        var pages: [Int] = []
        for changes in [20, 2000] {
            let fixture = try Fixture(.postgres)
            let database = try fixture.requireDatabase()
            let holder = PostgresPool(try PostgresParameters(database.url, application: "tests"))
            let read = try await holder.holding(["SELECT count(*) FROM queue"], .snapshot) {
                for number in 0..<changes {
                    try await fixture.postgres.write { $0.change(.local, jobs: number % 2 == 0 ? 1 : -1, in: .fetch) }
                }
                await fixture.postgres.pool.close()
                let meter = try ReadMeter(database, fixture.clock, room: .seconds(300))
                var least = Int.max
                for _ in 0..<4 {
                    let read = try await meter.reads {
                        _ = try await meter.records.submit(.sample(), Self.options)
                    }
                    least = min(least, read["counters (pages)"] ?? 0)
                }
                return least
            }
            pages.append(read)
        }
        #expect(pages[0] > 0 && pages[1] <= pages[0] + 8, "\(pages)")
    }

    /// Expects as many reads of few rows and of many.
    ///
    /// - Parameter prepare: Fills a store with so many, and says what is counted.
    private func compare(
        _ few: Int, _ many: Int,
        _ prepare: (Int, ReadMeter) async throws -> () async throws -> Void
    ) async throws {
        var counts: [[String: Int]] = []
        for size in [few, many] {
            let fixture = try Fixture(.postgres)
            let meter = try ReadMeter(try fixture.requireDatabase(), fixture.clock)
            let step = try await prepare(size, meter)
            var least: [String: Int] = [:]
            for number in 0..<3 {
                let read = try await meter.reads(step)
                least = number == 0 ? read : least.merging(read, uniquingKeysWith: min)
            }
            counts.append(least)
        }
        for (place, count) in counts[1] {
            let before = counts[0][place] ?? 0
            #expect(count <= before + before / 2 + 8, "of \(place): \(before) became \(count)")
        }
    }

    private static let worker = WorkerID(rawValue: "me")
    private static let options = SubmissionOptions(
        quotas: Quotas(storedBytes: 1 << 40, pendingJobs: 1 << 20), queueLimit: 1 << 20)

    /// What each step of a job's life reads, by table or index, after so many rounds of ten jobs.
    private func reads(after rounds: Int) async throws -> [String: [String: Int]] {
        let fixture = try Fixture(.postgres)
        let database = try fixture.requireDatabase()
        let holder = PostgresPool(try PostgresParameters(database.url, application: "tests"))
        return try await holder.holding(["SELECT count(*) FROM queue"], .snapshot) {
            for _ in 0..<rounds {
                try await pass(10, through: fixture.records)
                // Ranks as after many more jobs: so that what is read below the last claim's is the same for all.
                try database.server.execute("UPDATE virtual_time SET rank = rank + 500", in: database.name)
            }
            // Whose connections tell what they read when they end.
            await fixture.postgres.pool.close()
            return try await measure(database, fixture)
        }
    }

    /// Ten at once, as busy nodes do.
    private func pass(_ count: Int, through records: RecordStore) async throws {
        for _ in 0..<count { _ = try await records.submit(.sample(priority: .interactive), Self.options) }
        let claims = try await records.claim(
            ClaimCapacity(count), from: .lane(.fetch), by: Self.worker, for: .seconds(60))
        #expect(claims.count == count)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for claim in claims {
                group.addTask {
                    _ = try await records.deliver([.failed(claim.attachments[0], .storeFull)], under: claim)
                }
            }
            try await group.waitForAll()
        }
    }

    /// The least of some lives: the first looks from the start.
    private func measure(
        _ database: RecordDatabase, _ fixture: borrowing Fixture
    ) async throws -> [String: [String: Int]] {
        let meter = try ReadMeter(database, fixture.clock, room: .seconds(300))
        let records = meter.records
        var offering = Self.options
        offering.offer = ClaimOffer(worker: Self.worker, duration: .seconds(60))
        let offered = offering
        var least: [String: [String: Int]] = [:]
        for _ in 0..<4 {
            var claim: Claim?
            let steps: [(String, () async throws -> Void)] = [
                ("submit", { _ = try await records.submit(.sample(priority: .interactive), Self.options) }),
                ("claim", { claim = try await self.claim(from: records) }),
                ("prolong", { _ = try await records.heartbeat(try #require(claim), for: .seconds(60)) }),
                (
                    "deliver",
                    {
                        let held = try #require(claim)
                        _ = try await records.deliver([.failed(held.attachments[0], .storeFull)], under: held)
                    }
                ),
                (
                    "claim where nothing waits",
                    {
                        let none = try await self.claim(from: records)
                        #expect(none == nil)
                    }
                ),
                (
                    "begin at once",
                    {
                        let answer = try await records.submit(.sample(priority: .interactive), offered)
                        guard case .claimed(_, let begun) = answer else { throw Unexpected() }
                        _ = try await records.deliver([.failed(begun.attachments[0], .storeFull)], under: begun)
                    }
                ),
                ("end what is overdue", { _ = try await records.endOverdue(10) }),
            ]
            for (name, step) in steps {
                let counts = try await meter.reads(step)
                least[name] = least[name].map { $0.merging(counts, uniquingKeysWith: min) } ?? counts
            }
        }
        return least
    }

    private func claim(from records: RecordStore) async throws -> Claim? {
        // With more room than there are jobs.
        try await records.claim(ClaimCapacity(4), from: .lane(.fetch), by: Self.worker, for: .seconds(60)).first
    }
}
