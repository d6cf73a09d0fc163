public import Attachments
import CSandbox
import Crypto
import FoundationEssentials
import Glibc
import Platform

/// Where bytes that came over the network become durable before anything refers to them.
///
/// A directory of mode 0700 with files of mode 0600. A file is written as `<name>.part`, and has its name only once it
/// is whole: its bytes are on the disk then, and soon the name, unless what it holds can be had again.
public struct Spool: Sendable {
    /// What a crash leaves of a file that was never committed.
    private static let unfinished = ".part"

    private let directory: SharedDescriptor

    /// Opens the spool at `path`, which is made where it is missing; its parent must exist.
    ///
    /// - Throws: `store_failed`, `store_full`.
    public init(at path: String) throws(AttachmentError) {
        guard let cPath = CPath(path.utf8) else { throw .storeFailed(reason: "the spool's path holds a NUL") }
        let isNew = unsafe cPath.withPointer { unsafe mkdir($0, 0o700) } == 0
        guard isNew || errno == EEXIST else { throw Self.failure("make the spool '\(path)'") }
        let number = unsafe cPath.withPointer { unsafe Glibc.open($0, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
        guard number >= 0 else { throw Self.failure("open the spool '\(path)'") }
        directory = SharedDescriptor(Descriptor(owning: number))
        guard fchmod(number, 0o700) == 0 else { throw Self.failure("close the spool '\(path)' to others") }
        if isNew { try Self.syncParent(of: number) }
    }

    /// Makes the name of a directory durable.
    private static func syncParent(of directory: Int32) throws(AttachmentError) {
        let number = unsafe openat(directory, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { throw failure("open the directory of the spool") }
        let parent = Descriptor(owning: number)
        guard fsync(parent.number) == 0 else { throw failure("sync the directory of the spool") }
    }

    /// A new, empty file.
    ///
    /// - Parameters:
    ///   - hashing: Whether the bytes are hashed as they are written: see ``SpoolFile/sha256``.
    ///   - writingBack: Whether the disk begins with the bytes while others still come, for a file that will be committed
    ///     durably.
    /// - Throws: `store_failed`, `store_full`.
    public func create(hashing: Bool = false, writingBack: Bool = false) throws(AttachmentError) -> SpoolFile {
        let name = UUID.version7().uuidString.lowercased()
        let number = unsafe try Self.withName(name + Self.unfinished) { path in
            unsafe openat(directory.number, path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        }
        guard number >= 0 else { throw Self.failure("create a file in the spool") }
        return SpoolFile(
            name: name, file: Descriptor(owning: number), spool: self, hash: hashing ? SHA256() : nil,
            writesBack: writingBack)
    }

    /// Opens a committed file for reading.
    ///
    /// - Throws: `not_in_store` where there is none of that name; `store_failed`.
    public func open(_ name: String) throws(AttachmentError) -> Descriptor {
        let number = unsafe try Self.withName(name) { path in
            unsafe openat(directory.number, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        }
        guard number >= 0 else {
            throw errno == ENOENT
                ? .notInStore(what: "The source's copy") : Self.failure("open a file of the spool")
        }
        return Descriptor(owning: number)
    }

    /// Removes a file; an unknown name is no error.
    ///
    /// - Throws: `store_failed`.
    public func remove(_ name: String) throws(AttachmentError) {
        let result = unsafe try Self.withName(name) { path in unsafe unlinkat(directory.number, path, 0) }
        guard result == 0 || errno == ENOENT else { throw Self.failure("remove a file of the spool") }
    }

    /// All files in the order of their names, for a sweep: those that no job refers to and that are older than any
    /// fetch may last can be removed.
    public func list() throws(AttachmentError) -> [SpoolEntry] {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        var entries: [SpoolEntry] = []
        let names: [[UInt8]]
        do {
            names = try directory.withDescriptor { descriptor throws(AttachmentError) in
                try DirectoryListing.names(of: descriptor)
            }
        } catch {
            throw .storeFailed(reason: error.description)
        }
        for bytes in names {
            let name = String(decoding: bytes, as: UTF8.self)
            var status = stat()
            // A file that another worker removed meanwhile is none.
            guard
                unsafe try Self.withName(name, { unsafe fstatat(directory.number, $0, &status, AT_SYMLINK_NOFOLLOW) })
                    == 0
            else { continue }
            let age =
                Duration.seconds(now.tv_sec - status.st_mtim.tv_sec)
                + .nanoseconds(now.tv_nsec - status.st_mtim.tv_nsec)
            entries.append(
                SpoolEntry(
                    name: name, bytes: Int64(status.st_size), age: max(age, .zero),
                    isCommitted: !name.hasSuffix(Self.unfinished)))
        }
        return entries
    }

    /// Gives a written file its name, durably or not. Blocks on the disk.
    fileprivate func commit(_ name: String, _ file: borrowing Descriptor, durably: Bool) throws(AttachmentError) {
        guard !durably || fsync(file.number) == 0 else { throw Self.failure("sync a file of the spool") }
        let result = unsafe try Self.withName(name + Self.unfinished) { old in
            guard let new = CPath(name.utf8) else { return Int32(-1) }
            return unsafe new.withPointer { unsafe renameat(directory.number, old, directory.number, $0) }
        }
        guard result == 0 else { throw Self.failure("name a file of the spool") }
        guard !durably || fsync(directory.number) == 0 else {
            // Whether the name would survive is unknown, so nothing may refer to it.
            let failure = Self.failure("sync the spool")
            try? remove(name)
            throw failure
        }
    }

    fileprivate func discard(_ name: String) {
        // A part that stays behind is swept by its age.
        try? remove(name + Self.unfinished)
    }

    /// Names are ours: anything else is refused, so that no name leads elsewhere.
    private static func withName<Result>(
        _ name: String, _ body: (UnsafePointer<CChar>) -> Result
    ) throws(AttachmentError) -> Result {
        guard let path = CPath(name.utf8), !name.isEmpty, !name.utf8.contains(UInt8(ascii: "/")), name != ".",
            name != ".."
        else { throw .storeFailed(reason: "'\(name)' is no name of the spool") }
        return unsafe path.withPointer(body)
    }

    fileprivate static func failure(_ action: String) -> AttachmentError {
        let error = SystemError(action)
        return error.isOutOfSpace ? .storeFull : .storeFailed(reason: error.description)
    }
}

/// A file of the spool, as a sweep sees it.
public struct SpoolEntry: Hashable, Sendable {
    public var name: String
    public var bytes: Int64
    /// Since it was last written.
    public var age: Duration
    /// False for what an interrupted fetch left.
    public var isCommitted: Bool
}

/// A spool file in the making. It disappears with its owner unless it is committed.
public struct SpoolFile: ~Copyable, Sendable {
    /// The name it will have.
    public let name: String
    private let file: Descriptor
    private let spool: Spool
    /// Bytes written so far.
    public private(set) var bytes: Int64 = 0
    private var isCommitted = false
    private var hash: SHA256?
    private let writesBack: Bool
    /// Bytes that the disk was asked to write.
    private var writtenBack: Int64 = 0
    /// The sync of 4 MB in the end waits 0.8 ms instead of 5 where the disk began after each of these.
    private static let piece: Int64 = 1 << 20

    fileprivate init(
        name: String, file: consuming Descriptor, spool: Spool, hash: SHA256?, writesBack: Bool
    ) {
        self.name = name
        self.file = file
        self.spool = spool
        self.hash = hash
        self.writesBack = writesBack
    }

    /// SHA-256 of what was written so far, lower-case hexadecimal; nil where the file isn't hashed. For
    /// ``AttachmentSubmission/sha256``.
    public var sha256: String? { hash?.finalize().hexadecimal }

    deinit {
        if !isCommitted { spool.discard(name) }
    }

    /// Appends bytes. Blocks on the disk when its cache is full.
    ///
    /// - Throws: `store_failed`, `store_full`.
    public mutating func write(_ data: UnsafeRawBufferPointer) throws(AttachmentError) {
        var rest = unsafe data[...]
        while unsafe !rest.isEmpty {
            let slice = unsafe UnsafeRawBufferPointer(rebasing: rest)
            let written = unsafe Glibc.write(file.number, slice.baseAddress, slice.count)
            if written < 0 {
                if errno == EINTR { continue }
                throw Spool.failure("write to the spool")
            }
            bytes += Int64(written)
            unsafe hash?.update(bufferPointer: UnsafeRawBufferPointer(rebasing: slice[..<written]))
            unsafe rest = rest.dropFirst(written)
        }
        if writesBack && bytes - writtenBack >= Self.piece {
            csandbox_begin_writeback(file.number, writtenBack, bytes - writtenBack)
            writtenBack = bytes
        }
    }

    /// Makes the bytes and then the name durable. Blocks on the disk.
    ///
    /// - Parameter durably: False for what need not outlive a power cut, because it can be had again.
    /// - Returns: The name to give to ``Spool/open(_:)``.
    /// - Throws: `store_failed`, `store_full`; then nothing is left of the file.
    public consuming func commit(durably: Bool = true) throws(AttachmentError) -> String {
        try spool.commit(name, file, durably: durably)
        isCommitted = true
        return name
    }
}

/// A descriptor with several owners, closed after the last.
private final class SharedDescriptor: Sendable {
    private let descriptor: Descriptor

    init(_ descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }

    var number: Int32 { descriptor.number }

    func withDescriptor<Result, Failure: Error>(
        _ body: (borrowing Descriptor) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(descriptor)
    }
}
