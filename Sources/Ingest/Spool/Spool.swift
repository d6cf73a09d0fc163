public import Attachments
import CSandbox
import Crypto
import FoundationEssentials
import Glibc
import Platform

/// Where bytes that come over the network are written, on this machine, before anything keeps them: a directory of mode
/// 0700 with files of mode 0600, `<name>.part`.
public struct Spool: Sendable {
    private let path: String

    /// Opens the spool at `path`, which is made where it is missing; its parent must exist.
    ///
    /// - Throws: `store_failed`, `store_full`.
    public init(at path: String) throws(AttachmentError) {
        self.path = path
        let isNew = unsafe mkdir(path, 0o700) == 0
        guard isNew || errno == EEXIST else { throw Self.failure("make the spool '\(path)'") }
        let number = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard number >= 0 else { throw Self.failure("open the spool '\(path)'") }
        let directory = Descriptor(owning: number)
        guard fchmod(directory.number, 0o700) == 0 else { throw Self.failure("close the spool '\(path)' to others") }
        if isNew { try Self.syncParent(of: directory) }
    }

    /// Makes the name of a directory durable.
    private static func syncParent(of directory: borrowing Descriptor) throws(AttachmentError) {
        let number = unsafe openat(directory.number, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { throw failure("open the directory of the spool") }
        let parent = Descriptor(owning: number)
        guard fsync(parent.number) == 0 else { throw failure("sync the directory of the spool") }
    }

    /// A new, empty file.
    ///
    /// - Parameters:
    ///   - hashing: Whether the bytes are hashed as they are written, for a store that will keep them.
    ///   - writingBack: Whether the disk begins with the bytes while others still come, for a file that will be made
    ///     durable.
    /// - Throws: `store_failed`, `store_full`.
    public func create(hashing: Bool = false, writingBack: Bool = false) throws(AttachmentError) -> SpoolFile {
        let name = path + "/" + UUID.version7().uuidString.lowercased() + ".part"
        let number = unsafe Glibc.open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw Self.failure("create a file in the spool") }
        let writer = Descriptor(owning: number)
        let reader = unsafe Glibc.open(name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard reader >= 0 else {
            let failure = Self.failure("open a file of the spool")
            unsafe unlink(name)
            throw failure
        }
        return SpoolFile(
            writer: writer, file: ScratchFile(reader: Descriptor(owning: reader), path: name),
            hash: hashing ? SHA256() : nil, writesBack: writingBack)
    }

    fileprivate static func failure(_ action: String) -> AttachmentError {
        let error = SystemError(action)
        return error.isOutOfSpace ? .storeFull : .storeFailed(reason: error.description)
    }
}

/// A spool file in the making.
public struct SpoolFile: ~Copyable, Sendable {
    private let writer: Descriptor
    /// Disappears with its owner unless a store takes it.
    public let file: ScratchFile
    /// Bytes written so far.
    public private(set) var bytes: Int64 = 0
    private var hash: SHA256?
    private let writesBack: Bool
    /// Bytes that the disk was asked to write.
    private var writtenBack: Int64 = 0
    /// The sync of 4 MB in the end waits 0.8 ms instead of 5 where the disk began after each of these.
    private static let piece: Int64 = 1 << 20

    fileprivate init(writer: consuming Descriptor, file: ScratchFile, hash: SHA256?, writesBack: Bool) {
        self.writer = writer
        self.file = file
        self.hash = hash
        self.writesBack = writesBack
    }

    /// Appends bytes. Blocks on the disk when its cache is full.
    ///
    /// - Throws: `store_failed`, `store_full`.
    public mutating func write(_ data: UnsafeRawBufferPointer) throws(AttachmentError) {
        var rest = unsafe data[...]
        while unsafe !rest.isEmpty {
            let slice = unsafe UnsafeRawBufferPointer(rebasing: rest)
            let written = unsafe Glibc.write(writer.number, slice.baseAddress, slice.count)
            if written < 0 {
                if errno == EINTR { continue }
                throw Spool.failure("write to the spool")
            }
            bytes += Int64(written)
            unsafe hash?.update(bufferPointer: UnsafeRawBufferPointer(rebasing: slice[..<written]))
            unsafe rest = rest.dropFirst(written)
        }
        if writesBack && bytes - writtenBack >= Self.piece {
            csandbox_begin_writeback(writer.number, writtenBack, bytes - writtenBack)
            writtenBack = bytes
        }
    }

    /// The whole file, for a store: nobody can write it any more.
    ///
    /// - Precondition: It was hashed as it was written.
    public consuming func finish() -> HashedFile {
        guard let hash else { preconditionFailure("the file was not hashed") }
        return HashedFile(file, sha256: hash.finalize().hexadecimal, bytes: bytes)
    }
}
