import SatchelCore
import FoundationEssentials
import Glibc
import Platform

/// A file that is encrypted, open for reading.
struct Ciphertext: ~Copyable {
    /// Read at once.
    static let piece: Int64 = 1 << 20

    let file: Descriptor
    let bytes: Int64

    /// A range in pieces, from first to last.
    static func pieces(of range: Range<Int64>) -> some Sequence<Range<Int64>> {
        stride(from: range.lowerBound, to: range.upperBound, by: Int(piece)).lazy.map { start in
            start..<min(start + piece, range.upperBound)
        }
    }

    func read(_ range: Range<Int64>) throws(AttachmentError) -> [UInt8] {
        let bytes: [UInt8]
        do { bytes = try Files.read(range, of: file) } catch { throw .invalidSource(reason: error.description) }
        guard bytes.count == range.count else { throw .invalidSource(reason: "it changed while it was read") }
        return bytes
    }

    /// All bytes, as the kernel has them of the file: they take no memory of this process.
    func mapped() throws(AttachmentError) -> Data {
        guard bytes > 0 else { return Data() }
        guard let start = unsafe mmap(nil, Int(bytes), PROT_READ, MAP_PRIVATE, file.number, 0),
            unsafe start != MAP_FAILED
        else { throw AttachmentError(SystemError("read a file")) }
        return unsafe Data(bytesNoCopy: start, count: Int(bytes), deallocator: .unmap)
    }
}
