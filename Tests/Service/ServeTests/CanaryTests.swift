import SatchelCore
import Foundation
import ServiceTestSupport
import Stores
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct CanaryTests {
    @Test func `no secret is in logs, files of the store, metrics or errors`() async throws {
        let harness = try ServiceHarness()
        let origin = try await LocalOrigin(LocalOrigin.photographs)
        let key = try await harness.makeKey("--role", "admin")
        let server = try await harness.serve(
            "--fetch-allow", "127.0.0.1", "--callback-allow", "127.0.0.1", "--log-level", "trace", "--set",
            "log.requests=true", key: key)
        var said = ""
        func ask(
            _ method: String, _ path: String, _ body: [String: Any]? = nil, key: String? = nil
        ) async throws -> ServiceAnswer {
            let answer = try await server.send(
                method, path, body == nil ? [:] : ["Content-Type": "application/json"],
                body: body.map { try JSONSerialization.data(withJSONObject: $0) }, key: key)
            if answer.status >= 400 { said += answer.text + "\n" }
            return answer
        }
        // Sources with secrets of every kind: user and password, query, headers; good ones and failing ones.
        let secrets = ["canary-user", "canary-password", "canary-query", "canary-header", "canary-callback"]
        func job(_ path: String) -> [String: Any] {
            let url = "http://canary-user:canary-password@127.0.0.1:\(origin.port)\(path)?token=canary-query"
            return [
                "attachments": [
                    ["identifier": "a", "url": url, "headers": ["X-Secret": "canary-header"]],
                    [
                        "identifier": "b", "url": "http://127.0.0.1:\(origin.port)\(path)?token=canary-query",
                        "headers": ["Authorization": "Bearer canary-header"],
                    ],
                ],
                "callback": ["url": origin.url("/hook?secret=canary-callback")],
            ]
        }
        var taken: [String] = []
        for (id, path) in [("good", "/a.jpg"), ("missing", "/status/404/a.jpg"), ("refused", "/status/500/a.jpg")] {
            let answer = try await ask("PUT", "/v1/jobs/\(id)", job(path))
            if answer.status == 202 { taken.append(id) }
        }
        // Credentials in a URL may be refused at the door; then the second kind alone.
        for (id, path) in [("good-2", "/b.jpg"), ("missing-2", "/status/404/b.jpg")] {
            var body = job(path)
            body["attachments"] = (body["attachments"] as? [Any]).map { Array($0.suffix(1)) }
            #expect(try await ask("PUT", "/v1/jobs/\(id)", body).status == 202)
            taken.append(id)
        }
        var tokens = [key]
        for id in taken {
            let finished = try await server.finished(id)
            let text = String(decoding: try JSONSerialization.data(withJSONObject: finished), as: UTF8.self)
            tokens += text.matches(of: /sat[lgn]_[0-9A-Za-z]+/).map { String($0.0) }
            for secret in secrets where finished["state"] as? String == "failed" {
                #expect(!text.contains(secret), "\(secret) is in \(text)")
            }
        }
        #expect(tokens.count > 1, "no job has URLs")
        // Access of every kind, used well and badly.
        let attachments = try #require(try await server.finished("good-2")["attachments"] as? [[String: Any]])
        let attachment = try #require(attachments.first?["id"] as? String)
        let granted = try await ask("POST", "/v1/attachments/\(attachment)/grants", ["ttl": 60])
        #expect(granted.status == 201, "\(granted.text)")
        let grant = try #require(granted.text.firstMatch(of: /satg_[0-9A-Za-z]+/).map { String($0.0) })
        tokens.append(grant)
        let leased = try await ask("POST", "/v1/leases", ["attachment_id": attachment, "ttl": 60], key: grant)
        let lease = try #require(leased.text.firstMatch(of: /satl_[0-9A-Za-z]+/).map { String($0.0) }, "\(leased.text)")
        tokens.append(lease)
        #expect(try await ask("GET", "/c/\(lease)/main.jpg").status == 200)
        for path in [
            "/c/\(lease)/nothing.jpg", "/c/\(lease)x/main.jpg", "/c/\(lease)", "/v1/leases/\(lease)", "/\(grant)",
        ] {
            _ = try await ask("GET", path)
        }
        _ = try await ask("GET", "/v1/jobs", key: grant)
        _ = try await ask("GET", "/v1/jobs", key: String(key.dropLast()) + (key.hasSuffix("0") ? "1" : "0"))
        _ = try await ask("POST", "/v1/leases", ["attachment_id": lease, "renditions": [key]])
        _ = try await ask("PUT", "/v1/jobs/bad", ["attachments": [["url": "http://canary-user:canary-password@"]]])
        let secret = try await harness.run("key", "callback-secret").outputText.trimmingCharacters(
            in: .whitespacesAndNewlines)
        #expect(secret.hasPrefix("whsec_"))
        tokens += [secret, String(secret.dropFirst("whsec_".count))]
        try await eventually("all callbacks are called") {
            origin.requests.count { $0.method == "POST" } >= taken.count
        }
        try await eventually("their end is recorded") {
            try await server.get("/metrics").text.contains("satchel_calls_pending 0")
        }
        let metrics = try await server.get("/metrics").text
        let logs = try server.program.outputSoFar + server.program.errorsSoFar
        #expect(logs.contains("\"job\"") && !said.isEmpty)
        for token in tokens {
            for (name, text) in [("logs", logs), ("metrics", metrics)] {
                #expect(!text.contains(token), "\(token.prefix(8))… is in the \(name)")
                // Neither is its secret half.
                #expect(!text.contains(token.suffix(30)), "the end of \(token.prefix(8))… is in the \(name)")
            }
            #expect(!said.contains(token), "\(token.prefix(8))… is in an error")
        }
        for secret in secrets {
            for (name, text) in [("logs", logs), ("metrics", metrics), ("errors", said)] {
                #expect(!text.contains(secret), "\(secret) is in the \(name)")
            }
        }
        // The files: while it runs (with the journal), and after its end.
        func search(_ place: String, _ needles: [String]) throws {
            let names = try #require(FileManager.default.enumerator(atPath: harness.store)).compactMap { $0 as? String }
            for name in names {
                guard let data = FileManager.default.contents(atPath: harness.store + "/" + name) else { continue }
                for needle in needles {
                    #expect(data.range(of: Data(needle.utf8)) == nil, "\(needle.prefix(12))… is in \(name) \(place)")
                }
            }
        }
        try search("while it runs", tokens + ["canary-header"])
        #expect(try await server.stop().status == 0)
        try search("after its end", tokens + ["canary-header"])
    }
}
