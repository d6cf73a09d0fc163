import Postgres
import SatchelCore

@testable import Stores

/// An engine that writes at once, and says so only after a while.
struct LateEngine: RecordEngine {
    let engine: any RecordEngine
    let delay: Duration

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StatementSender, Instant) throws -> Written<Value>
    ) async throws -> Value {
        let value = try await engine.write(body)
        try await Task.sleep(for: delay)
        return value
    }

    // What follows answers as it does.

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StatementSender, Instant) throws -> Value
    ) async throws -> Value {
        try await engine.read(body)
    }

    func look<Value: Sendable>(
        _ statement: @escaping @Sendable (Instant?) throws -> Statement,
        _ answer: @escaping @Sendable (RecordRows) throws -> Value
    ) async throws -> Value {
        try await engine.look(statement, answer)
    }

    func send<Value: Sendable>(
        _ statements: @escaping @Sendable (Instant?) throws -> [Statement],
        _ answer: @escaping @Sendable ([RecordRows]) throws -> Value
    ) async throws -> Value {
        try await engine.send(statements, answer)
    }

    var node: any StoreNode { engine.node }
    var hasOneWriter: Bool { engine.hasOneWriter }
    var time: Instant { engine.time }
    func clock(_ value: String) -> String { engine.clock(value) }
    var machineTime: Instant? { engine.machineTime }
    func sum(of column: String) -> String { engine.sum(of: column) }
    var revocations: UInt64? { engine.revocations }
    var pace: QueuePace { engine.pace }
    func committed(_ waste: RecordTransaction.Waste) { engine.committed(waste) }
    func forgetEndedNodes() async throws { try await engine.forgetEndedNodes() }
    var cluster: PostgresEngine? { engine.cluster }
    func guarding(_ blobs: any BlobStore) -> any BlobStore { engine.guarding(blobs) }
}
