import Attachments
import NIOCore
import Platform
import Synchronization

/// Writes to a spool file on threads that may block.
final class SpoolWriter: Sendable {
    private let file: Mutex<SpoolFile?>

    init(_ file: consuming SpoolFile) {
        self.file = Mutex(file)
    }

    func write(_ piece: ByteBuffer) async throws {
        try await BlockingWork.run {
            try self.file.withLock { file in
                try unsafe piece.withUnsafeReadableBytes { bytes in try unsafe file?.write(bytes) }
            }
        }
    }

    /// Gives the file its name; the writer is of no use afterwards. What was fetched can be fetched again, so it costs
    /// no wait for the disk.
    func commit() async throws -> (name: String, bytes: Int64) {
        try await BlockingWork.run {
            guard let file = self.file.withLock({ $0.take() }) else {
                throw AttachmentError.storeFailed(reason: "the spool file was already committed")
            }
            let bytes = file.bytes
            return (try file.commit(durably: false), bytes)
        }
    }
}
