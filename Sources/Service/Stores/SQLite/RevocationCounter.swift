internal import SatchelCore
internal import SystemPackage
internal import Platform
internal import Glibc
internal import Synchronization

/// A number that only rises, in a file of 8 bytes that every process of the store has mapped: reading it costs one load.
///
/// What it counts lasts no longer than the processes that cached something, so it needs no sync.
@safe final class RevocationCounter: Sendable {
    private nonisolated(unsafe) let count: UnsafeMutablePointer<Atomic<UInt64>>
    private static let length = MemoryLayout<UInt64>.size

    /// Maps the file at `path`, and makes it where there is none.
    init(path: FilePath) throws(SystemError) {
        let file = try Files.open(
            path, .readWrite, [.create, .noFollow], permissions: .ownerReadWrite, to: "open the count of revocations")
        // The kernel answers a write to a hole with SIGBUS if the disk is full.
        let code = posix_fallocate(file.number, 0, off_t(Self.length))
        guard code == 0 else { throw SystemError("make the count of revocations", code: code) }
        let address = unsafe mmap(nil, Self.length, PROT_READ | PROT_WRITE, MAP_SHARED, file.number, 0)
        guard let address = unsafe address, unsafe address != MAP_FAILED else {
            throw SystemError("map the count of revocations")
        }
        unsafe count = address.bindMemory(to: Atomic<UInt64>.self, capacity: 1)
    }

    deinit {
        unsafe munmap(count, Self.length)
    }

    var value: UInt64 { unsafe count.pointee.load(ordering: .acquiring) }

    func increment() {
        unsafe count.pointee.add(1, ordering: .acquiringAndReleasing)
    }
}
