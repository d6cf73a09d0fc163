import Attachments
import Glibc
import Ingest

extension BlobStore {
    /// Bytes that are read at once from a store that isn't here.
    private static var piece: Int64 { 1 << 20 }

    /// Writes all of a blob to the end of `target`.
    ///
    /// - Throws: ``CopyFailure``, where the bytes are here; an ``AttachmentError`` of the store.
    func write(_ name: BlobName, to target: borrowing Descriptor) async throws {
        switch try await content(of: name, behind: nil) {
        case .file(let file):
            try copyFile(file, to: target)
        default:
            var next: Int64 = 0
            while true {
                let piece = try await read(next..<next + Self.piece, of: name)
                try unsafe piece.withUnsafeBytes { try unsafe writeAll($0, to: target) }
                next += Int64(piece.count)
                if piece.count < Self.piece { return }
            }
        }
    }
}

private func writeAll(_ bytes: UnsafeRawBufferPointer, to target: borrowing Descriptor) throws(CopyFailure) {
    var rest = unsafe bytes[...]
    while unsafe !rest.isEmpty {
        let slice = unsafe UnsafeRawBufferPointer(rebasing: rest)
        let written = unsafe write(target.number, slice.baseAddress, slice.count)
        if written < 0 && errno == EINTR { continue }
        guard written > 0 else { throw .target(SystemError("write a file")) }
        unsafe rest = rest.dropFirst(written)
    }
}
