import SatchelCore
import Glibc
import NIOCore

/// Where the bytes of content that was opened come from.
enum ContentBody: Sendable {
    case file(BlobFile)
    case stream(BlobStream)
    /// The proxy in front sends them, which is told this location.
    case redirect(String)
    /// The client gets them at this URL.
    case elsewhere(String)

    var file: BlobFile? { if case .file(let file) = self { file } else { nil } }
    var stream: BlobStream? { if case .stream(let stream) = self { stream } else { nil } }
    var redirect: String? { if case .redirect(let location) = self { location } else { nil } }
    var url: String? { if case .elsewhere(let url) = self { url } else { nil } }
}

/// A blob that is read piece by piece.
struct BlobStream: Sendable {
    let blobs: any BlobStore
    let name: BlobName
    /// Of the whole blob.
    let size: Int64
    /// Nil where nothing is kept.
    let cache: BlobCache?

    /// These bytes; nil where they can't be read.
    func read(_ bytes: Range<Int64>) async -> ByteBuffer? {
        guard let cache, size <= BlobCache.largest else { return await ask(bytes) }
        var kept = cache.bytes(of: name)
        if kept == nil {
            kept = await ask(0..<size)
            if let kept { cache.keep(kept, as: name) }
        }
        guard let whole = kept else { return nil }
        return whole.getSlice(at: whole.readerIndex + Int(bytes.lowerBound), length: bytes.count)
    }

    private func ask(_ bytes: Range<Int64>) async -> ByteBuffer? {
        guard let piece = try? await blobs.read(bytes, of: name), piece.count == bytes.count else { return nil }
        return ByteBuffer(bytes: piece)
    }
}

/// An open blob, closed when nobody holds it any more.
final class BlobFile: Sendable {
    let handle: NIOFileHandle
    private let number: Int32

    init(_ descriptor: consuming Descriptor) {
        number = descriptor.release()
        handle = NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: number)
    }

    deinit {
        try? handle.close()
    }

    /// Appends these bytes of the blob to `buffer`; false where the file has fewer or can't be read.
    func read(_ bytes: Range<Int64>, into buffer: inout ByteBuffer) -> Bool {
        var next = bytes.lowerBound
        while next < bytes.upperBound {
            let wanted = Int(bytes.upperBound - next)
            let count = unsafe buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: wanted) { memory in
                max(unsafe pread(number, memory.baseAddress, wanted, Int(next)), 0)
            }
            guard count > 0 else { return false }
            next += Int64(count)
        }
        return true
    }
}
