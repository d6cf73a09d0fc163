package import SatchelCore
import Platform

/// Memory that is held beside codec processes.
package struct MemoryHold: ~Copyable, Sendable {
    fileprivate let bytes: Int64
    fileprivate let pool: CodecPool

    deinit {
        pool.ledger.granted(-bytes)
        pool.memory.release(bytes)
        pool.sourceMemory.release(bytes)
    }
}

extension CodecPool {
    /// Waits for memory that a source takes by itself, of what there is for all codecs: at most a quarter.
    ///
    /// Whoever waits for it holds at most a place, and whoever holds it waits at most for the memory of a process, for
    /// which enough stays free: so all come to an end.
    ///
    /// - Throws: `too_expensive` where there is never so much; `deadline_exceeded`.
    package func hold(
        _ bytes: Int64, patiently isPatient: Bool, until deadline: ContinuousClock.Instant?
    ) async throws(AttachmentError) -> MemoryHold {
        let started = ContinuousClock.now
        guard bytes <= configuration.sourceMemory else {
            throw .tooMuchMemory(needed: bytes, granted: configuration.sourceMemory)
        }
        guard await sourceMemory.acquire(bytes, until: deadline, patiently: isPatient) == .granted else {
            throw .deadlineExceeded(seconds: started.duration(to: .now).inSeconds)
        }
        guard await memory.acquire(bytes, until: deadline, patiently: isPatient) == .granted else {
            sourceMemory.release(bytes)
            throw .deadlineExceeded(seconds: started.duration(to: .now).inSeconds)
        }
        ledger.granted(bytes)
        return MemoryHold(bytes: bytes, pool: self)
    }
}
