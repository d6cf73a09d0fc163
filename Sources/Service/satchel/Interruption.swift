import Dispatch
import Glibc
import Synchronization

/// Turns SIGINT and SIGTERM into cancellation, so that what is underway is handed back; a second one ends at once.
enum Interruption {
    private static let response = Mutex<(@Sendable () -> Void)?>(nil)
    private static let asked = Atomic(false)

    /// Whether the first signal has come.
    static var wasAsked: Bool { asked.load(ordering: .relaxed) }

    /// What progress says from then on.
    static let stopping = "Stopping: what is underway is handed back. Ctrl-C again ends at once."

    /// From now on the first signal calls `body` instead of cancelling the command, which then ends by itself.
    static func responding(_ body: @escaping @Sendable () -> Void) {
        response.withLock { $0 = body }
    }

    static func cancelling(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let task = Task { try await body() }
        let sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                if asked.exchange(true, ordering: .relaxed) {
                    Console.abandonProgress()
                    _exit(130)
                }
                if let response = response.withLock({ $0 }) {
                    response()
                } else {
                    task.cancel()
                }
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
