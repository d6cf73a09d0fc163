public import SatchelCore
import Glibc
import Platform
import Synchronization

/// Tells that something came or changed in directories, without saying what: whoever is told looks again.
///
/// What the kernel doesn't tell of, as on network file systems and where there are more directories than it watches for
/// one user (`fs.inotify.max_user_watches`), is found when the caller looks again by itself.
public final class DirectoryWatch: Sendable {
    private let notifications: Descriptor
    private let isWhole = Mutex(true)

    /// A file is whole, or its name is new; a directory is new.
    private static let events = UInt32(IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_ATTRIB | IN_ONLYDIR)

    /// - Throws: Where the system has no more watches for this user.
    public init() throws(SystemError) {
        let number = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard number >= 0 else { throw SystemError("watch directories") }
        notifications = Descriptor(owning: number)
    }

    /// Whether every directory that was added is watched.
    public var seesAll: Bool { isWhole.withLock(\.self) }

    /// Watches a directory, but not what lies deeper. Once more for the same one changes nothing.
    public func add(_ directory: borrowing Descriptor) {
        // By its descriptor, so that it is the one that was opened, whatever its path leads to now.
        let status = unsafe inotify_add_watch(
            notifications.number, "/proc/self/fd/\(directory.number)", Self.events)
        if status < 0 { isWhole.withLock { $0 = false } }
    }

    /// Waits until something has changed since the last call, or the time is up.
    ///
    /// - Returns: Whether something changed.
    public func wait(until moment: ContinuousClock.Instant) async throws(CancellationError) -> Bool {
        let outcome = await Readiness.shared.wait(for: notifications.number, until: moment)
        if outcome == .cancelled { throw CancellationError() }
        forget()
        return outcome == .ready
    }

    /// What has happened is no news any more.
    private func forget() {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while unsafe read(notifications.number, &buffer, buffer.count) > 0 {}
    }
}
