import SatchelCore
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Stores

@Suite struct MigrationTests {
    /// What a store of the first version holds while work is under way and access is open.
    private static let content = """
        UPDATE store SET last_instant = 1000;
        INSERT INTO profiles VALUES (1, 'digest', 'archive', :profile);
        INSERT INTO jobs (key, tenant, id, work_key, run, generation, submission, body_digest, profile, mode, priority,
            metadata, state, attempt, fence, delivered_fence, worker, claimed_until, due_at, created_at, finished_at)
        VALUES
            (1, 'acme', 'waiting', NULL, '', 1, :submission, 'w', 1, 'lenient', 0, '{}', 'pending', 0, 0, NULL, NULL, NULL, 5, 5, NULL),
            (2, 'local', 'running', NULL, '', 1, :submission, 'r', 1, 'lenient', 0, '{}', 'running', 1, 1, NULL, 'gone', 9, 5, 5, NULL),
            (3, 'acme', 'done', NULL, '', 1, NULL, 'd', 1, 'lenient', 0, '{}', 'delivered', 1, 1, 1, NULL, NULL, 5, 5, 9),
            (5, 'other', 'done', NULL, '', 1, NULL, 'd', 1, 'lenient', 0, '{}', 'delivered', 1, 1, 1, NULL, NULL, 5, 5, 9),
            (4, 'local', 'batch', 'work', 'run', 1, :submission, 'b', 1, 'lenient', 1, '{}', 'pending', 0, 0, NULL, NULL, NULL, 5, 5, NULL);
        INSERT INTO attachments (tenant, id, job, run, generation, ordinal, identifier, spool, state, fidelity, kind, best,
            details, created_at, finished_at)
        VALUES
            ('acme', 'w', 1, '', 1, 0, 'photo', 'upload', 'pending', NULL, NULL, NULL, :details, 5, NULL),
            ('local', 'r', 2, '', 1, 0, 'photo', NULL, 'running', NULL, NULL, NULL, :details, 5, NULL),
            ('acme', 'd', 3, '', 1, 0, 'photo', NULL, 'delivered', 'full', 'image', 'main', :details, 5, 9),
            ('other', 'o', 5, '', 1, 0, 'photo', NULL, 'delivered', 'full', 'image', 'main', :details, 5, 9),
            ('local', 'b', 4, 'run', 1, 0, 'photo', NULL, 'pending', NULL, NULL, NULL, :details, 5, NULL);
        INSERT INTO blobs (name, sha256, bytes) VALUES (:hash || '.x', :hash, 7);
        INSERT INTO renditions (tenant, attachment, role, blob, media_type)
        VALUES ('acme', 'd', 'main', :hash || '.x', 'image/jpeg'), ('acme', 'd', 'thumbnail', :hash || '.x', 'image/jpeg'),
            ('other', 'o', 'main', :hash || '.x', 'image/jpeg');
        INSERT INTO access (id, kind, tenant, attachment, kid, created_at, expires_at)
        VALUES ('abcdefghijklmnopqrstuv', 'lease', 'acme', 'd', :kid, 5, 9000000000000);
        """

    @Test func `a store of the first version carries on where it was`() async throws {
        let directory = try TemporaryDirectory(inMemory: true)
        let clock = TestClock()
        do { _ = try Store.open(at: directory.path + "/store", keys: directory.path + "/keys") { clock.now } }
        let kid = try KeyRing(path: directory.path + "/keys").current()
        let path = directory.path + "/store/records.sqlite"
        for name in ["records.sqlite", "records.sqlite-wal", "records.sqlite-shm", "revocations"] {
            try? FileManager.default.removeItem(atPath: directory.path + "/store/" + name)
        }
        let headers = ["Authorization": "Bearer x"]
        var submission = JobSubmission.sample(tenant: TenantID(rawValue: "acme"), id: JobID(rawValue: "waiting"))
        submission.attachments[0].location = .url("https://example.com/a", headers: headers)
        var old = try #require(
            try JSONSerialization.jsonObject(with: Data(Column.text(submission).utf8)) as? [String: Any])
        #expect(old.removeValue(forKey: "delivery") != nil, "the first version had none")
        let text = String(decoding: try JSONSerialization.data(withJSONObject: old), as: UTF8.self)
        do {
            var configuration = Configuration()
            configuration.foreignKeysEnabled = true
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            try Schema.migrator.migrate(queue, upTo: "1")
            let arguments: StatementArguments = try [
                "profile": Column.text(Profile.archive), "submission": text, "kid": kid,
                "details": Column.text(AttachmentDetails(source: SourceFacts(), options: DisplayOptions())),
                "hash": String(repeating: "a", count: 64),
            ]
            try await queue.write { try $0.execute(sql: Self.content, arguments: arguments) }
            try queue.close()
        }

