import API
import SatchelCore
import Stores
import Foundation
import Jobs
import ServiceTestSupport
import Synchronization
import TestSupport
import Testing

/// The media of notifications: what their record says of them, who is told of failures, and how they are prepared ahead of each
/// firing.
@Suite(.timeLimit(.minutes(10))) struct NotificationMediaTests {
    private static let alert = #"{"alert":{"title":"Ada","body":"sent a photo"},"category":"order"}"#

    private func record(_ id: String, _ live: LiveService) async throws -> Tree {
        try await live.send(.get, "/v1/notifications/\(id)").json
    }

    private func codes(_ record: Tree) -> [String?] { record["warnings"].array.map { $0["code"].string } }

    private func events(_ origin: LocalOrigin) throws -> [Tree] {
        try origin.requests.filter { $0.path == "/hook" }.map {
            Tree(try JSONSerialization.jsonObject(with: $0.body))
        }
    }

    // MARK: Warnings

    @Test func `a record warns of what is known at acceptance, and of its media when they are prepared`()
        async throws
    {
        try await LocalOrigin.run(LocalOrigin.mediaAndHook) { origin in
            try await LiveService.run({
                $0.worker = .codec
                $0.startsWorking = false
            }) { live in
                let silent = try await putNotification(
                    "silent", #"{"payload":{"aps":{}},"trigger":{"type":"manual"}}"#, live)
                #expect(try codes(silent.json) == ["no_alert"])
                let stray = try await putNotification(
                    "stray",
                    #"{"payload":{"aps":{"alert":"A"},"photo":"https://o.example/a.jpg"},"trigger":{"type":"manual"}}"#,
                    live)
                #expect(try codes(stray.json) == ["no_media_found"])
                #expect(try stray.json["warnings"][0]["detail"].string?.contains("'/photo'") == true)
                let media =
                    #"[{"identifier":"photo","url":"\#(origin.url("/jpeg/coffee.jpg"))"},{"identifier":"gone","url":"\#(origin.url("/none.jpg"))"}]"#
                let reply = try await putNotification(
                    "order",
                    #"{"payload":{"aps":\#(Self.alert)},"attachments":\#(media),"trigger":{"type":"manual"}}"#, live)
                try #require(reply.status == 201, "\(reply.text)")
                #expect(try reply.json["media"].string == "preparing")
                #expect(try codes(reply.json) == ["unknown_category"])
                live.startWorking()
                try await eventually("its media are prepared") {
                    try await self.record("order", live)["media"].string == "partial"
                }
                let category =
                    #"{"extension":{"initial_content_size_ratio":5},"actions":[{"id":"a","title":"A"},{"id":"b","title":"B"},{"id":"c","title":"C"}]}"#
                #expect(try await live.send(.put, "/v1/categories/order", json: category).status == 201)
                let record = try await record("order", live)
                #expect(codes(record) == ["banner_hides_actions", "ratio_differs", "media_failed"])
                #expect(record["warnings"][2]["detail"].string?.contains("'gone'") == true)
                #expect(record["warnings"][0]["detail"].string?.contains("'C'") == true)
            }
        }
    }

    // MARK: Failures

    @Test func `media that failed are told to the receiver before it fires, with what to do, and once`() async throws {
        try await LocalOrigin.run(LocalOrigin.mediaAndHook) { origin in
            try await LiveService.run({ $0.worker = .codec }) { live in
                let body =
                    #"{"payload":{"aps":\#(Self.alert),"my-attachment":"\#(origin.url("/none.jpg"))"},"trigger":{"type":"interval","seconds":3600},"handover":{"url":"\#(origin.url("/hook"))"},"metadata":{"order":"1"}}"#
                let reply = try await putNotification("order", body, live, ["Prefer": "wait=20"])
                try #require(reply.status == 201, "\(reply.text)")
                try await eventually("the receiver is told") { try !self.events(origin).isEmpty }
                let event = try events(origin)[0]
                #expect(event["type"].string == "notification.media_failed")
                let data = event["data"]
                #expect(data["id"].string == "order" && data["generation"].int == 1 && data["number"].int == 1)
                #expect(data["metadata"]["order"].string == "1")
                #expect(try data["scheduled_at"].string == reply.json["next"]["at"].string)
                let failure = data["failed"][0]
                #expect(failure["identifier"].string == "my-attachment" && failure["code"].string == "fetch_failed")
                #expect(failure["message"].string?.contains("Check that the URL") == true)
                #expect(failure["retrying"].bool == false)
                let record = try await record("order", live)
                #expect(record["media"].string == "failed" && codes(record).contains("media_failed"))
                // The same again is the same; what it fires with is told by the firing.
                _ = try await putNotification("order", body, live)
                let calls = try await live.send(.get, "/v1/calls?type=notification.media_failed").json
                #expect(calls["calls"].array.map { $0["subject"].string } == ["order"])
                _ = try await live.send(.post, "/v1/notifications/order/fire")
                try await eventually("it is handed over") { try self.events(origin).count == 2 }
                #expect(try events(origin)[1]["type"].string == "notification.fired")
            }
        }
    }

    @Test func `what an origin can't give now is tried again until it can, with its headers`() async throws {
        let isAway = Atomic(true)
        let offset = Mutex(Duration.zero)
        let script: LocalOrigin.Script = { request in
            guard request.method == "GET" else { return LocalOrigin.Answer(status: 204) }
            guard request.headers["authorization"] == "Bearer canary-51c2" else {
                return LocalOrigin.Answer(status: 401)
            }
            if isAway.load(ordering: .relaxed), request.path == "/png/alpha.png" {
                return LocalOrigin.Answer(status: 503)
            }
            return try await LocalOrigin.media(request)
        }
        try await LocalOrigin.run(script) { origin in
            try await LiveService.run({
                $0.worker = .codec
                $0.pipeline.backoff.attempts = 1
                $0.clock = { .wallClock() + offset.withLock { $0 } }
            }) { live in
                func attachment(_ name: String, _ path: String) -> String {
                    #"{"identifier":"\#(name)","url":"\#(origin.url(path))","headers":{"Authorization":"Bearer canary-51c2"}}"#
                }
                let reply = try await putNotification(
                    "order",
                    #"{"payload":{"aps":\#(Self.alert)},"attachments":[\#(attachment("a", "/jpeg/coffee.jpg")),\#(attachment("b", "/png/alpha.png"))],"trigger":{"type":"interval","seconds":864000},"handover":{"url":"\#(origin.url("/hook"))"}}"#,
                    live, ["Prefer": "wait=20"])
                try #require(reply.status == 201, "\(reply.text)")
                let first = try #require(try reply.json["job"].string)
                try await eventually("it is to be tried again") {
                    let record = try await live.service.records.notification(
                        NotificationID(rawValue: "order"), of: live.tenant)
                    return record?.mediaDueAt != nil && record?.media.awaitsJob == false
                }
                #expect(try await record("order", live)["media"].string == "preparing")
                isAway.store(false, ordering: .relaxed)
                offset.withLock { $0 = .seconds(7200) }
                try await eventually("all of it is there") {
                    try await self.record("order", live)["media"].string == "ready"
                }
                let record = try await record("order", live)
                #expect(record["job"].string != first && codes(record) == ["unknown_category"])
                // What was there wasn't fetched again.
                #expect(origin.requests.count { $0.path == "/jpeg/coffee.jpg" } == 1)
                #expect(try events(origin).isEmpty)
                let fired = try await live.send(.post, "/v1/notifications/order/fire").json
                #expect(fired["failed"].array.isEmpty)
                let attachments = fired["payload"]["satchel"]["attachments"].array
                #expect(attachments.map { $0["identifier"].string } == ["a", "b"])
            }
        }
    }

    // MARK: For each firing

    @Test func `media are prepared anew for each firing, ahead of it, and at once where it is fired by hand`()
        async throws
    {
        try await LocalOrigin.run(LocalOrigin.mediaAndHook) { origin in
            try await LiveService.run({ $0.worker = .codec }) { live in
                func body(_ trigger: String, _ lead: Int = 120) -> String {
                    #"{"payload":{"aps":\#(Self.alert),"my-attachment":"\#(origin.url("/jpeg/coffee.jpg"))"},"trigger":\#(trigger),"prepare":"each","lead":\#(lead)}"#
                }
                let reply = try await putNotification(
                    "weekly", body(#"{"type":"interval","seconds":604800,"repeats":true}"#), live,
                    ["Prefer": "wait=20"])
                try #require(reply.status == 201, "\(reply.text)")
                #expect(try reply.json["media"].string == "preparing" && reply.json["job"].isNull)
                #expect(origin.requests.isEmpty)
                var attachments: Set<String?> = []
                for _ in 1...2 {
                    let fired = try await live.send(.post, "/v1/notifications/weekly/fire").json
                    #expect(fired["state"].string == "delivered" && fired["failed"].array.isEmpty, "\(fired)")
                    let url = try #require(fired["payload"]["my-attachment"].string)
                    #expect(try await live.open(url) != nil)
                    attachments.insert(try await live.open(url)?.attachment.rawValue)
                }
                #expect(attachments.count == 2)

                // Ahead of its instant.
                _ = try await putNotification("soon", body(#"{"type":"interval","seconds":2.5}"#), live)
                try await eventually("it is prepared") {
                    try await self.record("soon", live)["media"].string == "ready"
                }
                let prepared = try #require(try await record("soon", live)["job"].string)
                try await eventually("it has fired") {
                    try await self.record("soon", live)["last"]["state"].string == "delivered"
                }
                let firing = try await live.service.records.firing(
                    1, of: NotificationID(rawValue: "soon"), tenant: live.tenant)
                #expect(firing?.job?.rawValue == prepared && firing?.failed == [])
                #expect(try await record("soon", live)["media"].string == "ready")

                // Without a trigger, at once.
                let now = try await putNotification("now", body("null"), live, ["Prefer": "wait=20"])
                #expect(try now.json["last"]["state"].string == "delivered" && now.json["media"].string == "ready")
            }
        }
    }

    @Test func `of each firing's media those that failed are told before it`() async throws {
        try await LocalOrigin.run(LocalOrigin.mediaAndHook) { origin in
            try await LiveService.run({ $0.worker = .codec }) { live in
                _ = try await putNotification(
                    "order",
                    #"{"payload":{"aps":\#(Self.alert),"my-attachment":"\#(origin.url("/none.jpg"))"},"trigger":{"type":"interval","seconds":60},"prepare":"each","handover":{"url":"\#(origin.url("/hook"))"}}"#,
                    live)
                try await eventually("the receiver is told") { try !self.events(origin).isEmpty }
                let event = try events(origin)[0]
                #expect(event["type"].string == "notification.media_failed" && event["data"]["number"].int == 1)
            }
        }
    }

    @Test func `what can't be prepared for each firing is refused, and named`() async throws {
        try await LiveService.run { live in
            let url = #""attachments":[{"identifier":"a","url":"https://example.com/a.jpg"}]"#
            let payload = #""payload":{"aps":\#(Self.alert)},"prepare":"each""#
            let cases: [(json: String, status: Int, code: String, pointer: String)] = [
                (
                    #"{\#(payload),"attachments":[{"identifier":"a","part":"file"}]}"#, 400, "invalid_request",
                    "/attachments/0/part"
                ),
                (#"{\#(payload),\#(url),"lead":4}"#, 400, "invalid_request", "/lead"),
                (#"{"payload":{},"lead":10}"#, 400, "invalid_request", "/lead"),
                (
                    #"{\#(payload),\#(url),"trigger":{"type":"interval","seconds":60,"repeats":true},"lead":31}"#,
                    422, "lead_too_long", "/lead"
                ),
                (
                    #"{\#(payload),\#(url),"lead":2000,"trigger":{"type":"calendar","time_zone":"Europe/Berlin","components":{"minute":5},"repeats":true}}"#,
                    422, "lead_too_long", "/lead"
                ),
            ]
            for (json, status, code, pointer) in cases {
                let reply = try await putNotification("a", json, live)
                #expect(reply.status == status, "\(json): \(reply.text)")
                #expect(try reply.json["code"].string == code, "\(json): \(reply.text)")
                #expect(try reply.json["errors"].array.map { $0["pointer"].string }.contains(pointer), "\(reply.text)")
            }
            #expect(
                try await putNotification(
                    "a", #"{\#(payload),\#(url),"trigger":{"type":"interval","seconds":60,"repeats":true},"lead":30}"#,
                    live
                ).status == 201)
        }
    }
}
