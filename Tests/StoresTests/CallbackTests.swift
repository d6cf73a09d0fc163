import Attachments
import TestSupport
import Testing

@testable import Stores

@Suite struct CallbackTests {
    @Test(arguments: [WorkState.delivered, .failed, .cancelled])
    func `a job that came to its end is told once`(state: WorkState) async throws {
        let fixture = try Fixture()
        let job = try await fixture.submitCalling("a")
        #expect(try await fixture.due().isEmpty)
        #expect(try await fixture.records.replayCallback(of: job.id, tenant: .local) == false)
        let claim = try await fixture.bring(job, to: state)
        if let claim {
            // The same delivery again, and a cancellation of what is finished, are no other end.
            _ = try await fixture.records.deliver([], under: claim)
        }
        _ = try await fixture.records.cancel(job.id, of: .local)
        #expect(try await fixture.records.statistics().pendingCallbacks == 1)
        let due = try await fixture.due()
        #expect(due.map(\.job) == [job.id])
        #expect(due.map(\.tenant) == [.local])
        #expect(due.map(\.url) == ["https://example.com/hook"])
        #expect(due.map(\.attempt) == [1])
        #expect(due.map(\.createdAt) == [fixture.clock.now])
    }

    @Test func `who has a callback in hand has it alone, until the time is over`() async throws {
        let fixture = try Fixture()
        let job = try await fixture.submitCalling("a")
        try await fixture.bring(job, to: .failed)
        let first = try #require(try await fixture.due().first)
        #expect(try await fixture.reopened().records.dueCallbacks(10, for: .seconds(30)).isEmpty)
        fixture.clock.advance(.seconds(30))
        let second = try #require(try await fixture.due().first)
        #expect(second.id == first.id)
        #expect(second.attempt == 2)
        // The late one's failure doesn't count, its success does.
        try await fixture.records.record(.failed(reason: "late"), of: first)
        try await fixture.records.record(.again(after: .seconds(5), reason: "503"), of: second)
        #expect(try await fixture.due().isEmpty)
        fixture.clock.advance(.seconds(5))
        #expect(try await fixture.due().map(\.attempt) == [3])
        try await fixture.records.record(.delivered, of: first)
        fixture.clock.advance(.seconds(60))
        #expect(try await fixture.due().isEmpty)
        #expect(try await fixture.records.statistics().pendingCallbacks == 0)

        #expect(try await fixture.records.replayCallback(of: job.id, tenant: TenantID(rawValue: "other")) == false)
        #expect(try await fixture.records.replayCallback(of: job.id, tenant: .local))
        let replayed = try #require(try await fixture.due().first)
        #expect(replayed.id == first.id)
        #expect(replayed.attempt == 1)
        try await fixture.records.record(.failed(reason: "gave up"), of: replayed)
        fixture.clock.advance(.seconds(7 * 86_400))
        _ = try await fixture.store.sweep()
        #expect(try await fixture.records.replayCallback(of: job.id, tenant: .local) == false)
    }

    @Test func `the callbacks of a busy tenant are passed over`() async throws {
        let fixture = try Fixture()
        for name in ["a", "b"] { try await fixture.bring(fixture.submitCalling(name), to: .failed) }
        #expect(try await fixture.records.dueCallbacks(10, for: .seconds(30), except: [.local]).isEmpty)
        #expect(
            try await fixture.records.dueCallbacks(10, for: .seconds(30), except: [TenantID(rawValue: "other")]).count
                == 2)
    }

    @Test func `each generation has its own end, and a deleted job none`() async throws {
        let fixture = try Fixture()
        let job = try await fixture.submitCalling("a")
        try await fixture.bring(job, to: .running)
        let second = try await fixture.submitCalling("b", id: job.id)
        #expect(try await fixture.due().isEmpty, "the first was replaced before its end")
        try await fixture.bring(second, to: .failed)
        guard case .accepted(let third) = try await fixture.records.retry(job.id, of: .local) else {
            throw Unexpected()
        }
        #expect(try await fixture.records.replayCallback(of: job.id, tenant: .local) == false)
        try await fixture.bring(third, to: .delivered)
        let due = try await fixture.due()
        #expect(due.map(\.job) == [job.id, job.id])
        #expect(Set(due.map(\.id)).count == 2)
        try await fixture.records.record(.again(after: .zero, reason: "503"), of: due[0])
        #expect(try await fixture.store.deleteJob(job.id, of: .local))
        #expect(try await fixture.due().isEmpty)
        // To record what became of it is no error.
        try await fixture.records.record(.delivered, of: due[1])
    }
}

extension Fixture {
    fileprivate func submitCalling(_ digest: String, id: JobID = .generate()) async throws -> JobRecord {
        var submission = JobSubmission.sample(id: id, digest: digest)
        submission.callback = "https://example.com/hook"
        return try await accepted(submission)
    }

    fileprivate func due() async throws -> [CallbackDelivery] {
        try await records.dueCallbacks(10, for: .seconds(30))
    }
}