        let store = try Store.open(at: directory.path + "/store", keys: directory.path + "/keys") { clock.now }
        let records = store.records
        #expect(store.schemaVersion == "18")
        try await records.expectTrueCounts()
        let acme = TenantID(rawValue: "acme")
        #expect(try await records.usage(of: acme) == TenantUsage(storedBytes: 14, pendingJobs: 1, liveLeases: 1))
        #expect(try await records.usage(of: .local) == TenantUsage(pendingJobs: 1))
        let statistics = try await records.statistics()
        #expect(statistics.queues[.fetch]?.pending == 2, "what ran becomes pending")
        #expect(statistics.queues[.fetch]?.running == 0)
        #expect(statistics.blobBytes == 7)
        #expect(statistics.liveLeases == 1)
        let token = try #require(try await records.token("abcdefghijklmnopqrstuv", of: acme))
        #expect(try await records.open(token, role: .main)?.delivery == .private)
        #expect(records.revocations == 0)
        #expect(try await records.revoke("abcdefghijklmnopqrstuv", in: .owner(acme)))
        #expect(records.revocations == 1)

        let claims = try await records.claim(
            ClaimCapacity(10), from: .lane(.fetch), by: WorkerID(rawValue: "me"), for: .seconds(60))
        // What was pending has rank 0, and goes by its key.
        #expect(claims.map(\.job.rawValue) == ["waiting", "running"])
        #expect(try sqlite(path, "SELECT sum(rank) FROM jobs") == "0\n")
        #expect(claims.allSatisfy { $0.lane == .fetch && $0.submission.delivery == .private })
        #expect(
            claims.allSatisfy {
                $0.submission.attachments[0].location == .url("https://example.com/a", headers: headers)
            })
        // The same bytes come once more: no hash finds those from before, which may be several tenants'.
        let hash = String(repeating: "a", count: 64)
        let new = CommittedBlob(name: BlobName(rawValue: hash + ".y"), sha256: hash, bytes: 7)
        _ = try await records.deliver([.delivered(claims[1].attachments[0], [.main: new])], under: claims[1])
        #expect(try await records.blob(of: .main, of: claims[1].attachments[0], tenant: .local) == new.name)
        #expect(try await records.statistics().blobBytes == 14)
        #expect(try await records.delete(AttachmentID(rawValue: "d"), of: acme))
        let shared = BlobName(rawValue: hash + ".x")
        #expect(try await records.unreferenced(among: [shared]) == [], "another tenant refers to it")
        #expect(try await records.delete(AttachmentID(rawValue: "o"), of: TenantID(rawValue: "other")))
        #expect(try await records.referencedBlobs() == [new])

        _ = try await records.deliver([.failed(claims[0].attachments[0], .corrupt(reason: "x"))], under: claims[0])
        let again = try await records.retry(JobID(rawValue: "waiting"), of: acme)
        guard case .accepted = again else { throw Unexpected() }
        try await records.expectTrueCounts()
    }

    /// Callbacks as the seventh version has them: one in hand, one that waits, one of each end.
    private static let callbacks = """
        UPDATE store SET last_instant = 1000;
        INSERT INTO profiles VALUES (1, 'digest', 'archive', '{}');
        INSERT INTO jobs (key, tenant, id, run, generation, body_digest, profile, mode, lane, priority, rank, metadata, state,
            due_at, created_at, finished_at)
        SELECT value, 'acme', 'job' || value, '', 2, 'd', 1, 'lenient', 'quick', 0, 0, '{}', 'failed', 5, 5, 9
        FROM json_each('[1, 2, 3, 4]');
        INSERT INTO callbacks (id, tenant, job, generation, url, traceparent, created_at, state, attempt, due_at, underway,
            finished_at, reason)
        VALUES
            ('1', 'acme', 1, 2, 'https://A.example?b', 'trace', 9, 'pending', 1, 60000, 1, NULL, NULL),
            ('2', 'acme', 2, 2, 'https://a.example/2', NULL, 9, 'pending', 3, 50, 0, NULL, 'it answered 503'),
            ('3', 'acme', 3, 2, 'https://a.example/3', NULL, 9, 'delivered', 2, 5, 0, 12, NULL),
            ('4', 'acme', 4, 2, 'https://a.example/4', NULL, 9, 'failed', 1, 5, 0, 11, 'gone'),
            ('0', 'acme', 4, 1, 'https://a.example/0', NULL, 8, 'failed', 1, 5, 0, 10, 'gone');
        """

    @Test func `callbacks become calls, as they are`() async throws {
        let directory = try TemporaryDirectory(inMemory: true)
        let path = directory.path + "/store/records.sqlite"
        do { _ = try Store.open(at: directory.path + "/store", keys: directory.path + "/keys") }
        for name in ["records.sqlite", "records.sqlite-wal", "records.sqlite-shm", "revocations"] {
            try? FileManager.default.removeItem(atPath: directory.path + "/store/" + name)
        }
        do {
            var configuration = Configuration()
            configuration.foreignKeysEnabled = true
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            try Schema.migrator.migrate(queue, upTo: "7")
            try await queue.write { try $0.execute(sql: Self.callbacks) }
            try queue.close()
        }
        let clock = TestClock()
        clock.now = Instant(milliseconds: 1000)
        let records = try Store.open(at: directory.path + "/store", keys: directory.path + "/keys") { clock.now }
            .records
        try await records.expectTrueCounts()
        #expect(try await records.statistics().pendingWebhooks == 2)
        let acme = TenantID(rawValue: "acme")
        let calls = try await records.calls(of: acme, where: CallFilter(type: .jobFinished), after: nil, limit: 9)
            .elements
        func call(_ id: String, job: Int, _ report: WebhookReport, at: Int64, ended: Int64?, url: String? = nil)
            -> CallRecord
        {
            CallRecord(
                id: id, tenant: acme, type: .jobFinished, content: .job(JobID(rawValue: "job\(job)")), subject: nil,
                url: url ?? "https://a.example/\(id)", report: report, createdAt: Instant(milliseconds: at),
                finishedAt: ended.map(Instant.init(milliseconds:)))
        }
        #expect(
            calls == [
                call("4", job: 4, WebhookReport(state: .failed, attempts: 1, reason: "gone"), at: 9, ended: 11),
                call("3", job: 3, WebhookReport(state: .delivered, attempts: 2), at: 9, ended: 12),
                call(
                    "2", job: 2,
                    WebhookReport(
                        state: .waiting, attempts: 3, nextAt: Instant(milliseconds: 50), reason: "it answered 503"),
                    at: 9, ended: nil),
                call(
                    "1", job: 1, WebhookReport(state: .waiting, attempts: 1), at: 9, ended: nil,
                    url: "https://A.example?b"),
                call("0", job: 4, WebhookReport(state: .failed, attempts: 1, reason: "gone"), at: 8, ended: 10),
            ])
        #expect(try await records.job(JobID(rawValue: "job4"), of: acme)?.callback == calls[0].report)
        #expect(try await records.dueWebhooks(9, for: .seconds(60)).map(\.id) == ["2"])
        clock.now = Instant(milliseconds: 60_000)
        let due = try #require(try await records.dueWebhooks(9, for: .seconds(60)).first)
        #expect(due.id == "1" && due.origin == "https://a.example" && due.traceparent == "trace" && due.attempt == 2)
        #expect(try await records.replayWebhook(of: JobID(rawValue: "job3"), tenant: acme))
        #expect(try await records.deleteJob(JobID(rawValue: "job4"), of: acme))
        #expect(try await records.calls(of: acme, where: CallFilter(), after: nil, limit: 9).elements.count == 3)
        try await records.expectTrueCounts()
    }
}
