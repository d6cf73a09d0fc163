import Attachments
import Crypto
import Ingest
public import NIOCore
import Platform
import Synchronization

/// One request that writes to an upload.
public final class UploadWriting: Sendable {
    /// Bytes after which what was written is recorded.
    private static let recordedBytes: Int64 = 8 << 20
    /// After which it is recorded, however little it is.
    private static let recordedAfter: Duration = .seconds(1)
    /// Small pieces are written together: each write is a trip to a thread that may block.
    private static let pieceBytes = 64 << 10

    private struct State: ~Copyable {
        var file: UploadFile?
        var pending = ByteBuffer()
        /// Where the request's bytes began.
        var begin: Int64 = 0
        /// Of what lies before them.
        var beginHash: SHA256?
        var recorded: Int64 = 0
        var limit: Int64 = 0
        var hasher: BodyChecksum.Hasher?
        var hasTimer = false
        var isStopped = false
        var failure: (any Error)?
        var receiving: Task<Void, any Error>?
    }

    let upload: UploadID
    let writer = UploadWriterID.generate()
    /// Made once nothing more is written or recorded.
    let ended = Promise<Void>()
    private let record: UploadRecord
    private let checksum: BodyChecksum?
    private let longest: Int64
    private let service: UploadService
    private let progress: @Sendable (Int64) async -> Void
    private let state = Mutex(State())

    init(
        _ upload: UploadRecord, _ request: UploadAppend, of service: UploadService,
        progress: @escaping @Sendable (Int64) async -> Void
    ) {
        self.upload = upload.id
        record = upload
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
            state.recorded = begun.offset
            state.limit = min(begun.length ?? longest, longest)
            state.hasher = checksum.map { BodyChecksum.Hasher($0.algorithm) }
        }
    }

    /// Receives the body, until it ends or another request comes.
    func take(_ body: @escaping @Sendable (UploadWriting) async throws -> Void) async throws {
        let receiving = Task {
            try await body(self)
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
        try state.withLock { state in
            if let failure = state.failure { throw failure }
            if state.isStopped { throw UploadFailure.refused(.overtaken) }
        }
        try outcome.get()
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
            guard let file = state.file.take(), file.offset == state.recorded, let hash = file.hash else { return nil }
            return (file.offset, hash)
        }
    }

    // MARK: Bytes

    /// Takes a piece; waits for the disk now and then.
    ///
    /// - Throws: `UploadFailure.refused(.tooLong)` once all there is room for was taken.
    public func write(_ piece: ByteBuffer) async throws {
        let (isEnough, startsTimer) = try state.withLock { state in
            if let failure = state.failure { throw failure }
            if state.isStopped { throw UploadFailure.refused(.overtaken) }
            var piece = piece
            if state.pending.readableBytes == 0 { state.pending = piece } else { state.pending.writeBuffer(&piece) }
            let startsTimer = checksum == nil && !state.hasTimer
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
            return (state.file?.offset ?? 0) - state.recorded >= Self.recordedBytes
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

    /// Makes what has come durable, then records that it is there.
    func record() async throws {
        guard await service.syncs.acquire(1, until: nil) == .granted else { throw CancellationError() }
        let synced: Result<Int64?, any Error> = await {
            do {
                return .success(
                    try await BlockingWork.run {
                        _ = try self.flush()
                        return try self.state.withLock { state in
                            guard (state.file?.offset ?? 0) > state.recorded else { return nil }
                            return try state.file?.sync()
                        }
                    })
            } catch {
                return .failure(error)
            }
        }()
        service.syncs.release(1)
        guard let offset = try synced.get() else { return }
        let recorded = try await service.step(.advance(to: offset, writer), of: record).record.offset
        let added = state.withLock { state in
            defer { state.recorded = max(state.recorded, recorded) }
            return max(0, recorded - state.recorded)
        }
        JobMetrics.count("upload_bytes_total", by: added)
        await progress(recorded)
    }

    func sha256() async throws -> String {
        try await BlockingWork.run { try self.state.withLock { try $0.file?.sha256() ?? "" } }
    }
}
