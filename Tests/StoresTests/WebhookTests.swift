import Attachments
import Synchronization
import TestSupport
import Testing

@testable import Stores

@Suite struct WebhookTests {
    @Test(arguments: [WorkState.delivered, .failed, .cancelled], Backend.allCases)
    func `a job that came to its end is told once`(state: WorkState, backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let job = try await fixture.submitCalling("a")
        #expect(try await fixture.due().isEmpty)
        #expect(try await fixture.records.replayWebhook(of: job.id, tenant: .local) == false)
        let claim = try await fixture.bring(job, to: state)
        if let claim {
            // The same delivery again, and a cancellation of what is finished, are no other end.
            _ = try await fixture.records.deliver([], under: claim)
        }
        _ = try await fixture.records.cancel(job.id, of: .local)
        #expect(try await fixture.records.statistics().pendingWebhooks == 1)
        let due = try await fixture.due()
        #expect(due.map(\.job) == [job.id])
        #expect(due.map(\.tenant) == [.local])
        #expect(due.map(\.url) == ["https://example.com/hook"])
        #expect(due.map(\.attempt) == [1])
        #expect(due.map(\.createdAt) == [fixture.clock.now])
    }

    @Test(arguments: Backend.allCases)
    func `who has a callback in hand has it alone, until the time is over`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let job = try await fixture.submitCalling("a")
        try await fixture.bring(job, to: .failed)
        let first = try #require(try await fixture.due().first)
        #expect(try await fixture.reopened().records.dueWebhooks(10, for: .seconds(30)).isEmpty)
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
        #expect(try await fixture.records.statistics().pendingWebhooks == 0)

