package import SatchelCore
package import SystemPackage
internal import Platform
internal import Crypto
internal import Glibc
internal import Synchronization

/// Tells which workers of this machine live: each holds a lock on a file of its own in the store's `workers`
/// directory, and the kernel drops the lock with the process, however it ends.
package final class WorkerLocks: Sendable {
    private let directory: FilePath
    private let held = Mutex<[WorkerID: Held]>([:])

    /// Attempts at a lock that somebody looks at just now, a millisecond each.
    private static let patience = 500

    private struct Held: Sendable {
        let descriptor: Int32
        let path: FilePath
    }

    package init(directory: FilePath) {
        self.directory = directory
    }

    deinit {
        for held in held.withLock({ $0 }).values {
            // The name first: whoever opens it before sees the lock held.
            _ = try? Files.remove(held.path)
            _ = Descriptor(owning: held.descriptor)
        }
    }

    /// Marks a worker of this process as alive, until this value ends.
    package func register(_ worker: WorkerID) throws(AttachmentError) {
        do { try lock(worker) } catch { throw AttachmentError(error) }
    }

    private func lock(_ worker: WorkerID) throws(SystemError) {
        if held.withLock({ $0[worker] != nil }) { return }
        let path = path(of: worker)
        for _ in 0..<Self.patience {
            let file = try Files.open(
                path, .readWrite, [.create, .noFollow], permissions: .ownerReadWrite,
                to: "make the worker's lock '\(path)'")
            guard flock(file.number, LOCK_EX | LOCK_NB) == 0 else {
                // Another task registers the same worker, or a claim is just looking: both are over soon.
                guard errno == EWOULDBLOCK else { throw SystemError("lock '\(path)'") }
                if held.withLock({ $0[worker] != nil }) { return }
                usleep(1_000)
                continue
            }
            var status = stat()
            guard unsafe fstat(file.number, &status) == 0 else { throw SystemError("look at '\(path)'") }
            // Cleared away between the opening and the lock.
            if status.st_nlink == 0 { continue }
            let number = file.release()
            held.withLock { $0[worker] = Held(descriptor: number, path: path) }
            return
        }
        throw SystemError("start the worker '\(worker.rawValue)', which is already running", code: EBUSY)
    }

    /// Whether the process behind a worker lives. One that was never registered has ended.
    package func lives(_ worker: WorkerID) -> Bool {
        isLocked(path(of: worker))
    }

    private func isLocked(_ path: FilePath) -> Bool {
        do {
            let file = try Files.open(path, .readWrite, to: "look for a worker")
            guard flock(file.number, LOCK_EX | LOCK_NB) == 0 else { return true }
            try Files.remove(path)
            return false
        } catch {
            // In doubt its claims are left to run out.
            return error.code != ENOENT
        }
    }

    /// Removes what is known of workers that have ended.
    package func forgetEnded() throws(AttachmentError) {
        do throws(SystemError) {
            for name in try Files.names(in: directory) { _ = isLocked(directory.appending(name)) }
        } catch {
            throw AttachmentError(error)
        }
    }

    private func path(of worker: WorkerID) -> FilePath {
        let isPlain = worker.rawValue.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) || byte == UInt8(ascii: "-")
        }
        let name =
            isPlain && (1...64).contains(worker.rawValue.utf8.count)
            ? worker.rawValue
            : "sha256_" + SHA256.hash(data: Array(worker.rawValue.utf8)).hexadecimal
        return directory.appending(name)
    }
}
