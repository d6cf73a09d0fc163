import Foundation
import TestSupport
import Testing

@Suite(.serialized, .timeLimit(.minutes(5))) struct PreviewTests {
    private static func id() -> String { UUID().uuidString }

    private func titles(_ answer: [String: Any]) -> [String] {
        (answer["actions"] as? [[String: Any]] ?? []).compactMap { $0["title"] as? String }
    }

    private func rotation(_ answer: [String: Any]) -> Double? {
        (answer["view"] as? [String: Any])?["rotation"] as? Double
    }

    // MARK: The page

    @Test func `the page, what it needs and its media come from one process, which leaves nothing behind`() async throws
    {
        let home = try TemporaryDirectory()
        let preview = try await PreviewedNotification(sample: "red", handler: false, in: home)
        let reply = try await preview.get()
        #expect(reply.status == 200 && reply.headers["cache-control"] == "no-store")
        #expect(
            reply.headers["x-content-type-options"] == "nosniff" && reply.headers["referrer-policy"] == "no-referrer")
        #expect(reply.headers["cross-origin-resource-policy"] == "cross-origin")
        let policy = try #require(reply.headers["content-security-policy"])
        #expect(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self' 'nonce-"))
        #expect(
            policy.hasSuffix("sandbox allow-scripts allow-forms") && reply.headers["cross-origin-opener-policy"] == nil)
        let page = String(decoding: reply.body, as: UTF8.self)
        #expect(page.contains("<bdi>Red notification</bdi>") && page.contains("--ratio: 0.6"))

        let assets = page.matches(of: /"(\/assets\/[^"]+)"/).map { String($0.1) }
        #expect(assets.count == 2)
        for asset in assets {
            let reply = try await preview.get(asset)
            #expect(reply.status == 200 && reply.headers["cache-control"]?.hasSuffix("immutable") == true)
            #expect(reply.headers["access-control-allow-origin"] == "*" && reply.body.count > 1000)
        }
        let media = Set(page.matches(of: /"http:\/\/127.0.0.1:\d+(\/c\/[^"]+)"/).map { String($0.1) })
        #expect(media.map { $0.split(separator: "/").last ?? "" }.sorted() == ["main.jpg", "thumbnail.jpg"])
        for path in media {
            #expect(try await preview.get(path).body.starts(with: [0xFF, 0xD8, 0xFF]))
        }
        for path in ["/", "/p/0123", "/v1/jobs", "/docs", "/assets/preview.css"] {
            #expect(try await preview.get(path).status == 404)
        }
        let result = try await preview.interrupt()
        #expect(result.status == 0 && result.errorText.hasSuffix("Press Ctrl-C to stop.\n"))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: home.path).filter { $0.hasPrefix("satchel-") } == [])
    }

    @Test func `a message for another service is shown with that service's facts`() async throws {
        let home = try TemporaryDirectory()
        let message = #"{"message": {"token": "t", "notification": {"title": "Hello", "image": "cid:photo"}}}"#
        try Data(message.utf8).write(to: home.url.appending(path: "message.json"))
        let photo = Repository.media.appending(path: "jpeg/coffee.jpg").path(percentEncoded: false)
        let preview = try await PreviewedNotification(
            ["message.json", "--format", "fcm", "--attach", "photo=\(photo)"], in: home)
        let page = try await preview.page
        #expect(
            page.contains("<bdi>Hello</bdi>") && page.contains("FCM") && page.contains("of 4,096 (without recipients)"))
        #expect(page.contains("At /message/notification/image") && page.contains("up to 1,000,000 bytes"))
        #expect(page.contains("/main.jpg"))
        _ = try await preview.interrupt()
    }

    @Test func `what changes in the files shows, and what can't be shown is said above what was there`() async throws {
        let home = try TemporaryDirectory()
        func write(_ name: String, _ text: String) throws {
            try Data(text.utf8).write(to: home.url.appending(path: name), options: .atomic)
        }
        func payload(_ title: String) -> String {
            #"{"aps": {"alert": {"title": "\#(title)", "body": "B"}, "category": "c"}, "x": "cid:photo"}"#
        }
        try write("push.json", payload("First"))
        try write("category.json", #"{"id": "c", "actions": [{"id": "one", "title": "One"}]}"#)
        let photo = home.url.appending(path: "photo.jpg")
        try FileManager.default.copyItem(at: Repository.media.appending(path: "jpeg/coffee.jpg"), to: photo)
        let preview = try await PreviewedNotification(
            ["push.json", "--category", "category.json", "--attach", "photo=photo.jpg"], in: home)
        func version() async throws -> Int? {
            let body = try await preview.get(preview.url.path + "/version").body
            return (try JSONSerialization.jsonObject(with: body) as? [String: Any])?["version"] as? Int
        }
        let first = try #require(try await version())
        #expect(try await preview.page.contains("<bdi>First</bdi>"))

        try write("push.json", payload("Second <b>&amp;"))
        try await eventually { try await preview.page.contains("<bdi>Second &lt;b&gt;&amp;amp;</bdi>") }
        #expect(try #require(try await version()) > first)

        try write("push.json", "{\"aps\": {\n  alert}}")
        try await eventually { try await preview.page.contains("role=\"alert\"") }
        #expect(try await preview.page.contains("<bdi>Second"))
        #expect(try await preview.page.contains("The payload is not valid JSON: "))
        #expect(try preview.program.errorsSoFar.contains("The payload is not valid JSON: "))

        try write("push.json", payload("Third"))
        try write("category.json", #"{"id": "c", "actions": [{"id": "one"}], "extras": 1}"#)
        try await eventually { try await preview.page.contains("/actions/0/title") }
        #expect(try await preview.page.contains("/extras: Unknown field"))
        try FileManager.default.removeItem(at: home.url.appending(path: "category.json"))
        try await eventually { try await preview.page.contains("category.json&#39; can&#39;t be read") }

        try write("category.json", #"{"id": "c", "actions": [{"id": "two", "title": "Two"}]}"#)
        try await eventually { try await preview.page.contains("<bdi>Two</bdi>") }
        #expect(try await !preview.page.contains("role=\"alert\""))
        #expect(try await preview.page.contains("600 × 400"))
        try FileManager.default.removeItem(at: photo)
        try FileManager.default.copyItem(at: Repository.media.appending(path: "png/alpha.png"), to: photo)
        try await eventually { try await !preview.page.contains("600 × 400") }
        #expect(try await preview.page.contains("image/png"))
    }

    @Test func `what can't be begun with is refused in one sentence`() async throws {
        let home = try TemporaryDirectory()
        let satchel = Program(try Repository.product("satchel"), environment: ["TMPDIR": home.path], in: home.url)
        try Data(#"{"aps": {"alert": "A"}}"#.utf8).write(to: home.url.appending(path: "push.json"))
        try Data(#"{"id": "other"}"#.utf8).write(to: home.url.appending(path: "other.json"))
        let preview = try await PreviewedNotification(["push.json", "--category", "other.json"], in: home)
        #expect(try preview.program.errorsSoFar.contains("The category 'other' is not used: the payload names none.\n"))
        for (arguments, says) in [
            (["missing.json"], "'missing.json' can't be read"),
            (["push.json", "--category", "missing.json"], "'missing.json' can't be read"),
            (["push.json", "--attach", "photo"], "--attach must be an identifier and a file, such as photo=x.jpg"),
            (["push.json", "--attach", "a=x.jpg,a=y.jpg"], "--attach identifiers must differ"),
            (["push.json", "--attach", "photo=x.jpg"], "'x.jpg' can't be read"),
            (
                ["push.json", "--handler", "ftp://x/"],
                "--handler can't be called: the URL's scheme must be https or http"
            ),
            (["push.json", "--port", "70000"], "--port must be between 1 and 65535"),
            (["push.json", "--port", "\(preview.port)"], "can't be listened on: "),
        ] {
            let result = try satchel.run(["preview"] + arguments)
            #expect(result.status == (says.hasPrefix("can't be listened") ? 3 : 2), "\(arguments)")
            #expect(result.errorText.contains(says) && !result.errorText.contains("--listen"), "\(result.errorText)")
        }
    }

    // MARK: Responses

    @Test func `red turns by 20 degrees with each tap, and can be reset where it is neither upright nor on its head`()
        async throws
    {
        let home = try TemporaryDirectory()
        let preview = try await PreviewedNotification(sample: "red", in: home)
        let rotate = "rotate-twenty-degrees-action"
        let session = Self.id()
        for tap in 1...19 {
            let (status, answer) = try await preview.post(["id": Self.id(), "session": session, "action": rotate])
            #expect(status == 200 && answer["then"] as? String == "stay")
            #expect(answer["decided_by"] as? String == "handler")
            #expect(rotation(answer) == Double(tap * 20))
            #expect(titles(answer) == (tap % 9 == 0 ? ["Rotate 20°"] : ["Rotate 20°", "Reset rotation"]))
        }
        let other = Self.id()
        for tap in 1...3 {
            let (_, answer) = try await preview.post(["id": Self.id(), "session": other, "action": rotate])
            #expect(rotation(answer) == Double(tap * 20))
        }
        let reset = ["id": Self.id(), "session": other, "action": "reset-rotation-action"]
        for _ in 1...2 {
            // The same response again gets the same answer.
            let (_, answer) = try await preview.post(reset)
            #expect(rotation(answer) == 0 && titles(answer) == ["Rotate 20°"])
        }
        let (status, problem) = try await preview.post(
            ["id": Self.id(), "session": other, "action": "reset-rotation-action"])
        #expect(status == 409 && problem["code"] as? String == "unknown_action")
        #expect((problem["detail"] as? String)?.hasSuffix("Use one of \(rotate), default, dismiss.") == true)

        preview.stopHandler()
        let (_, last) = try await preview.post(["id": Self.id(), "session": session, "action": rotate])
        #expect(last["then"] as? String == "forward" && last["decided_by"] as? String == "default")
        #expect(rotation(last) == 380)
        #expect(try preview.program.errorsSoFar.contains("The handler made no decision: "))
    }

    @Test
    func `an invitation is answered by its handler, a comment by the app, and dismissals count only where asked for`()
        async throws
    {
        let home = try TemporaryDirectory()
        let preview = try await PreviewedNotification(sample: "event-invite", in: home)
        for (action, text, color) in [("accept", "Going!", "green"), ("decline", "Not Going.", "red")] {
            let (_, answer) = try await preview.post(["id": Self.id(), "session": Self.id(), "action": action])
            #expect(answer["then"] as? String == "dismiss")
            let label = (answer["view"] as? [String: Any])?["label"] as? [String: String]
            #expect(label == ["text": text, "color": color])
        }
        let (_, comment) = try await preview.post(
            ["id": Self.id(), "session": Self.id(), "action": "comment", "text": "Two of us.\nIs that fine?"])
        #expect(comment["then"] as? String == "forward" && comment["decided_by"] as? String == "handler")
        for (body, status) in [
            (["id": Self.id(), "session": Self.id(), "action": "dismiss"], 409),
            (["id": Self.id(), "session": Self.id(), "action": "accept", "text": "Yes"], 400),
            (["id": "1", "session": Self.id(), "action": "accept"], 400),
            (["id": Self.id(), "session": Self.id(), "action": "default"], 200),
        ] {
            #expect(try await preview.post(body).status == status, "\(body)")
        }
    }

    @Test func `without a handler the app would get everything`() async throws {
        let home = try TemporaryDirectory()
        let preview = try await PreviewedNotification(sample: "message", handler: false, in: home)
        for (action, text) in [("reply", "On my way"), ("block", nil), ("default", nil), ("dismiss", nil)] {
            var response = ["id": Self.id(), "session": Self.id(), "action": action]
            response["text"] = text
            let (status, answer) = try await preview.post(response)
            #expect(status == 200 && answer["then"] as? String == "forward")
            #expect(answer["decided_by"] as? String == "default" && titles(answer).count == 3)
        }
    }
}
