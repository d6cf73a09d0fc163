import SatchelCore
import Foundation
import Stores
import TestSupport
import Testing

@testable import Jobs

/// Jobs that other nodes carry out.
@Suite struct EndWatchTests {
    @Test func `the end of a job that another node carried out is told to whoever waits for it or follows it`()
        async throws
    {
        let memory = try StoreMemory(countsRevocations: false)
        try await JobBench.run(in: memory) { bench in
            let other = try Store(in: memory).records
            let run = RunID.generate()
            let job = JobSubmission.sample(run)
            let left = JobSubmission.sample(run)
            _ = try await other.submit([job, left], SubmissionOptions())
            let events = bench.jobs.events
            async let isTold = events.waitForEnd(of: job.id, tenant: JobBench.tenant, within: .seconds(600))
            async let told = events.follow(job.id, of: JobBench.tenant).reduce(into: []) { $0.append($1.event.what) }
            async let toldOfDeleted = events.follow(left.id, of: JobBench.tenant).reduce(into: []) {
                $0.append($1.event.what)
            }
            try await eventually { events.watched.count == 2 }
            let claim = try #require(
                try await other.claim(
                    ClaimCapacity(1), from: .run(run), by: WorkerID(rawValue: "other"), for: .seconds(60)
                ).first)
            #expect(claim.job == job.id)
            let outcome = AttachmentOutcome(
                id: claim.attachments[0], result: .failure(.unrecognizedType(sniffed: nil)), kind: nil,
                source: SourceFacts(name: "photo.jpg"), steps: [])
            _ = try await other.deliver([outcome], under: claim)
            _ = try await other.deleteJob(left.id, of: JobBench.tenant)
            #expect(await isTold)
            #expect(await told == [.finished(.failed)])
            #expect(await toldOfDeleted.isEmpty)
            try await eventually { events.watched.isEmpty }
        }
    }
}

extension JobSubmission {
    fileprivate static func sample(_ run: RunID) -> JobSubmission {
        JobSubmission(
            tenant: JobBench.tenant, profile: .notification, run: run,
            attachments: [AttachmentSubmission(location: .url("https://example.com/photo", headers: [:]))])
    }
}
