package import SatchelCore
package import Platform
internal import Crypto
internal import Glibc

extension ScratchFile {
    /// Proves that no writer is left, checks the size and hashes.
    ///
    /// - Parameter isToBeProven: False where the file system can't tell; then the writers have to be dead.
    /// - Throws: `codec_crashed` where a writer is left, or the size is another.
    func closed(expecting bytes: Int64, provingIt isToBeProven: Bool = true) throws(AttachmentError) -> HashedFile {
        do {
            if isToBeProven { try Files.proveNoWriterIsLeft(reader) }
            let size = try Files.size(of: reader)
            guard size == bytes else {
                throw AttachmentError.codecCrashed(reason: "an output has \(size) bytes, not the \(bytes) reported")
            }
            let digest = try Files.digest(of: reader, expecting: bytes)
            guard digest.bytes == bytes else {
                throw AttachmentError.codecCrashed(reason: "an output changed from \(bytes) to \(digest.bytes) bytes")
            }
            return HashedFile(self, sha256: digest.sha256, bytes: bytes)
        } catch let error as SystemError {
            throw AttachmentError(error)
        } catch let error as AttachmentError {
            throw error
        } catch {
            throw .storeFailed(reason: "\(error)")
        }
    }
}

extension Files {
    /// `F_SETLEASE` of Linux: `F_LINUX_SPECIFIC_BASE`.
    private static let setLease: Int32 = 1024

    /// A read lease is granted only while nobody has the file open for writing, or mapped so.
    static func proveNoWriterIsLeft(_ reader: borrowing Descriptor) throws {
        for attempt in 0... {
            if fcntl(reader.number, setLease, Int32(F_RDLCK)) == 0 {
                // Given back at once: it has proven what it can, and a held lease would be broken by a signal.
                guard fcntl(reader.number, setLease, Int32(F_UNLCK)) == 0 else {
                    throw SystemError("give back a read lease")
                }
                return
            }
            guard errno == EAGAIN else { throw SystemError("prove that an output is closed") }
            // A process that is being started holds copies of all descriptors until its exec: wait for that.
            guard attempt < 50 else {
                throw AttachmentError.codecCrashed(reason: "an output was still open for writing after its report")
            }
            usleep(2_000)
        }
    }

    /// Hash and number of all bytes of a file.
    ///
    /// - Parameter expected: About as many bytes as it has; a small file takes less memory to read.
    package static func digest(
        of file: borrowing Descriptor, expecting expected: Int64 = 1 << 20
    ) throws(SystemError) -> (sha256: String, bytes: Int64) {
        var hash = SHA256()
        var offset: Int64 = 0
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Int(min(max(expected, 1 << 12), 1 << 20)), alignment: 64)
        defer { unsafe buffer.deallocate() }
        while true {
            let count = unsafe pread(file.number, buffer.baseAddress, buffer.count, off_t(offset))
            if count == 0 { break }
            guard count > 0 else {
                if errno == EINTR { continue }
                throw SystemError("read a file")
            }
            unsafe hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            offset += Int64(count)
        }
        return (hash.finalize().hexadecimal, offset)
    }
}
