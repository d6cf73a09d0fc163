import SatchelCore
import Ingest
import NIOCore
import Platform
import Synchronization

/// A source that was received whole and is durable.
struct ReceivedPart: Hashable, Sendable {
    var source: SourceName
    var bytes: Int64
    /// Lower-case hexadecimal.
    var sha256: String
    /// As the client called it, fit to be a file's name.
    var fileName: String?
    /// The media type that the client declared; nil for one that says nothing.
    var declaredType: String?

    /// A type that says nothing is none.
    static func declared(_ type: String?) -> String? {
        guard let type = type?.split(separator: ";").first?.trimmingSpace().lowercased(), !type.isEmpty else {
            return nil
        }
        let vague = ["application/octet-stream", "binary/octet-stream", "application/x-www-form-urlencoded", "*/*"]
        return vague.contains(type) ? nil : String(type.prefix(128))
    }
}

/// Writes a source to the spool while it comes. Without a commit nothing of it stays.
final class PartWriter: Sendable {
    /// Small pieces are written together: each write is a trip to a thread that may block.
    private static let pieceBytes = 64 << 10

    private struct State: ~Copyable {
        var file: SpoolFile?
        var pending = ByteBuffer()
    }

    private let spool: Spool
    private let sources: any SourceStore
    private let state = Mutex(State())

    init(into spool: Spool, keptBy sources: any SourceStore) {
        self.spool = spool
        self.sources = sources
    }

    /// Takes a piece; waits for the disk now and then.
    func write(_ piece: ByteBuffer) async throws {
        let isEnough = state.withLock { state in
            var piece = piece
            if state.pending.readableBytes == 0 { state.pending = piece } else { state.pending.writeBuffer(&piece) }
            return state.pending.readableBytes >= Self.pieceBytes
        }
        guard isEnough else { return }
        try await BlockingWork.run { try self.flush() }
    }

    /// Makes everything durable, then gives it its name.
    func commit(fileName: String?, declaredType: String?) async throws -> ReceivedPart {
        let file = try await BlockingWork.run {
            try self.flush()
            guard let file = self.state.withLock({ $0.file.take() }) else {
                throw AttachmentError.storeFailed(reason: "the source was already committed")
            }
            return file.finish()
        }
        return ReceivedPart(
            source: try await sources.put(file), bytes: file.bytes, sha256: file.sha256, fileName: fileName,
            declaredType: declaredType)
    }

    private func flush() throws {
        try state.withLock { state in
            if state.file == nil { state.file = try spool.create(hashing: true, writingBack: true) }
            try unsafe state.pending.withUnsafeReadableBytes { bytes in unsafe try state.file?.write(bytes) }
            state.pending.clear()
        }
    }
}
