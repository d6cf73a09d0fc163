import Foundation
import ServiceTestSupport
import Synchronization
import TestSupport
import Testing

/// The console in Chromium, of a service that has something to show.
@Suite(.needs(.chromium), .serialized, .timeLimit(.minutes(5))) struct ConsoleBrowserTests {
    /// A service with jobs that were delivered and jobs that failed, and a browser that is signed in.
    private struct Console {
        var server: ServiceProcess
        var browser: Browser

        func open(_ path: String) async throws {
            try await browser.open(base + path)
            // The comment says which page it was that didn't come.
            try await browser.wait(
                "document.readyState === 'complete' && document.getElementById('main') /* \(path) */")
        }

        var base: String {
            let text = server.url.absoluteString
            return text.hasSuffix("/") ? String(text.dropLast()) : text
        }

        @discardableResult
        func send(_ method: String, _ path: String, _ body: [String: Any]) async throws -> [String: Any] {
            let reply = try await server.send(
                method, path, ["Content-Type": "application/json", "Prefer": "wait=20"],
                body: JSONSerialization.data(withJSONObject: body))
            try #require((200..<300).contains(reply.status), "\(reply.text)")
            return try reply.json
        }

        /// Submits a job with one attachment, and waits for its end.
        func job(_ url: String) async throws -> String {
            let job = try await send("POST", "/v1/jobs", ["attachments": [["url": url, "identifier": "photo"]]])
            return try #require(job["id"] as? String)
        }
    }

    private static func with(
        _ script: @escaping LocalOrigin.Script, _ body: (Console, LocalOrigin) async throws -> Void
    )
        async throws
    {
        let harness = try ServiceHarness(.directory)
        let origin = try await LocalOrigin(script)
        let key = try await harness.makeKey("--role", "admin")
        let server = try await harness.serve("--fetch-allow", "127.0.0.1", "--callback-allow", "127.0.0.1", key: key)
        let browser = try await Browser.shared()
        try await browser.open("about:blank")
        _ = try await browser.consoleErrors() + browser.requests()
        let console = Console(server: server, browser: browser)
        let link = try await harness.run("console").outputText
        let path = try #require(link.firstMatch(of: /\/console\/sign-in\?code=\S+/)).0
        try await console.open(String(path))
        let place: String = try await browser.script("return location.pathname")
        #expect(place.hasPrefix("/console"))
        try await body(console, origin)
        #expect(try await server.stop().status == 0)
    }

    /// Complaints of the policy or of scripts, and what was asked of anybody else.
    private static func expectQuiet(_ console: Console) async throws {
        #expect(try await console.browser.consoleErrors() == [])
        let requests = try await console.browser.requests()
        #expect(requests.filter { !$0.hasPrefix(console.base + "/") && !$0.hasPrefix("data:") } == [])
    }

    @Test func `a damaged file's failure is read, retried and seen delivered without a reload`() async throws {
        let photo = try Data(contentsOf: Repository.media.appending(path: "jpeg/coffee.jpg"))
        let isWhole = Mutex(false)
        try await Self.with({ _ in
            .init(body: isWhole.withLock { $0 } ? photo : Data("\u{FF}\u{D8}\u{FF}damaged".utf8))
        }) { console, origin in
            let browser = console.browser
            let job = try await console.job(origin.url("/photo.jpg"))
            try await console.open("/console/jobs")
            try await browser.click("#jobs-table a.id")
            try await browser.wait("document.querySelector('.state.failed')")
            let shown: String = try await browser.script("return document.querySelector('.problem').textContent")
            #expect(!shown.isEmpty)
            isWhole.withLock { $0 = true }
            try await browser.run("window.isTheSame = true")
            let retried: Bool = try await browser.script(
                """
                return fetch('/console/jobs/\(job)/retry', {method: 'POST'}).then(answer => answer.ok)
                """)
            #expect(retried)
            try await browser.wait("document.querySelector('#main .head .state.delivered')")
            try await browser.wait("document.querySelector('.look img.there')?.naturalWidth > 0")
            #expect(try await browser.script("return window.isTheSame === true"), "no reload")
            let said: String = try await browser.script("return document.getElementById('status').textContent")
            #expect(said.contains("delivered"))
            try await Self.expectQuiet(console)
        }
    }

    @Test(arguments: [true, false])
    func `all failures that can be are tried again by clicks, with scripts and without`(scripts: Bool) async throws {
        let photo = try Data(contentsOf: Repository.media.appending(path: "jpeg/coffee.jpg"))
        let isThere = Mutex(false)
        try await Self.with({ _ in
            isThere.withLock { $0 } ? .init(body: photo) : .init(status: 503)
        }) { console, origin in
            let browser = console.browser
            if !scripts { try await browser.chromium("Emulation.setScriptExecutionDisabled", #"{"value": true}"#) }
            let job = try await console.send(
                "POST", "/v1/jobs",
                ["attachments": [["url": origin.url("/photo.jpg"), "identifier": "photo"]], "deadline": 2])
            let id = try #require(job["id"] as? String)
            try await eventually("it failed") {
                try await console.server.get("/v1/jobs/\(id)").json["state"] as? String == "failed"
            }
            try await console.open("/console")
            try await browser.click("nav a[href^='/console/failures']")
            try await browser.wait("document.querySelector('.failure .message')")
            let shown: String = try await browser.script("return document.querySelector('.failure').textContent")
            #expect(shown.contains("Retrying can help."))
            isThere.withLock { $0 = true }
            try await browser.click("#retry-all")
            try await browser.wait("document.querySelector('.buttons button.main')")
            #expect(
                try await browser.script(
                    "return document.querySelector('.buttons button.main').textContent.includes('1 failure')"))
            try await browser.click(".buttons button.main")
            try await browser.wait("location.search.includes('span=') && !location.search.includes('confirm')")
            try await eventually("it was tried again") {
                try await console.server.get("/v1/jobs/\(id)").json["state"] as? String == "delivered"
            }
            try await console.open("/console/failures")
            #expect(try await browser.script("return document.querySelectorAll('.failure').length") == 0)
            if !scripts { try await browser.chromium("Emulation.setScriptExecutionDisabled", #"{"value": false}"#) }
            // The origin was away for a while, which is no fault of the pages.
            #expect(try await browser.consoleErrors() == [])
        }
    }

    @Test func `a lease's picture is gone within a second of its being taken back`() async throws {
        try await Self.with(LocalOrigin.media) { console, origin in
            let browser = console.browser
            let job = try await console.job(origin.url("/jpeg/coffee.jpg"))
            let record = try await console.server.get("/v1/jobs/\(job)").json
            let attachment = try #require((record["attachments"] as? [[String: Any]])?.first?["id"] as? String)
            try await console.open("/console/attachments/\(attachment)")
            try await browser.click("form[action$='/lease'] button")
            try await browser.wait("document.querySelector('#lease img.there')?.naturalWidth > 0")
            let url: String = try await browser.script("return document.querySelector('#lease img.there').src")
            #expect(url.contains("/c/satl_"))
            try await browser.click("#lease form button")
            try await browser.wait("!document.getElementById('lease') && document.getElementById('note')")
            let status: Int = try await browser.script("return fetch('\(url)').then(answer => answer.status)")
            #expect(status == 404)
            _ = try await browser.consoleErrors()
        }
    }

    @Test func `a preview is shown in a frame whose script reaches nothing of the console`() async throws {
        try await Self.with(LocalOrigin.media) { console, origin in
            let browser = console.browser
            try await console.send("PUT", "/v1/categories/order", ["actions": [["id": "a", "title": "Accept"]]])
            try await console.send(
                "PUT", "/v1/notifications/order-1",
                [
                    "payload": ["aps": ["alert": "On its way", "category": "order", "mutable-content": 1]],
                    "trigger": ["type": "manual"],
                    "attachments": [["identifier": "photo", "url": origin.url("/jpeg/coffee.jpg")]],
                ])
            try await console.open("/console/notifications/order-1")
            try await browser.click("form[action$='/preview'] button")
            try await browser.wait("document.getElementById('preview')")
            let reach: String = try await browser.script(
                "try { return String(document.getElementById('preview').contentWindow.document.title) } catch { return 'nothing' }"
            )
            #expect(reach == "nothing")
            try await console.open("/console/categories/order")
            try await browser.wait("document.getElementById('preview')")
            try await Self.expectQuiet(console)
        }
    }

    /// Has something on every page.
    ///
    /// - Returns: The paths of all pages.
    private static func fill(_ console: Console, _ origin: LocalOrigin) async throws -> [String] {
        let good = try await console.job(origin.url("/jpeg/coffee.jpg"))
        _ = try await console.job(origin.url("/mp4/film.mp4"))
        let bad = try await console.job(origin.url("/trouble/empty.jpg"))
        let record = try await console.server.get("/v1/jobs/\(good)").json
        let attachment = try #require((record["attachments"] as? [[String: Any]])?.first?["id"] as? String)
        try await console.send("PUT", "/v1/categories/order", ["actions": [["id": "a", "title": "Accept"]]])
        try await console.send(
            "PUT", "/v1/notifications/daily",
            [
                "payload": ["aps": ["alert": "Good morning", "category": "order"]],
                "handover": ["url": origin.url("/hook")],
                "trigger": [
                    "type": "calendar", "time_zone": "Europe/Berlin", "components": ["hour": 8], "repeats": true,
                ],
            ])
        try await console.send("POST", "/v1/notifications/daily/fire", [:])
        let calls = try await console.server.get("/v1/calls").json["calls"] as? [[String: Any]]
        let call = try #require(calls?.first?["id"] as? String)
        return [
            "/console", "/console/failures", "/console/failures?confirm=all", "/console/try", "/console/jobs",
            "/console/jobs/\(good)", "/console/jobs/\(bad)", "/console/attachments",
            "/console/attachments/\(attachment)", "/console/notifications", "/console/notifications/daily",
            "/console/categories", "/console/categories/order", "/console/calls", "/console/calls/\(call)",
            "/console/uploads", "/console/jobs/none", "/console/sign-in",
        ]
    }

    /// How a page came to be seen.
    private struct Painting: Decodable {
        /// Milliseconds until its first paint, and how much moved afterwards, by the browser's measure.
        var painted, shift: Double
        var moved: [String]
        var bytes, files: Int
    }

    @Test func `each page paints under its policy, is light, and nothing on it moves once it is there`() async throws {
        try await Self.with(LocalOrigin.media) { console, origin in
            for path in try await Self.fill(console, origin) {
                try await console.open(path)
                // Pages without a picture paint once; a layout shift is told of in the frame in which it is.
                let found: Painting = try await console.browser.script(
                    """
                    return new Promise(done => {
                      let shift = 0;
                      const moved = [];
                      new PerformanceObserver(list => list.getEntries().forEach(one => {
                        shift += one.value;
                        one.sources.forEach(({node, previousRect: from, currentRect: to}) => moved.push(
                          `${node?.localName}.${node?.className ?? ''} ${JSON.stringify(from)} to ${JSON.stringify(to)}`));
                      }))
                        .observe({type: 'layout-shift', buffered: true});
                      const pictures = [...document.images].filter(one => one.loading !== 'lazy')
                        .map(one => one.decode().catch(() => 0));
                      new PerformanceObserver(async paints => {
                        await Promise.all(pictures);
                        await new Promise(next => requestAnimationFrame(() => requestAnimationFrame(next)));
                        const files = performance.getEntriesByType('resource')
                          .filter(one => ['link', 'script', 'css'].includes(one.initiatorType));
                        const page = performance.getEntriesByType('navigation');
                        const bytes = [...page, ...files].reduce((sum, one) => sum + one.decodedBodySize, 0);
                        done({painted: paints.getEntries()[0].startTime, shift, moved, bytes, files: files.length});
                      }).observe({type: 'paint', buffered: true});
                    });
                    """)
                #expect(found.painted > 0 && found.shift == 0, "\(path) moves by \(found.shift): \(found.moved)")
                #expect(
                    found.bytes < 100_000 && found.files == 2,
                    "\(path) has \(found.bytes) bytes in \(found.files) files")
            }
            // Of the page that isn't there Chromium says so itself.
            #expect(try await console.browser.consoleErrors().filter { !$0.contains("404") } == [])
        }
    }

    @Test func `a job's page hears of its end rather than asking again and again`() async throws {
        let photo = try Data(contentsOf: Repository.media.appending(path: "jpeg/coffee.jpg"))
        let isOpen = Mutex(false)
        try await Self.with({ _ in
            while !isOpen.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(20)) }
            return .init(body: photo)
        }) { console, origin in
            let browser = console.browser
            let body = ["attachments": [["url": origin.url("/photo.jpg"), "identifier": "photo"]]]
            let reply = try await console.server.send(
                "POST", "/v1/jobs", ["Content-Type": "application/json"],
                body: JSONSerialization.data(withJSONObject: body))
            let id = try #require(try reply.json["id"] as? String)
            try await console.open("/console/jobs/\(id)")
            try await browser.wait("document.querySelector('#main .head .state.running')")
            try await browser.run("window.isTheSame = true")
            isOpen.withLock { $0 = true }
            try await browser.wait("document.querySelector('#main .head .state.delivered')")
            #expect(
                try await browser.script("return window.isTheSame && !document.getElementById('main').dataset.events"))
            let requests = try await browser.requests()
            #expect(requests.count { $0.hasSuffix("/console/jobs/\(id)/events") } == 1)
            #expect(try await browser.consoleErrors() == [])
        }
    }

    @Test func `axe finds nothing on any page, light and dark, narrow and wide, and none scrolls sideways`()
        async throws
    {
        let axe = try await Program(Repository.root.appending(path: "Tests/axe.sh")).start([]).end()
        let script = try String(
            contentsOfFile: axe.outputText.trimmingCharacters(in: .whitespacesAndNewlines), encoding: .utf8)
        try await Self.with(LocalOrigin.media) { console, origin in
            let browser = console.browser
            let views = [("light", 320), ("light", 1280), ("dark", 1280), ("dark", 320)]
            for (number, path) in (try await Self.fill(console, origin) + ["/docs"]).enumerated() {
                try await console.open(path)
                let _: Bool = try await browser.script(script + "; return true")
                for (scheme, width) in Sweep.of(views, every: 2, from: number) {
                    try await browser.chromium(
                        "Emulation.setEmulatedMedia",
                        #"{"features": [{"name": "prefers-color-scheme", "value": "\#(scheme)"}]}"#)
                    try await browser.chromium(
                        "Emulation.setDeviceMetricsOverride",
                        #"{"width": \#(width), "height": 900, "deviceScaleFactor": 1, "mobile": false}"#)
                    let found: [String] = try await browser.script(
                        """
                        return axe.run(document, {iframes: false, resultTypes: ['violations']}).then(found =>
                        found.violations.map(one => one.id + ': ' + one.nodes.map(node => node.html).join(' | ')))
                        """)
                    #expect(found == [], "\(path), \(scheme), \(width)")
                    let isWide: Bool = try await browser.script(
                        "return document.documentElement.scrollWidth > innerWidth")
                    #expect(!isWide, "\(path) scrolls sideways at \(width)")
                }
            }
            for command in ["Emulation.clearDeviceMetricsOverride", "Emulation.setEmulatedMedia"] {
                try await browser.chromium(command)
            }
            // What the judge itself does isn't what pages do.
            _ = try await browser.consoleErrors()
        }
    }
}
