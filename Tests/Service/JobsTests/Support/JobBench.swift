import SatchelCore
import Foundation
import Stores
import TestSupport
import Testing

@testable import CodecPool
@testable import Ingest
@testable import Jobs

/// A store, a pool and workers of one's own.
struct JobBench: Sendable {
    static let tenant = TenantID(rawValue: "ada")

    /// Removed with the last copy of the bench.
    final class Home: Sendable {
        let directory: TemporaryDirectory

        init() throws {
            directory = try TemporaryDirectory()
        }
    }

    let home: Home
    let store: Store
    let spool: Spool
    let pool: CodecPool
    let jobs: JobService
    let reports: Recorder<JobReport>

    /// Runs workers for as long as `body`.
    static func run(
        codecs: Int = 3, concurrency: JobService.Concurrency = .init(quick: 32, expensive: 4),
        sharing: RequestCoalescer.Settings? = RequestCoalescer.Settings(), at place: Home? = nil,
        in memory: StoreMemory? = nil,
        allowing allowed: [String] = ["127.0.0.1"], health: StoreHealth = StoreHealth(), patience: Duration? = nil,
        bytes: ((any BlobStore, any SourceStore) -> FailingStore)? = nil,
        _ body: (JobBench) async throws -> Void
    ) async throws {
        let home = try place ?? Home()
        let path = home.directory.path
        let store = try memory.map { try Store(in: $0) } ?? Store.open(at: path + "/store", keys: path + "/keys")
        let spool = try Spool(at: store.scratch)
        let pool = CodecPool(
            CodecPoolConfiguration(executable: try Repository.product("fault-codec"), codecs: codecs))
        _ = try await pool.start()
        let fetcher = Fetcher(
            guardedBy: FetchGuard(allowing: try FetchAllowance.list(allowed)), into: spool,
            userAgent: "Satchel/test")
        let failing = bytes?(store.blobs, store.sources)
        var configuration = Pipeline.Configuration(backoff: Backoff(base: .milliseconds(10)))
        if failing != nil { configuration.storePause = .milliseconds(20) }
        configuration.storePatience = patience
        let pipeline = Pipeline(
            records: store.records, blobs: failing ?? store.blobs, staging: store.staging, codecs: pool,
            sources: SourceOpener(sources: failing ?? store.sources, fetcher: fetcher), configuration: configuration)
        let reports = Recorder<JobReport>()
        let jobs = JobService(
            records: store.records, pipeline: pipeline, events: JobEvents(),
            worker: WorkerID(rawValue: UUID().uuidString), concurrency: concurrency, sharing: sharing,
            health: health
        ) { reports.add($0) }
        let bench = JobBench(home: home, store: store, spool: spool, pool: pool, jobs: jobs, reports: reports)
        let working = Task { try await jobs.run() }
        do {
            try await body(bench)
            working.cancel()
            _ = await working.result
            await pool.shutdown()
        } catch {
            working.cancel()
            _ = await working.result
            await pool.shutdown()
            throw error
        }
    }

    /// Jobs on another store, which nobody carries out.
    func jobs(in other: Store) throws -> JobService {
        let fetcher = Fetcher(
            guardedBy: FetchGuard(allowing: try FetchAllowance.list([])), into: spool, userAgent: "Satchel/test")
        return JobService(
            records: other.records,
            pipeline: Pipeline(
                records: other.records, blobs: other.blobs, staging: other.staging, codecs: pool,
                sources: SourceOpener(sources: other.sources, fetcher: fetcher),
                configuration: Pipeline.Configuration()),
            events: JobEvents(), worker: WorkerID(rawValue: UUID().uuidString),
            concurrency: .init(quick: 1, expensive: 1))
    }

    /// An upload that holds `text`.
    func upload(_ text: String) async throws -> AttachmentSubmission {
        var file = try spool.create(hashing: true)
        try unsafe Array(text.utf8).withUnsafeBytes { bytes in try unsafe file.write(bytes) }
        let hashed = file.finish()
        return AttachmentSubmission(location: .spool(name: try await store.sources.put(hashed)), sha256: hashed.sha256)
    }

    /// How many blobs there are.
    func blobs() async throws -> Int { try await store.blobs.list(after: nil, limit: 1000).elements.count }

    @discardableResult
    func submit(
        _ attachments: [AttachmentSubmission], tenant: TenantID = JobBench.tenant,
        profile: Profile = .notification, priority: JobPriority = .interactive, deadline: Double? = nil
    ) async throws -> JobID {
        let job = JobSubmission(
            tenant: tenant, profile: profile, priority: priority, deadline: deadline, attachments: attachments)
        _ = try await store.records.submit(job, SubmissionOptions(queueLimit: 100_000))
        jobs.submitted()
        return job.id
    }

    func finished(
        _ job: JobID, tenant: TenantID = JobBench.tenant, within limit: Duration = patience
    ) async throws -> JobRecord {
        try #require(try await jobs.finished(job, of: tenant, within: limit))
    }

    /// The text of a rendition.
    func text(of role: RenditionRole, in job: JobRecord) async throws -> String {
        let attachment = try #require(job.attachments.first)
        let name = try await store.records.blob(of: role, of: attachment.id, tenant: job.tenant)
        return String(decoding: try await store.blobs.read(0..<1 << 20, of: try #require(name)), as: UTF8.self)
    }

    /// Waits until a codec works on something.
    func busy() async throws {
        try await eventually("a codec works") { pool.statistics.placesUsed > 0 }
    }
}
