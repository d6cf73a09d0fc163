import SatchelCore
import Foundation
import ServiceTestSupport
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct KeyTests {
    private func list(_ harness: borrowing ServiceHarness) async throws -> [[String: Any]] {
        let result = try await harness.run("key", "list", "--format", "json")
        return try #require(try JSONSerialization.jsonObject(with: result.output) as? [[String: Any]])
    }

    @Test func `a key is shown once and can do what its roles say`() async throws {
        let harness = try ServiceHarness()
        let admin = try await harness.makeKey("--name", "admin", "--role", "admin")
        let reader = try await harness.makeKey("--name", "reader", "--role", "read", "--for", "90d")
        let keys = try await list(harness)
        #expect(keys.map { $0["name"] as? String } == ["reader", "admin"])
        #expect(keys[0]["roles"] as? [String] == ["read"] && keys[0]["expires_at"] is String)
        #expect(keys[1]["tenant"] as? String == "default" && keys[1]["expires_at"] is NSNull)
        for output in [
            try await harness.run("key", "list").outputText,
            try await harness.run("key", "list", "--format", "json").outputText,
        ] {
            #expect(!output.contains(admin) && !output.contains("satk_"))
        }
        let server = try await harness.serve(key: reader)
        #expect(try await server.accepts())
        #expect(try await server.get("/metrics").status == 403)
        #expect(try await server.get("/metrics", key: admin).status == 200)
    }

    @Test func `the help says of each role what it permits`() async throws {
        let harness = try ServiceHarness()
        let help = try await harness.run("key", "create", "--help").outputText.split(whereSeparator: \.isWhitespace)
            .joined(separator: " ")
        for role in AccessRole.allCases { #expect(help.contains("'\(role.rawValue)' \(role.permission)."), "\(help)") }
    }

    @Test func `what callbacks are signed with is rotated for one tenant, and what was stays good for a while`()
        async throws
    {
        let harness = try ServiceHarness()
        _ = try await harness.makeKey("--tenant", "acme")
        let shown = ["key", "callback-secret", "--tenant", "acme"]
        let satchel = harness.satchel
        let first = try satchel.run(shown).outputText
        #expect(first.hasPrefix("whsec_"))
        let second = try satchel.run(shown + ["--rotate", "--overlap", "1h"]).outputText
        #expect(try second.hasPrefix("whsec_") && second != first && satchel.run(shown).outputText == second)
        let other = try satchel.run(["key", "callback-secret"]).outputText
        #expect(other.hasPrefix("whsec_") && other != first && other != second)
        let alone = try satchel.run(shown + ["--overlap", "1h"])
        #expect(alone.status == 2 && alone.errorText.contains("--rotate"))
    }

    @Test func `a revoked key is good no more at once, a rotated one for as long as was said`() async throws {
        let harness = try ServiceHarness()
        let first = try await harness.makeKey("--name", "backend", "--role", "submit,read", "--tenant", "acme")
        let server = try await harness.serve(key: first)
        #expect(try await server.accepts())
        let id = try #require(try await list(harness)[0]["id"] as? String)
        let rotated = try await harness.run("key", "rotate", id, "--overlap", "1s", "--format", "json")
        let object = try #require(try JSONSerialization.jsonObject(with: rotated.output) as? [String: Any])
        let second = try #require(object["key"] as? String)
        #expect(object["tenant"] as? String == "acme" && object["name"] as? String == "backend")
        #expect(try await server.accepts())
        #expect(try await server.accepts(second))
        try await eventually("the old key ends") { try await !server.accepts() }
        let newID = try #require(object["id"] as? String)
        #expect(try await harness.run("key", "revoke", newID).status == 0)
        #expect(try await !server.accepts(second))
        #expect(try await harness.run("key", "revoke", newID).status == 0)
        let unknown = try await harness.run("key", "revoke", "0000000000000000000000")
        #expect(unknown.status == 4 && unknown.errorText.contains("satchel key list"))
    }
}
