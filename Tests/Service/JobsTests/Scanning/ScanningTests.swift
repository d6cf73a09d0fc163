import SatchelCore
import CodecPool
import Foundation
import ServiceTestSupport
import Stores
import Synchronization
import TestSupport
import Testing

@testable import Ingest
@testable import Jobs

/// Nothing is delivered that a scanner hasn't seen, however it behaves. The sources tell the fault codec what to do.
@Suite(.timeLimit(.minutes(5))) struct ScanningTests {
    /// Says what it is told to, in turn; the last for ever.
    private final class Scripted: SourceScanner {
        private let rulings: Mutex<[Result<ScanVerdict, ScanFailure>?]>
        let asked = Atomic(0)
        /// What it was given, source by source.
        let read = Mutex<[Data]>([])

        /// - Parameter rulings: Nil: it hangs.
        init(_ rulings: Result<ScanVerdict, ScanFailure>?...) {
            self.rulings = Mutex(rulings)
        }

        func verdict(on source: ScannedSource) async throws(ScanFailure) -> ScanVerdict {
            asked.add(1, ordering: .relaxed)
            var bytes = Data()
            do {
                for try await piece in source.pieces { bytes += piece }
            } catch {
                throw ScanFailure("\(error)")
            }
            read.withLock { $0.append(bytes) }
            let ruling = rulings.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
            guard let ruling else {
                try? await Task.sleep(for: .seconds(3600))
                throw ScanFailure("it was left")
            }
            return try ruling.get()
        }
    }

    private final class Bench: Sendable {
        let home: TemporaryDirectory
        let store: Store
        let pool: CodecPool
        let pipeline: Pipeline

        init(_ scanner: some SourceScanner, timeout: Duration = .seconds(60), failure: ScanFailureMode = .closed)
            async throws
        {
            home = try TemporaryDirectory()
            store = try Store.open(at: home.path + "/store", keys: home.path + "/keys")
            pool = CodecPool(CodecPoolConfiguration(executable: try Repository.product("fault-codec"), codecs: 2))
            _ = try await pool.start()
            var configuration = Pipeline.Configuration(backoff: Backoff(base: .milliseconds(1)))
            configuration.scanning = Scanning(by: scanner, timeout: timeout, failure: failure)
            pipeline = Pipeline(
                records: store.records, blobs: store.blobs, staging: store.staging, codecs: pool,
                sources: SourceOpener(sources: store.sources, fetcher: nil), configuration: configuration)
        }

        func attachment(
            _ source: Data, _ encryption: MediaEncryption? = nil, deadline: Double? = nil
        ) async throws -> AttachmentRecord {
            let source = try await accept(source)
            let job = JobSubmission(
                tenant: .local, profile: .notification, deadline: deadline, run: .generate(),
                attachments: [AttachmentSubmission(location: .spool(name: source), encryption: encryption)])
            _ = try await store.records.submit([job], SubmissionOptions())
            let run = try #require(job.run)
            let claims = try await store.records.claim(
                ClaimCapacity(1), from: .run(run), by: WorkerID(rawValue: "me"), for: .seconds(30))
            let claim = try #require(claims.first)
            return try #require(try await pipeline.run(claim).attachments.first)
        }

        func attachment(_ text: String, deadline: Double? = nil) async throws -> AttachmentRecord {
            try await attachment(Data(text.utf8), deadline: deadline)
        }

        private func accept(_ data: Data) async throws -> SourceName {
            let spool = try Spool(at: store.scratch)
            var file = try spool.create(hashing: true)
            try unsafe data.withUnsafeBytes { try unsafe file.write($0) }
            return try await store.sources.put(file.finish())
        }

        /// Blobs and sources that are left.
        func left() async throws -> Int {
            let blobs = try await store.blobs.list(after: nil, limit: 10).elements.count
            return try await blobs + store.sources.list(after: nil, limit: 10).elements.count
        }

        func end() async { await pool.shutdown() }
    }

    @Test func `what is clean is delivered, with a step that says so`() async throws {
        let bench = try await Bench(Scripted(.success(.clean)))
        let record = try await bench.attachment("fault: echo hello")
        #expect(record.state == .delivered && record.fidelity == .full)
        let step = try #require(record.steps.first { $0.name == "scan" })
        #expect(step.note?.hasPrefix("clean, by the scanner: 17 bytes in ") == true)
        await bench.end()
    }

    @Test(arguments: ["fault: echo hello", "no picture at all"])
    func `what is rejected leaves nothing, whatever a codec makes of it, and isn't tried again`(text: String)
        async throws
    {
        let scanner = Scripted(.success(.rejected(reason: "Eicar")))
        let bench = try await Bench(scanner)
        let record = try await bench.attachment(text)
        #expect(record.state == .failed && record.error?.code == .rejectedByScan && record.error?.retryable == false)
        #expect(record.error?.message.contains("Eicar") == true && record.renditions.isEmpty)
        #expect(record.steps.last?.name == "scan" && record.steps.allSatisfy { $0.name != "retry" })
        #expect(scanner.asked.load(ordering: .relaxed) == 1)
        #expect(try await bench.left() == 0)
        await bench.end()
    }

    @Test(arguments: EncryptionScheme.allCases)
    func `a scanner is given what is in an encrypted source, and not its ciphertext`(scheme: EncryptionScheme)
        async throws
    {
        let plaintext = Data("fault: echo hello".utf8)
        var generator = SeededGenerator(seed: 5)
        let file = try EncryptionJudge.encrypt(.init(scheme, plaintext, using: &generator))
        let scanner = Scripted(.success(.clean), .success(.rejected(reason: "Eicar")))
        let bench = try await Bench(scanner)
        let record = try await bench.attachment(file.bytes, file.encryption)
        #expect(record.state == .delivered, "\(record)")
        #expect(record.steps.contains { $0.note?.hasPrefix("clean, by the scanner: 17 bytes in ") == true })
        let rejected = try await bench.attachment(file.bytes, file.encryption)
        #expect(rejected.error?.code == .rejectedByScan)
        #expect(scanner.read.withLock { $0 } == [plaintext, plaintext])

        // What can't be decrypted is told for what it is, and nobody is asked about it.
        let changed = try await bench.attachment(file.bytes.dropLast() + [file.bytes.last! ^ 1], file.encryption)
        #expect(changed.error?.code == .decryptionFailed)
        #expect(scanner.asked.load(ordering: .relaxed) == 2)
        await bench.end()
    }

    @Test func `a scanner that fails is asked again, and what it can't say isn't delivered`() async throws {
        let scanner = Scripted(.failure(ScanFailure("it can't be reached")), .success(.clean))
        let bench = try await Bench(scanner)
        let record = try await bench.attachment("fault: echo hello")
        #expect(record.state == .delivered && record.steps.map(\.name).contains("retry"))
        await bench.end()

        let failing = Scripted(.failure(ScanFailure("it can't be reached")))
        let other = try await Bench(failing)
        let failed = try await other.attachment("fault: echo hello")
        #expect(failed.state == .failed && failed.error?.code == .scanFailed && failed.error?.retryable == true)
        #expect(failed.error?.message.contains("it can't be reached") == true)
        #expect(failing.asked.load(ordering: .relaxed) == 3)
        #expect(try await other.store.blobs.list(after: nil, limit: 10).elements.isEmpty)
        await other.end()
    }

    @Test func `a scanner that hangs is left after its time, or at the deadline`() async throws {
        let bench = try await Bench(Scripted(nil), timeout: .milliseconds(20))
        let record = try await bench.attachment("fault: echo hello")
        #expect(record.state == .failed && record.error?.code == .scanFailed)
        await bench.end()

        let late = try await Bench(Scripted(nil), timeout: .seconds(3000))
        let failed = try await late.attachment("fault: echo hello", deadline: 1)
        #expect(failed.state == .failed && failed.error?.code == .scanFailed)
        #expect(try await late.store.blobs.list(after: nil, limit: 10).elements.isEmpty)
        await late.end()
    }

    @Test func `where a failing scanner is no obstacle, it is delivered with a step that says so`() async throws {
        let bench = try await Bench(Scripted(nil), timeout: .milliseconds(20), failure: .open)
        let record = try await bench.attachment("fault: echo hello")
        #expect(record.state == .delivered)
        let step = try #require(record.steps.first { $0.name == "unscanned" })
        #expect(step.note?.contains("it did not answer in time; delivered all the same") == true)
        await bench.end()
        // What it does say counts all the same.
        let other = try await Bench(Scripted(.success(.rejected(reason: "worm"))), failure: .open)
        #expect(try await other.attachment("fault: echo hello").error?.code == .rejectedByScan)
        await other.end()
    }

    @Test func `what a codec can't take is told for what it is, where no scanner objects`() async throws {
        let bench = try await Bench(Scripted(.failure(ScanFailure("it can't be reached"))))
        let record = try await bench.attachment("no picture at all")
        #expect(record.state == .failed && record.error?.code != .scanFailed && record.error?.code != nil)
        await bench.end()
    }
}
