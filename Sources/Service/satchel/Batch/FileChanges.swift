import SatchelCore
import Foundation
import Synchronization

/// Finds files of a tree that are new or changed, and that have been unchanged long enough to be complete.
final class FileChanges: Sendable {
    private struct State {
        /// Digests of the state of each processed file, by digests of paths, because there may be millions.
        var taken: [UInt64: UInt64] = [:]
        /// The time until the first file that is too young is old enough.
        var again: Duration?
    }

    private let settling: Duration
    private let now: @Sendable () -> Instant
    private let state = Mutex(State())

    /// - Parameter settling: How long a file must be unchanged.
    init(settling: Duration, now: @escaping @Sendable () -> Instant = Instant.wallClock) {
        self.settling = settling
        self.now = now
    }

    /// The time until a file that was too young is old enough; `nil` if there is none. Each call resets it.
    var again: Duration? {
        state.withLock { state in
            defer { state.again = nil }
            return state.again
        }
    }

    /// Returns whether to process an entry now, and remembers it.
    func take(_ entry: FoundEntry) -> Bool {
        let (path, facts): (Data, UInt64)
        switch entry {
        case .source(let file):
            guard case .file(_, _, let found) = file.location else { return true }
            (path, facts) = (file.identity, Self.digest(found))
            let age = now() - Instant(milliseconds: found.modified / 1_000_000)
            // A time far in the future means that the clocks differ, so the age is unknown.
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
