package import SatchelCore
package import SystemPackage
internal import Platform
internal import Glibc

/// Lets whoever copies a store have everything stay where it is meanwhile: what would be removed is left to a sweep.
///
/// A lock on a file, which the kernel drops with the process. Removing comes after the commit of what made it possible:
/// who sees the lock free removes only what no record refers to that is copied afterwards.
package final class RemovalHold: Sendable {
    private let path: FilePath
    private let file: Descriptor

    /// Of Linux, which the headers tell only to whoever asks for them: locks of an open file, not of a process.
    private enum Command {
        static let look: Int32 = 36
        static let wait: Int32 = 38
    }

    package init(path: FilePath) throws(SystemError) {
        self.path = path
        file = try Self.open(path)
    }

    private static func open(_ path: FilePath) throws(SystemError) -> Descriptor {
        try Files.open(
            path, .readWrite, [.create, .noFollow], permissions: .ownerReadWrite, to: "open the lock '\(path)'")
    }

    private static var whole: Glibc.flock {
        var lock = Glibc.flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        return lock
    }

    /// Whether somebody has it, whatever the process. In doubt nothing is held: no copy can be made there either.
    var isHeld: Bool {
        var lock = Self.whole
        return unsafe fcntl(file.number, Command.look, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
    }

    /// Holds it until the value ends, one after the other.
    package func hold() throws(SystemError) -> Held {
        let holder = try Self.open(path)
        var lock = Self.whole
        while unsafe fcntl(holder.number, Command.wait, &lock) != 0 {
            guard errno == EINTR else { throw SystemError("hold files against removal") }
        }
        return Held(holder)
    }

    package final class Held: Sendable {
        private let descriptor: Descriptor

        fileprivate init(_ descriptor: consuming Descriptor) {
            self.descriptor = descriptor
        }
    }
}

extension RemovalHold? {
    /// Removes files, what isn't there included; none while somebody holds them, which leaves them to a sweep.
    func remove(_ paths: [FilePath]) async throws(AttachmentError) {
        guard !paths.isEmpty else { return }
        try await BlockingWork.files { () throws(SystemError) in
            if self?.isHeld ?? false { return }
            for path in paths { try Files.remove(path) }
        }
    }
}
