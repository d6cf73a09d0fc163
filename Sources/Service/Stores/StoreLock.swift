internal import SatchelCore
internal import SystemPackage
internal import Platform
internal import Glibc

/// The lock that tells whether somebody uses the store. The kernel drops it with the process.
final class StoreLock: Sendable {
    /// How long to wait for a process that has the store to itself.
    static let patience = 30

    private let descriptor: Descriptor
    let isExclusive: Bool

    init(of directory: FilePath, exclusively: Bool) throws(StoreError) {
        do {
            descriptor = try Files.open(
                directory.appending("lock"), .readWrite, [.create, .noFollow], permissions: .ownerReadWrite,
                to: "open the store's lock")
            // A process that is just being started holds copies of all locks until its exec: wait for that.
            for _ in 0..<(exclusively ? 50 : 0) {
                if flock(descriptor.number, LOCK_EX | LOCK_NB) == 0 {
                    isExclusive = true
                    return
                }
                usleep(2_000)
            }
            isExclusive = false
            for _ in 0..<Self.patience * 20 {
                if flock(descriptor.number, LOCK_SH | LOCK_NB) == 0 { return }
                guard errno == EWOULDBLOCK || errno == EINTR else { throw SystemError("lock the store") }
                usleep(50_000)
            }
        } catch {
            throw StoreError(error, at: directory.string)
        }
        throw .busy(path: directory.string, seconds: Self.patience)
    }
}
