import SatchelCore
import Testing

/// What is decided about a notification's media, one step after the other, without a store.
@Suite struct MediaDecisionTests {
    private static let start = Instant(milliseconds: 1_763_720_100_000)
    private static let both: Set<String> = ["photo", "clip"]

    /// One whose media are in a job, due after `seconds`; nil: by hand.
    private func record(due seconds: Double?, lead: Double? = nil) -> NotificationRecord {
        let new = NewNotification(
            id: NotificationID(rawValue: "a"), tenant: .local, bodyDigest: "1",
            submission: NotificationSubmission(
                payload: "{}", pushType: .alert, expiresIn: 3600, delivery: .private, profile: nil, onFailure: .drop,
                deadline: 10, media: [], trigger: seconds.map { .interval(seconds: $0, repeats: true) } ?? .manual,
                lateLimit: 3600, handover: nil, metadata: [:],
                category: nil, traceparent: nil, lead: lead),
            job: lead == nil ? JobID(rawValue: "first") : nil, attachments: [],
            next: seconds.map { occurrence(Self.start + .seconds(fraction: $0)) }, rules: nil, acceptedAt: Self.start)
        return NotificationDecision.put(new, existing: nil, open: [], at: Self.start).0.record
    }

    private func occurrence(_ instant: Instant) -> Occurrence {
        Occurrence(at: instant, local: nil, note: nil, position: .instant(instant))
    }

    /// - Parameter errors: By identifier; nil: delivered.
    private func job(_ id: String, _ errors: KeyValuePairs<String, AttachmentError?>) -> JobRecord {
        let attachments = errors.map { identifier, error in
            var attachment = AttachmentRecord(
                id: AttachmentID(rawValue: "\(id)/\(identifier)"), tenant: .local, job: JobID(rawValue: id),
                identifier: identifier, state: error == nil ? .delivered : .failed, source: SourceFacts(name: nil),
                options: DisplayOptions(), createdAt: Self.start)
            attachment.error = error.map(ErrorReport.init)
            return attachment
        }
        return JobRecord(
            id: JobID(rawValue: id), tenant: .local, state: .delivered, profile: "notification", mode: .lenient,
            priority: .interactive, metadata: [:], generation: 1, attempt: 1, createdAt: Self.start, deadlineAt: nil,
            finishedAt: Self.start, attachments: attachments)
    }

    private var sources: JobSubmission {
        JobSubmission(
            tenant: .local, id: JobID(rawValue: "base"), profile: .notification,
            attachments: ["photo", "clip"].map {
                AttachmentSubmission(identifier: $0, location: .url("https://example.com/\($0)", headers: [:]))
            })
    }

    private func judged(
        _ job: JobRecord?, _ record: NotificationRecord, after seconds: Double = 1, sources: Set<String> = both
    ) -> (step: MediaStep, told: [MediaFailure]) {
        var generator = SystemRandomNumberGenerator.addressable
        return MediaDecision.judged(
            job, of: record, sources: sources, at: Self.start + .seconds(fraction: seconds), using: &generator)
    }

    private func after(_ step: MediaStep, _ record: NotificationRecord) throws -> NotificationRecord {
        let changes = MediaDecision.take(step, record, record)
        guard case .save(let saved, over: _)? = changes.last else {
            Issue.record("the step isn't taken")
            return record
        }
        return saved
    }

    private static let passing = AttachmentError.fetchFailed(.status, status: 503, reason: "it is away")
    private static let lasting = AttachmentError.fetchFailed(.status, status: 404, reason: "it is gone")

    // MARK: Prepared at acceptance

    @Test func `what is whole is not looked at any more, and nobody is told`() throws {
        let record = record(due: 3600)
        #expect(MediaDecision.task(for: record) == .judge && record.awaitedJob == JobID(rawValue: "first"))
        let (step, told) = judged(job("first", ["photo": nil]), record)
        #expect(told.isEmpty && step.forgetsSources)
        #expect(try after(step, record).mediaDueAt == nil)
    }

    @Test func `what can't be helped by trying again is told at once, and only once`() throws {
        let record = record(due: 3600)
        let failed = job("first", ["photo": Self.lasting, "clip": Self.passing])
        let (step, told) = judged(failed, record)
        #expect(told.map(\.identifier) == ["photo", "clip"])
        #expect(told.map(\.isRetried) == [false, true] && told[0].error.code == .fetchFailed)
        let next = try after(step, record)
        #expect(next.media.isTold && MediaDecision.task(for: next) == .retry)
        #expect(judged(failed, next, after: 3599).told.isEmpty)
    }

