import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import Stores

@Suite struct SubmissionRaceTests {
    /// Two openings of one store, as two processes have, and a hundred clients who all repeat themselves.
    @Test(arguments: [false, true], Backend.racing)
    func `what many submit at once under one name is accepted once`(byKey: Bool, backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let stores = [fixture.store, try fixture.reopened()]
        let answers = try await withThrowingTaskGroup(of: SubmissionAnswer.self) { group in
            for index in 0..<100 {
                group.addTask {
                    var submission = JobSubmission.sample()
                    submission.bodyDigest = "a"
                    if !byKey { submission.id = JobID(rawValue: "push-1") }
                    return try await stores[index % 2].records.submit(
                        submission,
                        SubmissionOptions(
                            idempotency: byKey ? IdempotencyKey(text: "k", bodyDigest: "a") : nil,
                            quotas: Quotas(pendingJobs: 1), queueLimit: 10))
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let ids = answers.map { answer -> JobID? in
            if case .unchanged(let job) = answer { job.id } else { answer.newJob?.id }
        }
        #expect(Set(ids).count == 1)
        #expect(ids.first != nil)
        #expect(answers.count { if case .accepted = $0 { true } else { false } } == 1)
        #expect(try await fixture.records.statistics().queues[.fetch]?.pending == 1)
    }

    @Test(arguments: Backend.racing)
    func `each callback that is due is taken by one of many, in one process or two`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let stores = [fixture.store, try fixture.reopened()]
        for _ in 0..<40 {
            var submission = JobSubmission.sample()
            submission.callback = "https://example.com/hook"
            _ = try await fixture.records.submit(
                submission, SubmissionOptions(queueLimit: 100))
            _ = try await fixture.records.cancel(submission.id, of: .local)
        }
        let taken = try await withThrowingTaskGroup(of: [String].self) { group in
            for index in 0..<6 {
                group.addTask {
                    var mine: [String] = []
                    while true {
                        let due = try await stores[index % 2].records.dueWebhooks(3)
                        if due.isEmpty { return mine }
                        mine += due.map(\.id)
                    }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(taken.count == 40)
        #expect(Set(taken).count == 40)
    }
}
