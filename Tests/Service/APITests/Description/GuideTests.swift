import SatchelCore
import Crypto
import Foundation
import TestSupport
import Testing

@testable import API
@testable import Stores

/// The programs of the guides, as they are shown and by the interpreters that people have.
@Suite(.timeLimit(.minutes(5))) struct GuideTests {
    /// A file from the page, in a directory of its own.
    private func program(_ name: String, of page: String = DocumentationPage.current) throws -> URL {
        let shown = try #require(
            page.firstMatch(
                of: try Regex("<code>\(name)</code></h4>\\n<pre[^>]*>[^<]*</pre>\\n<pre[^>]*>([^<]*)</pre>")),
            "it isn't shown")
        let text = try #require(shown.output[1].substring)
            .replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&quot;", with: "\"")
            .replacing("&#39;", with: "'").replacing("&amp;", with: "&")
        let directory = FileManager.default.temporaryDirectory.appending(path: "guide-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: directory.appending(path: name))
        return directory.appending(path: name)
    }

    /// Runs a program as its line of a guide says.
    private func run(
        _ name: String, _ arguments: [String], _ live: LiveService, as role: AccessRole = .submit
    ) async throws -> ProgramResult {
        let file = try program(name)
        defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
        var tool = Program.tool(name.hasSuffix(".py") ? "python3" : "sh")
        tool.directory = file.deletingLastPathComponent()
        tool.environment["SATCHEL_URL"] = "http://127.0.0.1:\(live.port)"
        tool.environment["SATCHEL_KEY"] = try #require(live.keys[role]).secretText
        return try await tool.start([name] + arguments).end()
    }

    private func sample(_ name: String) -> String { Repository.media.appending(path: name).path(percentEncoded: false) }

    @Test func `a receiver believes what the service signed, once, and nothing else`() async throws {
        try await LiveService.run {
            $0.worker = .codec
        } _: { live in
            let secret = try #require(try await live.store.webhookSecrets(of: live.tenant).first?.secret).text
            let port = try FreePort.find()
            let file = try program("receive_callbacks.py")
            defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
            var tool = Program.tool("python3")
            tool.environment["WEBHOOK_SECRET"] = "whsec_\(Data("another".utf8).base64EncodedString()) \(secret)"
            let receiver = try tool.start([file.path(percentEncoded: false), "\(port)"])
            let url = "http://127.0.0.1:\(port)/"
            func post(_ headers: [String] = []) throws -> String {
                try Program.tool("curl").run(
                    ["-s", "-o", "/dev/null", "-w", "%{http_code}", "-d", "{\"type\": \"forged\", \"data\": {}}", url]
                        + headers.flatMap { ["-H", $0] }
                ).outputText
            }
            try await eventually("it listens") { try post() == "401" }
            let body = try Data(contentsOf: Repository.media.appending(path: "png/alpha.png"))
            let sent = try await live.send(
                .put, "/v1/jobs/called?callback=\(url)", ["Prefer": "wait=20"], body: body, as: .submit)
            #expect(sent.status == 200, "\(sent.text)")
            try await eventually("it was called") {
                try receiver.outputSoFar.contains("job.finished called delivered\n")
            }
            let now = Int(Date().timeIntervalSince1970)
            let forged = ["webhook-id: x", "webhook-timestamp: \(now)", "webhook-signature: v1,AAAA v1,\u{00E9}"]
            #expect(try post(forged) == "401")
            let key = SymmetricKey(data: try #require(Data(base64Encoded: String(secret.dropFirst(6)))))
            func signed(_ id: String, at time: Int) -> [String] {
                let text = "\(id).\(time).{\"type\": \"forged\", \"data\": {}}"
                let signature = Data(HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key))
                    .base64EncodedString()
                return ["webhook-id: \(id)", "webhook-timestamp: \(time)", "webhook-signature: v1,\(signature)"]
            }
            #expect(try post(signed("a", at: now - 400)) == "401", "it is too old")
            #expect(try post(signed("a", at: now)) == "204" && post(signed("a", at: now)) == "204")
            #expect(try receiver.outputSoFar.split(separator: "\n").filter { $0.hasPrefix("forged") }.count == 1)
        }
    }

    @Test func `a file is submitted once, however often its program is run`() async throws {
        try await LiveService.run {
            $0.worker = .codec
        } _: { live in
            let first = try await run("submit_once.sh", [sample("png/alpha.png"), "message-1"], live)
            #expect(first.status == 0 && first.outputText.hasPrefix("\"id\""), "\(first.errorText)")
            let again = try await run("submit_once.sh", [sample("png/alpha.png"), "message-1"], live)
            #expect(again.outputText == first.outputText)
            let other = try await run("submit_once.sh", [sample("png/alpha.png"), "message-2"], live)
            #expect(other.status == 0 && other.outputText != first.outputText)
            let changed = try await run("submit_once.sh", [sample("trouble/binary.dat"), "message-1"], live)
            #expect(changed.status == 1 && changed.errorText.contains("idempotency"), "\(changed.errorText)")
        }
    }

    @Test func `what became of a file is said in one line, and so is a call that was refused`() async throws {
        try await LiveService.run {
            $0.worker = .codec
        } _: { live in
            let delivered = try await run("read_errors.py", [sample("png/alpha.png")], live)
            #expect(delivered.outputText.hasPrefix("delivered: main"), "\(delivered.errorText)")
            let failed = try await run("read_errors.py", [sample("trouble/binary.dat")], live)
            #expect(failed.status == 0 && failed.outputText.contains("unrecognized_type: "), "\(failed.outputText)")
            let refused = try await run("read_errors.py", [sample("png/alpha.png")], live, as: .read)
            #expect(refused.status == 1 && refused.errorText.hasPrefix("403 forbidden: "), "\(refused.errorText)")
        }
    }

    @Test func `each guide has its place on the page, and its program has its own`() {
        #expect(Guide.all.count >= 4 && Guide.all.allSatisfy { !$0.examples.isEmpty })
        for guide in Guide.all {
            #expect(DocumentationPage.current.contains("<section class=\"call\" id=\"\(guide.anchor)\">"))
            for example in guide.examples { #expect(example.command.contains(example.name)) }
        }
    }
}
