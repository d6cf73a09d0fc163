import SatchelCore
import ServiceTestSupport
import Testing

/// What the tests of the API stand on.
@Suite(.timeLimit(.minutes(10))) struct LiveServiceTests {
    @Test func `the service answers on a port of its own`() async throws {
        try await LiveService.run { live in
            let alive = try await live.send(.get, "/livez", key: nil)
            #expect(alive.status == 200)
            let nothing = try await live.send(.get, "/v1/nothing")
            #expect(nothing.status == 404)
        }
    }

    @Test func `the origin gives out the sample files and counts`() async throws {
        try await LocalOrigin.run { origin in
            let reply = try await Connection.open(to: origin.port) { connection in
                try await connection.send(connection.head(.get, "/manifest.json"))
                return try await connection.reply()
            }
            #expect(reply.status == 200 && origin.count(of: "/manifest.json") == 1)
            #expect(try reply.json["files"].array.count > 10)
        }
    }
}
