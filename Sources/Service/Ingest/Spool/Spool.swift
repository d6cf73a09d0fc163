public import SatchelCore
import CSandbox
import Crypto
import FoundationEssentials
import Glibc
import Platform
import SystemPackage

/// Where bytes that come over the network are written, on this machine, before anything keeps them: a directory of mode
/// 0700 with files of mode 0600, `<name>.part`.
public struct Spool: Sendable {
    private let path: String

    /// Opens the spool at `path`, which is made where it is missing; its parent must exist.
    ///
    /// - Throws: `store_failed`, `store_full`.
    public init(at path: String) throws(AttachmentError) {
        self.path = path
        do throws(SystemError) {
            let isNew = try Files.makeDirectory(FilePath(path))
            let directory = try Files.open(
                FilePath(path), .readOnly, [.directory, .noFollow], to: "open the spool '\(path)'")
            guard fchmod(directory.number, 0o700) == 0 else { throw SystemError("close the spool '\(path)' to others") }
            if isNew { try Files.syncDirectory(directory.path.appending("..")) }
        } catch {
            throw AttachmentError(error)
        }
    }

    /// A new, empty file.
    ///
    /// - Parameters:
    ///   - hashing: Whether the bytes are hashed as they are written, for a store that will keep them.
    ///   - expected: How many bytes will come at least, if known.
    ///   - writingBack: Whether the disk begins with the bytes while others still come, for a file that will be made
    ///     durable.
    /// - Throws: `store_failed`, `store_full`.
    public func create(
        hashing: Bool = false, expecting expected: Int64? = nil, writingBack: Bool = false
    ) throws(AttachmentError) -> SpoolFile {
        let name = FilePath(path).appending(UUID.version7().uuidString.lowercased() + ".part")
        do throws(SystemError) {
            let writer = try Files.open(
                name, .writeOnly, [.create, .exclusiveCreate, .noFollow], permissions: .ownerReadWrite,
                to: "create a file in the spool")
            let reader: Descriptor
            do throws(SystemError) {
                reader = try Files.open(name, .readOnly, to: "open a file of the spool")
            } catch {
                _ = try? Files.remove(name)
                throw error
            }
            // Held for as long as the file is open anywhere, so that a sweep knows what a killed process left.
            flock(reader.number, LOCK_SH | LOCK_NB)
            return SpoolFile(
                writer: writer, file: ScratchFile(reader: reader, path: name.string),
                hash: hashing ? SHA256() : nil, expected: expected ?? 0, writesBack: writingBack)
        } catch {
            throw AttachmentError(error)
        }
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
    private let expected: Int64
    private let writesBack: Bool
    /// Bytes that the disk was asked to write.
    private var writtenBack: Int64 = 0
    /// The sync of 4 MB in the end waits 0.8 ms instead of 5 where the disk began after each of these.
    private static let piece: Int64 = 1 << 20

    fileprivate init(
        writer: consuming Descriptor, file: ScratchFile, hash: SHA256?, expected: Int64, writesBack: Bool
    ) {
        self.writer = writer
        self.file = file
        self.hash = hash
        self.expected = expected
        self.writesBack = writesBack
    }

    /// Appends bytes. Blocks on the disk when its cache is full.
    ///
    /// - Throws: `store_failed`, `store_full`.
    public mutating func write(_ data: UnsafeRawBufferPointer) throws(AttachmentError) {
        do { unsafe try Files.write(data, to: writer, to: "write to the spool") } catch {
            throw error.isOutOfSpace
                ? .scratchFull(needed: max(bytes + Int64(data.count), expected)) : AttachmentError(error)
        }
        bytes += Int64(data.count)
        unsafe hash?.update(bufferPointer: data)
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
