import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import Stores

@Suite struct UploadRecordsTests {
    let acme = TenantID(rawValue: "acme")
    let other = TenantID(rawValue: "other")

    private func open(
        _ store: Store, of tenant: TenantID, length: Int64? = nil, terms: UploadTerms = UploadTerms(),
        lasting life: Duration = .seconds(3600), within quotas: Quotas = Quotas()
    ) async throws -> (UploadRecord, AccessToken) {
        let token = try #require(try store.records.newTokens(.upload, 1).first)
        let now = try await store.records.now()
        let record = UploadRecord(
            token, tenant: tenant, terms: terms, length: length,
            source: store.sources.uploads.newUploadName(), createdAt: now, expiresAt: now + life)
        try await store.records.add(record, within: quotas)
        return (record, token.token)
    }

    @discardableResult
    private func step(
        _ store: Store, _ upload: UploadRecord, _ step: UploadStep, within quotas: Quotas = Quotas()
    ) async throws -> UploadChange {
        try #require(try await store.records.change(upload.id, of: upload.tenant, by: step, within: quotas)).get()
    }

    private func write(_ text: String, to arrived: ArrivedBytes) throws {
        try FileHandle(fileDescriptor: arrived.file.reader.number).write(contentsOf: Data(text.utf8))
    }

    /// Writes, as whoever takes a request does: bytes first.
    private func fill(
        _ store: Store, _ upload: UploadRecord, _ text: String, _ pause: UploadPause = .ended
    ) async throws -> UploadWriterID {
        let writer = UploadWriterID.generate()
        let files = store.sources.uploads
        let begun = try await step(store, upload, .begin(writer)).record
        let arrived = try #require(try await files.resume(begun))
        try write(text, to: arrived)
        let end = begun.offset + Int64(text.utf8.count)
        let kept = try await files.keep(arrived, upTo: end, of: begun, pause)
        #expect(kept.offset == end)
        let whole = try await step(
            store, upload, .advance(to: end, parts: kept.parts, isWhole: pause == .whole, writer)
        ).record
        if pause == .whole { try await files.finish(whole) }
        return writer
    }

    private func text(_ store: Store, _ name: SourceName) async throws -> String {
        let file = try await store.sources.open(name)
        return String(decoding: try FileHandle(fileDescriptor: file.number).readToEnd() ?? Data(), as: UTF8.self)
    }

