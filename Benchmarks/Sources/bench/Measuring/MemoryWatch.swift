import Foundation
import Glibc
import Synchronization

/// The peak of all processes beneath this one together, while something runs.
enum MemoryWatch {
    /// Looks every 20 ms, which costs time in this process and a little in those that are looked at: not for rounds
    /// that are timed.
    ///
    /// - Parameter services: Processes that ran before, and are counted with all beneath them. Nothing else that ran
    ///   before is.
    /// - Returns: What `body` returns, and bytes.
    static func peak<Result>(
        with services: [pid_t] = [], _ body: () throws -> Result
    ) rethrows -> (result: Result, bytes: Int64) {
        let this = getpid()
        let others = ProcessTree(of: this).processes
        let state = State()
        let watcher = Thread {
            while !state.isDone.load(ordering: .relaxed) {
                var tree = ProcessTree(of: this)
                tree.processes.subtract(others)
                for service in services { tree.processes.formUnion(ProcessTree(of: service).processes) }
                let bytes = tree.memory
                if bytes > state.peak.load(ordering: .relaxed) { state.peak.store(bytes, ordering: .relaxed) }
                usleep(20_000)
            }
            state.hasEnded.signal()
        }
        watcher.start()
        defer {
            state.isDone.store(true, ordering: .relaxed)
            state.hasEnded.wait()
        }
        let result = try body()
        return (result, state.peak.load(ordering: .relaxed))
    }

    private final class State: Sendable {
        let isDone = Atomic(false)
        let peak = Atomic<Int64>(0)
        let hasEnded = DispatchSemaphore(value: 0)
    }
}
