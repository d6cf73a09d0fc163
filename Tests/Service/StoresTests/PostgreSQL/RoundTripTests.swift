import SatchelCore
import Postgres
import TestSupport
import Testing

@testable import Stores

/// What jobs cost a node in questions to the database, which are its latency and the database's load.
@Suite(.serialized) struct RoundTripTests {
    /// Round trips of a node's heartbeats, of which some fall into each try where the machine is busy. A job's are told apart
    /// by their number.
    private static let heartbeats = 4

    /// Round trips that something takes, the least of some tries: a node's heartbeats are beside them.
    private func trips(of fixture: borrowing Fixture, _ body: () async throws -> Void) async throws -> Int {
        let pool = fixture.postgres.pool
        var least = Int.max
        for _ in 0..<5 {
            let before = pool.roundTrips
            try await body()
            least = min(least, pool.roundTrips - before)
        }
        return least
    }

    private static let options: SubmissionOptions = {
        var options = SubmissionOptions(queueLimit: 10_000)
        options.quotas.pendingJobs = 10_000
        options.quotas.storedBytes = 1 << 40
        return options
    }()

    @Test func `a job is submitted, and begun at once, in few questions`() async throws {
        let fixture = try Fixture(.postgres)
        var options = Self.options
        options.offer = ClaimOffer(worker: WorkerID(rawValue: "me"), duration: .seconds(60))
        let submission = options
        let count = try await trips(of: fixture) {
            var options = submission
            options.idempotency = IdempotencyKey(text: JobID.generate().rawValue, bodyDigest: "a")
            guard case .claimed = try await fixture.records.submit(.sample(), options) else { throw Unexpected() }
        }
        #expect(count <= 5 + Self.heartbeats)
    }

    @Test func `jobs that come together are submitted in about as many questions as one`() async throws {
        let fixture = try Fixture(.postgres)
        let postgres = fixture.postgres
        func submit(_ count: Int) async throws {
            let jobs = try (0..<count).map { _ in
                var options = Self.options
                options.idempotency = IdempotencyKey(text: JobID.generate().rawValue, bodyDigest: "a")
                let tenant = TenantID(rawValue: "tenant")
                return SubmittedJob(new: try NewJob(.sample(tenant: tenant), keys: postgres.keys), options: options)
            }
            let answers = try await postgres.write { work in try work.submit(jobs, isAlone: false) }
            #expect(answers.allSatisfy { if case .accepted? = $0 { true } else { false } })
        }
        let one = try await trips(of: fixture) { try await submit(1) }
        let many = try await trips(of: fixture) { try await submit(64) }
        #expect(one <= 5 + Self.heartbeats && abs(many - one) <= Self.heartbeats)
        #expect(try await fixture.records.overview(of: TenantID(rawValue: "tenant")).usage.pendingJobs == 5 * 65)
    }

    @Test func `a long list of jobs is submitted in about as many questions as a short one`() async throws {
        let fixture = try Fixture(.postgres)
        let run = RunID.generate()
        func submit(_ count: Int) async throws {
            let jobs = (0..<count).map { _ in JobSubmission.sample(run: run, work: JobID.generate().rawValue) }
            #expect(try await fixture.records.submit(jobs, SubmissionOptions()).count == count)
        }
        try await submit(2)
        let few = try await trips(of: fixture) { try await submit(2) }
        let many = try await trips(of: fixture) { try await submit(100) }
        #expect(abs(many - few) <= Self.heartbeats)
    }

    @Test func `many jobs are claimed in about as many questions as one`() async throws {
        let fixture = try Fixture(.postgres)
        let records = fixture.records
        _ = try await records.submit((0..<200).map { _ in .sample() }, SubmissionOptions())
        func claim(_ count: Int) async throws {
            let claims = try await records.claim(
                ClaimCapacity(count), from: .lane(.fetch), by: WorkerID(rawValue: "worker"), for: .seconds(60))
            #expect(claims.count == count)
        }
        let one = try await trips(of: fixture) { try await claim(1) }
        let many = try await trips(of: fixture) { try await claim(32) }
        #expect(one <= 4 + Self.heartbeats && abs(many - one) <= Self.heartbeats)
    }
}
