import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import Stores

/// What is to be done about the media of notifications, in every store.
@Suite struct NotificationMediaTests {
    // MARK: Failures

    @Test(arguments: Backend.allCases)
    func `what failed is told once, whoever looks, when the job has ended`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let job = try await fixture.submit("first")
        _ = try await fixture.put(in: .seconds(3600), job: job)
        #expect(try await fixture.records.dueMedia(limit: 9).isEmpty)
        let claim = try #require(try await fixture.store.claimNext())
        #expect(try await fixture.records.dueMedia(limit: 9).isEmpty)
        _ = try await fixture.records.deliver(
            [.failed(claim.attachments[0], .unreadable(Finding(.checksumDiffers)))], under: claim)
        let due = try await fixture.records.dueMedia(limit: 9)
        #expect(due.map(\.id) == [.a])
        var step = MediaStep(of: due[0])
        step.media.lookAt = nil
        step.media.isTold = true
        step.call = OutgoingCall(
            id: FiringID.generate().rawValue, tenant: .local, type: .notificationMediaFailed, subject: "a",
            url: "https://example.com/hook", body: TokenTemplate(Data("told".utf8), hiding: []))
        let other = try fixture.reopened().records
        #expect(try await fixture.records.take(step, due[0]))
        #expect(try await !other.take(step, due[0]))
        #expect(try await fixture.records.dueMedia(limit: 9).isEmpty)
        let calls = try await fixture.records.dueWebhooks(9)
        #expect(calls.map(\.type) == [.notificationMediaFailed])
        // Another body is told of anew.
        _ = try await fixture.put(in: .seconds(3600), job: job, body: "2")
        #expect(try await fixture.records.dueMedia(limit: 9).map(\.media.isTold) == [false])
    }

    @Test(arguments: Backend.allCases)
    func `a job that was deleted counts as ended`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let job = try await fixture.submit("first")
        _ = try await fixture.put(in: .seconds(3600), job: job)
        #expect(try await fixture.records.deleteJob(job, of: .local))
        #expect(try await fixture.records.dueMedia(limit: 9).map(\.id) == [.a])
    }

    @Test(arguments: Backend.allCases)
    func `what is tried again is so at its time, and keeps what there was`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let job = try await fixture.submit("first", ["photo", "clip"])
        _ = try await fixture.put(in: .seconds(3600), job: job, sources: .media())
        let claim = try #require(try await fixture.store.claimNext())
        let blob = try await fixture.store.commit("photo")
        let former = try await fixture.records.deliver(
            [
                .delivered(claim.attachments[0], [.main: blob]),
                .failed(claim.attachments[1], .fetchFailed(.status, status: 503, reason: "it is away")),
            ], under: claim)
        var record = try await fixture.records.dueMedia(limit: 9)[0]
        var generator = SystemRandomNumberGenerator.addressable
        let step = MediaDecision.judged(
            former, of: record, sources: ["clip"], at: fixture.clock.now, using: &generator
        ).step
        let next = try #require(step.media.lookAt)
        #expect(try await fixture.records.take(step, record))
        if next > fixture.clock.now { #expect(try await fixture.records.dueMedia(limit: 9).isEmpty) }
        fixture.clock.advance(.seconds(10))
        record = try #require(try await fixture.records.dueMedia(limit: 9).first)
        #expect(MediaDecision.task(for: record) == .retry)
        let sources = try #require(try await fixture.records.mediaSources(of: .a, tenant: .local))
        let retry = try #require(MediaDecision.retrying(former, of: record, from: sources))
        // Two that look at once make one job.
        let made = try await fixture.records.submit(retry)
        #expect(made.newJob != nil)
        let answer = try await fixture.reopened().records.submit(retry)
        guard case .unchanged(let again) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(try await fixture.records.take(MediaDecision.began(again, after: former, of: record), record))
        #expect(try await fixture.records.dueMedia(limit: 9).isEmpty)
        let kept = try #require(try await fixture.records.notification(.a, of: .local))
        #expect(kept.job == retry.id && kept.media.ready == ["photo": claim.attachments[0]])
    }

    @Test(arguments: Backend.allCases)
    func `the last firing ends what was tried again, also where it is made at once`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let job = try await fixture.submit("first")
        _ = try await fixture.put(in: .zero, job: job, sources: .media())
        #expect(try await fixture.records.mediaSources(of: .a, tenant: .local) != nil)
        let read = try #require(try await fixture.records.notification(.a, of: .local))
        let expected = try #require(read.next)
        let request = FiringRequest(
            cause: .due(
                expected: expected,
                DueDecision(occurrence: expected, late: .zero, isMissed: false, coalesced: 0, next: nil), rules: nil))
        let fired = try #require(NotificationDecision.fire(request, read, at: fixture.clock.now))
        let failed = FiringCompletion(
            fired.firing, at: fixture.clock.now, .failed(ErrorReport(.unreadable(Finding(.checksumDiffers))), call: nil)
        )
        let decided = try #require(NotificationDecision.complete(failed, fired))
        #expect(try await fixture.records.carryOut([decided]) == [true])
        #expect(try await fixture.records.firing(1, of: .a, tenant: .local)?.job == job)
        #expect(try await fixture.records.mediaSources(of: .a, tenant: .local) == nil)
        #expect(try await fixture.records.deleteJob(job, of: .local))
        #expect(try await fixture.records.dueMedia(limit: 9).isEmpty)
    }

    // MARK: For each firing

    @Test(arguments: Backend.allCases)
    func `what is prepared for each firing is due ahead of it, once, and kept until it has fired`(
        backend: Backend
    ) async throws {
        let fixture = try Fixture(backend)
        let ada = TenantID(rawValue: "ada")
        _ = try await fixture.put(
            in: .seconds(30 * 86_400), job: nil, sources: .media(ada), lead: 120, tenant: ada)
        fixture.clock.advance(.seconds(30 * 86_400 - 121))
        #expect(try await fixture.records.dueMedia(limit: 9).isEmpty)
        fixture.clock.advance(.seconds(1))
        let due = try await fixture.records.dueMedia(limit: 9)
        let occurrence = try #require(due.first?.next)
        #expect(due.map(MediaDecision.task) == [.prepare(occurrence)])
        let sources = try #require(try await fixture.records.mediaSources(of: .a, tenant: ada))
        let prepared = try await fixture.store.deliver([.main: "picture"], tenant: ada, profile: .notification)
        let job = try #require(try await fixture.records.job(prepared.job, of: ada))
        let step = MediaDecision.began(job, after: nil, of: due[0])
        #expect(MediaDecision.preparing(occurrence, of: due[0], from: sources).attachments == sources.attachments)
        #expect(try await fixture.records.take(step, due[0]))
        #expect(try await !fixture.records.take(step, due[0]))
        // Nobody fires it for long: what it needs is there all the same.
        fixture.clock.advance(.seconds(30 * 86_400))
        _ = try await fixture.records.expire(limit: 10, from: nil)
        #expect(try await fixture.records.attachment(prepared.id, of: ada) != nil)
        let record = try #require(try await fixture.records.notification(.a, of: ada))
        let next = Occurrence.at(fixture.clock.now + .seconds(3600))
        let request = FiringRequest(
            cause: .due(
                expected: occurrence,
                DueDecision(occurrence: occurrence, late: .zero, isMissed: false, coalesced: 0, next: next),
                rules: record.rules))
        // Whoever decided on it before the step was taken looks again.
        let stale = try #require(NotificationDecision.fire(request, due[0], at: fixture.clock.now))
        #expect(try await fixture.records.carryOut([stale]) == [false])
        let decided = try #require(NotificationDecision.fire(request, record, at: fixture.clock.now))
        #expect(try await fixture.records.carryOut([decided]) == [true])
        #expect(decided.firing.job == job.id && decided.notification.job == nil)
        _ = try await fixture.records.expire(limit: 10, from: nil)
        #expect(try await fixture.records.attachment(prepared.id, of: ada) != nil)
        try await fixture.records.complete(
            FiringCompletion(
                decided.firing, at: fixture.clock.now,
                .failed(ErrorReport(.unreadable(Finding(.checksumDiffers))), call: nil)))
        _ = try await fixture.records.expire(limit: 10, from: nil)
        #expect(try await fixture.records.attachment(prepared.id, of: ada) == nil)
        #expect(try await fixture.records.dueMedia(limit: 9).isEmpty)
        fixture.clock.advance(.seconds(3600 - 120))
        #expect(try await fixture.records.dueMedia(limit: 9).map(MediaDecision.task) == [.prepare(next)])
    }

    @Test(arguments: Backend.allCases)
    func `an update and a removal end what was to be prepared`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        _ = try await fixture.put(in: .seconds(60), job: nil, sources: .media(), lead: 120)
        let read = try await fixture.records.dueMedia(limit: 9)[0]
        // Without media.
        _ = try await fixture.put(in: .seconds(60), job: nil, body: "2")
        #expect(try await fixture.records.dueMedia(limit: 9).isEmpty)
        #expect(try await fixture.records.mediaSources(of: .a, tenant: .local) == nil)
        #expect(try await !fixture.records.take(MediaStep(of: read), read))
        _ = try await fixture.put(in: .seconds(60), job: nil, body: "3", sources: .media(), lead: 120)
        #expect(try await fixture.records.dueMedia(limit: 9).count == 1)
        #expect(try await fixture.records.remove(.a, of: .local, from: .pending))
        #expect(try await fixture.records.dueMedia(limit: 9).isEmpty)
        #expect(try await fixture.records.mediaSources(of: .a, tenant: .local) == nil)
    }

    @Test(arguments: Backend.allCases)
    func `headers for origins are kept until they are needed, and are in no byte of the store`(
        backend: Backend
    ) async throws {
        let fixture = try Fixture(backend)
        let sources = JobSubmission.media(headers: ["Authorization": "Bearer canary-90b1"])
        _ = try await fixture.put(in: .seconds(3600), job: nil, sources: sources, lead: 120)
        try fixture.expectNowhere("canary-90b1")
        let other = try fixture.reopened().records
        let read = try #require(try await other.mediaSources(of: .a, tenant: .local))
        #expect(read.attachments == sources.attachments && read.profile == sources.profile)
        #expect(try await other.mediaSources(of: .a, tenant: TenantID(rawValue: "other")) == nil)
        // The key is needed for as long.
        #expect(try await fixture.records.keysInUse().count == 1)
        #expect(try await fixture.records.remove(.a, of: .local, from: .all))
        #expect(try await fixture.records.keysInUse().isEmpty)
    }
}

