import Foundation
import ServiceTestSupport
import TestSupport
import Testing

/// `/docs` in Chromium, and what its guides say of a service at work.
@Suite(.needs(.chromium), .serialized, .timeLimit(.minutes(3))) struct DocumentationBrowserTests {
    @Test func `what files cost is read from the service's own metrics`() async throws {
        let harness = try ServiceHarness(.directory)
        let key = try await harness.makeKey("--role", "admin")
        let server = try await harness.serve(key: key)
        let base = server.url.absoluteString
        var python = Program.tool("python3")
        python.environment["SATCHEL_URL"] = base.hasSuffix("/") ? String(base.dropLast()) : base
        python.environment["SATCHEL_KEY"] = key
        let program = Repository.root.appending(path: "Sources/Service/API/Description/Guides/sizing.py").path(
            percentEncoded: false)
        let early = try await python.start([program, "50"]).end()
        #expect(early.status == 1 && early.errorText.contains("nothing can be computed"), "\(early.errorText)")
        let body = try Data(contentsOf: Repository.media.appending(path: "jpeg/coffee.jpg"))
        for number in 1...2 {
            let sent = try await server.send("PUT", "/v1/jobs/\(number)", ["Prefer": "wait=20"], body: body)
            #expect(sent.status == 200, "\(sent.text)")
        }
        let sized = try await python.start([program, "50"]).end()
        let line = try #require(
            sized.outputText.firstMatch(
                of:
                    #/per job: ([0-9.]+) ms of processor time, (\d+) MiB of codec memory, ([0-9.]+) kB stored\n50 jobs per second: (\d+) processors\n/#
            ),
            "\(sized.outputText) \(sized.errorText)")
        #expect(Double(line.1) ?? 0 > 1 && Double(line.3) ?? 0 > 1 && Int(line.4) ?? 0 >= 1)
        #expect(try await server.stop().status == 0)
    }

    @Test func `whoever looks for a word finds its places, and copies a program as it stands`() async throws {
        let harness = try ServiceHarness(.directory)
        let server = try await harness.serve()
        let browser = try await Browser.shared()
        try await browser.open("about:blank")
        _ = try await browser.consoleErrors() + browser.requests()
        try await browser.open(server.url.appending(path: "docs").absoluteString)
        try await browser.wait("document.querySelector('form:not([hidden]) #search')")
        let all: Int = try await browser.script("return document.querySelectorAll('main section').length")
        let visible = "[...document.querySelectorAll('main section')].filter(one => one.offsetParent)"
        #expect(try await browser.script("return \(visible).length") == all)
        try await browser.press("/")
        try await browser.press("webhook-timestamp")
        try await browser.wait("\(visible).length < 5 && document.getElementById('found').textContent")
        #expect(try await browser.script("return \(visible).map(one => one.id).includes('guide-callbacks')"))
        #expect(
            try await browser.script(
                "return [...document.querySelectorAll('h2')].filter(one => one.offsetParent).length < 3"),
            "nor are headings left without anything below")
        #expect(
            try await browser.script("return location.search") == "?q=webhook-timestamp", "it can be sent to somebody")
        // Where the clipboard can't be had the text is selected.
        try await browser.run(
            "navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }")
        try await browser.run("document.querySelectorAll('#guide-callbacks .copied button')[1].click()")
        try await browser.wait("window.copied")
        #expect(
            try await browser.script("return window.copied")
                == String(
                    contentsOf: Repository.root.appending(
                        path: "Sources/Service/API/Description/Guides/receive_callbacks.py"),
                    encoding: .utf8))
        #expect(try await browser.consoleErrors() == [])
        #expect(try await server.stop().status == 0)
    }
}
