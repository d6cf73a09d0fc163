public import SatchelCore
public import Stores
import Crypto
import Ingest
public import NIOCore
import Platform
import Synchronization

/// What a request to an upload brings, whatever protocol it speaks.
public struct UploadAppend: Sendable {
    /// Where its bytes begin.
    public var offset: Int64
    /// Of the whole, where the request tells.
    public var length: Int64?
    /// Of the whole, at most.
    public var longest: Int64
    /// Of its body, where the request tells.
    public var announced: Int64?
    /// Whether its end is the end of the whole; nil: where that has its length.
    public var completes: Bool?
    /// Of its body, which counts for nothing before that was compared.
    public var checksum: BodyChecksum?
    /// What it says of the whole, where it comes first.
    public var description: UploadDescription

    public init(
        offset: Int64, length: Int64? = nil, longest: Int64, completes: Bool? = nil, checksum: BodyChecksum? = nil,
        description: UploadDescription = UploadDescription()
    ) {
        self.offset = offset
        self.length = length
        self.longest = longest
        self.completes = completes
        self.checksum = checksum
        self.description = description
    }
}

/// Why a request's bytes aren't taken.
public enum UploadFailure: Error, Hashable, Sendable {
    case refused(UploadRefusal)
    /// They don't begin where the upload ends.
    case otherOffset(UploadRecord)
    /// They don't have the checksum that came along. Nothing of them counts.
    case otherChecksum
    /// The tenant has no such upload any more.
    case gone
}

extension Error {
    /// Whether a request had more bytes than its upload has room for.
    fileprivate var isTooLong: Bool {
        if case .refused(.tooLong)? = self as? UploadFailure { true } else { false }
    }
}

/// Takes the bytes of uploads: writes them, has them made durable, and then alone records that they are there. A new request
/// for an upload ends the one underway.
///
/// Bytes are recorded every 8 MiB, after a second where they are in a file of this machine, and at the end of a request, however
/// that comes. What a crash leaves behind the recorded offset is cut off as the next request begins.
public final class UploadService: Sendable {
    private struct State {
        var writing: [UploadID: UploadWriting] = [:]
        /// Of uploads that nobody writes to at the moment, so that what lies before isn't read again.
        var hashes: [UploadID: RestingHash] = [:]
    }

    private struct RestingHash {
        var offset: Int64
        var hash: SHA256
    }

    /// Uploads whose hashes are remembered; beyond them files are read again.
    private static let hashLimit = 10_000
    /// For another process to notice that it was overtaken.
    private static let patience: Duration = .seconds(5)
    /// Files that are made durable at once: those of many slow uploads take their turns, so that the disk has room for others.
    private static let syncsAtOnce: Int64 = 4

    let records: RecordStore
    let quotas: TenantQuotas
    let syncs = AsyncSemaphore(capacity: syncsAtOnce)
    let files: any UploadFiles
    private let sources: any SourceStore
    private let jobs: JobService
    private let state = Mutex(State())

    public init(records: RecordStore, sources: any SourceStore, jobs: JobService, quotas: TenantQuotas) {
        self.records = records
        self.quotas = quotas
        self.jobs = jobs
        self.sources = sources
        files = sources.uploads
    }

    /// The name that an upload's bytes have, as a source.
    public func newSourceName() -> SourceName { files.newUploadName() }

    // MARK: Taking bytes

    /// Takes a request's bytes.
    ///
    /// - Parameters:
    ///   - body: The bytes. It is cancelled if another request comes for the upload.
    ///   - progress: Told how much is durable, now and then.
    /// - Throws: ``UploadFailure``; an `AttachmentError` of the store or of a quota; what `body` throws. Bytes that arrived until
    ///   then are kept, with two exceptions: a body with a checksum, and one that is longer than the upload has room for. Of the
    ///   latter only those count that were recorded before its length was known.
    public func append(
        _ body: some AsyncSequence<ByteBuffer, any Error> & Sendable, to upload: UploadRecord,
        _ request: UploadAppend, progress: @escaping @Sendable (Int64) async -> Void = { _ in }
    ) async throws -> UploadRecord {
        let writing = UploadWriting(upload, request, of: self, progress: progress)
        await state.withLock { state in state.writing.updateValue(writing, forKey: upload.id) }?.stop()
        defer { end(writing) }
        try await begin(writing, upload, request)
        // A client that leaves cancels the request: what arrived is worth keeping all the same, however late that is.
        return try await RequestReading.$current.withValue(nil) {
            let outcome = await writing.receive(body)
            return try await Task { try await self.conclude(writing, outcome, upload, request) }.value
        }
    }

    private func conclude(
        _ writing: UploadWriting, _ outcome: Result<Void, any Error>, _ upload: UploadRecord, _ request: UploadAppend
    ) async throws -> UploadRecord {
        do {
            try outcome.get()
            try await writing.verify()
        } catch {
            // The first error is reported. What is not recorded is cut off as the next request begins.
            if request.checksum == nil, !error.isTooLong { try? await writing.record(.ended) }
            throw error
        }
        let isWhole = writing.isWhole(request.completes)
        try await writing.record(isWhole ? .whole : .ended)
        let record = try await known(upload)
        guard record.state == .open else { throw UploadFailure.refused(.ended(record.state)) }
        guard isWhole else {
            if request.completes ?? false { throw UploadFailure.refused(.incomplete) }
            return record
        }
        let sha256 = try await ending(record, ifLost: writing) { () async throws(AttachmentError) in
            try await files.finish(record)
            if let known = writing.sha256() { return known }
            let file = ScratchFile(reader: try await sources.open(record.source))
            return try await BlockingWork.run { () throws(AttachmentError) in
                try UploadFile.sha256(of: file.reader)
            }
        }
        return try await complete(record, .complete(sha256: sha256, writing.writer))
    }

