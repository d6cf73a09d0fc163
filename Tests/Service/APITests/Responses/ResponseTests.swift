import API
import SatchelCore
import Foundation
import ServiceTestSupport
import Stores
import Synchronization
import TestSupport
import Testing

/// Responses by tickets, from `satchel.respond` of a payload to the handler and the app's back end.
@Suite(.timeLimit(.minutes(10))) struct ResponseTests {
    /// A notification that was fired, and where it takes responses.
    struct Fired {
        let live: LiveService
        let path: String
        let session = UUID()

        func respond(
            _ action: String, id: UUID = UUID(), session: UUID? = nil, _ more: [String: Any] = [:]
        ) async throws -> Reply {
            let body: [String: Any] = [
                "id": id.uuidString, "session": (session ?? self.session).uuidString, "action": action,
            ].merging(more) { $1 }
            return try await live.send(
                .post, path, ["Content-Type": "application/json"],
                body: try JSONSerialization.data(withJSONObject: body), key: nil)
        }
    }

    /// Puts a category and a notification of it, and fires that.
    static func fire(_ category: String, id: String = "order", _ live: LiveService) async throws -> Fired {
        let name = try #require(Tree(try JSONSerialization.jsonObject(with: Data(category.utf8)))["id"].string)
        let put = try await live.send(.put, "/v1/categories/\(name)", json: category)
        try #require(put.status < 300, "\(put.text)")
        let notification = try await live.send(
            .put, "/v1/notifications/\(id)",
            json: """
                {"payload":{"aps":{"alert":"Hello","category":"\(name)"}},"trigger":{"type":"manual"},
                 "metadata":{"order":"1"}}
                """)
        try #require(notification.status < 300, "\(notification.text)")
        let firing = try await live.send(.post, "/v1/notifications/\(id)/fire")
        let url = try #require(try firing.json["payload"]["satchel"]["respond"].string, "\(firing.text)")
        return Fired(live: live, path: live.path(of: url))
    }

    private static func category(
        handler: String? = nil, forward: String? = nil, options: String = #"["custom_dismiss_action"]"#,
        _ more: String = ""
    ) -> String {
        """
        {"id":"message","options":\(options),"actions":[{"id":"reply","title":"Reply","text_input":
         {"button_title":"Send","placeholder":"Message"}},{"id":"mute","title":"Mute"}],
         "responses":{"handler":\(handler.map { #"{"url":"\#($0)","timeout":0.5}"# } ?? "null"),
          "forward":\(forward.map { #"{"url":"\#($0)"}"# } ?? "null")\(more)}}
        """
    }

    private static func answer(_ json: String, status: Int = 200) -> LocalOrigin.Answer {
        LocalOrigin.Answer(status: status, headers: ["Content-Type": "application/json"], body: Data(json.utf8))
    }

    private static func tree(_ data: Data) throws -> Tree { Tree(try JSONSerialization.jsonObject(with: data)) }

    // MARK: The handler

    @Test func `the handler decides while the client waits, and a repeated response gets the same without asking`()
        async throws
    {
        try await LocalOrigin.run { _ in
            Self.answer(
                #"{"then":"stay","actions":[{"id":"undo","title":"Undo"}],"view":{"label":{"text":"Muted","color":"red"}}}"#
            )
        } _: { origin in
            try await LiveService.run { live in
                let fired = try await Self.fire(Self.category(handler: origin.url("/respond")), live)
                let id = UUID()
                let data: [String: Any] = ["member": "17"]
                let reply = try await fired.respond("mute", id: id, ["data": data])
                try #require(reply.status == 200, "\(reply.text)")
                #expect(reply["access-control-allow-origin"] == "*")
                let answer = try reply.json
                #expect(answer["then"].string == "stay" && answer["decided_by"].string == "handler")
                #expect(answer["actions"].array.map { $0["id"].string } == ["undo"])
                #expect(answer["view"]["label"]["text"].string == "Muted" && answer["view"]["rotation"].int == 0)
                #expect(try await fired.respond("mute", id: id).body == reply.body)

                let asked = try #require(origin.requests.first)
                #expect(origin.requests.count == 1)
                #expect(asked.headers["webhook-signature"]?.hasPrefix("v1,") == true)
                #expect(asked.headers["webhook-id"] == id.uuidString.lowercased())
                let question = try Self.tree(asked.body)
                #expect(question["notification"].string == "order" && question["firing"].int == 1)
                #expect(question["count"].int == 1 && question["preview"].bool == false)
                #expect(question["data"]["member"].string == "17" && question["metadata"]["order"].string == "1")

                // What the session offers now is another; a session of another device is as it was.
                let gone = try await fired.respond("mute")
                #expect(try gone.status == 409 && gone.json["code"].string == "unknown_action")
                #expect(try #require(gone.json["detail"].string).contains("undo, default, dismiss"))
                #expect(try await fired.respond("mute", session: UUID()).status == 200)
                #expect(try Self.tree(try #require(origin.requests.last).body)["view"]["label"].isNull)

                let listed = try await live.send(.get, "/v1/responses?notification=order").json["responses"].array
                #expect(listed.map { $0["action"].string } == ["mute", "mute"])
                #expect(listed[0]["id"].string == id.uuidString.lowercased() && listed[0]["then"].string == "stay")
                #expect(listed[0]["data"]["member"].string == "17" && listed[0]["preview"].bool == false)
                let firing = try await live.send(.get, "/v1/notifications/order/firings/1").json
                #expect(firing["responses"].int == 2)
            }
        }
    }

    struct Trouble: CustomTestStringConvertible {
        var testDescription: String
        var answer: LocalOrigin.Answer
        var reason: String
    }

    static let troubles = [
        Trouble(testDescription: "hangs", answer: .init(delay: .seconds(30)), reason: "answer (in|took too long)"),
        Trouble(testDescription: "fails", answer: .init(status: 500), reason: "the handler answered 500"),
        Trouble(
            testDescription: "redirects", answer: .init(status: 302, headers: ["Location": "http://169.254.169.254/"]),
            reason: "the handler answered 302: redirects are not followed"),
        Trouble(
            testDescription: "talks", answer: .init(body: Data(count: 10_000_000)), reason: "more than 65536 bytes"),
        Trouble(testDescription: "lies", answer: answer(#"{"then":"explode"}"#), reason: "/then"),
        Trouble(testDescription: "mumbles", answer: answer("Yes."), reason: "the answer is not valid JSON"),
    ]

    @Test(arguments: troubles)
    func `a handler in trouble leaves the response to the app, with the reason in the record`(trouble: Trouble)
        async throws
    {
        try await LocalOrigin.run { request in
            request.path == "/app" ? .init(status: 204) : trouble.answer
        } _: { origin in
            try await LiveService.run { live in
                let fired = try await Self.fire(
                    Self.category(handler: origin.url("/respond"), forward: origin.url("/app")), live)
                let reply = try await fired.respond("mute")
                #expect(reply.status == 200)
                #expect(try reply.json["then"].string == "forward" && reply.json["decided_by"].string == "default")
                let record = try await live.send(.get, "/v1/responses").json["responses"][0]
                #expect(
                    try #require(record["reason"].string).contains(try Regex(trouble.reason)), "\(record["reason"])")
                try await eventually("the app's back end is told") {
                    origin.requests.contains { $0.path == "/app" }
                }
            }
        }
    }

    @Test func `a handler in a private network is not called`() async throws {
        try await LiveService.run({ $0.webhookNames = { _ in [] } }) { live in
            let refused = try await live.send(
                .put, "/v1/categories/message", json: Self.category(handler: "http://10.0.0.1/respond"))
            #expect(refused.status == 422 || refused.status == 400)
            #expect(refused.text.contains("/responses/handler/url"))
        }
    }

    // MARK: The app's back end

    @Test func `a text is recorded and forwarded as an event, a dismissal where the category takes it`() async throws {
        try await LocalOrigin.run { _ in
            .init(status: 204)
        } _: { origin in
            try await LiveService.run { live in
                let fired = try await Self.fire(Self.category(forward: origin.url("/app")), live)
                let text = "On my way\n\u{202E}<b>evil</b> 🦊"
                let id = UUID()
                let reply = try await fired.respond("reply", id: id, ["text": text, "data": ["member": "17"]])
                #expect(try reply.json["then"].string == "forward" && reply.json["decided_by"].string == "default")
                #expect(try await fired.respond("dismiss").status == 200)
                #expect(try await fired.respond("com.apple.UNNotificationDefaultActionIdentifier").status == 200)
                try await eventually("all are told") { origin.requests.count == 3 }
                let events = try origin.requests.map { try Self.tree($0.body) }
                let event = try #require(events.first { $0["data"]["action"].string == "reply" })
                #expect(event["type"].string == "notification.response")
                #expect(event["data"]["id"].string == "order" && event["data"]["number"].int == 1)
                #expect(event["data"]["text"].string == text && event["data"]["data"]["member"].string == "17")
                #expect(event["data"]["response"].string == id.uuidString.lowercased())
                #expect(event["data"]["metadata"]["order"].string == "1")
                #expect(Set(events.compactMap { $0["data"]["action"].string }) == ["reply", "dismiss", "default"])
                try await eventually("the record says so") {
                    let listed = try await live.send(.get, "/v1/responses").json["responses"].array
                    return listed.count == 3 && listed.allSatisfy { $0["call"]["state"].string == "delivered" }
                }
                let listed = try await live.send(.get, "/v1/responses").json["responses"].array
                #expect(listed[0]["text"].string == text)

                let plain = try await Self.fire(Self.category(options: "[]"), id: "plain", live)
                let refused = try await plain.respond("dismiss")
                #expect(try refused.status == 409 && refused.json["code"].string == "unknown_action")
            }
        }
    }

    @Test func `where no text is kept there is none once it was forwarded`() async throws {
        try await LocalOrigin.run { _ in
            .init(status: 204)
        } _: { origin in
            try await LiveService.run { live in
                let fired = try await Self.fire(
                    Self.category(forward: origin.url("/app"), #","record_text":false"#), live)
                #expect(try await fired.respond("reply", ["text": "my secret", "data": "mine"]).status == 200)
                try await eventually("the back end is told") { origin.requests.count == 1 }
                #expect(String(decoding: origin.requests[0].body, as: UTF8.self).contains("my secret"))
                let record = try await live.send(.get, "/v1/responses").json["responses"][0]
                #expect(record["text"].isNull && record["data"].isNull && record["action"].string == "reply")
                try await eventually("its call is gone") {
                    try await live.send(.get, "/v1/calls").json["calls"].array.isEmpty
                }
            }
        }
    }

    // MARK: Tickets

    @Test func `a ticket opens its notification alone, until that is taken back`() async throws {
        try await LiveService.run { live in
            let fired = try await Self.fire(Self.category(), live)
            let token = try #require(fired.path.split(separator: "/").last)
            let wrong = "/r/" + token.dropLast() + (token.last == "0" ? "1" : "0")
            let reply = try await live.send(.post, wrong, json: "{}")
            #expect(reply.status == 404 && reply["access-control-allow-origin"] == "*")
            for path in ["/r/x", "/p/\(token)", "/c/\(token)/main.jpg"] {
                #expect(try await live.send(path.hasPrefix("/r") ? .post : .get, path).status == 404, "\(path)")
            }
            let others = try await live.makeKeys(of: TenantID(rawValue: "bob"))
            #expect(try await fired.respond("default").status == 200)
            let listed = try await live.send(.get, "/v1/responses", key: others[.read]).json
            #expect(listed["responses"].array.isEmpty)
            #expect(try await live.send(.delete, "/v1/notifications/order?from=delivered").status == 204)
            #expect(try await fired.respond("default").status == 404)
            // Nothing of it stands in a log.
            #expect(live.log.lines.allSatisfy { !$0.contains(token) })
        }
    }

    @Test func `what can't be taken is told by its fields`() async throws {
        try await LiveService.run { live in
            let fired = try await Self.fire(Self.category(), live)
            let long = try await fired.respond("reply", ["text": String(repeating: "ä", count: 2001)])
            #expect(long.status == 400 && long.text.contains("/text"))
            #expect(try await fired.respond("reply", ["text": String(repeating: "ä", count: 2000)]).status == 200)
            let needless = try await fired.respond("mute", ["text": "why"])
            #expect(needless.status == 400 && needless.text.contains("has no text input"))
            #expect(try await fired.respond("mute", ["data": String(repeating: "x", count: 1100)]).status == 400)
            #expect(try await fired.respond("mute", ["datum": 1]).text.contains("/datum"))
            let number = try await fired.respond("mute", ["session": 1]).json["errors"].array
            #expect(number.map { $0["pointer"].string } == ["/session"])
            let preflight = try await live.send(.options, fired.path, ["Origin": "null"])
            #expect(preflight.status == 204 && preflight["access-control-allow-headers"] == "content-type")
        }
    }

    @Test func `more than a session's sixty a minute are told when to come back`() async throws {
        try await LiveService.run { live in
            let fired = try await Self.fire(Self.category(), live)
            var refused: Reply?
            for _ in 0..<200 where refused == nil {
                let reply = try await fired.respond("default")
                if reply.status != 200 { refused = reply }
            }
            #expect(refused?.status == 429)
            #expect((1...60).contains(refused?["retry-after"].flatMap { Int($0) } ?? 0))
        }
    }

    @Test func `respond goes before entries where a payload has no room, and a silent push has none`() async throws {
        try await LiveService.run { live in
            _ = try await Self.fire(Self.category(), live)
            let filler = String(repeating: "x", count: 3990)
            for (id, payload) in [
                ("full", #"{"aps":{"alert":"\#(filler)","category":"message"}}"#),
                ("silent", #"{"aps":{"content-available":1,"category":"message"}}"#),
            ] {
                let put = try await live.send(
                    .put, "/v1/notifications/\(id)", json: #"{"payload":\#(payload),"trigger":{"type":"manual"}}"#)
                try #require(put.status == 201, "\(put.text)")
                let firing = try await live.send(.post, "/v1/notifications/\(id)/fire").json
                #expect(firing["payload"]["satchel"].isMissing, "\(id)")
                #expect(firing["dropped"].array.map(\.string) == (id == "full" ? ["respond"] : []), "\(id)")
            }
        }
    }
}