        #expect(try await fixture.records.replayWebhook(of: job.id, tenant: TenantID(rawValue: "other")) == false)
        #expect(try await fixture.records.replayWebhook(of: job.id, tenant: .local))
        let replayed = try #require(try await fixture.due().first)
        #expect(replayed.id == first.id)
        #expect(replayed.attempt == 1)
        try await fixture.records.record(.failed(reason: "gave up"), of: replayed)
        fixture.clock.advance(.seconds(7 * 86_400))
        _ = try await fixture.store.sweep()
        #expect(try await fixture.records.replayWebhook(of: job.id, tenant: .local) == false)
    }

    @Test func `of what waits, everybody's is called, whatever waits for others`() async throws {
        let fixture = try Fixture()
        for number in 0..<60 {
            try await fixture.bring(
                fixture.submitCalling("h\(number)", at: "https://hog.example/\(number)"), to: .failed)
            fixture.clock.advance(.milliseconds(1))
        }
        // Later than all of those.
        fixture.clock.advance(.seconds(1))
        let other = try await fixture.submitCalling("o", at: "HTTPS://Other.example?to=/all")
        try await fixture.bring(other, to: .failed)
        var places = WebhookPlaces(30)
        func ask(after results: [WebhookResult] = []) async throws -> [WebhookDelivery] {
            for result in results { places.end(result.callback.receiver, isAnswered: true) }
            let batch = try await fixture.records.webhooks(after: results, within: places, for: .seconds(30))
            for call in batch.calls { places.begin(call.receiver) }
            places.turn = batch.turn
            return batch.calls
        }
        var underway: [WebhookDelivery] = []
        while case let more = try await ask(), !more.isEmpty { underway += more }
        let hogs = underway.filter { $0.origin == "https://hog.example" }
        #expect(hogs.count == 10, "a third of the places")
        #expect(hogs.map(\.url) == (0..<10).map { "https://hog.example/\($0)" }, "in their order")
        #expect(underway.filter { $0.origin == "https://other.example" }.map(\.job) == [other.id])
        // One that comes to its end makes place for the next, in the same transaction.
        let before = fixture.sqlite.commits.commits
        let next = try await ask(after: [WebhookResult(.delivered, of: hogs[0])])
        #expect(next.map(\.url) == ["https://hog.example/10"])
        #expect(fixture.sqlite.commits.commits == before + 1)
        #expect(try await fixture.records.statistics().pendingWebhooks == 60)
    }

    @Test(arguments: Backend.allCases)
    func `many receivers have their turns, whoever comes first by name`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        for number in 0..<150 {
            try await fixture.bring(
                fixture.submitCalling("r\(number)", at: "https://r\(1000 + number).example/"), to: .failed)
        }
        var places = WebhookPlaces(12)
        var called: Set<String> = []
        for _ in 0..<150 {
            let batch = try await fixture.records.webhooks(after: [], within: places, for: .seconds(3600))
            places.turn = batch.turn
            called.formUnion(batch.calls.map(\.origin))
            // Each takes its call at once.
            for call in batch.calls { try await fixture.records.record(.delivered, of: call) }
        }
        #expect(called.count == 150)
    }

    @Test(arguments: Backend.allCases)
    func `who calls is told of what becomes due by a commit, and until when the next isn't`(backend: Backend)
        async throws
    {
        let fixture = try Fixture(backend)
        let told = Atomic(0)
        fixture.records.whenWebhooksCome { told.add(1, ordering: .relaxed) }
        let job = try await fixture.submitCalling("a")
        #expect(told.load(ordering: .relaxed) == 0)
        try await fixture.bring(job, to: .failed)
        #expect(told.load(ordering: .relaxed) == 1)
        let call = try #require(try await fixture.due().first)
        let underway = try await fixture.records.job(job.id, of: .local)?.callback
        #expect(underway == WebhookReport(state: .waiting, attempts: 1))
        let empty = WebhookPlaces(4)
        let batch = try await fixture.records.webhooks(
            after: [WebhookResult(.again(after: .seconds(90), reason: "it answered 503"), of: call)], within: empty,
            for: .seconds(30))
        #expect(batch.calls.isEmpty && batch.next == .seconds(90))
        let waiting = try await fixture.records.job(job.id, of: .local)?.callback
        #expect(waiting?.nextAt == fixture.clock.now + .seconds(90) && waiting?.reason == "it answered 503")
        fixture.clock.advance(.seconds(60))
        #expect(try await fixture.records.webhooks(after: [], within: empty, for: .seconds(30)).next == .seconds(30))
        #expect(told.load(ordering: .relaxed) == 1)
        #expect(try await fixture.records.replayWebhook(of: job.id, tenant: .local))
        #expect(told.load(ordering: .relaxed) == 2)
        let cancelled = try await fixture.submitCalling("b")
        _ = try await fixture.records.cancel(cancelled.id, of: .local)
        #expect(told.load(ordering: .relaxed) == 3)
    }

    @Test(arguments: Backend.allCases)
    func `each generation has its own end, and a deleted job none`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let job = try await fixture.submitCalling("a")
        try await fixture.bring(job, to: .running)
        let second = try await fixture.submitCalling("b", id: job.id)
        #expect(try await fixture.due().isEmpty, "the first was replaced before its end")
        try await fixture.bring(second, to: .failed)
        guard case .accepted(let third) = try await fixture.records.retry(job.id, of: .local) else {
            throw Unexpected()
        }
        #expect(try await fixture.records.replayWebhook(of: job.id, tenant: .local) == false)
        try await fixture.bring(third, to: .delivered)
        let due = try await fixture.due()
        #expect(due.map(\.job) == [job.id, job.id])
        #expect(Set(due.map(\.id)).count == 2)
        try await fixture.records.record(.again(after: .zero, reason: "503"), of: due[0])
        #expect(try await fixture.records.deleteJob(job.id, of: .local))
        #expect(try await fixture.due().isEmpty)
        // To record what became of it is no error.
        try await fixture.records.record(.delivered, of: due[1])
    }
}

extension Fixture {
    fileprivate func submitCalling(
        _ digest: String, id: JobID = .generate(), at url: String = "https://example.com/hook"
    ) async throws -> JobRecord {
        var submission = JobSubmission.sample(id: id, digest: digest)
        submission.callback = url
        return try await accepted(submission)
    }

    fileprivate func due() async throws -> [WebhookDelivery] {
        try await records.dueWebhooks(10, for: .seconds(30))
    }
}
