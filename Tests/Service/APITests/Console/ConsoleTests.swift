import SatchelCore
import Foundation
import Stores
import TestSupport
import Testing

@testable import API

/// The console as whoever has no scripts sees it, and what it refuses.
@Suite(.timeLimit(.minutes(10))) struct ConsoleTests {
    /// As a browser sends them that shows a page of the console.
    private static let own = ["Sec-Fetch-Site": "same-origin"]

    private static func post(
        _ live: LiveService, _ path: String, _ fields: String = "", cookie: String? = nil,
        _ headers: [String: String] = own
    ) async throws -> Reply {
        var headers = headers
        headers["Content-Type"] = "application/x-www-form-urlencoded"
        if let cookie { headers["Cookie"] = cookie }
        return try await live.send(.post, path, headers, body: Data(fields.utf8), key: nil)
    }

    private static func get(_ live: LiveService, _ path: String, cookie: String?) async throws -> Reply {
        try await live.send(.get, path, cookie.map { ["Cookie": $0] } ?? [:], key: nil)
    }

    /// The cookie of whoever signs in with a key.
    private static func signIn(_ live: LiveService, _ key: AccessToken?, to: String = "") async throws -> String {
        let reply = try await post(live, "/console/sign-in", "key=\(key?.secretText ?? "")&to=\(to)")
        #expect(reply.status == 303, "\(reply.text)")
        return String(try #require(reply["set-cookie"]).prefix { $0 != ";" })
    }

    // MARK: Signing in

    @Test func `a key signs in, and its cookie is for this host alone, over TLS alone, and for no script`() async throws
    {
        try await LiveService.run { live in
            let wrong = try await Self.post(live, "/console/sign-in", "key=satk_nobody")
            #expect(wrong.status == 403)
            #expect(wrong.text.contains("That API key is not valid"))
            #expect(wrong["set-cookie"] == nil)

            let reply = try await Self.post(
                live, "/console/sign-in", "key=\(live.keys[.read]?.secretText ?? "")&to=%2Fconsole%2Fcalls")
            #expect(reply.status == 303)
            #expect(reply["location"] == "/console/calls")
            let cookie = try #require(reply["set-cookie"])
            let parts = cookie.split(separator: "; ").map(String.init)
            #expect(parts.first?.hasPrefix("__Host-satchel=") ?? false)
            #expect(parts.dropFirst() == ["Path=/", "Max-Age=43200", "HttpOnly", "SameSite=Strict", "Secure"])
            #expect(try await Self.get(live, "/console/calls", cookie: parts[0]).status == 200)

            // A link leads to pages of the console and nowhere else.
            for place in ["//evil.example", "https://evil.example", "/consoles", "/console/%5Cevil", "/v1/jobs"] {
                let place = try await Self.post(
                    live, "/console/sign-in", "key=\(live.keys[.read]?.secretText ?? "")&to=\(place)")
                #expect(place["location"] == "/console")
            }
        }
    }

    @Test func `a code signs in once, and its session is what the code says`() async throws {
        try await LiveService.run { live in
            let (_, code) = try await live.store.records.newConsoleCode(for: live.tenant, roles: [.read])
            let path = "/console/sign-in?code=\(code.secretText)"
            let elsewhere = try await live.send(.get, path, ["Sec-Fetch-Site": "cross-site"], key: nil)
            #expect(elsewhere.status == 403, "another site's link signs in nobody")
            let reply = try await live.send(.get, path, ["Sec-Fetch-Site": "none"], key: nil)
            #expect(reply.status == 303)
            #expect(reply["location"] == "/console")
            let cookie = String(try #require(reply["set-cookie"]).prefix { $0 != ";" })
            #expect(try await Self.get(live, "/console/jobs", cookie: cookie).text.contains("ada"))
            let again = try await live.send(.get, path, key: nil)
            #expect(again.status == 403)
            #expect(again.text.contains("This link was already used"))
        }
    }

    @Test func `a session ends when one signs out, and with its key`() async throws {
        try await LiveService.run { live in
            let first = try await Self.signIn(live, live.keys[.read])
            let out = try await Self.post(live, "/console/sign-out", cookie: first)
            #expect(out.status == 303)
            #expect(out["set-cookie"]?.contains("Max-Age=0") ?? false)
            #expect(try await Self.get(live, "/console/jobs", cookie: first).status == 303)

            let second = try await Self.signIn(live, live.keys[.read])
            let key = try #require(try await live.store.records.keys(of: live.tenant).first { $0.roles == [.read] })
            _ = try await live.store.records.revokeKey(key.id)
            let reply = try await Self.get(live, "/console/jobs?state=failed", cookie: second)
            #expect(reply.status == 303)
            #expect(reply["location"] == "/console/sign-in?to=%2Fconsole%2Fjobs%3Fstate%3Dfailed")
        }
    }

    // MARK: What is refused

    @Test func `the cookie opens nothing of the API, and a key no page`() async throws {
        try await LiveService.run { live in
            let cookie = try await Self.signIn(live, live.keys[.admin])
            #expect(try await live.send(.get, "/v1/jobs", ["Cookie": cookie], key: nil).status == 401)
            #expect(try await live.send(.get, "/console/jobs", as: .admin).status == 303)
            #expect(try await live.send(.get, "/console/media/x/main", as: .admin).status == 303)
        }
    }

    @Test func `a form of another page is refused, whatever the cookie`() async throws {
        try await LiveService.run { live in
            let cookie = try await Self.signIn(live, live.keys[.admin])
            let path = "/console/jobs/none/retry"
            for headers in [
                ["Sec-Fetch-Site": "cross-site"], ["Sec-Fetch-Site": "same-site"], ["Sec-Fetch-Site": "none"], [:],
                ["Origin": "null"], ["Origin": "https://media.example.com:8443"],
                ["Origin": "http://media.example.com"],
                ["Sec-Fetch-Site": "same-site", "Origin": "https://media.example.com"],
            ] {
                let reply = try await Self.post(live, path, cookie: cookie, headers)
                #expect(reply.status == 403, "\(headers)")
                #expect(reply.text.contains("did not come from the console"))
            }
            for headers in [Self.own, ["Origin": "https://media.example.com"]] {
                #expect(try await Self.post(live, path, cookie: cookie, headers).status == 404)
            }
        }
    }

    @Test func `without TLS it is for loopback alone, whatever name leads there`() async throws {
        let plain: (inout LiveService.Configuration) -> Void = { $0.settings.publicURL = "http://127.0.0.1:1" }
        try await LiveService.run(plain) { live in
            func ask(_ method: Method, _ host: String, _ fields: String = "") async throws -> Reply {
                try await live.connect { connection in
                    try await connection.send(
                        """
                        \(method.rawValue) /console/sign-in HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r
                        Sec-Fetch-Site: same-origin\r\nContent-Length: \(fields.utf8.count)\r\n\r\n\(fields)
                        """)
                    return try await connection.reply(to: method)
                }
            }
            for (host, status) in [("127.0.0.1:1", 200), ("localhost", 200), ("[::1]:1", 200), ("evil.example", 403)] {
                #expect(try await ask(.get, host).status == status, "\(host)")
            }
            let cookie = try #require(
                try await ask(.post, "127.0.0.1:1", "key=\(live.keys[.read]?.secretText ?? "")")["set-cookie"])
            #expect(cookie.hasPrefix("satchel="))
            #expect(!cookie.contains("Secure"))
        }
    }

    @Test func `switched off there is none`() async throws {
        try await LiveService.run({ $0.settings.hasConsole = false }) { live in
            for path in ["/console", "/console/sign-in", "/console/jobs"] {
                let reply = try await live.send(.get, path, key: nil)
                #expect(reply.status == 404)
            }
        }
    }

    @Test func `each page says what a browser may do with it`() async throws {
        try await LiveService.run { live in
            let cookie = try await Self.signIn(live, live.keys[.admin])
            for path in ["/console/sign-in", "/console/jobs", "/console/jobs/none"] {
                let reply = try await Self.get(live, path, cookie: cookie)
                let policy = try #require(reply["content-security-policy"])
                for part in [
                    "default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "form-action 'self'",
                    "require-trusted-types-for 'script'", "trusted-types satchel",
                ] { #expect(policy.contains(part)) }
                #expect(!policy.contains("unsafe"))
                #expect(reply["cache-control"] == "no-store")
                #expect(reply["x-content-type-options"] == "nosniff")
                #expect(reply["referrer-policy"] == "same-origin")
                #expect(reply["cross-origin-opener-policy"] == "same-origin")
                #expect(reply["cross-origin-resource-policy"] == "same-origin")
                #expect(reply.body.count < 85_000, "100 kB with its style and script")
            }
            #expect(Asset.consoleStyle.bytes.count < 20_000)
        }
    }

    // MARK: Events

    @Test
    func `a job's page says where its events are, which are told to whoever is signed in for as long as they are`()
        async throws
    {
        try await LiveService.run {
            $0.settings.heartbeat = .milliseconds(50)
            $0.worker = .faultCodec
            $0.startsWorking = false
        } _: { live in
            for job in ["a", "b"] { _ = try await live.send(.put, "/v1/jobs/\(job)", body: Data("fault: null".utf8)) }
            let cookie = try await Self.signIn(live, live.keys[.submit])
            let reader = try await Self.signIn(live, live.keys[.read])
            #expect(
                try await Self.get(live, "/console/jobs/a", cookie: cookie).text.contains(
                    "data-events=\"/console/jobs/a/events\""))
            #expect(try await Self.get(live, "/console/jobs/a/events", cookie: nil).status == 303)
            #expect(try await live.send(.get, "/console/jobs/a/events", as: .admin).status == 303)
            let strangers = try await live.makeKeys(of: TenantID(rawValue: "other"))
            let stranger = try await Self.signIn(live, strangers[.admin])
            #expect(try await Self.get(live, "/console/jobs/a/events", cookie: stranger).status == 404)

            // Taken back while it is listened to: nothing more is told, though the job goes on.
            try await live.connect { connection in
                try await connection.send(
                    connection.head(.get, "/console/jobs/b/events", ["Cookie": reader], key: nil))
                #expect(try await connection.replyHead().status == 200)
                #expect(try await connection.chunk() != nil)
                let key = try #require(
                    try await live.store.records.keys(of: live.tenant).first { $0.roles == [.read] })
                _ = try await live.store.records.revokeKey(key.id)
                do {
                    while try await connection.chunk() != nil {}
                } catch {}
            }
            #expect(try await live.store.records.job(JobID(rawValue: "b"), of: live.tenant)?.state == .pending)
            #expect(try await Self.get(live, "/console/jobs/b/events", cookie: reader).status == 303)

            live.startWorking()
            let told = try await Self.get(live, "/console/jobs/a/events", cookie: cookie)
            #expect(told.status == 200 && told["content-type"] == "text/event-stream")
            #expect(told.text.contains("event: finished"))
            #expect(try await !Self.get(live, "/console/jobs/a", cookie: cookie).text.contains("data-events"))
            let last = try await live.send(
                .get, "/console/jobs/a/events", ["Cookie": cookie, "Last-Event-ID": "end-1"], key: nil)
            #expect(last.status == 204)
        }
    }

    // MARK: Tenants and roles

    @Test func `nothing of another tenant is found, and nothing is offered or done that the roles don't permit`()
        async throws
    {
        try await LiveService.run { live in
            let job =
                try await live.send(
                    .post, "/v1/jobs", json: #"{"attachments": [{"url": "https://127.0.0.1:1/x.jpg"}]}"#
                ).json["id"].string ?? ""
            let strangers = try await live.makeKeys(of: TenantID(rawValue: "other"))
            let stranger = try await Self.signIn(live, strangers[.admin])
            #expect(try await Self.get(live, "/console/jobs/\(job)", cookie: stranger).status == 404)
            #expect(try await Self.post(live, "/console/jobs/\(job)/cancel", cookie: stranger).status == 404)
            #expect(try await !Self.get(live, "/console/jobs", cookie: stranger).text.contains(job))

            let reader = try await Self.signIn(live, live.keys[.read])
            let seen = try await Self.get(live, "/console/jobs/\(job)", cookie: reader)
            #expect(seen.status == 200)
            #expect(!seen.text.contains("Cancel"))
            #expect(try await Self.post(live, "/console/jobs/\(job)/cancel", cookie: reader).status == 403)

            // Who submits has no lists.
            let submitter = try await Self.signIn(live, live.keys[.submit])
            #expect(try await Self.get(live, "/console/jobs", cookie: submitter).status == 403)
            let own = try await Self.get(live, "/console/jobs/\(job)", cookie: submitter)
            #expect(own.text.contains("Cancel"))
            #expect(!own.text.contains(#"href="/console/calls""#))
            let cancelled = try await Self.post(live, "/console/jobs/\(job)/cancel", cookie: submitter)
            #expect(cancelled["location"] == "/console/jobs/\(job)?done=cancelled")
            #expect(try await live.send(.get, "/v1/jobs/\(job)").json["state"].string == "cancelled")
            #expect(live.log.lines.contains { $0.contains("/console/jobs/{id}/cancel") && $0.contains("key") })
        }
    }

    @Test func `every page and every action is for whoever may have the same of the API`() async throws {
        try await LiveService.run { live in
            for page in ConsolePage.all {
                let path = page.path.replacing("{id}", with: "none")
                #expect(try await live.send(.get, path, key: nil).status == 303, "\(path)")
                for role in AccessRole.allCases {
                    let cookie = try await Self.signIn(live, live.keys[role])
                    let status = try await Self.get(live, path, cookie: cookie).status
                    #expect((status == 403) == !page.needs.permits(role), "\(path) as \(role)")
                }
            }
            for action in ConsoleAction.all {
                let path = action.path.replacing("{id}", with: "none").replacing("{access}", with: "none")
                #expect(try await Self.post(live, path).status == 303, "\(path)")
                for role in AccessRole.allCases where !action.needs.permits(role) {
                    let cookie = try await Self.signIn(live, live.keys[role])
                    #expect(try await Self.post(live, path, cookie: cookie).status == 403, "\(path) as \(role)")
                }
            }
        }
    }

    // MARK: What is shown

    @Test func `a failure is read and retried without a script`() async throws {
        try await LiveService.run({ $0.worker = .faultCodec }) { live in
            let job =
                try await live.send(
                    .post, "/v1/jobs", ["Prefer": "wait=20"],
                    json: #"{"attachments": [{"url": "http://127.0.0.1:1/x.jpg", "identifier": "photo"}]}"#
                ).json["id"].string ?? ""
            let cookie = try await Self.signIn(live, live.keys[.admin])
            let page = try await Self.get(live, "/console/jobs/\(job)", cookie: cookie)
            #expect(page.text.contains("<form method=\"post\" action=\"/console/jobs/\(job)/retry\">"))
            #expect(page.text.contains("<code>fetch_failed</code>"))
            #expect(page.text.contains("Retrying can help."))
            let list = try await Self.get(live, "/console/jobs?state=failed", cookie: cookie)
            #expect(list.text.contains("/console/jobs/\(job)"))
            let retried = try await Self.post(live, "/console/jobs/\(job)/retry", cookie: cookie)
            #expect(retried["location"] == "/console/jobs/\(job)?done=retried", "\(retried.text)")
        }
    }

    @Test func `a picture is had by the cookie, in parts too, and counts as no lease`() async throws {
        try await LiveService.run { live in
            let bytes = Data((0..<1000).map { UInt8($0 % 251) })
            let id = try await live.deliver([.main: bytes])
            let cookie = try await Self.signIn(live, live.keys[.read])
            let path = "/console/media/\(id.rawValue)/main"
            let whole = try await Self.get(live, path, cookie: cookie)
            #expect(whole.status == 200)
            #expect(whole.body == bytes)
            #expect(whole["cross-origin-resource-policy"] == "same-origin")
            #expect(whole["content-security-policy"] == "default-src 'none'; sandbox")
            let part = try await live.send(.get, path, ["Cookie": cookie, "Range": "bytes=10-19"], key: nil)
            #expect(part.status == 206)
            #expect(part.body == bytes[10..<20])
            let known = try await live.send(
                .get, path, ["Cookie": cookie, "If-None-Match": whole["etag"] ?? ""], key: nil)
            #expect(known.status == 304)
            for path in ["/console/media/\(id.rawValue)/poster", "/console/media/none/main"] {
                #expect(try await Self.get(live, path, cookie: cookie).status == 404)
            }
            #expect(try await live.store.records.overview(of: live.tenant).usage.liveLeases == 0)
            let strangers = try await live.makeKeys(of: TenantID(rawValue: "other"))
            let stranger = try await Self.signIn(live, strangers[.admin])
            #expect(try await Self.get(live, path, cookie: stranger).status == 404)
        }
    }

    @Test func `markup, and what turns directions, is text`() async throws {
        try await LiveService.run { live in
            let name = "<img src=x onerror=alert(1)>\u{202E}gpj.exe"
            let body: [String: Any] = [
                "attachments": [["url": "https://127.0.0.1:1/x.jpg"]], "metadata": ["<script>": name],
            ]
            let json = String(decoding: try JSONSerialization.data(withJSONObject: body), as: UTF8.self)
            let job = try await live.send(.post, "/v1/jobs", json: json).json["id"].string ?? ""
            let cookie = try await Self.signIn(live, live.keys[.read])
            let text = try await Self.get(live, "/console/jobs/\(job)", cookie: cookie).text
            #expect(text.contains("&lt;img src=x onerror=alert(1)&gt;"))
            #expect(!text.contains("<img src=x"))
            #expect(!text.contains("<script>"))
            #expect(!text.contains("\u{202E}"))
        }
    }

    @Test func `an editor names every problem of a category, and saves one that is good`() async throws {
        try await LiveService.run { live in
            let cookie = try await Self.signIn(live, live.keys[.admin])
            func put(_ json: String, id: String = "") async throws -> Reply {
                let json = ConsoleAPI.encoded(json)
                return try await Self.post(live, "/console/categories", "id=\(id)&json=\(json)", cookie: cookie)
            }
            let bad = try await put(#"{"id": "order", "actions": [{"id": "", "title": 5}], "color": "red"}"#)
            #expect(bad.status == 400)
            for pointer in ["/actions/0/id", "/actions/0/title", "/color"] {
                #expect(bad.text.contains("<code>\(pointer)</code>"), "\(pointer)")
            }
            #expect(bad.text.contains("&quot;color&quot;: &quot;red&quot;"), "what was written stays")
            #expect(try await put("{").status == 400)
            let good = try await put(#"{"id": "order", "actions": []}"#)
            #expect(good["location"] == "/console/categories/order?done=saved")
            let page = try await Self.get(live, "/console/categories/order?done=saved", cookie: cookie)
            #expect(page.text.contains("Saved."))
            let sample = try await Self.get(live, "/console/categories/order/sample", cookie: cookie)
            #expect(sample["content-security-policy"]?.contains("sandbox allow-scripts allow-forms") ?? false)
            #expect(sample["cross-origin-opener-policy"] == nil)
            let swift = try await Self.get(live, "/console/categories?as=swift", cookie: cookie)
            #expect(swift.text.contains("UNNotificationCategory"))
        }
    }

    // MARK: Placeholders

    @Test func `a placeholder is a bitmap of its colours`() throws {
        let plain = try #require(PlaceholderPicture(color: "#6a5d4f"))
        let file = try #require(Data(base64Encoded: String(plain.dataURL.dropFirst("data:image/bmp;base64,".count))))
        #expect(Array(file[54..<57]) == [0x4F, 0x5D, 0x6A])
        // Sunrise, by the algorithm's own page: orange above blue.
        let hash = try #require(PlaceholderPicture(thumbHash: "1QcSHQRnh493V4dIh4eXh1h4kJUI"))
        #expect(hash.dataURL.count < 1200)
        for bad in ["", "AAAA", "????", "1Q=="] { #expect(PlaceholderPicture(thumbHash: bad) == nil) }
        #expect(PlaceholderPicture(color: "red") == nil)
    }
}