    @Test func `what may pass is tried again until a minute before the first firing, then it is told`() throws {
        var record = record(due: 7200)
        var now = 1.0
        var failed = job("first", ["photo": Self.passing, "clip": nil])
        var waits: [Double] = []
        while true {
            let (step, told) = judged(failed, record, after: now)
            guard let next = step.media.lookAt else {
                #expect(told.map(\.identifier) == ["photo"] && told[0].isRetried == false)
                break
            }
            #expect(told.isEmpty)
            waits.append((next - Self.start).inSeconds - now)
            now = (next - Self.start).inSeconds
            record = try after(step, record)
            let submission = try #require(MediaDecision.retrying(failed, of: record, from: sources))
            // What was delivered isn't asked for again.
            #expect(submission.attachments.map(\.identifier) == ["photo"])
            #expect(submission.id == submission.bodyDigest.map(JobID.init(rawValue:)))
            let again = job(submission.id.rawValue, ["photo": Self.passing])
            record = try after(MediaDecision.began(again, after: failed, of: record), record)
            #expect(record.awaitedJob == again.id && record.media.ready["clip"]?.rawValue == "first/clip")
            #expect(record.attachments.map(\.rawValue) == ["first/clip", "\(again.id.rawValue)/photo"])
            failed = again
            now += 1
        }
        #expect(waits.count > 3 && waits.allSatisfy { (0...3600).contains($0) })
        // The last attempt is as late as it may be.
        #expect(now == 7200 - 60 + 1)
    }

    @Test(arguments: [AttachmentError.codecCrashed(reason: "x"), .unreadable(Finding(.checksumDiffers))])
    func `what would come to the same isn't tried again`(error: AttachmentError) {
        let (step, told) = judged(job("first", ["photo": error]), record(due: 3600))
        #expect(step.media.lookAt == nil && told.count == 1)
    }

    @Test func `what came along isn't there to be tried again, nor what nobody knows a time for`() {
        let failed = job("first", ["photo": Self.passing])
        #expect(judged(failed, record(due: 3600), sources: []).step.media.lookAt == nil)
        let manual = judged(failed, record(due: nil))
        #expect(manual.step.media.lookAt == nil && manual.told.count == 1)
        // Less than a minute is left.
        #expect(judged(failed, record(due: 30)).told.count == 1)
    }

    @Test func `once it has fired nobody is told what the firing told, nor of what was deleted`() {
        var fired = record(due: 3600)
        fired.position = .instant(Self.start)
        #expect(judged(job("first", ["photo": Self.lasting]), fired).told.isEmpty)
        #expect(judged(nil, record(due: 3600)).told.isEmpty)
    }

    // MARK: Prepared for each firing

    @Test func `a firing takes what was prepared for it, and the next is prepared anew`() throws {
        var record = record(due: 600, lead: 100)
        #expect(record.mediaDueAt == Self.start + .seconds(500))
        // By hand nothing is ahead of it.
        #expect(self.record(due: nil, lead: 100).mediaDueAt == nil)
        #expect(record.next.map { MediaDecision.task(for: record) == .prepare($0) } == true)
        let prepared = job("first", ["photo": nil])
        record = try after(MediaDecision.began(prepared, after: nil, of: record), record)
        #expect(record.job == prepared.id && record.pinned.count == 1)
        let expected = try #require(record.next)
        let due = FiringRequest(
            cause: .due(
                expected: expected,
                DueDecision(
                    occurrence: expected, late: .zero, isMissed: false, coalesced: 0,
                    next: occurrence(Self.start + .seconds(1200))), rules: nil))
        let decided = try #require(NotificationDecision.fire(due, record, at: expected.at))
        let fired = decided.notification
        #expect(decided.firing.job == prepared.id)
        #expect(fired.job == nil && fired.media.lookAt == Self.start + .seconds(1100))
        // Held until its links are.
        #expect(fired.pinned == record.pinned)
        let completion = FiringCompletion(
            decided.firing, at: expected.at, .failed(ErrorReport(.unreadable(Finding(.checksumDiffers))), call: nil))
        let completed = try #require(NotificationDecision.complete(completion, decided))
        #expect(completed.notification.pinned.isEmpty)
        // By hand it has a job of its own.
        let manual = FiringRequest(cause: .manual(idempotencyKey: nil, hasHandover: true))
        #expect(NotificationDecision.fire(manual, record, at: Self.start)?.firing.job == manual.id.job)
    }

    @Test func `jobs for different firings have different ids, and for the same the same`() {
        let record = record(due: 600, lead: 100)
        let first = occurrence(Self.start + .seconds(600))
        let second = occurrence(Self.start + .seconds(1200))
        let ids = [first, second, first].map { MediaDecision.preparing($0, of: record, from: sources).id }
        #expect(ids[0] != ids[1] && ids[0] == ids[2])
    }

    @Test func `a step counts only where nothing has changed meanwhile`() {
        let record = record(due: 3600)
        let (step, _) = judged(job("first", ["photo": nil]), record)
        let changes: [(inout NotificationRecord) -> Void] = [
            { $0.generation = 2 }, { $0.state = .cancelled }, { $0.media.isTold = true }, { $0.next = nil },
            { $0.job = nil },
        ]
        for change in changes {
            var other = record
            change(&other)
            #expect(MediaDecision.take(step, record, other).isEmpty)
        }
        #expect(!MediaDecision.take(step, record, record).isEmpty)
        // A firing by hand beside it changes nothing of what it was decided from.
        var fired = record
        fired.revision += 1
        fired.fired += 1
        guard case .save(let taken, over: fired)? = MediaDecision.take(step, record, fired).last else {
            Issue.record("nothing is saved")
            return
        }
        #expect(taken.revision == fired.revision + 1 && taken.fired == fired.fired)
    }
}
