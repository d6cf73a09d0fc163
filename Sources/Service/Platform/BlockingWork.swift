import Dispatch
import Synchronization

/// Calls that wait for a disk or a name server, beside the threads of Swift's tasks, which must not block.
///
/// Each call has a thread of its own, up to 64. A concurrent queue would run as many calls as there are processors, and notice
/// once a second that all of them wait: on a slow disk each call would wait for seconds.
package enum BlockingWork {
    private static let mostThreads = 64
    private static let threads = Mutex<[BlockingThread]>([])

    /// A serial queue, which has a thread while it has something to do.
    private struct BlockingThread {
        let queue = DispatchQueue(label: "satchel.blocking")
        var calls = 0
    }

    /// Runs `body` on a thread that may block. The task's cancellation doesn't end it.
    package static func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let (index, queue) = threads.withLock { threads in
            let isNeeded = !threads.contains { $0.calls == 0 } && threads.count < mostThreads
            if isNeeded { threads.append(BlockingThread()) }
            let index = threads.indices.reduce(0) { threads[$1].calls < threads[$0].calls ? $1 : $0 }
            threads[index].calls += 1
            return (index, threads[index].queue)
        }
        let result = await withCheckedContinuation { continuation in
            queue.async {
                let result = Result(catching: body)
                threads.withLock { $0[index].calls -= 1 }
                continuation.resume(returning: result)
            }
        }
        return try result.get()
    }
}
