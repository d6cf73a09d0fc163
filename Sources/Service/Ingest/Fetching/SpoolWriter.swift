import SatchelCore
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

    /// The whole file; the writer is of no use afterwards. What was fetched can be fetched again, so it costs no wait for
    /// the disk.
    func finish() throws(AttachmentError) -> (file: ScratchFile, bytes: Int64) {
        let file = file.withLock { $0.take() }
        guard let file else { throw .storeFailed(reason: "the spool file was already finished") }
        return (file.file, file.bytes)
    }
}
