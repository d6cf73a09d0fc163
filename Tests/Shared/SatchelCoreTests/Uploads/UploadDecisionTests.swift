import Foundation
import TestSupport
import Testing

@testable import SatchelCore

/// What becomes of uploads, whoever asks in whatever order.
@Suite struct UploadDecisionTests {
    private func upload(length: Int64?, job: JobSubmission? = nil, sha256: String? = nil) -> UploadRecord {
        let token = NewToken(id: "id", kid: "kid", token: AccessToken(secretText: "satu_x"))
        return UploadRecord(
            token, tenant: .local, terms: UploadTerms(sha256: sha256, job: job, callback: "https://example.com/"),
            length: length, source: SourceName(rawValue: "source"), createdAt: Instant(milliseconds: 0),
            expiresAt: Instant(milliseconds: 1_000_000))
    }

    private func change(
        _ record: UploadRecord, _ step: UploadStep, at now: Int64 = 1
    ) -> Result<UploadChange, UploadRefusal> {
        UploadDecision.change(record, by: step, call: "call", at: Instant(milliseconds: now))
    }

    @Test func `an offset never shrinks nor passes the length, and whoever was overtaken changes nothing`() {
        var random = SeededGenerator()
        for _ in 0..<200 {
            let length: Int64? = Bool.random(using: &random) ? Int64.random(in: 0...100, using: &random) : nil
            var record = upload(length: length)
            var writers: [UploadWriterID] = [.generate()]
            var sentLengths: Set<Int64> = length.map { [$0] } ?? []
            for time in 1...40 {
                let writer = writers.randomElement(using: &random) ?? .generate()
                let step: UploadStep
                switch Int.random(in: 0..<9, using: &random) {
                case 0:
                    writers.append(.generate())
                    let told = Bool.random(using: &random) ? Int64.random(in: 0...100, using: &random) : nil
                    step = .begin(writers[writers.count - 1], length: told)
                case 1...5: step = .advance(to: Int64.random(in: 0...110, using: &random), writer)
                case 6: step = .complete(sha256: "hash", writer)
                case 7:
                    step = .advance(
                        to: record.length ?? record.offset, parts: UploadParts(), isWhole: true, writer)
                default: step = [.cancel, .expire].randomElement(using: &random) ?? .cancel
                }
                guard case .success(let changed) = change(record, step, at: Int64(time)) else { continue }
                #expect(changed.record.offset >= record.offset)
                #expect(changed.record.length.map { changed.record.offset <= $0 } ?? true)
                if let known = record.length { #expect(changed.record.length == known) }
                if record.parts?.isWhole ?? false { #expect(changed.record.offset == record.offset) }
                #expect(changed.record.parts == nil || changed.record.state == .open)
                if !record.state.holdsBytes { #expect(changed.record.state == record.state) }
                switch step {
                case .advance(_, _, _, let writer), .complete(_, let writer): #expect(record.writer == writer)
                default: break
                }
                if changed.record.state == .complete, record.state == .open {
                    #expect(changed.record.offset == changed.record.length)
                    #expect(changed.call?.type == .uploadCompleted)
                }
                if let length = changed.record.length { sentLengths.insert(length) }
                record = changed.record
            }
        }
    }

    @Test func `one that is whole is submitted with what it is made of`() throws {
        var job = JobSubmission(
            tenant: .local, id: JobID(rawValue: "j"), profile: .archive,
            attachments: [
                AttachmentSubmission(identifier: "a", location: .url("https://example.com", headers: [:])),
                AttachmentSubmission(identifier: "b", location: .spool(name: SourceName(rawValue: ""))),
            ])
        var record = upload(length: 3)
        job.attachments[1].upload = UploadUse(record.id, by: UploadUse.subject(of: job.id))
        record.terms.job = job
        record.terms.name = "IMG_0042.MOV"
        let writer = UploadWriterID.generate()
        record = try change(record, .begin(writer)).get().record
        record = try change(record, .advance(to: 3, writer)).get().record
        let whole = try change(record, .complete(sha256: "hash", writer)).get()
        #expect(whole.job?.attachments[0] == job.attachments[0])
        let made = try #require(whole.job?.attachments[1])
        #expect(made.location == .spool(name: record.source) && made.sha256 == "hash")
        #expect(made.name == "IMG_0042.MOV" && made.declaredType == "video/quicktime")
        let told =
            try JSONSerialization.jsonObject(with: try #require(whole.call).body.text(with: [:])) as? [String: Any]
        #expect(told?["type"] as? String == "upload.completed")
        #expect((told?["data"] as? [String: Any])?["job"] as? String == "j")
    }

    @Test func `bytes with another hash are no upload, and who is to be told is`() throws {
        let writer = UploadWriterID.generate()
        var record = upload(length: nil, sha256: "wanted")
        record = try change(record, .begin(writer)).get().record
        record = try change(record, .advance(to: 9, writer)).get().record
        let failed = try change(record, .complete(sha256: "other", writer)).get()
        #expect(failed.record.state == .failed && !failed.record.state.isKnown)
        #expect(failed.record.error?.code == .checksumMismatch)
        #expect(failed.call?.type == .uploadExpired && failed.job == nil)
    }

    @Test func `what a phone says of an upload counts once, and only before its bytes`() throws {
        let first = UploadWriterID.generate()
        var record = upload(length: nil)
        record = try change(
            record, .begin(first, length: 9, UploadDescription(name: "a.jpg", metadata: "filename YQ=="))
        ).get().record
        #expect(record.terms.name == "a.jpg" && record.terms.metadata == "filename YQ==" && record.length == 9)
        record = try change(record, .begin(.generate(), UploadDescription(name: "b.jpg", typeHint: "image/png"))).get()
            .record
        #expect(record.terms.name == "a.jpg" && record.terms.typeHint == "image/png")
        #expect(change(record, .begin(.generate(), length: 8)) == .failure(.otherLength(9)))
        #expect(change(record, .advance(to: 9, first)) == .failure(.overtaken))
    }

    @Test func `one job or notification has an upload, and only one that is whole`() throws {
        let now = Instant(milliseconds: 5)
        var record = upload(length: 1)
        let use = UploadUse(record.id, by: "job/a")
        #expect(throws: AttachmentError.uploadIncomplete(.open)) {
            try UploadDecision.use(record, by: use, isKept: true, at: now)
        }
        record.state = .complete
        record = try UploadDecision.use(record, by: use, isKept: true, at: now)
        #expect(record.state == .consumed && record.usedBy == "job/a")
        #expect(try UploadDecision.use(record, by: use, isKept: true, at: now) == record)
        for (other, isKept) in [(UploadUse(record.id, by: "job/b"), true), (use, false)] {
            #expect(throws: AttachmentError.uploadConsumed) {
                try UploadDecision.use(record, by: other, isKept: isKept, at: now)
            }
        }
        // Its URL is given up; what the job has stays.
        let closed = try change(record, .cancel).get()
        #expect(closed.record.state == .consumed && !closed.record.isLive(at: now) && closed.record.state.isKnown)
    }
}