    @Test(arguments: Backend.allCases)
    func `an upload is its tenant's and its token's, and comes back as it was written`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        var job = JobSubmission.sample(tenant: acme)
        job.callback = "https://example.com/done"
        let terms = UploadTerms(
            name: "IMG.MOV", typeHint: "video/quicktime", metadata: "filename SU1H", job: job,
            callback: "https://example.com/hook", traceparent: "00-1-2-00")
        let (upload, token) = try await open(fixture.store, of: acme, length: 9, terms: terms)
        let again = try fixture.reopened()
        #expect(try await again.records.upload(upload.id, of: acme) == upload)
        #expect(try await again.records.upload(of: token) == upload)
        #expect(try await fixture.records.upload(upload.id, of: other) == nil)
        #expect(try await fixture.records.upload(UploadID(rawValue: "nonsense"), of: acme) == nil)
        #expect(
            try await fixture.records.change(upload.id, of: other, by: .cancel, within: Quotas()) == nil)
        let secret = token.secretText
        let forged = AccessToken(secretText: String(secret.dropLast()) + (secret.hasSuffix("0") ? "1" : "0"))
        let lease = AccessToken(secretText: token.secretText.replacing("satu_", with: "satl_"))
        for bad in [forged, lease, AccessToken(secretText: "satu_")] {
            #expect(try await fixture.records.upload(of: bad) == nil)
        }
        #expect(try await fixture.records.keysInUse().contains(upload.kid))
        fixture.clock.advance(.seconds(3600))
        #expect(try await fixture.records.upload(of: token) == nil)
    }

    @Test(arguments: Backend.allCases)
    func `a writer that was overtaken records nothing, and no offset shrinks`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let (upload, _) = try await open(fixture.store, of: acme, length: 10)
        let (first, second) = (UploadWriterID.generate(), UploadWriterID.generate())
        try await step(fixture.store, upload, .begin(first))
        #expect(try await step(fixture.store, upload, .advance(to: 6, first)).record.offset == 6)
        #expect(try await step(fixture.store, upload, .advance(to: 4, first)).record.offset == 6)
        let taken = try await step(fixture.store, upload, .begin(second))
        #expect(taken.record.offset == 6 && taken.record.writer == second)
        for step in [UploadStep.advance(to: 8, first), .complete(sha256: String(repeating: "0", count: 64), first)] {
            #expect(
                try await fixture.records.change(upload.id, of: acme, by: step, within: Quotas())
                    == .failure(.overtaken))
        }
        #expect(
            try await fixture.records.change(upload.id, of: acme, by: .advance(to: 11, second), within: Quotas())
                == .failure(.tooLong(10)))
        #expect(try await fixture.records.upload(upload.id, of: acme)?.offset == 6)
    }

    @Test(.hasCases(for: .ceph), arguments: Backend.keepingBytes)
    func `what was recorded is there after a restart, and nothing behind it`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let files = fixture.store.sources.uploads
        var (upload, _) = try await open(fixture.store, of: acme, length: 10)
        _ = try await fill(fixture.store, upload, "hello")
        upload = try #require(try await fixture.records.upload(upload.id, of: acme))
        do {
            // What came later, and was never recorded.
            let arrived = try #require(try await files.resume(upload))
            try write("lost", to: arrived)
            // In a bucket each request has its own, and only one of them is recorded.
            if backend != .bucket { #expect(try await files.resume(upload) == nil, "somebody has it") }
        }
        #expect(try await fixture.records.unneeded(among: Array(fixture.store.sourceNames())).isEmpty)
        #expect(try await Set(fixture.records.neededSources()) == Set(fixture.store.sourceNames()))
        let writer = try await fill(fixture.store, upload, "world", .whole)
        #expect(try await text(fixture.store, upload.source) == "helloworld")
        // A source that the sweep would find is one that is needed.
        #expect(try await fixture.records.unneeded(among: [upload.source]).isEmpty)
        try await step(fixture.store, upload, .complete(sha256: String(repeating: "a", count: 64), writer))
        #expect(try await fixture.records.unneeded(among: [upload.source]).isEmpty)
        var lost = upload
        lost.offset = 11
        let more = lost
        let error = await #expect(throws: AttachmentError.self) { _ = try await files.resume(more) }
        #expect(error?.code == .notInStore)
        try await step(fixture.store, upload, .cancel)
        #expect(try await fixture.records.unneeded(among: [upload.source]) == [upload.source])
        #expect(try await !fixture.store.sourceNames().contains(upload.source))
    }

    @Test(arguments: Backend.allCases)
    func `a whole upload is submitted in the same transaction, and belongs to that job`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let token = try #require(try fixture.records.newTokens(.upload, 1).first)
        let now = try await fixture.records.now()
        let id = UploadID.generate()
        var job = JobSubmission.sample(tenant: acme, identifiers: ["clip"])
        job.attachments[0].location = .spool(name: SourceName(rawValue: ""))
        job.attachments[0].upload = UploadUse(id, by: UploadUse.subject(of: job.id))
        let upload = UploadRecord(
            id: id, token, tenant: acme, terms: UploadTerms(job: job, callback: "https://example.com/hook"), length: 5,
            source: fixture.store.sources.uploads.newUploadName(), createdAt: now, expiresAt: now + .seconds(3600))
        // Bounds that were kept when it was opened don't stand in its way.
        try await fixture.records.add(upload, within: Quotas())
        let writer = try await fill(fixture.store, upload, "bytes", .whole)
        let hash = String(repeating: "c", count: 64)
        let whole = try await step(fixture.store, upload, .complete(sha256: hash, writer))
        #expect(whole.record.state == .consumed && whole.record.submittedJob == job.id)
        #expect(whole.submitted?.id == job.id && whole.submitted?.state == .pending)
        #expect(try await fixture.records.upload(of: token.token)?.submittedJob == job.id)
        let claims = try await fixture.records.claim(
            ClaimCapacity(1), from: .lane(.quick), by: WorkerID(rawValue: "worker"), for: .seconds(60))
        let claim = try #require(claims.first)
        #expect(claim.submission.attachments[0].location == .spool(name: upload.source))
        #expect(claim.submission.attachments[0].sha256 == hash)
        #expect(try await text(fixture.store, upload.source) == "bytes")
        // Nobody else gets it; the same job may ask again while its bytes are there.
        var second = job
        second.id = .generate()
        second.attachments[0].location = .spool(name: upload.source)
        second.attachments[0].upload = UploadUse(id, by: UploadUse.subject(of: second.id))
        let (records, other) = (fixture.records, second)
        let refused = await #expect(throws: AttachmentError.self) { try await records.submit(other) }
        #expect(refused?.code == .uploadConsumed)
        #expect(try await fixture.records.job(second.id, of: acme) == nil)
        let calls = try await fixture.records.calls(
            of: acme, where: CallFilter(type: .uploadCompleted), after: nil, limit: 5)
        #expect(calls.elements.map(\.subject) == [id.rawValue])
        // Done, its bytes are the job's to give up.
        _ = try await fixture.records.deliver(
            [.failed(claim.attachments[0], .unreadable(Finding(.checksumDiffers)))], under: claim)
        #expect(try await fixture.records.unneeded(among: [upload.source]) == [upload.source])
    }

    @Test(arguments: Backend.allCases)
    func
        `what a waiting job has of secrets is sealed, reaches its worker, and is forgotten with every end of the upload`(
            backend: Backend
        ) async throws
    {
        let fixture = try Fixture(backend)
        let key = MediaEncryption(.signal, MediaEncryption.Key(key: Data("canary-5e41".utf8)))
        func opened() async throws -> (UploadRecord, JobSubmission) {
            let token = try #require(try fixture.records.newTokens(.upload, 1).first)
            let now = try await fixture.records.now()
            let id = UploadID.generate()
            var job = JobSubmission.sample(tenant: acme, identifiers: ["clip", "poster"])
            job.attachments[0].location = .spool(name: SourceName(rawValue: ""))
            job.attachments[0].upload = UploadUse(id, by: UploadUse.subject(of: job.id))
            job.attachments[0].encryption = key
            job.attachments[1].location = .url("https://example.com/a", headers: ["Authorization": "canary-5e41"])
            let upload = UploadRecord(
                id: id, token, tenant: acme, terms: UploadTerms(job: job), length: nil,
                source: fixture.store.sources.uploads.newUploadName(), createdAt: now, expiresAt: now + .seconds(3600))
            try await fixture.records.add(upload, within: Quotas())
            return (upload, job)
        }
        func expectSealed() throws {
            for text in ["canary-5e41", Data("canary-5e41".utf8).base64EncodedString()] {
                try fixture.expectNowhere(text)
            }
        }

        let (upload, job) = try await opened()
        try expectSealed()
        // The key that sealed it stays, whichever is current.
        try fixture.store.keys.rotate()
        let writer = try await fill(fixture.store, upload, "bytes", .whole)
        try expectSealed()
        try await step(
            fixture.store, upload, .complete(sha256: String(repeating: "c", count: 64), writer))
        let claims = try await fixture.records.claim(
            ClaimCapacity(1), from: .lane(.fetch), by: WorkerID(rawValue: "worker"), for: .seconds(60))
        let claim = try #require(claims.first)
        #expect(claim.submission.attachments[0].encryption == key)
        #expect(claim.submission.attachments[1].location == job.attachments[1].location)
        _ = try await fixture.records.deliver(
            claim.attachments.map { .failed($0, .unreadable(Finding(.checksumDiffers))) }, under: claim)

        let (cancelled, _) = try await opened()
        try await step(fixture.store, cancelled, .cancel)
        for id in [upload.id, cancelled.id] {
            let terms = try #require(try await fixture.records.upload(id, of: acme)).terms
            #expect(terms.jobSecrets == nil && terms.job == terms.job?.withoutSecrets)
        }
        try expectSealed()
    }

    @Test(arguments: Backend.allCases)
    func `a job takes an upload that is whole, and gets it again when it is submitted anew`(
        backend: Backend
    ) async throws {
        let fixture = try Fixture(backend)
        let (upload, _) = try await open(fixture.store, of: acme)
        var job = JobSubmission.sample(tenant: acme, identifiers: ["clip"])
        job.attachments[0].location = .spool(name: upload.source)
        job.attachments[0].upload = UploadUse(upload.id, by: UploadUse.subject(of: job.id))
        let (records, first) = (fixture.records, job)
        let early = await #expect(throws: AttachmentError.self) { try await records.submit(first) }
        #expect(early?.code == .uploadIncomplete)
        let writer = try await fill(fixture.store, upload, "bytes", .whole)
        try await step(fixture.store, upload, .complete(sha256: String(repeating: "d", count: 64), writer))
        _ = try await fixture.records.submit(job)
        #expect(try await fixture.records.upload(upload.id, of: acme)?.usedBy == UploadUse.subject(of: job.id))
        job.metadata["changed"] = "yes"
        guard case .accepted(let renewed) = try await fixture.records.submit(job) else {
            Issue.record("it was not taken again")
            return
        }
        #expect(renewed.generation == 2)
        #expect(try await text(fixture.store, upload.source) == "bytes")
        // A quiet end: what the job has stays.
        try await step(fixture.store, upload, .cancel)
        #expect(try await text(fixture.store, upload.source) == "bytes")
    }

    @Test(arguments: Backend.allCases)
    func `open uploads and their bytes have bounds, which each tenant has for itself`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let quotas = Quotas(openUploads: 2, uploadBytes: 2 * UploadUsage.reserved + 5)
        let (first, _) = try await open(fixture.store, of: acme, within: quotas)
        _ = try await open(fixture.store, of: acme, within: quotas)
        let store = fixture.store
        let tooMany = await #expect(throws: AttachmentError.self) {
            _ = try await open(store, of: acme, within: quotas)
        }
        #expect(tooMany == .quotaExceeded(.openUploads, used: 2, allowed: 2))
        _ = try await open(fixture.store, of: other, within: quotas)
        let writer = UploadWriterID.generate()
        try await step(fixture.store, first, .begin(writer), within: quotas)
        try await step(fixture.store, first, .advance(to: 5, writer), within: quotas)
        let tooMuch = await #expect(throws: AttachmentError.self) {
            try await step(store, first, .advance(to: 6, writer), within: quotas)
        }
        #expect(
            tooMuch
                == .quotaExceeded(
                    .uploadBytes, used: 2 * UploadUsage.reserved + 5, allowed: 2 * UploadUsage.reserved + 5))
        #expect(try await fixture.records.uploadUsage(of: acme) == UploadUsage(open: 2, bytes: 5))
        #expect(try await fixture.records.uploadUsage(of: nil).open == 3)
        #expect(try await fixture.records.statistics().openUploads == 3)
        try await step(fixture.store, first, .cancel)
        #expect(try await fixture.records.uploadUsage(of: acme) == UploadUsage(open: 1, bytes: 0))
        _ = try await open(fixture.store, of: acme, within: quotas)
    }

    @Test(arguments: Backend.allCases)
    func `what nobody goes on with ends, is told of and is forgotten after a month`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let terms = UploadTerms(callback: "https://example.com/hook")
        let (short, token) = try await open(fixture.store, of: acme, terms: terms, lasting: .seconds(60))
        let (idle, _) = try await open(fixture.store, of: acme, terms: terms, lasting: .seconds(86_400))
        #expect(try await fixture.records.endUploads(.due, limit: 10) == 0)
        fixture.clock.advance(.seconds(61))
        #expect(try await fixture.records.endUploads(.due, limit: 10) == 1)
        #expect(try await fixture.records.upload(short.id, of: acme)?.state == .expired)
        #expect(try await fixture.records.upload(of: token) == nil)
        #expect(try await fixture.records.endUploads(.idle(.seconds(3600)), limit: 10) == 0)
        fixture.clock.advance(.seconds(3600))
        let (fresh, _) = try await open(fixture.store, of: acme)
        #expect(try await fixture.records.endUploads(.idle(.seconds(3600)), limit: 10) == 1)
        #expect(try await fixture.records.upload(idle.id, of: acme)?.state == .expired)
        #expect(try await fixture.records.upload(fresh.id, of: acme)?.state == .open)
        let calls = try await fixture.records.calls(
            of: acme, where: CallFilter(type: .uploadExpired), after: nil, limit: 5)
        #expect(Set(calls.elements.compactMap(\.subject)) == [short.id.rawValue, idle.id.rawValue])
        let open = try await fixture.records.uploads(of: acme, in: .open, after: nil, limit: 5)
        #expect(open.elements.map(\.id) == [fresh.id])
        let first = try await fixture.records.uploads(of: acme, in: nil, after: nil, limit: 2)
        let rest = try await fixture.records.uploads(of: acme, in: nil, after: first.next, limit: 2)
        #expect(Set((first.elements + rest.elements).map(\.id)) == [short.id, idle.id, fresh.id])
        #expect(first.elements.count == 2 && rest.next == nil)
        fixture.clock.advance(Retention.uploads)
        _ = try await fixture.store.sweep()
        #expect(try await fixture.records.upload(short.id, of: acme) == nil)
        #expect(
            try await fixture.records.uploads(of: acme, in: nil, after: nil, limit: 5).elements.map(\.state) == [
                .expired
            ])
    }
}
