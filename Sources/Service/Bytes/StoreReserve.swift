internal import SatchelCore
package import SystemPackage
internal import Platform
internal import Glibc

/// The file `reserve` of a store in a directory: space for commands that free space on a full disk.
package final class StoreReserve: Sendable {
    static let bytes: Int64 = 16 << 20
    private let file: Descriptor

    private static func path(in store: FilePath) -> FilePath { store.appending("reserve") }

    /// The bytes that a command uses now. Nothing else may use them.
    package static func missing(in store: FilePath) -> Int64 {
        guard let facts = try? Files.facts(of: path(in: store)) else { return 0 }
        return bytes - facts.bytes
    }

    /// Creates or completes the file if twice its size is free and no command uses it.
    package static func keep(in store: FilePath) {
        let path = path(in: store)
        guard (try? Files.facts(of: path))?.bytes != bytes,
            let free = try? Files.freeBytes(at: store), free > 2 * bytes,
            let file = try? Files.open(
                path, .readWrite, [.create, .noFollow], permissions: .ownerReadWrite, to: "make the reserve"),
            flock(file.number, LOCK_EX | LOCK_NB) == 0
        else { return }
        fill(file)
    }

    /// Empties the file for one process at a time. At the end of the value, the file is made as large as fits.
    ///
    /// - Returns: `nil` if there is no such file, or enough space without it.
    package init?(givenUpIn store: FilePath) {
        guard let free = try? Files.freeBytes(at: store), free < Self.bytes,
            let file = try? Files.open(Self.path(in: store), .readWrite, to: "open the reserve")
        else { return nil }
        while flock(file.number, LOCK_EX) != 0, errno == EINTR {}
        _ = ftruncate(file.number, 0)
        self.file = file
    }

    deinit { Self.fill(file) }

    private static func fill(_ file: borrowing Descriptor) {
        for size in stride(from: bytes, to: 0, by: -1 << 20) {
            if posix_fallocate(file.number, 0, off_t(size)) == 0 { return }
            _ = ftruncate(file.number, 0)
        }
    }
}
