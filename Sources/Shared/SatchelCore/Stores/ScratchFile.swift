import Glibc

/// A file on this machine that disappears with its last owner, unless a store takes it over.
public final class ScratchFile: Sendable {
    /// Read-only.
    public let reader: Descriptor
    /// Where it has a name; nil for one that the reader alone holds.
    public let path: String?

    /// Takes over the descriptor, and the name with it.
    public init(reader: consuming Descriptor, path: String? = nil) {
        self.reader = reader
        self.path = path
    }

    deinit {
        // Where a store took it, the name is gone. There is nobody to tell of a failure: a sweep comes by.
        if let path { unsafe unlink(path) }
    }
}

/// A file that nobody can write any more, with what a store wants to know of it.
public struct HashedFile: Sendable {
    public var file: ScratchFile
    /// Lower-case hexadecimal.
    public var sha256: String
    public var bytes: Int64

    public init(_ file: ScratchFile, sha256: String, bytes: Int64) {
        self.file = file
        self.sha256 = sha256
        self.bytes = bytes
    }
}
