import Foundation
import ServiceTestSupport
import TestSupport
import Testing

/// A preview that the service keeps, in Chromium.
@Suite(.needs(.chromium), .timeLimit(.minutes(5))) struct StoredPreviewTests {
    @Test func `whoever has its URL sees the picture and turns it, and nothing is asked of anybody else`() async throws
    {
        let harness = try ServiceHarness(.directory)
        let directory = Repository.media.appending(path: "notifications")
        let handler = try Program.tool("python3").start(
            ["-B", directory.appending(path: "handler.py").path(percentEncoded: false), "0"])
        defer { handler.process.terminate() }
        let url = try await whenFound("where the handler listens") { () -> String? in
            let line = try handler.outputSoFar
            return line.hasSuffix("\n") ? String(line.dropLast()) : nil
        }
        let origin = try await LocalOrigin(LocalOrigin.media)
        let key = try await harness.makeKey("--role", "admin")
        let server = try await harness.serve(
            "--callback-allow", "127.0.0.1", "--fetch-allow", "127.0.0.1", key: key)
        func send(_ method: String, _ path: String, _ body: [String: Any]) async throws -> [String: Any] {
            let reply = try await server.send(
                method, path, ["Content-Type": "application/json", "Prefer": "wait=20"],
                body: JSONSerialization.data(withJSONObject: body))
            try #require(reply.status == 201, "\(reply.text)")
            return try reply.json
        }
        func sample(_ name: String) throws -> [String: Any] {
            let file = try Data(contentsOf: directory.appending(path: name))
            return try #require(try JSONSerialization.jsonObject(with: file) as? [String: Any])
        }
        var category = try sample("red.json")
        category["responses"] = ["handler": ["url": url, "timeout": 5]]
        _ = try await send("PUT", "/v1/categories/red-category", category)
        _ = try await send(
            "PUT", "/v1/notifications/red",
            [
                "payload": try sample("red.push.json"), "trigger": ["type": "manual"],
                "attachments": [["identifier": "photo", "url": origin.url("/jpeg/coffee.jpg")]],
            ])
        let preview = try await send("POST", "/v1/notifications/red/previews", [:])
        let page = try #require(preview["url"] as? String)

        let browser = try await Browser.shared()
        // What another test left there is none of it.
        try await browser.open("about:blank")
        _ = try await (browser.requests(), browser.consoleErrors())
        try await browser.open(page)
        try await browser.wait("document.getElementById('phone') && document.readyState === 'complete'")
        try await browser.wait("document.querySelector('#stage img').naturalWidth > 0")
        for count in 1...2 {
            try await browser.click("[data-action=rotate-twenty-degrees-action]")
            try await browser.wait(
                "document.querySelector('.medium').style.transform === 'rotate(\(count * 20)deg)'")
        }
        let actions: [String] = try await browser.script(
            "return [...document.querySelectorAll('#actions button')].map(button => button.textContent)")
        #expect(actions == ["Rotate 20°", "Reset rotation"])
        #expect(try await browser.consoleErrors() == [])
        let address = try #require(URL(string: page))
        let home = address.deletingLastPathComponent().deletingLastPathComponent().absoluteString
        #expect(try await browser.requests().filter { !$0.hasPrefix(home) && !$0.hasPrefix("data:") } == [])
        let listed = try await server.get("/v1/responses").json
        #expect((listed["responses"] as? [[String: Any]])?.map { $0["preview"] as? Bool } == [true, true])
        #expect(try await server.stop().status == 0)
    }
}
