public import SatchelCore
import CSandbox
public import FoundationEssentials
import Glibc

/// A directory that a person named, beneath which sources are opened in place.
///
/// Links in the directory's own path are followed, for the person chose it; beneath it none is.
public struct SourceRoot: ~Copyable, Sendable {
    /// The absolute path's bytes, free of links at the time of ``init(_:)``.
    public let path: Data
    private let descriptor: Descriptor

    /// Opens the directory at `path`, relative to the working directory unless it is absolute.
    ///
    /// - Throws: `invalid_source` where it is missing, no directory, or may not be searched.
    public init(_ path: Data) throws(AttachmentError) {
        guard let given = CPath(path), let canonical = Self.canonical(given) else {
            throw .invalidSource(reason: "there is no directory '\(path.displayPath)'")
        }
        guard let cPath = CPath(canonical) else { throw .invalidSource(reason: "its path contains a NUL") }
        let number = unsafe cPath.withPointer { unsafe Glibc.open($0, csandbox_path_only | O_DIRECTORY | O_CLOEXEC) }
        guard number >= 0 else {
            throw Self.refusal(SystemError("open '\(path.displayPath)'"))
        }
        self.path = canonical
        descriptor = Descriptor(owning: number)
    }

    /// Opens a regular file for reading, by its path relative to this directory.
    ///
    /// - Throws: `invalid_source` where a component is a link, the path leads out, or it is no regular file.
    public borrowing func open(_ relativePath: Data) throws(AttachmentError) -> SourceFile {
        // Opening a device can do things to it, so what it is gets settled by a descriptor that only names it.
        let found = try look(at: relativePath)
        guard case .file(let expected) = found else { throw .invalidSource(reason: found.clause) }
        let file = try openBeneath(relativePath, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        let opened = try Self.identify(file)
        guard case .file(let state) = opened, state.inode == expected.inode, state.device == expected.device else {
            throw .invalidSource(reason: "it was replaced while it was being opened")
        }
        return SourceFile(descriptor: file, state: state)
    }

    /// Removes a file that is still what it was. One that is gone is no error: somebody else was to remove it too.
    ///
    /// - Throws: `invalid_source` where it changed, or may not be removed.
    public borrowing func remove(_ relativePath: Data, in state: FileState) throws(AttachmentError) {
        let found: FileKind
        do {
            found = try look(at: relativePath)
        } catch {
            if error == Self.missing { return }
            throw error
        }
        guard case .file(state) = found else { throw .invalidSource(reason: "it changed after it was found") }
        let slash = relativePath.lastIndex(of: UInt8(ascii: "/"))
        let parent = slash.map { Data(relativePath[..<$0]) } ?? Data()
        let directory = try openDirectory(parent)
        guard let name = CPath(slash.map { relativePath[relativePath.index(after: $0)...] } ?? relativePath[...]) else {
            throw .invalidSource(reason: "its path contains a NUL")
        }
        let removed = unsafe name.withPointer { unsafe unlinkat(directory.number, $0, 0) }
        guard removed == 0 || errno == ENOENT else {
            throw Self.refusal(SystemError("remove '\(relativePath.displayPath)'"))
        }
    }

    /// What lies at a path beneath this directory, without opening it.
    borrowing func look(at relativePath: Data) throws(AttachmentError) -> FileKind {
        try Self.identify(openBeneath(relativePath, flags: csandbox_path_only | O_NOFOLLOW | O_CLOEXEC))
    }

    /// - Parameter relativePath: Empty for the directory itself.
    borrowing func openDirectory(_ relativePath: Data) throws(AttachmentError) -> Descriptor {
        try openBeneath(
            relativePath.isEmpty ? Data(".".utf8) : relativePath, flags: O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        )
    }

    private borrowing func openBeneath(_ path: Data, flags: Int32) throws(AttachmentError) -> Descriptor {
        guard let cPath = CPath(path) else { throw .invalidSource(reason: "its path contains a NUL") }
        let root = descriptor.number
        let number = unsafe cPath.withPointer { unsafe csandbox_open_beneath(root, $0, flags) }
        guard number >= 0 else { throw Self.refusal(SystemError("open '\(path.displayPath)'")) }
        return Descriptor(owning: number)
    }

    private static func identify(_ descriptor: borrowing Descriptor) throws(AttachmentError) -> FileKind {
        var status = stat()
        guard unsafe fstat(descriptor.number, &status) == 0 else { throw refusal(SystemError("look at a file")) }
        return FileKind(status)
    }

    private static func canonical(_ path: CPath) -> Data? {
        unsafe path.withPointer { pointer in
            guard let resolved = unsafe realpath(pointer, nil) else { return nil }
            defer { unsafe free(resolved) }
            return unsafe Data(bytes: resolved, count: strlen(resolved))
        }
    }

    private static let missing = AttachmentError.invalidSource(reason: "there is no such file")

    private static func refusal(_ error: SystemError) -> AttachmentError {
        switch error.code {
        case ENOENT: missing
        case ENOTDIR: .invalidSource(reason: "part of its path is not a directory")
        case ELOOP: .invalidSource(reason: "its path contains a symbolic link")
        case EXDEV: .invalidSource(reason: "it is outside its directory")
        case EACCES, EPERM: .invalidSource(reason: "permission denied")
        case ENAMETOOLONG: .invalidSource(reason: "its path is too long")
        case ENOSYS: .invalidSource(reason: "this kernel has no openat2; use Linux 5.6 or newer")
        case _ where error.isShortage: .outOfResources(reason: error.description)
        default: .invalidSource(reason: "the system \(error)")
        }
    }
}

/// A source that was opened in place, read-only.
public struct SourceFile: ~Copyable, Sendable {
    private let descriptor: Descriptor
    /// As it was when it was opened.
    public let state: FileState

    init(descriptor: consuming Descriptor, state: FileState) {
        self.descriptor = descriptor
        self.state = state
    }

    /// Opens a file again that was found before.
    ///
    /// - Parameters:
    ///   - root: The directory that a person named; links in it are followed.
    ///   - path: Relative to `root`; links in it are refused.
    /// - Throws: `invalid_source` where it is not what it was: another inode, size or modification time.
    public static func open(
        root: Data, path: Data, expecting state: FileState
    ) throws(AttachmentError) -> SourceFile {
        let file = try SourceRoot(root).open(path)
        guard file.state == state else { throw .invalidSource(reason: "it changed after it was found") }
        return file
    }

    /// Gives the open descriptor to its next owner.
    public consuming func takeDescriptor() -> Descriptor {
        descriptor
    }
}
