import Attachments
import Glibc
import NIOCore

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
