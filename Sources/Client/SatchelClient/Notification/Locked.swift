import Foundation

/// A value that one thread at a time works on. `Mutex` would do, but isn't there before iOS 18.
final class Locked<Value>: Sendable {
    private let lock = NSLock()
    private nonisolated(unsafe) var value: Value

    init(_ value: sending Value) {
        unsafe self.value = value
    }

    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try unsafe body(&value)
    }
}
