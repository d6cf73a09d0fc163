internal import SatchelCore
internal import SystemPackage
internal import Platform
internal import Glibc

/// The lock that tells whether a process uses the store. The kernel drops it with the process.
final class StoreLock: Sendable {
    /// How long to wait for a process that has the store to itself.
    static let patience = 30

    private let descriptor: Descriptor
    private let directory: FilePath
    let isExclusive: Bool
    /// Whether the store is only read, because no file can be created in it.
    let isReadOnly: Bool

    init(of directory: FilePath, exclusively: Bool, isReadOnly: Bool = false) throws(StoreError) {
        let file: Descriptor
        do {
            file = try Self.openFile("lock", in: directory, isReadOnly: isReadOnly)
        } catch {
            throw StoreError(error, at: directory.string)
        }
        isExclusive = exclusively ? Self.takeAlone(file) : false
        if !isExclusive { try Self.wait(for: file, LOCK_SH, in: directory) }
        self.directory = directory
        self.isReadOnly = isReadOnly
        descriptor = file
    }

    /// Does something while no other process uses the store.
    ///
    /// - Throws: `inUse`; then this lock is lost.
    func alone<Value>(_ body: () throws -> Value) throws -> Value {
        if isExclusive { return try body() }
        guard Self.takeAlone(descriptor) else { throw StoreError.inUse(path: directory.string) }
        let value = try body()
        try Self.wait(for: descriptor, LOCK_SH, in: directory)
        return value
    }

    static func openFile(
        _ name: String, in directory: FilePath, isReadOnly: Bool
    ) throws(SystemError) -> Descriptor {
        try Files.open(
            directory.appending(name), isReadOnly ? .readOnly : .readWrite,
            isReadOnly ? .noFollow : [.create, .noFollow], permissions: .ownerReadWrite, to: "open the store's lock")
    }

    /// - Throws: `busy` after ``patience``.
    static func wait(
        for file: borrowing Descriptor, _ operation: Int32, in directory: FilePath
    ) throws(StoreError) {
        for _ in 0..<patience * 20 {
            if flock(file.number, operation | LOCK_NB) == 0 { return }
            guard errno == EWOULDBLOCK || errno == EINTR else {
                throw StoreError(SystemError("lock the store"), at: directory.string)
            }
            usleep(50_000)
        }
        throw .busy(path: directory.string, seconds: patience)
    }

    private static func takeAlone(_ file: borrowing Descriptor) -> Bool {
        // A process that is just being started holds copies of all locks until its exec: wait for that.
        for _ in 0..<50 {
            if flock(file.number, LOCK_EX | LOCK_NB) == 0 { return true }
            usleep(2_000)
        }
        return false
    }
}
