import SatchelCore
import Foundation
import PostgresTestSupport
import TestSupport
import Testing

@testable import Stores

/// Records in PostgreSQL behind a pooler in transaction mode, which has fewer connections than those who use it.
@Suite struct PoolerTests {
    @Test func `two nodes live behind a pooler that gives each transaction another connection`() async throws {
        let database = try RecordDatabase()
        let pooler = try PgBouncer(before: database.server, connections: 2)
        let memory = try StoreMemory()
        let clock = TestClock()
        let nodes = try (0..<2).map { _ in try database.open(bytesIn: memory, clock, behind: pooler) }
        // Nobody listens there.
        #expect(nodes.allSatisfy { $0.records.pace.work == .milliseconds(100) })
        let opened = try await withThrowingTaskGroup(of: String.self) { group in
            for index in 0..<12 {
                group.addTask {
                    let (store, other) = (nodes[index % 2], nodes[(index + 1) % 2])
                    let attachment = try await store.deliver([.main: "text \(index % 5)"])
                    _ = try await store.records.submit(.sample())
                    let claim = try #require(try await other.claimNext())
                    _ = try await other.records.heartbeat(claim, for: .seconds(60))
                    try await other.records.release(claim, after: .zero, countsAttempt: false)
                    let name = try #require(
                        try await other.records.blob(of: .main, of: attachment.id, tenant: .local))
                    defer { withExtendedLifetime(pooler) {} }
                    return try await other.text(of: name)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(opened) == Set((0..<5).map { "text \($0)" }))
        #expect(try await nodes[0].blobNames().count == 5)
        #expect(try await nodes[1].records.statistics().queues[.fetch]?.pending == 12)
        let connections = try database.server.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = '\(database.name)' AND pid <> pg_backend_pid()",
            in: database.name)
        #expect(try #require(connections[0][0].flatMap { Int($0) }) <= 2)
    }
}
