internal import Attachments
internal import FoundationEssentials
internal import Glibc

/// A new file without a name, to be filled by one and read by another.
final class ScratchCopy: Sendable {
    let writer: Descriptor

    /// Linux's `O_TMPFILE`, which isn't imported, as it is made of two others.
    private static let unnamed: Int32 = 0o20_000_000 | O_DIRECTORY

    init(in directory: String) throws(S3Error) {
        let number = unsafe Glibc.open(directory, Self.unnamed | O_RDWR | O_CLOEXEC, 0o600)
        if number >= 0 {
            writer = Descriptor(owning: number)
            return
        }
        // Where the file system has none without a name, one loses its name at once; what is cut off between the two ends
        // as files do that are being received, so that a sweep takes it.
        let path = directory + "/" + UUID().uuidString.lowercased() + ".part"
        let named = unsafe Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard named >= 0 else { throw .file(SystemError("make a file in '\(directory)'")) }
        writer = Descriptor(owning: named)
        guard unsafe unlink(path) == 0 else { throw .file(SystemError("take the name off a file in '\(directory)'")) }
    }

    /// The same file, for reading alone, from its beginning.
    func takeReader() throws(S3Error) -> Descriptor {
        let number = unsafe Glibc.open("/proc/self/fd/\(writer.number)", O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { throw .file(SystemError("open a source's copy")) }
        return Descriptor(owning: number)
    }
}
