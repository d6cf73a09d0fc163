import Dispatch
import Glibc

/// Turns SIGINT and SIGTERM into cancellation, so that what is underway is handed back; a second one ends at once.
enum Interruption {
    static func cancelling(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let task = Task { try await body() }
        let sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                if task.isCancelled { _exit(130) }
                task.cancel()
            }
            source.activate()
            return source
        }
        defer { for source in sources { source.cancel() } }
        do {
            try await task.value
        } catch  where task.isCancelled {
            throw CancellationError()
        }
    }
}
