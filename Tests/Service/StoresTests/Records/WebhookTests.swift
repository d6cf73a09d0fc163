import SatchelCore
import Foundation
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
        #expect(due.map(\.content) == [.job(job.id)] && due.map(\.type) == [.jobFinished])
        #expect(due.map(\.tenant) == [.local])
        #expect(due.map(\.url) == ["https://example.com/hook"])
        #expect(due.map(\.attempt) == [1])
        #expect(due.map(\.createdAt) == [fixture.clock.now])
    }

    /// Of what a call tells.
    enum Told: CaseIterable {
        case job
        case message
    }

    @Test(arguments: Told.allCases, Backend.allCases)
    func `a node has its call alone until it is dead`(told: Told, backend: Backend) async throws {
        let fixture = try Fixture(backend)
        switch told {
        case .job: try await fixture.bring(try await fixture.submitCalling("a"), to: .failed)
        case .message: try await fixture.records.enqueue(.sample("a"))
        }
        var killed: Store? = try fixture.reopened()
        let first = try #require(try await killed?.records.dueWebhooks(10).first)
        fixture.clock.advance(.seconds(3600))
        #expect(try await fixture.due().isEmpty)
        let underway = try await fixture.records.call(first.id, of: .local)
        #expect(underway?.report == WebhookReport(state: .waiting, attempts: 1))
        killed = nil
        if let database = fixture.database { try database.killNodes(besides: fixture.postgres.node.id) }
        let second = try #require(try await fixture.due().first)
        #expect(second.id == first.id)
        #expect(second.attempt == 1, "an interrupted attempt doesn't count")
        // The late one's failure doesn't count, its success does.
        let late = try fixture.reopened().records
        try await late.record(.failed(reason: "late"), of: first)
        try await fixture.records.record(.again(after: .seconds(5), reason: "503"), of: second)
        #expect(try await fixture.due().isEmpty)
        fixture.clock.advance(.seconds(5))
        #expect(try await fixture.due().map(\.attempt) == [2])
        try await late.record(.delivered, of: first)
        fixture.clock.advance(.seconds(60))
        #expect(try await fixture.due().isEmpty)
        #expect(try await fixture.records.statistics().pendingWebhooks == 0)

        #expect(try await fixture.records.replayCall(first.id, of: .local))
        let replayed = try #require(try await fixture.due().first)
        #expect(replayed.id == first.id && replayed.content == first.content)
        #expect(replayed.attempt == 1)
        try await fixture.records.record(.failed(reason: "gave up"), of: replayed)
        fixture.clock.advance(.seconds(7 * 86_400))
        _ = try await fixture.store.sweep()
        #expect(try await fixture.records.replayCall(first.id, of: .local) == false)
        #expect(try await fixture.records.call(first.id, of: .local) == nil)
    }

    @Test(arguments: Backend.allCases)
    func `the access that a job opened starts anew when its call is taken, and its body is kept`(
        backend: Backend
    ) async throws {
        let fixture = try Fixture(backend)
        let job = try await fixture.submitCalling("a", leaseTTL: 300)
        try await fixture.bring(job, to: .delivered)
        let body = TokenTemplate(Data("told".utf8), hiding: [])
        var bodies: [CallContent] = []
        for _ in 0..<3 {
            // Longer than the access lasts; what ran out is swept.
            fixture.clock.advance(.seconds(3600))
            _ = try await fixture.store.sweep()
            let call = try #require(try await fixture.due().first)
            let opened = try await fixture.records.access(openedBy: job.id, of: .local)
            #expect(opened.map(\.expiresAt) == [fixture.clock.now + .seconds(300)])
            bodies.append(call.content)
            #expect(try await fixture.reopened().records.keep(body, of: call) == nil)
            #expect(try await fixture.records.keep(body, of: call)?.stored == body.stored)
            // The node took it twice, and made another body meanwhile.
            let other = TokenTemplate(Data("another".utf8), hiding: [])
            #expect(try await fixture.records.keep(other, of: call)?.stored == body.stored)
            try await fixture.records.record(.again(after: .zero, reason: "503"), of: call)
        }
        #expect(bodies == [.job(job.id), .job(job.id, body: body), .job(job.id, body: body)])
        let call = try #require(try await fixture.due().first)
        try await fixture.records.record(.delivered, of: call)
        fixture.clock.advance(.seconds(3600))
        _ = try await fixture.store.sweep()
        #expect(try await fixture.records.access(openedBy: job.id, of: .local).isEmpty)
        try await fixture.records.expectTrueCounts()
    }

    @Test(arguments: Backend.allCases)
    func `a message is due as it was made, and a receiver that is gone ends it`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let end = fixture.clock.now + .seconds(60)
        // Not only text.
        let message = OutgoingCall.sample("a", subject: "s", body: Data([0, 0x1A, 255, 10]), giveUpAt: end)
        try await fixture.records.enqueue(message)
        let due = try #require(try await fixture.due().first)
        #expect(due.type == message.type && due.content == .message(message.body) && due.subject == "s")
        #expect(due.url == message.url && due.origin == "https://example.com" && due.traceparent == message.traceparent)
        #expect(due.giveUpAt == end && due.createdAt == fixture.clock.now)
        try await fixture.records.record(.gone, of: due)
        let call = try #require(try await fixture.records.call("a", of: .local))
        #expect(
            call
                == CallRecord(
                    id: "a", tenant: .local, type: message.type, content: .message(message.body), subject: "s",
                    url: message.url,
                    report: WebhookReport(state: .failed, attempts: 1, reason: WebhookOutcome.gone.reason),
                    createdAt: fixture.clock.now, finishedAt: fixture.clock.now))
        // Asked for by hand, it has the time that all have.
        #expect(try await fixture.records.replayCall("a", of: .local))
        #expect(try await fixture.due().map(\.giveUpAt) == [nil])
    }

    @Test(arguments: Backend.allCases)
    func `what the last attempts were answered stays with a call, also when it is replayed`(
        backend: Backend
    ) async throws {
        let fixture = try Fixture(backend)
        try await fixture.records.enqueue(.sample("a"))
        var told: [CallAnswer] = []
        for number in 1...CallAnswer.kept + 2 {
            let due = try #require(try await fixture.due().first)
            #expect(due.attempt == number && due.answers == Array(told.suffix(CallAnswer.kept)))
            let answer = CallAnswer(
                attempt: number, at: fixture.clock.now, seconds: 0.25, status: number.isMultiple(of: 3) ? nil : 503,
                reason: "it answered 503", body: "\"'é\\ \(number)")
            told.append(answer)
            try await fixture.records.record(.again(after: .seconds(1), reason: "it answered 503"), of: due, answer)
            fixture.clock.advance(.seconds(1))
        }
        // Where nobody was called nothing comes to it.
        try await fixture.records.record(.failed(reason: "given up"), of: #require(try await fixture.due().first))
        #expect(try await fixture.records.replayCall("a", of: .local))
        let replayed = try #require(try await fixture.due().first)
        told.append(CallAnswer(attempt: 1, at: fixture.clock.now, seconds: 0.5, status: 204))
        try await fixture.records.record(.delivered, of: replayed, told.last)
        let kept = Array(told.suffix(CallAnswer.kept))
        #expect(try await fixture.reopened().records.call("a", of: .local)?.answers == kept)
        let listed = try await fixture.records.calls(of: .local, where: CallFilter(), after: nil, limit: 9)
        #expect(listed.elements.map(\.answers) == [kept])
    }

    @Test(arguments: Backend.allCases)
    func `what is called off is told no more, and not again`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let records = fixture.records
        for (id, subject) in [("1", "s"), ("2", "s"), ("3", "other"), ("4", nil)] {
            try await records.enqueue(.sample(id, subject: subject))
        }
        let due = try await fixture.due()
        #expect(due.map(\.id) == ["1", "2", "3", "4"])
        try await records.record(.delivered, of: due[0])
        try await records.cancelCalls(of: "s", tenant: .local)
        let calledOff = try await records.call("2", of: .local)
        #expect(calledOff?.report == WebhookReport(state: .cancelled, attempts: 0, reason: "superseded"))
        #expect(calledOff?.finishedAt == fixture.clock.now)
        // What becomes of the attempt that was underway changes nothing.
        for outcome in [WebhookOutcome.delivered, .again(after: .zero, reason: "503")] {
            try await records.record(outcome, of: due[1])
        }
        fixture.clock.advance(.seconds(60))
        #expect(try await fixture.due().isEmpty)
        #expect(try await records.replayCall("2", of: .local) == false)
        #expect(try await records.call("2", of: .local) == calledOff)
        #expect(try await records.replayCall("1", of: .local), "that was told before")
        #expect(try await records.statistics().pendingWebhooks == 3)
        try await records.expectTrueCounts()
    }

    @Test(arguments: Backend.allCases)
    func `calls are listed newest first, by state and type, in parts`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let records = fixture.records
        var made: [String] = []
        for number in 0..<12 {
            fixture.clock.advance(.milliseconds(1))
            if number % 3 == 0 {
                try await fixture.bring(try await fixture.submitCalling("\(number)"), to: .failed)
            } else {
                try await records.enqueue(.sample(UUID.version7(at: fixture.clock.now).uuidString.lowercased()))
            }
            let call = try #require(try await records.dueWebhooks(1).first)
            made.append(call.id)
            switch number % 4 {
            case 0: try await records.record(.delivered, of: call)
            case 1: try await records.record(.failed(reason: "no"), of: call)
            default: break
            }
        }
        try await records.enqueue(.sample("0", tenant: TenantID(rawValue: "other")))
        let all = try await records.calls(of: .local, where: CallFilter(), after: nil, limit: 100).elements
        #expect(all.map(\.id) == made.reversed())
        for type in [nil, CallType.jobFinished, CallType(rawValue: "test.happened"), CallType(rawValue: "none")] {
            for state in [nil] + WebhookReport.State.allCases.map(Optional.some) {
                let filter = CallFilter(state: state, type: type)
                let wanted = all.filter { call in
                    (state.map { $0 == call.report.state } ?? true) && (type.map { $0 == call.type } ?? true)
                }
                var (found, place): ([CallRecord], String?) = ([], nil)
                repeat {
                    let page = try await records.calls(of: .local, where: filter, after: place, limit: 2)
                    #expect(page.elements.count <= 2)
                    found += page.elements
                    place = page.next
                } while place != nil
                #expect(found == wanted)
            }
        }
        #expect(Set(all.compactMap(\.content.job)).count == 4)
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
            let batch = try await fixture.records.webhooks(after: results, within: places, besides: nil)
            for call in batch.calls { places.begin(call.receiver) }
            places.turn = batch.turn
            return batch.calls
        }
        var underway: [WebhookDelivery] = []
        while case let more = try await ask(), !more.isEmpty { underway += more }
        let hogs = underway.filter { $0.origin == "https://hog.example" }
        #expect(hogs.count == 10, "a third of the places")
        #expect(hogs.map(\.url) == (0..<10).map { "https://hog.example/\($0)" }, "in their order")
        #expect(underway.filter { $0.origin == "https://other.example" }.map(\.content) == [.job(other.id)])
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
            let batch = try await fixture.records.webhooks(after: [], within: places, besides: nil)
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
            besides: nil)
        #expect(batch.calls.isEmpty && batch.next == .seconds(90))
        let waiting = try await fixture.records.job(job.id, of: .local)?.callback
        #expect(waiting?.nextAt == fixture.clock.now + .seconds(90) && waiting?.reason == "it answered 503")
        fixture.clock.advance(.seconds(60))
        #expect(try await fixture.records.webhooks(after: [], within: empty, besides: nil).next == .seconds(30))
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
        #expect(due.map(\.content) == [.job(job.id), .job(job.id)])
        #expect(Set(due.map(\.id)).count == 2)
        try await fixture.records.record(.again(after: .zero, reason: "503"), of: due[0])
        #expect(try await fixture.records.deleteJob(job.id, of: .local))
        #expect(try await fixture.due().isEmpty)
        // To record what became of it is no error.
        try await fixture.records.record(.delivered, of: due[1])
    }
}

extension CallContent {
    fileprivate var job: JobID? {
        guard case .job(let job, _) = self else { return nil }
        return job
    }
}

extension Fixture {
    fileprivate func submitCalling(
        _ digest: String, id: JobID = .generate(), at url: String = "https://example.com/hook", leaseTTL: Double? = nil
    ) async throws -> JobRecord {
        var submission = JobSubmission.sample(id: id, digest: digest)
        submission.leaseTTL = leaseTTL
        submission.callback = url
        return try await accepted(submission)
    }

    fileprivate func due() async throws -> [WebhookDelivery] {
        try await records.dueWebhooks(10)
    }
}
