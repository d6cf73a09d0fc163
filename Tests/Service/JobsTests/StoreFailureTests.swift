import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import Jobs

/// What failures of the store itself do to jobs of the service.
@Suite(.serialized, .timeLimit(.minutes(5))) struct StoreFailureTests {
    private static let down = AttachmentError.storeFailed(reason: "the bucket can't be reached")
    private static let cases: [(FailingStore.Call, AttachmentError)] = [FailingStore.Call.open, .put].flatMap { call in
        [down, .storeFull, .scratchFull(needed: 10)].map { (call, $0) }
    }

    /// Runs a service whose store fails.
    private func run(
        _ call: FailingStore.Call, _ error: AttachmentError, times: Int, patience: Duration? = nil,
        _ body: (JobBench) async throws -> Void
    ) async throws {
        try await JobBench.run(
            health: StoreHealth(pauses: .milliseconds(20) ... .milliseconds(80)), patience: patience,
            bytes: { FailingStore($0, $1, failing: call, with: error, times: times) }, body)
    }

    @Test(arguments: cases)
    func `a strict job whose store fails for a while is delivered whole`(
        call: FailingStore.Call, error: AttachmentError
    ) async throws {
        try await run(call, error, times: 3) { bench in
            let job = try await bench.submit([
                try await bench.upload("fault: echo a"), try await bench.upload("fault: echo b"),
            ])
            let record = try await bench.finished(job)
            #expect(record.state == .delivered && record.attachments.allSatisfy { $0.state == .delivered })
            #expect(record.attempt > 1)
        }
    }

    @Test func `a job fails for the store at its deadline, not before`() async throws {
        try await run(.open, Self.down, times: .max) { bench in
            let job = try await bench.submit([try await bench.upload("fault: null")], deadline: 2)
            let record = try await bench.finished(job)
            let code = record.attachments[0].error?.code
            #expect(record.state == .failed && [.storeFailed, .deadlineExceeded].contains(code))
            let end = try #require(record.finishedAt)
            // A commit's time before, at most.
            #expect((end - record.createdAt).inSeconds > 1.8)
        }
    }

    @Test func `a job without a deadline fails for the store once its patience is over`() async throws {
        try await run(.put, Self.down, times: .max, patience: .seconds(1)) { bench in
            let record = try await bench.finished(try await bench.submit([try await bench.upload("fault: null")]))
            #expect(record.state == .failed && record.attachments[0].error?.code == .storeFailed)
            #expect(record.attempt > 1)
        }
    }

    @Test func `a job that alone needs more than the whole scratch ends at once, and the next one is taken`()
        async throws
    {
        try await run(.open, .scratchFull(needed: .max / 2), times: 1) { bench in
            let record = try await bench.finished(try await bench.submit([try await bench.upload("fault: null")]))
            let error = try #require(record.attachments[0].error)
            #expect(record.state == .failed && record.attempt == 1 && error.code == .storeFull)
            #expect(error.message.contains("scratch space"))
            let next = try await bench.finished(try await bench.submit([try await bench.upload("fault: echo b")]))
            #expect(next.state == .delivered)
        }
    }

    @Test(arguments: ["store-failed", "store-full"])
    func `what a codec process says of the store is not believed where the store works`(lie: String) async throws {
        try await JobBench.run { bench in
            let record = try await bench.finished(try await bench.submit([try await bench.upload("fault: \(lie)")]))
            #expect(record.state == .failed && record.attempt == 1)
            #expect(record.attachments[0].error?.code == .storeFailed)
        }
    }

    @Test func `a node without room claims nothing for 10 seconds, doubling to 60`() async throws {
        #expect(StoreHealth().failed(.storeFull) == .seconds(10))
        let health = StoreHealth(pauses: .milliseconds(10) ... .milliseconds(60))
        var pauses: [Duration?] = []
        for _ in 0..<5 {
            pauses.append(health.failed(.storeFull))
            #expect(health.failed(.scratchFull(needed: 1)) == nil && !health.takesJobs, "one pause for all underway")
            try await eventually("the pause is over") { health.takesJobs }
        }
        #expect(pauses == [10, 20, 40, 60, 60].map { .milliseconds($0) })
        health.works()
        #expect(health.failed(Self.down) == nil && health.takesJobs)
        #expect(health.failed(.storeFull) == .milliseconds(10))
    }
}
