import Dispatch

/// Calls that wait for a disk or a name server, beside the threads of Swift's tasks, which must not block.
package enum BlockingWork {
    private static let queue = DispatchQueue(label: "satchel.blocking", attributes: .concurrent)

    /// Runs `body` on a thread that may block. The task's cancellation doesn't end it.
    package static func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            queue.async {
                do throws(Failure) {
                    continuation.resume(returning: .success(try body()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }
}
