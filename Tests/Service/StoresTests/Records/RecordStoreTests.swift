import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import Stores

@Suite struct RecordStoreTests {
    let me = WorkerID(rawValue: "me")

    @Test(arguments: Backend.allCases)
    func `an accepted job is read back as it was asked for`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let submission = JobSubmission.sample(
            profile: .notification, mode: .strict, priority: .interactive, deadline: 30, identifiers: ["a", "b"])
        let acceptances = try await fixture.records.submit([submission], SubmissionOptions())
        guard case .accepted(let job) = acceptances.first else { throw Unexpected() }
        #expect(job.id == submission.id)
        #expect(job.state == .pending)
        #expect(job.profile == "notification")
        #expect(job.mode == .strict)
        #expect(job.deadlineAt == fixture.clock.now + .seconds(30))
        #expect(job.attachments.map(\.identifier) == ["a", "b"])
        #expect(job.attachments.allSatisfy { $0.options.thumbnailHidden })
        #expect(try await fixture.reopened().records.job(submission.id, of: .local) == job)
        #expect(try await fixture.records.job(submission.id, of: TenantID(rawValue: "other")) == nil)
    }

    @Test(arguments: Backend.allCases)
    func `what a blob is called is the business of the store that keeps it`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        _ = try await fixture.records.submit([.sample()], SubmissionOptions())
        let claim = try await fixture.claim()
        let name = BlobName(rawValue: "blobs/\(claim.id.rawValue.suffix(2))/\(claim.id.rawValue)/1")
        let blob = CommittedBlob(name: name, sha256: String(repeating: "ab", count: 32), bytes: 7)
        let job = try await fixture.records.deliver([.delivered(claim.attachments[0], [.main: blob])], under: claim)
        #expect(job.state == .delivered)
        #expect(try await fixture.records.referencedBlobs() == [blob])
    }

    @Test(arguments: Backend.allCases)
    func `a claim carries the submission, and a delivery is the record`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        var submission = JobSubmission.sample(profile: .notification, identifiers: ["a", "b"])
        submission.attachments[0].location = .url("https://example.com/a", headers: ["Authorization": "Bearer x"])
        _ = try await fixture.records.submit([submission], SubmissionOptions())
        let claim = try await fixture.claim()
        #expect(claim.submission == submission)
        #expect(claim.attempt == 1)
        #expect(!claim.isLate)
        let main = try await fixture.store.commit("main")
        let thumbnail = try await fixture.store.commit("thumbnail")
        let job = try await fixture.records.deliver(
            [
                .delivered(claim.attachments[0], [.main: main, .thumbnail: thumbnail]),
                .failed(claim.attachments[1], .unreadable(Finding(.checksumDiffers))),
            ], under: claim)
        #expect(job.state == .delivered)
        let (first, second) = (job.attachments[0], job.attachments[1])
        #expect(first.state == .delivered)
        #expect(first.fidelity == .full)
        #expect(first.kind == .image)
        #expect(first.renditions[.main]?.sha256 == main.sha256)
        #expect(first.renditions[.main]?.bytes == 4)
        #expect(first.placeholder?.color == "#6a5d4f")
        #expect(first.steps.map(\.name) == ["main"])
        #expect(first.expiresAt == nil)
        #expect(second.state == .failed)
        #expect(second.error?.code == .corrupt)
        #expect(second.options.thumbnailHidden)
        #expect(try await fixture.records.blob(of: .main, of: first.id, tenant: .local) == main.name)
        #expect(try await fixture.records.attachment(first.id, of: .local) == first)
        #expect(try await fixture.records.attachment(first.id, of: TenantID(rawValue: "other")) == nil)
    }

    @Test(arguments: Backend.allCases)
    func `delivering twice under one claim is delivering once`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        _ = try await fixture.records.submit([.sample()], SubmissionOptions())
        let claim = try await fixture.claim()
        let blob = try await fixture.store.commit("main")
        let outcome = AttachmentOutcome.delivered(claim.attachments[0], [.main: blob])
        let first = try await fixture.records.deliver([outcome], under: claim)
        fixture.clock.advance(.seconds(3600))
        let second = try await fixture.records.deliver([outcome], under: claim)
        #expect(first == second)
        #expect(try await fixture.store.text(of: blob.name) == "main")
    }

    @Test(arguments: Backend.allCases)
    func `a claim that was taken over or cancelled writes nothing`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let submission = JobSubmission.sample()
        _ = try await fixture.records.submit([submission], SubmissionOptions())
        let late = try await fixture.claim()
        fixture.clock.advance(.seconds(60))
        let outcome = AttachmentOutcome.failed(late.attachments[0], .unreadable(Finding(.checksumDiffers)))
        let current = try await fixture.claim()
        #expect(current.attempt == 2)
        #expect(current.isLate)
        #expect(current.id != late.id)
        await #expect(throws: ClaimError.lost) { try await fixture.records.heartbeat(late, for: .seconds(60)) }
        await #expect(throws: ClaimError.lost) { try await fixture.records.deliver([outcome], under: late) }
        await #expect(throws: ClaimError.lost) {
            try await fixture.records.release(late, after: .zero, countsAttempt: true)
        }
        let cancelled = try await fixture.records.cancel(submission.id, of: .local)
        #expect(cancelled?.state == .cancelled)
        #expect(cancelled?.attachments.map(\.state) == [.cancelled])
        await #expect(throws: ClaimError.lost) { try await fixture.records.deliver([outcome], under: current) }
        #expect(try await fixture.records.job(submission.id, of: .local) == cancelled)
    }

    @Test(arguments: Backend.allCases)
    func `a claim whose time is up is good until somebody takes it away`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        _ = try await fixture.records.submit([.sample(), .sample()], SubmissionOptions())
        let (first, second) = (try await fixture.claim(), try await fixture.claim())
        fixture.clock.advance(.seconds(3600))
        let end = try await fixture.records.heartbeat(first, for: .seconds(60))
        #expect(end == fixture.clock.now + .seconds(60))
        let blob = try await fixture.store.commit("late")
        let job = try await fixture.records.deliver([.delivered(second.attachments[0], [.main: blob])], under: second)
        #expect(job.state == .delivered)
        #expect(
            try await fixture.records.claim(ClaimCapacity(5), from: .lane(.fetch), by: me, for: .seconds(60)).isEmpty)
    }

    @Test(arguments: Backend.allCases)
    func `a task that was cancelled can still read, and hand its job back`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let records = fixture.records
        let submission = JobSubmission.sample()
        _ = try await records.submit([submission], SubmissionOptions())
        let claim = try await fixture.claim()
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            try await records.release(claim, after: .zero, countsAttempt: false)
            return try await records.job(submission.id, of: .local)
        }
        task.cancel()
        #expect(try await task.value?.state == .pending)
        #expect(try await task.value?.attempt == 0)
    }

    @Test(arguments: Backend.allCases)
    func `a heartbeat moves the end of a claim`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        _ = try await fixture.records.submit([.sample()], SubmissionOptions())
        let claim = try await fixture.claim()
        fixture.clock.advance(.seconds(50))
        let end = try await fixture.records.heartbeat(claim, for: .seconds(60))
        #expect(end == fixture.clock.now + .seconds(60))
        fixture.clock.advance(.seconds(50))
        #expect(
            try await fixture.records.claim(ClaimCapacity(1), from: .lane(.fetch), by: me, for: .seconds(60)).isEmpty)
        _ = try await fixture.records.deliver(
            [.failed(claim.attachments[0], .unreadable(Finding(.checksumDiffers)))], under: claim)
    }

    @Test(arguments: Backend.allCases)
    func `interactive jobs come before bulk, and each run has its own`(
        backend: Backend
    ) async throws {
        let fixture = try Fixture(backend)
        let run = RunID.generate()
        let bulk = JobSubmission.sample()
        let interactive = JobSubmission.sample(priority: .interactive)
        let other = JobSubmission.sample(run: run)
        _ = try await fixture.records.submit([bulk, other], SubmissionOptions())
        fixture.clock.advance(.milliseconds(1))
        _ = try await fixture.records.submit([interactive], SubmissionOptions())
        let claims = try await fixture.records.claim(ClaimCapacity(5), from: .lane(.fetch), by: me, for: .seconds(60))
        #expect(claims.map(\.job) == [interactive.id, bulk.id])
        #expect(
            try await fixture.records.claim(ClaimCapacity(5), from: .run(run), by: me, for: .seconds(60)).map(\.job)
                == [
                    other.id
                ])
    }

    @Test(arguments: Backend.allCases)
    func `a job that was handed back waits for its delay, and its attempt counts unless it never began`(
        backend: Backend
    ) async throws {
        let fixture = try Fixture(backend)
        _ = try await fixture.records.submit([.sample(deadline: 100)], SubmissionOptions())
        let first = try await fixture.claim()
        try await fixture.records.release(first, after: .seconds(10), countsAttempt: true)
        #expect(
            try await fixture.records.claim(ClaimCapacity(1), from: .lane(.fetch), by: me, for: .seconds(60)).isEmpty)
        fixture.clock.advance(.seconds(10))
        let second = try await fixture.claim()
        #expect(second.attempt == 2)
        #expect(second.deadlineAt == first.deadlineAt)
        try await fixture.records.release(second, after: .zero, countsAttempt: false)
        let third = try await fixture.claim()
        #expect(third.attempt == 2)
        #expect(third.deadlineAt == fixture.clock.now + .seconds(100))
    }

    @Test(arguments: Backend.allCases)
    func `a strict job delivers all or nothing, and says which one failed`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        _ = try await fixture.records.submit(
            [.sample(mode: .strict, identifiers: ["good", "bad"])], SubmissionOptions())
        let claim = try await fixture.claim()
        let blob = try await fixture.store.commit("main")
        let job = try await fixture.records.deliver(
            [
                .delivered(claim.attachments[0], [.main: blob]),
                .failed(claim.attachments[1], .unreadable(Finding(.checksumDiffers))),
            ], under: claim)
        #expect(job.state == .failed)
        #expect(job.attachments.map(\.state) == [.failed, .failed])
        let (innocent, guilty) = (job.attachments[0].error, job.attachments[1].error)
        #expect(innocent?.code == .withheld && innocent?.unError == nil && innocent?.retryable == false)
        #expect(innocent?.message.contains("'bad'") == true && innocent?.message.contains("corrupt") == true)
        #expect(guilty?.code == .corrupt && guilty?.unError == 105)
        #expect(try await fixture.records.referencedBlobs().isEmpty)
        #expect(try await fixture.store.blobNames().isEmpty)
    }

    @Test(arguments: Backend.allCases)
    func `what a run that lives has submitted is left to it, and taken over when it has ended`(
        backend: Backend
    ) async throws {
        let fixture = try Fixture(backend)
        let (first, second) = (RunID.generate(), RunID.generate())
        let job: JobRecord
        do {
            // As another process.
            let other = try fixture.reopened()
            try await other.records.announce(first)
            guard
                case .accepted(let accepted)? = try await other.records.submit(
                    [.sample(run: first, work: "path 1")], SubmissionOptions()
                ).first
            else { throw Unexpected() }
            job = accepted
            let answers = try await fixture.records.submit(
                [.sample(run: second, work: "path 1")], SubmissionOptions(retriesFailed: true))
            guard case .unchanged(let left)? = answers.first else { throw Unexpected() }
            #expect(left.id == job.id && left.state == .pending)
            #expect(
                try await fixture.records.claim(ClaimCapacity(1), from: .run(second), by: me, for: .seconds(60)).isEmpty
            )
            withExtendedLifetime(other) {}
        }
        // The other store ends when its last write has let go of it, a moment after it answered.
        let adopted = try await whenFound("the job is adopted") { () -> JobRecord? in
            let answers = try await fixture.records.submit([.sample(run: second, work: "path 1")], SubmissionOptions())
            guard case .adopted(let adopted)? = answers.first else { return nil }
            return adopted
        }
        #expect(adopted.id == job.id)
        #expect(
            try await fixture.records.claim(ClaimCapacity(1), from: .run(second), by: me, for: .seconds(60)).count == 1)
    }

    @Test(arguments: Backend.allCases)
    func `the same work is done once, and failed work again only when asked`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let (first, second) = (RunID.generate(), RunID.generate())
        func submit(_ run: RunID, retryFailed: Bool = false) async throws -> SubmissionAnswer {
            let acceptances = try await fixture.records.submit(
                [.sample(run: run, work: "path 1")], SubmissionOptions(retriesFailed: retryFailed))
            return try #require(acceptances.first)
        }
        guard case .accepted(let job) = try await submit(first) else { throw Unexpected() }
        guard case .adopted(let adopted) = try await submit(second) else { throw Unexpected() }
        #expect(adopted.id == job.id)
        #expect(adopted.attachments.map(\.id) == job.attachments.map(\.id))
        #expect(try await fixture.records.claim(ClaimCapacity(1), from: .run(first), by: me, for: .seconds(60)).isEmpty)
        let claim = try #require(
            try await fixture.records.claim(ClaimCapacity(1), from: .run(second), by: me, for: .seconds(60)).first)
        #expect(claim.job == job.id)
        guard case .unchanged(let running) = try await submit(first) else { throw Unexpected() }
        #expect(running.state == .running)
        _ = try await fixture.records.deliver(
            [.failed(claim.attachments[0], .unreadable(Finding(.checksumDiffers)))], under: claim)
        guard case .unchanged(let failed) = try await submit(first) else { throw Unexpected() }
        #expect(failed.attachments[0].error?.code == .corrupt)
        guard case .accepted(let again) = try await submit(first, retryFailed: true) else { throw Unexpected() }
        #expect(again.id == job.id)
        #expect(again.generation == 2)
        #expect(again.state == .pending)
        let retry = try #require(
            try await fixture.records.claim(ClaimCapacity(1), from: .run(first), by: me, for: .seconds(60)).first)
        #expect(retry.attempt == 1)
        let blob = try await fixture.store.commit("main")
        _ = try await fixture.records.deliver([.delivered(retry.attachments[0], [.main: blob])], under: retry)
        guard case .unchanged(let delivered) = try await submit(second, retryFailed: true) else { throw Unexpected() }
        #expect(delivered.state == .delivered)
        #expect(
            try await fixture.records.attachments(of: .local, where: RecordFilter(), after: nil, limit: 10)
                .elements.count == 1)
    }

    @Test(arguments: Backend.allCases)
    func `another body under the same id is a new generation, and the old results stay until it delivers`(
        backend: Backend
    ) async throws {
        let fixture = try Fixture(backend)
        let id = JobID(rawValue: "push-1")
        let first = JobSubmission.sample(id: id, identifiers: ["a"])
        _ = try await fixture.records.submit([first], SubmissionOptions())
        let claim = try await fixture.claim()
        let old = try await fixture.store.commit("old")
        _ = try await fixture.records.deliver([.delivered(claim.attachments[0], [.main: old])], under: claim)
        guard case .unchanged = try await fixture.records.submit([first], SubmissionOptions()).first else {
            throw Unexpected()
        }
        guard
            case .accepted(let renewed) = try await fixture.records.submit(
                [.sample(id: id, identifiers: ["b"])], SubmissionOptions()
            ).first
        else { throw Unexpected() }
        #expect(renewed.generation == 2)
        #expect(try await fixture.records.attachment(claim.attachments[0], of: .local)?.state == .delivered)
        let next = try await fixture.claim()
        let new = try await fixture.store.commit("new")
        let job = try await fixture.records.deliver([.delivered(next.attachments[0], [.main: new])], under: next)
        #expect(job.attachments.map(\.identifier) == ["b"])
        #expect(try await fixture.records.attachment(claim.attachments[0], of: .local) == nil)
        #expect(try await fixture.store.blobNames() == [new.name])
    }

    @Test(arguments: Backend.allCases)
    func `equal bytes are kept once per tenant, and go with the last that refers to them`(backend: Backend) async throws
    {
        let fixture = try Fixture(backend)
        let ada = TenantID(rawValue: "ada")
        let first = try await fixture.store.deliver([.main: "same", .thumbnail: "same"])
        let second = try await fixture.store.deliver([.main: "same"])
        let other = try await fixture.store.deliver([.main: "same"], tenant: ada)
        let name = try #require(try await fixture.records.blob(of: .main, of: second.id, tenant: .local))
        let otherName = try #require(try await fixture.records.blob(of: .main, of: other.id, tenant: ada))
        #expect(
            try await fixture.store.blobNames() == [name, otherName],
            "what one tenant has says nothing of another's")
        #expect(try await fixture.records.delete(other.id, of: .local) == false)
        #expect(try await fixture.records.delete(first.id, of: .local))
        #expect(try await fixture.store.text(of: name) == "same")
        #expect(try await fixture.records.delete(second.id, of: .local))
        #expect(try await fixture.store.blobNames() == [otherName])
        #expect(try await fixture.store.text(of: otherName) == "same")
        #expect(try await fixture.records.delete(other.id, of: ada))
        #expect(try await fixture.store.blobNames().isEmpty)
        #expect(try await fixture.records.referencedBlobs().isEmpty)
    }

    @Test(arguments: Backend.allCases)
    func `lists are whole, newest first, page by page, and show one tenant alone`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let ada = TenantID(rawValue: "ada")
        let submissions = (0..<25).map { _ in JobSubmission.sample() }
        for submission in submissions { _ = try await fixture.records.submit([submission], SubmissionOptions()) }
        _ = try await fixture.records.submit([.sample(tenant: ada)], SubmissionOptions())
        var (ids, cursor, pages): ([JobID], String?, Int) = ([], nil, 0)
        repeat {
            let page = try await fixture.records.jobs(
                of: .local, where: RecordFilter(state: .pending), after: cursor, limit: 10)
            ids += page.elements.map(\.id)
            cursor = page.next
            pages += 1
        } while cursor != nil
        #expect(pages == 3)
        #expect(ids == submissions.map(\.id).reversed())
        let attachments = try await fixture.records.attachments(
            of: ada, where: RecordFilter(), after: nil, limit: 100)
        #expect(attachments.elements.map(\.tenant) == [ada])
        #expect(attachments.next == nil)
    }

    @Test(arguments: Backend.allCases)
    func `time never goes back, whatever the clock does`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        _ = try await fixture.records.submit([.sample()], SubmissionOptions())
        let before = try await fixture.records.now()
        fixture.clock.advance(.seconds(-100))
        #expect(try await fixture.records.now() == before)
        #expect(try await fixture.reopened().records.now() == before)
        fixture.clock.advance(.seconds(101))
        #expect(try await fixture.records.now() > before)
    }

    @Test(arguments: Backend.allCases)
    func `what came by HTTP is kept for its profile's retention, the command line's until it is deleted`(
        backend: Backend
    ) async throws {
        let fixture = try Fixture(backend)
        let ada = TenantID(rawValue: "ada")
        let remote = try await fixture.store.deliver([.main: "remote"], tenant: ada, profile: .notification)
        let local = try await fixture.store.deliver([.main: "local"], profile: .notification)
        #expect(remote.expiresAt == fixture.clock.now + .seconds(7 * 86_400))
        #expect(local.expiresAt == nil)
        fixture.clock.advance(.seconds(7 * 86_400 - 1))
        #expect(try await fixture.records.expire(limit: 10, from: nil).blobs == 0)
        fixture.clock.advance(.seconds(1))
        #expect(try await fixture.records.expire(limit: 10, from: nil).blobs == 1)
        #expect(try await fixture.records.attachment(remote.id, of: ada) == nil)
        #expect(try await fixture.records.attachment(local.id, of: .local) != nil)
    }

    @Test(arguments: Backend.allCases)
    func `an attachment that was deleted meanwhile is not worked on, and its job goes with the last one`(
        backend: Backend
    ) async throws {
        let fixture = try Fixture(backend)
        let submission = JobSubmission.sample(identifiers: ["a", "b"])
        guard case .accepted(let job) = try await fixture.records.submit([submission], SubmissionOptions()).first
        else { throw Unexpected() }
        #expect(try await fixture.records.delete(job.attachments[0].id, of: .local))
        let claim = try await fixture.claim()
        #expect(claim.submission.attachments.map(\.identifier) == ["b"])
        #expect(claim.attachments == [job.attachments[1].id])
        #expect(try await fixture.records.delete(job.attachments[1].id, of: .local))
        #expect(try await fixture.records.job(submission.id, of: .local) == nil)
        await #expect(throws: ClaimError.lost) { try await fixture.records.deliver([], under: claim) }
    }

    @Test(arguments: Backend.allCases)
    func `a job is refused without attachments, with too many, or with two of one name`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        for identifiers in [[], (0..<11).map(String.init), ["a", "a"]] {
            let error = await #expect(throws: AttachmentError.self) {
                try await fixture.records.submit([.sample(identifiers: identifiers)], SubmissionOptions())
            }
            #expect(error?.code == .invalidSource)
        }
    }
}

struct Unexpected: Error {}

extension Fixture {
    func claim() async throws -> Claim {
        try #require(
            try await records.claim(
                ClaimCapacity(1), from: .lane(.fetch), by: WorkerID(rawValue: "me"), for: .seconds(60)
            )
            .first)
    }
}
