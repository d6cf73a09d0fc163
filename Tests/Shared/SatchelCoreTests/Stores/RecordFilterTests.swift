import Testing

@testable import SatchelCore

@Suite struct RecordFilterTests {
    private func job(_ metadata: [String: String] = [:]) -> JobRecord {
        var attachment = AttachmentRecord(
            id: .generate(), tenant: .local, job: JobID(rawValue: "a"), identifier: "photo", state: .failed,
            source: SourceFacts(), options: DisplayOptions(), createdAt: Instant(milliseconds: 1000))
        attachment.error = ErrorReport(.corrupt(reason: "x"))
        attachment.kind = .image
        return JobRecord(
            id: JobID(rawValue: "a"), tenant: .local, state: .failed, profile: "archive", mode: .lenient,
            priority: .bulk, metadata: metadata, generation: 1, attempt: 1, createdAt: Instant(milliseconds: 1000),
            deadlineAt: nil, finishedAt: nil, attachments: [attachment])
    }

    @Test func `one condition that doesn't hold is enough`() {
        let run = RunID(rawValue: "r")
        let holding = RecordFilter(
            state: .failed, kind: .image, run: run, code: .corrupt, profile: "archive", identifier: "photo",
            since: Instant(milliseconds: 1000), before: Instant(milliseconds: 1001), labels: [JobLabel("order", "1")])
        let job = job(["order": "1", "other": "2"])
        #expect(holding.matches(job, of: run))
        #expect(RecordFilter().matches(job, of: nil))
        #expect(holding.matches(job.attachments[0], of: run, profile: job.profile, metadata: job.metadata))
        let changes: [(inout RecordFilter) -> Void] = [
            { $0.state = .delivered }, { $0.kind = .video }, { $0.run = RunID(rawValue: "s") }, { $0.code = .tooLong },
            { $0.profile = "archiv" }, { $0.identifier = "Photo" }, { $0.since = Instant(milliseconds: 1001) },
            { $0.before = Instant(milliseconds: 1000) },
            { $0.labels = [JobLabel("order", "1"), JobLabel("other", "3")] },
            { $0.labels = [JobLabel("orde", "1")] },
        ]
        for change in changes {
            var filter = holding
            change(&filter)
            #expect(!filter.matches(job, of: run), "\(filter)")
            #expect(
                !filter.matches(job.attachments[0], of: run, profile: job.profile, metadata: job.metadata), "\(filter)")
        }
    }

    @Test func `the first 20 pairs of metadata with short values can be found, by the bytes of their keys`() {
        let long = String(repeating: "ä", count: 101)
        var metadata = Dictionary(uniqueKeysWithValues: (10..<40).map { ("k\($0)", "v") })
        metadata["a"] = long
        metadata["b"] = String(long.dropLast())
        let found = JobLabel.found(in: metadata)
        #expect(found.map(\.key) == ["b"] + (10..<29).map { "k\($0)" })
        let job = job(metadata)
        #expect(RecordFilter(labels: [JobLabel("k28", "v")]).matches(job, of: nil))
        #expect(!RecordFilter(labels: [JobLabel("k29", "v")]).matches(job, of: nil), "kept, and not found")
        #expect(!RecordFilter(labels: [JobLabel("a", long)]).matches(job, of: nil))
        // In UTF-8 a composed letter comes after z, and two scalars that look like it before.
        #expect(
            JobLabel.found(in: ["z": "", "\u{E9}": "", "e\u{301}x": ""]).map(\.key) == ["e\u{301}x", "z", "\u{E9}"])
    }
}
