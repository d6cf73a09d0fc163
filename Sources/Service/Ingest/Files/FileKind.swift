import SatchelCore
import Glibc

/// What a name in a directory stands for.
enum FileKind: Hashable {
    case file(FileState)
    case directory(device: UInt64, inode: UInt64)
    case other(SkippedFile)

    init(_ status: stat) {
        switch status.st_mode & S_IFMT {
        case S_IFREG: self = .file(FileState(status))
        case S_IFDIR: self = .directory(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
        case S_IFLNK: self = .other(.link)
        case S_IFIFO: self = .other(.pipe)
        case S_IFSOCK: self = .other(.socket)
        default: self = .other(.device)
        }
    }

    /// Why it is no source, as a clause.
    var clause: String {
        switch self {
        case .file: "it is a file"
        case .directory: "it is a directory"
        case .other(let kind): kind.clause
        }
    }
}

/// What is never opened, whoever names it.
public enum SkippedFile: String, Hashable, Sendable, CaseIterable {
    case link
    case device
    case pipe
    case socket

    /// Why it is passed over, as a clause: `it is a link`.
    public var clause: String {
        "it is a \(self == .pipe ? "named pipe" : rawValue)"
    }
}

extension FileState {
    init(_ status: stat) {
        // A file may claim any time; one past the year 2262 wraps around, which still tells states apart.
        self.init(
            inode: UInt64(status.st_ino), device: UInt64(status.st_dev), bytes: Int64(status.st_size),
            modified: Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec))
    }
}
