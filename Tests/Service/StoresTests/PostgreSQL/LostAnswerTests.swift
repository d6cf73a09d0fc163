import Foundation
import Postgres
import PostgresTestSupport
import SatchelCore
import TestSupport
import Testing

@testable import Stores

/// The connection breaks between a commit and its answer. The write is then done again, and has to recognize what it did.
@Suite struct LostAnswerTests {
    private let database: RecordDatabase
    private let cutter: CommitCutter
    private let store: Store

    init() throws {
        let database = try RecordDatabase()
        let cutter = try CommitCutter(to: database.server.port)
        let parameters = try PostgresParameters(
            "postgres://\(PostgresServer.user)@127.0.0.1:\(cutter.port)/\(database.name)", application: "tests")
        store = try Store(bytesIn: StoreMemory()) { keys, garbage in
            RecordStore(
                PostgresPool(parameters, writers: 1), keys: keys, garbage: garbage, garbageDelay: .zero,
                timing: PostgresNode.Timing(deadAfter: .seconds(300), steadiness: .zero, rescue: .zero))
        }
        self.database = database
        self.cutter = cutter
    }

    private var records: RecordStore { store.records }

    /// The value of a write after the answer to its first commit was lost.
    private func cut<Value>(_ write: () async throws -> Value) async throws -> Value {
        let before = cutter.cuts
        cutter.cutNext()
        let value = try await write()
        #expect(cutter.cuts == before + 1)
        return value
    }

    private func count(_ table: String) throws -> Int? {
        try database.server.execute("SELECT count(*) FROM \(table)", in: database.name).first?[0].flatMap { Int($0) }
    }

    @Test func `a job is accepted once, alone and with others`() async throws {
        let job = JobSubmission.sample()
        let first = try await cut { try await records.submit(job) }
        guard case .accepted = first else { throw Unexpected() }
        let claim = try #require(
            try await records.claim(
                ClaimCapacity(1), from: .lane(.fetch), by: WorkerID(rawValue: "worker"), for: .seconds(60)
            ).first)
        _ = try await records.deliver([.failed(claim.attachments[0], .storeFull)], under: claim)
        // Other work under the same id begins anew, in a transaction of its own.
        var other = job
        other.metadata = ["other": "work"]
        let renewed = other
        let again = try await cut { try await records.submit(renewed) }
        guard case .accepted = again else { throw Unexpected() }
        let jobs = (0..<3).map { _ in JobSubmission.sample() }
        let answers = try await cut { try await records.submit(jobs, SubmissionOptions()) }
        #expect(answers.count == 3)
        for answer in answers { guard case .accepted = answer else { throw Unexpected() } }
        #expect(try count("jobs") == 4)
    }

    @Test func `what was claimed is claimed once, by its first attempt`() async throws {
        let records = records
        func claim() async throws -> [Claim] {
            try await records.claim(
                ClaimCapacity(2), from: .lane(.fetch), by: WorkerID(rawValue: "worker"), for: .seconds(60))
        }
        // The node lives from its first claim on, which is a commit of its own.
        #expect(try await claim().isEmpty)
        _ = try await records.submit((0..<2).map { _ in .sample() }, SubmissionOptions())
        let claims = try await cut(claim)
        #expect(claims.count == 2)
        #expect(claims.allSatisfy { $0.attempt == 1 })
    }

    @Test func `an upload is added and changed once`() async throws {
        let token = try #require(try records.newTokens(.upload, 1).first)
        let now = try await records.now()
        let upload = UploadRecord(
            token, tenant: .local, terms: UploadTerms(), length: nil, source: SourceName(rawValue: "a"), createdAt: now,
            expiresAt: now + .seconds(3600))
        try await cut { try await records.add(upload, within: .unbounded) }
        #expect(try count("uploads") == 1)
        let writer = UploadWriterID.generate()
        _ = try await records.change(upload.id, of: .local, by: .begin(writer), within: .unbounded)
        let hash = String(repeating: "0", count: 64)
        let change = try await cut {
            try await records.change(
                upload.id, of: .local, by: .complete(sha256: hash, writer), within: .unbounded)
        }
        #expect(try change?.get().record.state == .complete)
    }

    @Test func `access is given once`() async throws {
        let attachment = try await store.deliver([.main: "picture"])
        let records = records
        func grant() async throws -> (AccessEntry, AccessToken)? {
            try await records.grant(
                on: attachment.id, in: .owner(.local), renditions: nil, for: .seconds(60), leaseLimit: 1)
        }
        #expect(try await grant() != nil)
        let given = try await cut(grant)
        let (grant, token) = try #require(given)
        let lease = try await cut {
            try await records.startLease(in: .bearer(token), renditions: nil, for: .seconds(60))
        }
        #expect(lease != nil)
        #expect(try count("access") == 3)
        #expect(try await records.grant(grant.id, in: .owner(.local))?.id == grant.id)
    }

    @Test func `a notification fires once, and its answer says so`() async throws {
        try await records.putNotification()
        let read = try #require(try await records.notification(.a, of: .local))
        let request = FiringRequest(cause: .manual(idempotencyKey: nil, hasHandover: false))
        let decided = try #require(NotificationDecision.fire(request, read, at: try await records.now()))
        #expect(try await cut { try await records.carryOut([decided]) } == [true])
        #expect(try count("firings") == 1)
    }

    @Test func `tickets are opened once`() async throws {
        try await records.putNotification()
        let (ticket, _) = try await records.newTicket()
        #expect(try await cut { try await records.open([ticket], []) })
        #expect(try count("tickets") == 1)
    }

    @Test func `a page of a shared run is taken once`() async throws {
        let runs = try #require(records.sharedRuns)
        let run = try await runs.join("name", source: "source", tenant: .local)
        let job = JobSubmission(
            tenant: .local, profile: .archive, priority: .bulk, run: run.id, workKey: "a",
            attachments: [
                AttachmentSubmission(
                    identifier: "a", location: .object(bucket: "b", key: "a", state: ObjectState(etag: "1", bytes: 1)))
            ])
        let page = RunPage(start: nil, end: "a", isFirst: true, isLast: true, listed: 1, jobs: [job])
        let answers = try await cut { try await runs.submit(page, of: run.id, retrying: .none) { $0 + "\($1.count);" } }
        #expect(answers == [.taken])
        #expect(try await runs.status(of: run.id)?.counts == "1;")
        #expect(try count("jobs") == 1)
    }
}
