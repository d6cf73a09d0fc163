import Dispatch
import Postgres
import TestSupport

extension PostgresPool {
    /// Does something while a transaction is open that has sent these statements.
    func holding<Value>(
        _ statements: [String], _ isolation: PostgresIsolation = .readCommitted, _ body: () async throws -> Value
    ) async throws -> Value {
        let (begun, end) = (Promise(), DispatchSemaphore(value: 0))
        async let transaction: Void = self.transaction(isolation) { transaction in
            for statement in statements { try transaction.run(statement) }
            begun.keep()
            end.wait()
            // This leaves room for another attempt.
            end.signal()
        }
        await begun.wait()
        let result: Result<Value, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        end.signal()
        try await transaction
        return try result.get()
    }
}

/// Something that is waited for until it is there.
final class Promise: Sendable {
    private let stream = AsyncStream.makeStream(of: Void.self)

    func keep() { stream.continuation.finish() }

    func wait() async { for await _ in stream.stream {} }
}
