import Foundation
import TestSupport
import Testing

/// What people do with pages, in Chromium. One browser serves all; each test leaves it with no complaint unread.
@Suite(.needs(.chromium), .serialized, .timeLimit(.minutes(5))) struct BrowserTests {
    /// Opens a preview, waits for its script, does something, and looks whether anything was complained of or asked of
    /// somebody else.
    private func with(
        _ preview: PreviewedNotification, query: String = "", _ body: (Browser) async throws -> Void
    ) async throws {
        let browser = try await Browser.shared()
        // The page before asks for what is newer, of a process that has ended.
        try await browser.open("about:blank")
        _ = try await browser.consoleErrors() + browser.requests()
        try await browser.open(preview.url.absoluteString + query)
        try await browser.wait("document.getElementById('phone') && document.readyState === 'complete'")
        try await body(browser)
        #expect(try await browser.consoleErrors() == [])
        let origin = "http://127.0.0.1:\(preview.port)/"
        #expect(try await browser.requests().filter { !$0.hasPrefix(origin) && !$0.hasPrefix("data:") } == [])
    }

    private let state = """
        return [document.querySelector('.medium')?.style.transform ?? '', \
        ...[...document.querySelectorAll('#actions button')].map(button => button.textContent)]
        """

    private func status(_ browser: Browser) async throws -> String {
        try await browser.script("return document.getElementById('status').textContent")
    }

    private let screen = "return document.querySelector('[data-screen]:not([hidden])').dataset.screen"

    // MARK: The samples, by clicks and by keys alone

    @Test func `red turns with each tap, and the notification stays open throughout`() async throws {
        let home = try TemporaryDirectory()
        let preview = try await PreviewedNotification(sample: "red", in: home)
        try await with(preview) { browser in
            func tap(_ action: String, by keys: Bool) async throws -> [String] {
                if keys {
                    try await browser.press(Browser.enter)
                } else {
                    try await browser.click("[data-action=\(action)]")
                }
                try await browser.wait(
                    "document.getElementById('status').textContent.startsWith('The notification stays open')")
                let found: [String] = try await browser.script(state)
                try await browser.run("document.getElementById('status').textContent = ''")
                return found
            }
            let rotate = "rotate-twenty-degrees-action"
            #expect(try await browser.script(state) == ["", "Rotate 20°"])
            try await browser.tab(to: "[data-action=\(rotate)]")
            for count in 1...18 {
                // The focus stays on what was pressed.
                let found = try await tap(rotate, by: count > 2)
                let more = count % 9 == 0 ? [] : ["Reset rotation"]
                #expect(found == ["rotate(\(count * 20)deg)", "Rotate 20°"] + more)
            }
            _ = try await tap(rotate, by: false)
            let reset = try await tap("reset-rotation-action", by: false)
            #expect(reset == ["", "Rotate 20°"])
            #expect(try await browser.script(screen) == "open")
        }
    }

    @Test func `green's view launches the app, closes, is removed, and fades`() async throws {
        let home = try TemporaryDirectory()
        let preview = try await PreviewedNotification(sample: "green", handler: false, in: home)
        try await with(preview) { browser in
            #expect(try await browser.script("return document.getElementById('content').hidden"))
            try await browser.tab(to: "[data-sets=opacity]")
            for _ in 0..<50 { try await browser.press(Browser.left) }
            #expect(try await browser.script("return document.querySelector('.medium').style.opacity") == "0.5")
            #expect(try await browser.requests().filter { $0.contains("/r/") } == [])

            try await browser.click("[data-does=open]")
            try await browser.wait("!document.querySelector('[data-screen=app]').hidden")
            let told: String = try await browser.script("return document.getElementById('told').textContent")
            #expect(told.contains("com.apple.UNNotificationDefaultActionIdentifier"))
            #expect(try await browser.script("return document.activeElement.id") == "back")
            try await browser.press(Browser.enter)

            // From Notification Center, by keys.
            #expect(try await browser.script("return document.activeElement.id") == "again")
            try await browser.press(Browser.enter)
            #expect(try await browser.script(screen) == "open")
            try await browser.tab(to: "[data-does=dismiss]")
            try await browser.press(Browser.enter)
            #expect(try await browser.script(screen) == "list")
            #expect(try await browser.script("return document.querySelectorAll('#list li').length") == 1)

            try await browser.click("#again")
            try await browser.click("[data-does=remove]")
            #expect(try await browser.script("return document.querySelectorAll('#list li').length") == 0)
            #expect(try await browser.script("return document.querySelectorAll('#responses > li').length") == 1)
        }
    }

    @Test func `an invitation shows its answer for a second, then closes; its comment is typed`() async throws {
        let home = try TemporaryDirectory()
        let preview = try await PreviewedNotification(sample: "event-invite", in: home)
        try await with(preview) { browser in
            let label = """
                const label = document.getElementById('label')
                return [label.textContent, label.dataset.color, document.querySelector('[data-screen=open]').hidden ? 'closed' : 'open']
                """
            try await browser.click("[data-action=accept]")
            try await browser.wait("document.getElementById('label').textContent")
            #expect(try await browser.script(label) == ["Going!", "green", "open"])
            #expect(try await status(browser) == "The notification closes. Going!")
            try await browser.wait("!document.querySelector('[data-screen=list]').hidden")
            try await browser.click("#again")
            #expect(try await browser.script(label) == ["", "", "open"])
            let red: Bool = try await browser.script(
                "return document.querySelector('[data-action=decline] .action').classList.contains('destructive')")
            #expect(red)
            try await browser.tab(to: "[data-action=comment]")
            try await browser.press(Browser.enter)
            #expect(try await browser.script("return document.activeElement.id") == "text")
            try await browser.press(Browser.escape)
            #expect(try await browser.script("return document.activeElement.dataset.action") == "comment")
            try await browser.press(Browser.enter + "Two of us" + Browser.enter)
            try await browser.wait("!document.querySelector('[data-screen=list]').hidden")
            let log: String = try await browser.script("return document.getElementById('responses').textContent")
            #expect(log.contains("comment: forwarded to the app") && log.contains("\"userText\": \"Two of us\""))
        }
    }

    @Test func `what needs an unlocked device asks for that first`() async throws {
        let home = try TemporaryDirectory()
        let preview = try await PreviewedNotification(sample: "message", handler: false, in: home)
        try await with(preview) { browser in
            try await browser.click("[data-action=reply]")
            #expect(try await browser.script("return document.activeElement.id") == "unlock")
            try await browser.press(Browser.enter)
            #expect(try await browser.script("return document.activeElement.id") == "text")
            try await browser.press("On my way" + Browser.enter)
            try await browser.wait("!document.querySelector('[data-screen=list]').hidden")
            try await browser.click("#again")
            try await browser.click("[data-action=show]")
            try await browser.wait("!document.querySelector('[data-screen=app]').hidden")
            try await browser.click("#back")
            try await browser.click("#again")
            try await browser.click("#dismiss")
            try await browser.wait("document.querySelectorAll('#responses > li').length === 3")
            let log: String = try await browser.script("return document.getElementById('responses').textContent")
            #expect(log.contains("com.apple.UNNotificationDismissActionIdentifier"))
        }
    }

    @Test func `a handler may turn, fade, exchange and caption all that is seen`() async throws {
        let home = try TemporaryDirectory()
        let handler = home.url.appending(path: "handler.py")
        try Data(
            """
            import http.server, json, sys
            class Handler(http.server.BaseHTTPRequestHandler):
                def do_POST(self):
                    self.rfile.read(int(self.headers['Content-Length']))
                    self.send_response(200)
                    self.end_headers()
                    self.wfile.write(json.dumps({'then': 'stay', 'actions': [], 'view': {
                        'rotation': -90, 'opacity': 0.25, 'attachment': 'b', 'title': '<i>T</i>', 'subtitle': 'S',
                        'body': 'B', 'label': {'text': 'L', 'color': 'purple'}}}).encode())
            server = http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), Handler)
            print(f'http://127.0.0.1:{server.server_port}/', flush=True)
            server.serve_forever()
            """.utf8
        ).write(to: handler)
        try Data(#"{"aps": {"alert": "Text", "category": "c"}}"#.utf8).write(to: home.url.appending(path: "push.json"))
        try Data(
            #"{"id": "c", "actions": [{"id": "a", "title": "A"}], "extension": {"overrides_default_title": true}}"#.utf8
        ).write(to: home.url.appending(path: "c.json"))
        let media = Repository.media.path(percentEncoded: false)
        let preview = try await PreviewedNotification(
            ["push.json", "--category", "c.json", "--attach", "a=\(media)/jpeg/coffee.jpg,b=\(media)/gif/film.gif"],
            handler: handler.path(percentEncoded: false), in: home)
        try await with(preview) { browser in
            let seen = """
                const shown = document.querySelector('.medium:not([hidden])')
                return [shown.dataset.attachment, shown.style.transform, shown.style.opacity,
                  ...[...document.querySelectorAll('#content p, #label, #app')]
                    .map(line => line.hidden ? null : line.textContent)]
                """
            #expect(try await browser.script(seen) == ["a", "", "1", "The app", nil, nil, nil, "Text"])
            try await browser.click("[data-action=a]")
            try await browser.wait(
                "document.getElementById('status').textContent.startsWith('The notification stays open')")
            #expect(
                try await browser.script(seen) == [
                    "b", "rotate(-90deg)", "0.25", "<i>T</i>", "L", "<i>T</i>", "S", "B",
                ])
            #expect(try await status(browser) == "The notification stays open. Actions: none. L")
        }
    }

    // MARK: The page itself

    @Test func `nothing moves as media come, and their box is there before them, to the pixel`() async throws {
        let home = try TemporaryDirectory()
        let preview = try await PreviewedNotification(sample: "red", handler: false, in: home)
        try await with(preview) { browser in
            try await browser.chromium("Fetch.enable", #"{"patterns": [{"urlPattern": "*/c/*"}]}"#)
            try await browser.open(preview.url.absoluteString + "?width=360")
            let measured = """
                const box = document.getElementById('box').getBoundingClientRect()
                return [box.width, box.height, document.querySelector('.medium img').naturalWidth]
                """
            try await browser.wait("document.getElementById('box')?.clientWidth === 336")
            try await browser.run(
                """
                window.shift = 0
                new PerformanceObserver(list => { for (const entry of list.getEntries()) window.shift += entry.value })
                  .observe({ type: 'layout-shift', buffered: true })
                """)
            let before: [Double] = try await browser.script(measured)
            #expect(before[2] == 0 && abs(before[1] - before[0] * 0.6) < 1)
            try await browser.chromium("Fetch.disable")
            try await browser.wait("document.querySelector('.medium img').complete")
            let after: [Double] = try await browser.script(measured)
            #expect(after == [before[0], before[1], 600])
            // Two frames, so that what moved was told.
            try await browser.run(
                "return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
            #expect(try await browser.script("return window.shift") == 0.0)
        }
    }

    @Test func `who wants no motion sees a still until asking for more`() async throws {
        let home = try TemporaryDirectory()
        try Data(#"{"aps": {"alert": "Text"}}"#.utf8).write(to: home.url.appending(path: "push.json"))
        let film = Repository.media.appending(path: "gif/film.gif").path(percentEncoded: false)
        let preview = try await PreviewedNotification(["push.json", "--attach", "film=\(film)"], in: home)
        let reduce = #"{"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]}"#
        try await Browser.shared().chromium("Emulation.setEmulatedMedia", reduce)
        try await with(preview) { browser in
            let source = "document.querySelector('.medium img').currentSrc"
            try await browser.wait("\(source).endsWith('/thumbnail.jpg')")
            try await browser.tab(to: "[data-play]")
            try await browser.press(Browser.enter)
            try await browser.wait("\(source).endsWith('/main.gif')")
            #expect(try await browser.script("return document.querySelector('[data-play]').checkVisibility()") == false)
        }
        try await Browser.shared().chromium("Emulation.setEmulatedMedia", #"{"features": []}"#)
    }

    @Test func `at 320 points nothing is beside the page, in any look, and a reload keeps the look`() async throws {
        let home = try TemporaryDirectory()
        let preview = try await PreviewedNotification(sample: "green", handler: false, in: home)
        try await with(preview, query: "?theme=dark&width=430&text=largest&direction=rtl") { browser in
            try await browser.chromium(
                "Emulation.setDeviceMetricsOverride",
                #"{"width": 320, "height": 800, "deviceScaleFactor": 1, "mobile": false}"#)
            try await browser.wait("innerWidth === 320")
            let sizes: [Int] = try await browser.script(
                "return [document.documentElement.scrollWidth, document.getElementById('phone').scrollWidth - document.getElementById('phone').clientWidth]"
            )
            #expect(sizes == [320, 0])
            let small: [String] = try await browser.script(
                """
                return [...document.querySelectorAll('button, select, input, summary')]
                  .filter(target => target.checkVisibility())
                  .filter(target => target.getBoundingClientRect().height < 24).map(target => target.outerHTML)
                """)
            #expect(small == [])
            let theme =
                "const look = document.documentElement; return [getComputedStyle(look).colorScheme, look.dataset.text]"
            #expect(try await browser.script(theme) == ["dark", "largest"])
            try await browser.run(
                """
                const form = document.querySelector('.appearance')
                form.elements.theme.value = 'light'
                form.elements.text.value = 'normal'
                form.dispatchEvent(new Event('change'))
                """)
            #expect(try await browser.script(theme) == ["light", "normal"])
            try await browser.chromium("Page.reload")
            try await browser.wait("document.documentElement.dataset.text === 'normal'")
            #expect(try await browser.script(theme) == ["light", "normal"])
            try await browser.chromium("Emulation.clearDeviceMetricsOverride")
        }
    }

    @Test func `texts full of markup and tricks are texts, and a page reloads itself when its files change`()
        async throws
    {
        let home = try TemporaryDirectory()
        let hostile =
            #"<img src=x onerror=alert(1)>\" ' &amp; javascript:alert(1) \u202Egpj.exe</script><script>alert(2)</script>"#
        func write(_ body: String) throws {
            try Data(
                #"{"aps": {"alert": {"title": "\#(hostile)", "subtitle": "\#(hostile)", "body": "\#(body)"}, "category": "c"}, "\#(hostile)": 1}"#
                    .utf8
            ).write(to: home.url.appending(path: "push.json"), options: .atomic)
        }
        try write("first")
        let controls =
            #"{"initial_content_size_ratio": 1, "user_interaction": true, "controls": [{"type": "button", "title": "\#(hostile)", "does": "dismiss"}]}"#
        try Data(
            #"{"id": "c", "actions": [{"id": "\#(hostile)", "title": "\#(hostile)"}], "extension": \#(controls)}"#.utf8
        ).write(to: home.url.appending(path: "c.json"))
        let preview = try await PreviewedNotification(["push.json", "--category", "c.json"], in: home)
        try await with(preview) { browser in
            let title: String = try await browser.script(
                "return document.querySelector('#content .title').textContent")
            #expect(
                title.hasPrefix("<img src=x onerror=alert(1)>\" ' &amp; javascript:alert(1) \u{202E}gpj.exe</script>"))
            try await browser.click("#actions button")
            try await browser.wait("document.querySelectorAll('#responses > li').length === 1")
            let found: [Int] = try await browser.script(
                """
                return ['img[src=x]', 'script:not([src])', '[onerror]', 'a[href^=javascript]']
                  .map(selector => document.querySelectorAll(selector).length)
                """)
            #expect(found == [0, 0, 0, 0])
            let shown: String = try await browser.script("return document.querySelector('.json pre').textContent")
            #expect(!shown.unicodeScalars.contains("\u{202E}") && shown.lowercased().contains("\\u202e"))
            let unisolated: Int = try await browser.script(
                """
                const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
                let count = 0
                while (walker.nextNode()) {
                  const text = walker.currentNode
                  if (text.data.includes('\\u202e') && !text.parentElement.closest('bdi')) count += 1
                }
                return count
                """)
            #expect(unisolated == 0)
            // A page's script reaches nothing but the page.
            let origin: String = try await browser.script("return window.origin")
            #expect(origin == "null")
            try write("second")
            try await browser.wait("document.querySelector('#content .body').textContent === 'second'")
        }
    }
}
