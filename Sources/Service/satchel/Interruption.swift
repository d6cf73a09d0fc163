import Dispatch
import Glibc
import Synchronization

/// Turns SIGINT and SIGTERM into cancellation, so that unfinished jobs are handed back. A second signal exits immediately.
enum Interruption {
    private static let response = Mutex<(@Sendable () -> Void)?>(nil)
    private static let asked = Atomic(false)

    /// Whether the first signal was received.
    static var wasAsked: Bool { asked.load(ordering: .relaxed) }

    /// The progress line after the first signal.
    static let stopping = "Stopping: unfinished jobs stay pending. Press Ctrl-C again to quit now."

    /// Calls `body` on the first signal instead of cancelling the command.
    static func responding(_ body: @escaping @Sendable () -> Void) {
        response.withLock { $0 = body }
    }

    /// Calls `body` on each SIGHUP. On a terminal, which is closed then, SIGHUP ends the command as SIGTERM does.
    static func hangingUp(_ body: @escaping @Sendable () -> Void) {
        signal(SIGHUP, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGHUP, queue: .global())
        let isTerminal = Terminal.errors.isTerminal
        source.setEventHandler {
            withExtendedLifetime(source) { if isTerminal { kill(getpid(), SIGTERM) } else { body() } }
        }
        source.activate()
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
