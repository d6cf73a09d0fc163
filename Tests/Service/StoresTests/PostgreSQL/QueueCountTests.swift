import SatchelCore
import PostgresTestSupport
import TestSupport
import Testing

@testable import Stores

/// How many jobs wait, which is counted as they come and go.
@Suite struct QueueCountTests {
    private static let worker = WorkerID(rawValue: "me")

    @Test func `those that are carried out leave room for as many`() async throws {
        let fixture = try Fixture(.postgres)
        let records = fixture.records
        func isTaken() async throws -> Bool {
            do throws(AttachmentError) {
                let tenant = TenantID(rawValue: JobID.generate().rawValue)
                _ = try await records.submit(.sample(tenant: tenant), SubmissionOptions(queueLimit: 3))
                return true
            } catch {
                #expect(error.code == .queueFull)
                return false
            }
        }
        for _ in 0..<3 { #expect(try await isTaken()) }
        #expect(try await !isTaken())
        let claims = try await records.claim(ClaimCapacity(2), from: .lane(.fetch), by: Self.worker, for: .seconds(60))
        #expect(claims.count == 2)
        for _ in 0..<2 { #expect(try await isTaken()) }
        #expect(try await !isTaken())
        _ = try await records.deliver([.failed(claims[0].attachments[0], .storeFull)], under: claims[0])
        #expect(try await !isTaken())
        try await records.release(claims[1], after: .zero, countsAttempt: true)
        #expect(
            try await records.claim(ClaimCapacity(1), from: .lane(.fetch), by: Self.worker, for: .seconds(60)).count
                == 1)
        #expect(try await !isTaken())
    }

    @Test func `together no more are taken than alone`() async throws {
        let fixture = try Fixture(.postgres)
        let records = fixture.records
        let answers = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<30 {
                group.addTask {
                    do throws(AttachmentError) {
                        _ = try await records.submit(.sample(), SubmissionOptions(queueLimit: 10))
                        return true
                    } catch {
                        #expect(error.code == .queueFull)
                        return false
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        // One tenant gets seven of ten places. What was under way when another looked may have been too many.
        let taken = answers.count { $0 }
        #expect(taken >= 7)
        #expect(try await records.overview(of: .local).usage.pendingJobs == taken)
        try await records.expectTrueCounts()
    }

    @Test func `however they come and go side by side, the count is that of the rows`() async throws {
        let fixture = try Fixture(.postgres)
        let other = try fixture.reopened()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, records) in [fixture.records, other.records, fixture.records, other.records].enumerated() {
                group.addTask {
                    let tenant = TenantID(rawValue: "tenant-\(index % 3)")
                    for number in 0..<12 {
                        let job = JobSubmission.sample(tenant: tenant)
                        _ = try await records.submit(job, SubmissionOptions(queueLimit: 1000))
                        switch number % 3 {
                        case 0:
                            let claims = try await records.claim(
                                ClaimCapacity(1), from: .lane(.fetch), by: Self.worker, for: .seconds(60))
                            for claim in claims {
                                // Another may have cancelled it.
                                do {
                                    _ = try await records.deliver(
                                        [.failed(claim.attachments[0], .storeFull)], under: claim)
                                } catch ClaimError.lost {}
                            }
                        case 1: _ = try await records.cancel(job.id, of: tenant)
                        default: _ = try await records.deleteJob(job.id, of: tenant)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        try await fixture.records.expectTrueCounts()
    }
}
