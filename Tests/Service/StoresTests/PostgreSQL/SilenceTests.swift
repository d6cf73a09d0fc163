import SatchelCore
import Foundation
import Postgres
import PostgresTestSupport
import SystemPackage
import TestSupport
import Testing

@testable import Stores

/// A server that stays connected and says nothing.
@Suite(.inCheck("waits for a silent server"), .timeLimit(.minutes(5))) struct SilenceTests {
    @Test func `reads fail after 3 s of silence and go on after it, and a slow statement is no silence`() async throws {
        let server = try PostgresServer()
        let database = try StoreDatabase(server.url(try server.makeDatabase()))
        try await Store.migrate(database)
        let home = try TemporaryDirectory(inMemory: true)
        let store = try await Store.open(
            database, keys: home.path + "/keys", scratch: home.path + "/scratch",
            bytes: .files(in: home.path + "/bytes"))
        await store.records.join(as: .all)
        let pool = try #require(store.records.engine.cluster?.pool)
        async let slow = pool.rows("SELECT pg_sleep(6)")
        let busyUntil = ContinuousClock.now + .seconds(5)
        while .now < busyUntil {
            _ = try await store.records.now()
            try await Task.sleep(for: .milliseconds(50))
        }
        #expect(try await slow.count == 1)

        try server.pause()
        let began = ContinuousClock.now
        // The first read waits for its answer; the others find out at once.
        for _ in 0..<3 {
            await #expect(throws: PostgresError.self) { _ = try await pool.rows("SELECT 1", within: .seconds(200)) }
        }
        #expect(.now - began < .seconds(200), "no read waited for its own limit")
        try server.resume()
        try await eventually("reads work again", within: .seconds(120)) {
            (try? await store.records.now()) != nil
        }
        await store.records.retire()
    }
}
