import Foundation
import Glibc
import ServiceTestSupport
import TestSupport
import Testing

/// Firings of two services on one store, one of which is killed.
@Suite(.timeLimit(.minutes(5))) struct FiringTests {
    @Test(.hasCases(for: .ceph), arguments: StoreKind.allCases)
    func `whenever it is killed, each instant fires once, and whoever pulls the list sees each`(
        kind: StoreKind
    ) async throws {
        let harness = try ServiceHarness(kind)
        let origin = try await LocalOrigin { request in
            request.method == "POST"
                ? LocalOrigin.Answer(status: 204) : try await LocalOrigin.photographs(request)
        }
        let key = try await harness.makeKey("--role", "admin")
        func serve() async throws -> ServiceProcess {
            try await harness.serve("--callback-allow", "127.0.0.1", "--fetch-allow", "127.0.0.1", key: key)
        }
        var server = try await serve()
        // Which fires as well.
        let other = try await serve()
        let count = 24
        for number in 0..<count {
            var body: [String: Any] = [
                "payload": ["aps": ["alert": "\(number)"], "my-attachment": origin.url("/\(number % 4).jpg")],
                "trigger": ["type": "interval", "seconds": 1 + Double(number) * 0.1],
            ]
            if number % 2 == 0 { body["handover"] = ["url": origin.url("/hook")] }
            let put = try await server.send(
                "PUT", "/v1/notifications/n\(number)", ["Content-Type": "application/json"],
                body: JSONSerialization.data(withJSONObject: body))
            try #require(put.status == 201, "\(put.text)")
        }
        var seen: [String] = []
        var cursor: String?
        /// What came since; nothing where the service is away.
        func pull(from server: borrowing ServiceProcess) async throws {
            let after = cursor.map { "?cursor=\($0)" } ?? ""
            guard let answer = try? await server.get("/v1/firings\(after)"), answer.status == 200 else { return }
            let page = try answer.json
            let firings = try #require(page["firings"] as? [[String: Any]])
            seen += try firings.map { try #require($0["notification"] as? String) }
            cursor = page["next"] as? String
        }
        var random = SeededGenerator()
        for _ in 0..<4 {
            try await Task.sleep(for: .milliseconds(Int.random(in: 100...700, using: &random)))
            try await pull(from: server)
            server.signal(SIGKILL)
            _ = try await server.program.end()
            server = try await serve()
        }
        let end = ContinuousClock.now + .seconds(60)
        while seen.count < count, .now < end {
            try await pull(from: server)
            try await Task.sleep(for: .milliseconds(50))
        }
        #expect(seen.sorted() == (0..<count).map { "n\($0)" }.sorted())
        var ids: Set<String> = []
        for number in 0..<count {
            let last = "/v1/notifications/n\(number)/firings/1"
            let firing = try await whenFound("the delivery of n\(number)", within: patience) {
                let firing = try await server.get(last).json
                return firing["state"] as? String == "delivered" ? firing : nil
            }
            #expect(try await server.get("/v1/notifications/n\(number)").json["state"] as? String == "done")
            #expect(try await server.get("/v1/notifications/n\(number)/firings/2").status == 404)
            if number % 2 == 0 { ids.insert(try #require(firing["id"] as? String)) }
        }
        // A handover comes at least once: each time the same message under the same id.
        let calls = Dictionary(grouping: origin.requests.filter { $0.method == "POST" }) {
            $0.headers["webhook-id"] ?? ""
        }
        #expect(Set(calls.keys) == ids)
        for (id, attempts) in calls { #expect(Set(attempts.map(\.body)).count == 1, "\(id)") }
        #expect(try await server.stop().status == 0)
        #expect(try await other.stop().status == 0)
    }
}