extension JobSubmission {
    /// What a notification's media are made of.
    fileprivate static func media(_ tenant: TenantID = .local, headers: [String: String] = [:]) -> JobSubmission {
        JobSubmission(
            tenant: tenant, id: JobID(rawValue: "base"), profile: .notification,
            attachments: ["photo", "clip"].map {
                AttachmentSubmission(identifier: $0, location: .url("https://example.com/\($0)", headers: headers))
            })
    }
}

extension Fixture {
    fileprivate func submit(_ id: String, _ identifiers: [String] = ["photo"]) async throws -> JobID {
        let job = JobSubmission.sample(id: JobID(rawValue: id), identifiers: identifiers)
        return try #require(try await records.submit(job).newJob).id
    }

    fileprivate func put(
        in delay: Duration, job: JobID?, body: String = "1", sources: JobSubmission? = nil, lead: Double? = nil,
        tenant: TenantID = .local
    ) async throws -> NotificationAnswer {
        try await records.put(
            NewNotification(
                id: .a, tenant: tenant, bodyDigest: body,
                submission: NotificationSubmission(
                    payload: "{}", pushType: .alert, expiresIn: 3600, delivery: .private, profile: nil,
                    onFailure: .drop, deadline: 10, media: [],
                    trigger: .interval(seconds: delay.inSeconds, repeats: true), lateLimit: 3600,
                    handover: "https://example.com/hook", metadata: [:], category: nil, traceparent: nil, lead: lead),
                job: job, attachments: [], next: .at(clock.now + delay), rules: nil, acceptedAt: clock.now,
                sources: sources), limit: nil
        ).get()
    }
}
