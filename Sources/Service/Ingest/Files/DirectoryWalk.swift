public import SatchelCore
public import FoundationEssentials
import Glibc

/// What a walk came upon; paths are relative to its root.
public enum WalkEntry: Hashable, Sendable {
    /// A regular file that the filter wants.
    case file(path: Data, state: FileState)
    /// Something that is never opened.
    case skipped(path: Data, SkippedFile)
    /// A directory or name that could not be looked at; the walk goes on after it. `reason` is a clause.
    case unreadable(path: Data, reason: String)
}

/// Finds the regular files beneath a root, hidden ones too, one call at a time.
///
/// The order is that of the names' bytes within each directory, depth first, and the same every time. Links are
/// reported, never followed; a directory that is exchanged for a link while the walk runs is refused by the kernel.
/// Memory does not grow with the number of files: of a directory at most ``namesAtOnce`` names are held, and a larger
/// one is read again for the next ones. At most two descriptors are open.
public struct DirectoryWalk: ~Copyable, Sendable {
    /// Names of one directory held at once: about 6 MB for names of usual length.
    static let namesAtOnce = 65_536

    /// Opens what the walk finds.
    public let root: SourceRoot
    private let filter: PathFilter
    private let leftOut: Set<FileIdentity>
    private let watch: DirectoryWatch?
    private let namesAtOnce: Int
    private var levels: [Level]

    /// A walk over a directory, or over the one file that a person named.
    ///
    /// - Parameters:
    ///   - argument: A path as it was given, relative to the working directory unless it is absolute. A link to a
    ///     directory is followed here alone; a link to a file is reported as skipped. A file that is named directly
    ///     is found beneath its directory, and the filter isn't asked.
    ///   - leavingOut: Directories that are not entered wherever they lie, such as the store and the output; those
    ///     that don't exist yet are not recognized later.
    ///   - watch: Is to watch every directory that is entered, from before its names are read.
    /// - Throws: `invalid_source` where there is nothing of that name.
    public init(
        _ argument: Data, filter: PathFilter = PathFilter(), leavingOut: [Data] = [], watch: DirectoryWatch? = nil
    ) throws(AttachmentError) {
        try self.init(argument, filter: filter, leavingOut: leavingOut, watch: watch, namesAtOnce: Self.namesAtOnce)
    }

    init(
        _ argument: Data, filter: PathFilter, leavingOut: [Data], watch: DirectoryWatch? = nil, namesAtOnce: Int
    ) throws(AttachmentError) {
        precondition(namesAtOnce > 0, "a walk holds at least one name")
        self.watch = watch
        self.namesAtOnce = namesAtOnce
        leftOut = Set(leavingOut.compactMap(FileIdentity.init(directory:)))
        let isDirectory = FileIdentity(directory: argument) != nil
        let (parent, name) = isDirectory ? (argument, Data()) : Self.split(argument)
        self.filter = isDirectory ? filter : PathFilter()
        levels = [isDirectory ? Level(path: Data()) : Level(path: Data(), only: name)]
        root = try Self.open(parent, with: isDirectory ? nil : name)
    }

    /// The next entry; nil at the end.
    public mutating func next() -> WalkEntry? {
        while let deepest = levels.indices.last {
            // In place: a copy of the level would make each removal copy all names.
            guard let name = levels[deepest].pending.popLast() else {
                if let failure = moreNames() { return failure }
                continue
            }
            var path = levels[deepest].path
            if !path.isEmpty { path.append(UInt8(ascii: "/")) }
            path.append(contentsOf: name)
            if let entry = entry(at: path) { return entry }
        }
        return nil
    }

    /// What lies at `path`; nil where the filter doesn't want it or it is gone, and for a directory, which is walked
    /// next.
    private mutating func entry(at path: Data) -> WalkEntry? {
        do {
            switch try root.look(at: path) {
            case .file(let state):
                return filter.accepts(file: path) ? .file(path: path, state: state) : nil
            case .directory(let device, let inode):
                let identity = FileIdentity(device: device, inode: inode)
                if !leftOut.contains(identity), filter.enters(directory: path) { levels.append(Level(path: path)) }
                return nil
            case .other(let kind):
                return filter.accepts(file: path) ? .skipped(path: path, kind) : nil
            }
        } catch {
            guard case .invalidSource(let reason) = error else {
                return .unreadable(path: path, reason: error.message)
            }
            return .unreadable(path: path, reason: reason)
        }
    }

    /// Fetches the next names of the deepest directory, or leaves it; an entry where it can't be read.
    private mutating func moreNames() -> WalkEntry? {
        var level = levels.removeLast()
        guard !level.isExhausted else { return nil }
        do {
            let directory = try root.openDirectory(level.path)
            watch?.add(directory)
            let names = try DirectoryListing.names(
                of: directory, after: level.lastName, atMost: namesAtOnce)
            level.isExhausted = names.count < namesAtOnce
            level.lastName = names.last ?? level.lastName
            level.pending = names.reversed()
            levels.append(level)
            return nil
        } catch {
            guard case .invalidSource(let reason) = error else {
                return .unreadable(path: level.path, reason: error.message)
            }
            return .unreadable(path: level.path, reason: reason)
        }
    }

    /// Opens a root in which `name` exists.
    private static func open(_ path: Data, with name: Data?) throws(AttachmentError) -> SourceRoot {
        let root = try SourceRoot(path)
        if let name { _ = try root.look(at: name) }
        return root
    }

    /// The directory and the last component of a path.
    private static func split(_ path: Data) -> (parent: Data, name: Data) {
        let slash = UInt8(ascii: "/")
        guard let last = path.lastIndex(of: slash) else { return (Data(".".utf8), path) }
        let parent = path[..<last]
        return (parent.isEmpty ? Data([slash]) : Data(parent), Data(path[path.index(after: last)...]))
    }

    /// A directory on the way down.
    private struct Level {
        var path: Data
        /// The next names, the very next one last.
        var pending: [[UInt8]] = []
        /// The greatest name that was ever pending.
        var lastName: [UInt8]?
        var isExhausted = false

        init(path: Data) {
            self.path = path
        }

        init(path: Data, only name: Data) {
            self.path = path
            pending = [Array(name)]
            isExhausted = true
        }
    }
}

/// Tells one directory from another, whatever path leads to it.
private struct FileIdentity: Hashable {
    var device: UInt64
    var inode: UInt64

    init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }

    /// Nil where there is no directory.
    init?(directory path: Data) {
        guard let cPath = CPath(path) else { return nil }
        var status = stat()
        guard unsafe cPath.withPointer({ unsafe stat($0, &status) }) == 0,
            case .directory(let device, let inode) = FileKind(status)
        else { return nil }
        self.init(device: device, inode: inode)
    }
}
