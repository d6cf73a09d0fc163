import SatchelCore
import Crypto
import Ingest
import NIOCore
import Platform
import Synchronization

/// One request that writes to an upload.
final class UploadWriting: Sendable {
    /// Bytes after which what was written is recorded.
    private static let recordedBytes: Int64 = 8 << 20
    /// After which it is recorded, however little it is, where that is cheap.
    private static let recordedAfter: Duration = .seconds(1)
    /// Small pieces are written together: each write is a trip to a thread that may block.
    private static let pieceBytes = 64 << 10

    private struct State: ~Copyable {
        /// As it was recorded last.
        var upload: UploadRecord
        var file: UploadFile?
        var pending = ByteBuffer()
        /// Where the request's bytes began.
        var begin: Int64 = 0
        /// Of what lies before them.
        var beginHash: SHA256?
        var limit: Int64 = 0
        var hasher: BodyChecksum.Hasher?
        var hasTimer = false
        var isStopped = false
        var failure: (any Error)?
        var receiving: Task<Void, any Error>?

        init(_ upload: UploadRecord) {
            self.upload = upload
        }
    }

    let upload: UploadID
    let writer = UploadWriterID.generate()
    /// Made once nothing more is written or recorded.
    let ended = Promise<Void>()
    private let checksum: BodyChecksum?
    private let longest: Int64
    private let service: UploadService
    private let progress: @Sendable (Int64) async -> Void
    private let state: Mutex<State>

    init(
        _ upload: UploadRecord, _ request: UploadAppend, of service: UploadService,
        progress: @escaping @Sendable (Int64) async -> Void
    ) {
        self.upload = upload.id
        state = Mutex(State(upload))
        checksum = request.checksum
        longest = request.longest
        self.service = service
        self.progress = progress
    }

    // MARK: The request's life

    func begin(_ file: consuming UploadFile, of begun: UploadRecord) {
        let hash = file.hash
        var file: UploadFile? = consume file
        state.withLock { state in
            state.file = file.take()
            state.begin = begun.offset
            state.beginHash = hash
            state.upload = begun
            state.limit = min(begun.length ?? longest, longest)
            state.hasher = checksum.map { BodyChecksum.Hasher($0.algorithm) }
        }
    }

    /// Receives the body, until it ends or another request comes.
    func receive(_ body: some AsyncSequence<ByteBuffer, any Error> & Sendable) async -> Result<Void, any Error> {
        let receiving = Task {
            for try await piece in body { try await write(piece) }
            // A body that was cut off may look as if it had ended.
            try Task.checkCancellation()
        }
        let isStopped = state.withLock { state in
            state.receiving = receiving
            return state.isStopped
        }
        if isStopped { receiving.cancel() }
        let outcome = await withTaskCancellationHandler {
            await receiving.result
        } onCancel: {
            receiving.cancel()
        }
        return state.withLock { state in
            if let failure = state.failure { return .failure(failure) }
            return state.isStopped ? .failure(UploadFailure.refused(.overtaken)) : outcome
        }
    }

    /// Another request has come: this one ends.
    ///
    /// - Returns: When it has.
    func stop() async {
        let receiving = state.withLock { state in
            state.isStopped = true
            return state.receiving
        }
        receiving?.cancel()
        // It is never made an error.
        try? await ended.value
    }

    /// - Returns: The hash of what is recorded, where it is known.
    func end() -> (offset: Int64, hash: SHA256)? {
        state.withLock { state in
            guard let file = state.file.take(), file.offset == state.upload.offset, let hash = file.hash else {
                return nil
            }
            return (file.offset, hash)
        }
    }

    // MARK: Bytes

    /// Takes a piece; waits for the disk now and then.
    ///
    /// - Throws: `UploadFailure.refused(.tooLong)` once all there is room for was taken.
    private func write(_ piece: ByteBuffer) async throws {
        let (isEnough, startsTimer) = try state.withLock { state in
            if let failure = state.failure { throw failure }
            if state.isStopped { throw UploadFailure.refused(.overtaken) }
            var piece = piece
            if state.pending.readableBytes == 0 { state.pending = piece } else { state.pending.writeBuffer(&piece) }
            let isCheap = state.file?.arrived.areKeptInPlace ?? false
            let startsTimer = checksum == nil && isCheap && !state.hasTimer
            if startsTimer { state.hasTimer = true }
            return (state.pending.readableBytes >= Self.pieceBytes, startsTimer)
        }
        if startsTimer {
            Task {
                try? await Task.sleep(for: Self.recordedAfter)
                await self.recordInTime()
            }
        }
        guard isEnough else { return }
        let isDue = try await BlockingWork.run { try self.flush() }
        if isDue, checksum == nil { try await record() }
    }

