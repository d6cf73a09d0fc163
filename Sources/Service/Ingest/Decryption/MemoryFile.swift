import SatchelCore
import CSandbox
import FoundationEssentials
import Glibc
import Platform

/// A file in the making that has no name and lies in memory alone.
struct MemoryFile: ~Copyable {
    private let file: Descriptor
    private(set) var bytes: Int64 = 0

    /// - Throws: `store_failed`.
    init() throws(AttachmentError) {
        let number = csandbox_sealable_memory_file()
        guard number >= 0 else { throw AttachmentError(SystemError("make a file in memory")) }
        file = Descriptor(owning: number)
    }

    mutating func write(_ data: Data) throws(AttachmentError) {
        // Its closure throws untyped.
        let outcome = unsafe data.withUnsafeBytes { bytes in
            Result { () throws(SystemError) in unsafe try Files.write(bytes, to: file, to: "write a file in memory") }
        }
        do { try outcome.get() } catch { throw AttachmentError(error) }
        bytes += Int64(data.count)
    }

    /// Cuts it to its first bytes.
    mutating func cut(to bytes: Int64) throws(AttachmentError) {
        guard ftruncate(file.number, off_t(bytes)) == 0 else {
            throw AttachmentError(SystemError("cut a file in memory"))
        }
        self.bytes = bytes
    }

    /// Makes the bytes final.
    ///
    /// - Returns: A descriptor that reads them; with it they disappear.
    consuming func seal() throws(AttachmentError) -> Descriptor {
        guard csandbox_seal_memory_file(file.number) == 0 else {
            throw AttachmentError(SystemError("seal a file in memory"))
        }
        do { return try Files.reopenForReading(file) } catch { throw AttachmentError(error) }
    }
}