    /// Ends an upload whose bytes turn out to be lost.
    private func ending<Value: Sendable>(
        _ upload: UploadRecord, ifLost writing: UploadWriting, _ body: () async throws(AttachmentError) -> Value
    ) async throws -> Value {
        do throws(AttachmentError) {
            return try await body()
        } catch {
            if case .notInStore = error { _ = try await step(.fail(error, writing.writer), of: upload) }
            throw error
        }
    }

    private func begin(_ writing: UploadWriting, _ upload: UploadRecord, _ request: UploadAppend) async throws {
        let begun = try await step(.begin(writing.writer, length: request.length, request.description), of: upload)
            .record
        guard begun.offset == request.offset else { throw UploadFailure.otherOffset(begun) }
        let limit = min(begun.length ?? request.longest, request.longest)
        if let announced = request.announced, announced > limit - begun.offset {
            throw UploadFailure.refused(.tooLong(limit))
        }
        let hash = state.withLock { state in
            state.hashes.removeValue(forKey: upload.id).flatMap { $0.offset == begun.offset ? $0.hash : nil }
        }
        let arrived = try await ending(upload, ifLost: writing) { () async throws(AttachmentError) in
            try await open(begun)
        }
        writing.begin(UploadFile(arrived, at: begun.offset, hash: hash), of: begun)
    }

    private func open(_ upload: UploadRecord) async throws(AttachmentError) -> ArrivedBytes {
        let end = ContinuousClock.now + Self.patience
        while true {
            if let arrived = try await files.resume(upload) { return arrived }
            // Whoever has it finds out that it was overtaken as it records.
            guard .now < end, (try? await Task.sleep(for: .milliseconds(50))) != nil else {
                throw .storeFailed(reason: "another process is still writing this upload")
            }
        }
    }

    private func end(_ writing: UploadWriting) {
        let rest = writing.end()
        state.withLock { state in
            if state.writing[writing.upload] === writing { state.writing[writing.upload] = nil }
            guard let rest else { return }
            if state.hashes.count >= Self.hashLimit { state.hashes = [:] }
            state.hashes[writing.upload] = RestingHash(offset: rest.offset, hash: rest.hash)
        }
        writing.ended.make(.success(()))
    }

    // MARK: Asking and ending

    /// An upload as it is once nobody writes any more: what is told of it then holds.
    ///
    /// - Parameter finishing: Whether one that has all its bytes is complete with that, as a request that was cut off before it
    ///   could say so would have had it.
    /// - Throws: ``UploadFailure/gone``.
    public func settled(_ upload: UploadRecord, finishing: Bool = false) async throws -> UploadRecord {
        await state.withLock { $0.writing[upload.id] }?.stop()
        var record = try await known(upload)
        guard record.state == .open else { return record }
        if finishing, let length = record.length, length == record.offset {
            return try await append(
                AsyncThrowingStream<ByteBuffer, any Error> { $0.finish() }, to: record,
                UploadAppend(offset: length, longest: length))
        }
        // Another process may still write.
        if record.writer != nil { record = try await step(.begin(.generate()), of: record).record }
        return record
    }

    /// Ends an upload, whatever has arrived; one that a job has gives up its URL alone.
    public func cancel(_ upload: UploadRecord) async throws {
        await state.withLock { $0.writing[upload.id] }?.stop()
        state.withLock { $0.hashes[upload.id] = nil }
        _ = try await step(.cancel, of: upload)
    }

    /// Ends an upload whose bytes can't be what they were meant to be.
    public func fail(_ upload: UploadRecord, _ error: AttachmentError) async throws {
        await state.withLock { $0.writing[upload.id] }?.stop()
        let writer = UploadWriterID.generate()
        _ = try await step(.begin(writer), of: upload)
        _ = try await step(.fail(error, writer), of: upload)
    }

    private func known(_ upload: UploadRecord) async throws -> UploadRecord {
        guard let record = try await records.upload(upload.id, of: upload.tenant) else { throw UploadFailure.gone }
        return record
    }

    func step(_ step: UploadStep, of upload: UploadRecord) async throws -> UploadChange {
        switch try await records.change(upload.id, of: upload.tenant, by: step, within: quotas[upload.tenant]) {
        case nil: throw UploadFailure.gone
        case .failure(let refusal)?: throw UploadFailure.refused(refusal)
        case .success(let change)?: return change
        }
    }

    private func complete(_ upload: UploadRecord, _ step: UploadStep) async throws -> UploadRecord {
        let change = try await self.step(step, of: upload)
        if let job = change.submitted { jobs.accepted(job) }
        if let error = change.record.error, change.record.state == .failed, error.code == .checksumMismatch {
            throw AttachmentError.checksumMismatch
        }
        return change.record
    }
}
