import SatchelCore
import Foundation
import Synchronization

/// What of a tree is new or changed since it was last looked at, and has been left alone for long enough to be whole.
final class FileChanges: Sendable {
    private struct State {
        /// By path, what was there when it was taken: digests, for a tree may have millions of files.
        var taken: [UInt64: UInt64] = [:]
        /// Until the first of those that are too young is old enough.
        var again: Duration?
    }

    private let settling: Duration
    private let now: @Sendable () -> Instant
    private let state = Mutex(State())

    /// - Parameter settling: Since its last change.
    init(settling: Duration, now: @escaping @Sendable () -> Instant = Instant.wallClock) {
        self.settling = settling
        self.now = now
    }

    /// Until something that was too young is worth another look; nil where nothing was. Begins anew with each call.
    var again: Duration? {
        state.withLock { state in
            defer { state.again = nil }
            return state.again
        }
    }

    /// Whether this is to be taken now; a second time it is no change.
    func take(_ entry: FoundEntry) -> Bool {
        let (path, facts): (Data, UInt64)
        switch entry {
        case .source(let file):
            guard case .file(_, _, let found) = file.location else { return true }
            (path, facts) = (file.identity, Self.digest(found))
            let age = now() - Instant(milliseconds: found.modified / 1_000_000)
            // A clock that differs from the file's says nothing of its age.
            if age < settling, age + settling > .zero {
                let left = max(settling - age, .milliseconds(10))
                state.withLock { $0.again = min($0.again ?? left, left) }
                return false
            }
        case .refused(let line):
            (path, facts) = (Data(line.shownPath.utf8), Self.digest(line.error?.message))
        }
        let key = Self.digest(path)
        return state.withLock { $0.taken.updateValue(facts, forKey: key) != facts }
    }

    private static func digest(_ value: some Hashable) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(value)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}
