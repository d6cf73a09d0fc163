import SatchelCore
import CodecPool
import Foundation
import Ingest
import Jobs
@testable import Stores
import TestSupport
import Testing

/// The way of one job, with a codec that misbehaves on command.
@Suite(.timeLimit(.minutes(5))) struct PipelineTests {
    /// A store, a pool and a pipeline of one's own; the sources tell the fault codec what to do.
    private struct Bench {
        let home: JobBench.Home
        let store: Store
        let pool: CodecPool
        let pipeline: Pipeline
        let worker = WorkerID(rawValue: UUID().uuidString)
        let claimDuration: Duration

        /// - Parameters:
        ///   - bytes: In the place of the store's own.
        ///   - delay: How long after a delivery its answer comes.
        init(
            timeLimit: Duration? = nil, claimDuration: Duration = .seconds(30), bytes: SilentStore? = nil,
            answeringAfter delay: Duration? = nil
        ) async throws {
            home = try JobBench.Home()
            let path = home.directory.path
            store = try Store.open(at: path + "/store", keys: path + "/keys")
            pool = CodecPool(CodecPoolConfiguration(executable: try Repository.product("fault-codec"), codecs: 2))
            _ = try await pool.start()
            var records = store.records
            if let delay {
                records = RecordStore(
                    LateEngine(engine: records.engine, delay: delay), keys: records.keys, garbage: records.garbage)
            }
            pipeline = Pipeline(
                records: records, blobs: bytes ?? store.blobs, staging: store.staging, codecs: pool,
                sources: SourceOpener(sources: bytes ?? store.sources, fetcher: nil),
                configuration: Pipeline.Configuration(
                    timeLimit: timeLimit, backoff: Backoff(base: .milliseconds(10)), claimDuration: claimDuration))
            self.claimDuration = claimDuration
        }

        /// Accepts a job for a source that holds `text`, and claims it.
        func claim(
            _ text: String, profile: Profile = .notification, deadline: Double? = nil, touch: Bool = false
        ) async throws -> Claim {
            let file = home.directory.url.appending(path: "source-\(UUID().uuidString)")
            try Data(text.utf8).write(to: file)
            var walk = try DirectoryWalk(Data(file.path.utf8))
            guard case .file(let path, let state)? = walk.next() else { throw AttachmentError.storeFull }
            if touch { try Data((text + " ").utf8).write(to: file) }
            let location = SatchelCore.SourceLocation.file(root: walk.root.path, path: path, state: state)
            return try await claim(location, profile: profile, deadline: deadline)
        }

        func claim(
            _ location: SatchelCore.SourceLocation, profile: Profile = .notification, deadline: Double? = nil
        ) async throws -> Claim {
            let attachment = AttachmentSubmission(location: location)
            let job = JobSubmission(
                tenant: .local, profile: profile, deadline: deadline, run: .generate(), attachments: [attachment])
            _ = try await store.records.submit([job], SubmissionOptions())
            let queue = ClaimSource.run(try #require(job.run))
            let duration = claimDuration
            return try #require(
                try await store.records.claim(ClaimCapacity(1), from: queue, by: worker, for: duration).first)
        }

        func attachment(_ claim: Claim) async throws -> AttachmentRecord {
            let record = try await pipeline.run(claim)
            return try #require(record.attachments.first)
        }
    }

    private static let keeping: Profile = {
        var profile = Profile.notification
        profile.keepsOriginal = true
        return profile
    }()

    @Test func `at the deadline what is ready is delivered, on time`() async throws {
        let bench = try await Bench()
        let claim = try await bench.claim("fault: late-main-sleep", deadline: 12)
        let start = ContinuousClock.now
        let record = try await bench.attachment(claim)
        let isEarly = ContinuousClock.now - start < .seconds(1)
        #expect(record.state == .delivered && record.fidelity == .partial && record.best == .thumbnail)
        #expect(record.renditions.keys.sorted { $0.rawValue < $1.rawValue } == [.thumbnail])
        let reason = record.steps.first { $0.name == Step.fidelity }
        #expect(reason?.note == "partial: main: the time was up")
        // Never a measurement: the codec sleeps for a quarter of an hour, which the tests would not wait for.
        #expect(!isEarly)
        await bench.pool.shutdown()
    }

    @Test func `a source that the store doesn't give is waited for until the deadline`() async throws {
        let bench = try await Bench(bytes: SilentStore())
        let claim = try await bench.claim(.spool(name: SourceName(rawValue: "a")), deadline: 3)
        let failed = try await bench.attachment(claim)
        #expect(failed.state == .failed && failed.error?.code == .storeFailed)
        await bench.pool.shutdown()
    }

    @Test func `a store that doesn't take what was made is waited for a little longer than the deadline`() async throws
    {
        let bench = try await Bench(bytes: SilentStore())
        let failed = try await bench.attachment(bench.claim("fault: null", deadline: 4))
        #expect(failed.state == .failed && failed.error?.code == .storeFailed)
        await bench.pool.shutdown()
    }

    @Test func `when nothing was ready the original is delivered where the profile keeps it, else nothing`()
        async throws
    {
        let bench = try await Bench()
        let failed = try await bench.attachment(bench.claim("fault: late-sleep", deadline: 8))
        #expect(failed.state == .failed && failed.error?.code == .deadlineExceeded)
        let kept = try await bench.attachment(bench.claim("fault: late-sleep", profile: Self.keeping, deadline: 8))
        #expect(kept.state == .delivered && kept.fidelity == .original && kept.best == .original)
        await bench.pool.shutdown()
    }

    @Test func `a time limit refuses what a deadline would cut short, and leaves nothing`() async throws {
        let bench = try await Bench(timeLimit: .milliseconds(700))
        let record = try await bench.attachment(bench.claim("fault: late-main-sleep"))
        #expect(record.state == .failed && record.error?.code == .deadlineExceeded)
        #expect(try await bench.store.blobs.list(after: nil, limit: 10).elements.isEmpty)
        await bench.pool.shutdown()
    }

    @Test func `a decoder that dies is tried once more, and then the source fails and leaves nothing`() async throws {
        let bench = try await Bench()
        let record = try await bench.attachment(bench.claim("fault: late-main-segv"))
        #expect(record.state == .failed && record.error?.code == .codecCrashed)
        #expect(record.steps.count { $0.name == "retry" } == 1)
        #expect(record.steps.last?.name == "main" && record.steps.last?.note == record.error?.message)
        #expect(try await bench.store.blobs.list(after: nil, limit: 10).elements.isEmpty)
        await bench.pool.shutdown()
    }

    @Test func `a source that changed after it was submitted is refused`() async throws {
        let bench = try await Bench()
        let record = try await bench.attachment(bench.claim("fault: null", touch: true))
        #expect(record.error?.code == .invalidSource)
        await bench.pool.shutdown()
    }

    @Test func `work that outlasts its claim keeps it by its heartbeat`() async throws {
        let bench = try await Bench(claimDuration: .seconds(2))
        let record = try await bench.attachment(bench.claim("fault: busy 1500"))
        #expect(record.state == .delivered && record.fidelity == .full)
        await bench.pool.shutdown()
    }

    @Test func `what is delivered is delivered, however late the store says so`() async throws {
        // A heartbeat comes every 0.3 seconds, and would find the claim gone.
        let bench = try await Bench(claimDuration: .seconds(1), answeringAfter: .seconds(2))
        let record = try await bench.attachment(bench.claim("fault: echo hello"))
        #expect(record.state == .delivered)
        await bench.pool.shutdown()
    }

    @Test func `a job that was cancelled meanwhile delivers nothing and leaves nothing`() async throws {
        let bench = try await Bench()
        let claim = try await bench.claim("fault: late-pause")
        let (pipeline, store) = (bench.pipeline, bench.store)
        let running = Task { try await pipeline.run(claim) }
        try await Task.sleep(for: .milliseconds(100))
        _ = try await store.records.cancel(claim.job, of: .local)
        await #expect(throws: ClaimError.self) { _ = try await running.value }
        #expect(try await store.records.job(claim.job, of: .local)?.state == .cancelled)
        #expect(try await store.blobs.list(after: nil, limit: 10).elements.isEmpty)
        await bench.pool.shutdown()
    }

    @Test func `a record tells what was made, how, and what it refers to`() async throws {
        let bench = try await Bench()
        let record = try await bench.attachment(bench.claim("fault: echo hello"))
        #expect(record.fidelity == .full && record.best == .main && record.contentSizeRatio == 0.75)
        #expect(record.steps.map(\.name) == ["wait", "identify", "thumbnail", "main", "warnings", "commit"])
        #expect(record.steps.first { $0.name == "warnings" }?.note == "a warning with [31mcolour")
        #expect(record.steps.allSatisfy { $0.note != nil && $0.seconds >= 0 })
        let blob = try #require(try await bench.store.records.blob(of: .main, of: record.id, tenant: .local))
        let data = try await bench.store.blobs.read(0..<1000, of: blob)
        #expect(String(decoding: data, as: UTF8.self) == "main hello")
        await bench.pool.shutdown()
    }
}
