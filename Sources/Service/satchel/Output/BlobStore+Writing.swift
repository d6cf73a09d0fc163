import SatchelCore
import Glibc
import Ingest
import Platform

extension BlobStore {
    /// The number of bytes read at once from a remote store.
    private static var piece: Int64 { 1 << 20 }

    /// Appends a blob to `target`.
    ///
    /// - Throws: ``CopyFailure``, or an ``AttachmentError`` of the store.
    func write(_ name: BlobName, to target: borrowing Descriptor) async throws {
        switch try await content(of: name, behind: nil) {
        case .file(let file):
            try copyFile(file, to: target)
        default:
            var next: Int64 = 0
            while true {
                let piece = try await read(next..<next + Self.piece, of: name)
                do {
                    try unsafe piece.withUnsafeBytes { try unsafe Files.write($0, to: target, to: "write a file") }
                } catch let error as SystemError {
                    throw CopyFailure.target(error)
                }
                next += Int64(piece.count)
                if piece.count < Self.piece { return }
            }
        }
    }
}