    private func recordInTime() async {
        state.withLock { $0.hasTimer = false }
        do {
            try await record()
        } catch {
            let receiving = state.withLock { state in
                state.failure = state.failure ?? error
                return state.receiving
            }
            receiving?.cancel()
        }
    }

    /// Writes what has come.
    ///
    /// - Returns: Whether it is much since it was recorded.
    private func flush() throws -> Bool {
        try state.withLock { state in
            guard state.file != nil else { return false }
            let room = state.limit - (state.file?.offset ?? 0)
            let isTooLong = Int64(state.pending.readableBytes) > room
            if isTooLong { state.pending.moveWriterIndex(to: state.pending.readerIndex + Int(max(room, 0))) }
            try unsafe state.pending.withUnsafeReadableBytes { bytes in
                unsafe try state.file?.write(bytes)
                unsafe state.hasher?.update(bytes)
            }
            state.pending.clear()
            if isTooLong { throw UploadFailure.refused(.tooLong(state.limit)) }
            return (state.file?.offset ?? 0) - state.upload.offset >= Self.recordedBytes
        }
    }

    /// Compares the body with its checksum, where it came with one.
    ///
    /// - Throws: `UploadFailure.otherChecksum`; then nothing of the body is left.
    func verify() async throws {
        _ = try await BlockingWork.run { try self.flush() }
        guard let checksum else { return }
        try await BlockingWork.run {
            try self.state.withLock { state in
                guard state.hasher?.digest != checksum.digest else { return }
                try state.file?.cut(to: state.begin, hash: state.beginHash)
                throw UploadFailure.otherChecksum
            }
        }
    }

    /// Whether nothing comes behind what has come.
    ///
    /// - Parameter completes: Whether the request said so; nil where it didn't say.
    func isWhole(_ completes: Bool?) -> Bool {
        guard completes ?? true else { return false }
        return state.withLock { state in state.upload.length.map { $0 == state.file?.offset } ?? (completes == true) }
    }

    /// Makes what has come durable, then records that it is there.
    func record(_ pause: UploadPause = .underway) async throws {
        guard await service.syncs.acquire(1, until: nil) == .granted else { throw CancellationError() }
        let kept: Result<KeptBytes?, any Error>
        do { kept = .success(try await keep(pause)) } catch { kept = .failure(error) }
        service.syncs.release(1)
        guard let kept = try kept.get() else { return }
        let recorded = try await advance(to: kept, isWhole: pause == .whole)
        await progress(recorded)
    }

    /// - Returns: Nil where there is nothing to be recorded.
    private func keep(_ pause: UploadPause) async throws -> KeptBytes? {
        let found = try await BlockingWork.run {
            _ = try self.flush()
            return self.state.withLock { state -> (arrived: ArrivedBytes, offset: Int64, upload: UploadRecord)? in
                guard let arrived = state.file?.arrived, let offset = state.file?.offset,
                    offset > state.upload.offset || pause == .whole
                else { return nil }
                // The body may still turn out to be too long, and then must not have completed the upload.
                if pause == .underway, offset == state.limit { return nil }
                return (arrived, offset, state.upload)
            }
        }
        guard let found else { return nil }
        let kept = try await service.files.keep(found.arrived, upTo: found.offset, of: found.upload, pause)
        return kept.offset > found.upload.offset || pause == .whole ? kept : nil
    }

    /// - Returns: The offset that may be told.
    private func advance(to kept: KeptBytes, isWhole: Bool) async throws -> Int64 {
        let before = state.withLock { $0.upload }
        let record = try await service.step(
            .advance(to: kept.offset, parts: kept.parts, isWhole: isWhole, writer), of: before
        ).record
        let added = state.withLock { state in
            // Of two that were recorded at once the first may be heard of last.
            guard record.offset >= state.upload.offset else { return Int64(0) }
            defer { state.upload = record }
            return record.offset - state.upload.offset
        }
        JobMetrics.count("upload_bytes_total", by: added)
        let replaced = Set(before.parts?.parts ?? []).subtracting(kept.parts?.parts ?? [])
        if !replaced.isEmpty { await service.files.discard(Array(replaced), of: record) }
        return record.offset
    }

    /// In lower-case hexadecimal; nil where nobody has hashed all of it.
    func sha256() -> String? {
        state.withLock { $0.file?.hash?.finalize().hexadecimal }
    }
}
