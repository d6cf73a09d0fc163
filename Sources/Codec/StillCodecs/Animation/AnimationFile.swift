package import SatchelCore
import Glibc

/// The file that an animation is written to, from its start, as often as it takes.
package struct AnimationFile {
    private let descriptor: Int32
    /// Written by now.
    private(set) var bytes: Int64 = 0

    /// Begins the file anew.
    package init(_ descriptor: Int32) throws(AttachmentError) {
        self.descriptor = descriptor
        guard ftruncate(descriptor, 0) == 0 else { throw EncodedBytes.failure(SystemError("write an output")) }
    }

    mutating func write(_ part: [UInt8]) throws(AttachmentError) {
        try write(part, at: bytes)
        bytes += Int64(part.count)
    }

    /// Writes over what was written before.
    func write(_ part: [UInt8], at offset: Int64) throws(AttachmentError) {
        try unsafe part.withUnsafeBufferPointer { (bytes) throws(AttachmentError) in
            try unsafe EncodedBytes.write(UnsafeRawBufferPointer(bytes), to: descriptor, at: offset)
        }
    }
}
