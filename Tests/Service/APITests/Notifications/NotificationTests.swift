import API
import SatchelCore
import Foundation
import ServiceTestSupport
import Stores
import TestSupport
import Testing

/// Notifications, from `PUT /v1/notifications/{id}` to the receiver of their firings.
@Suite(.timeLimit(.minutes(10))) struct NotificationTests {
    private static let alert = #"{"alert":{"title":"Ada","body":"sent a photo"},"category":"order"}"#

    private func firing(_ id: String, _ number: Int, _ live: LiveService) async throws -> Tree {
        try await live.send(.get, "/v1/notifications/\(id)/firings/\(number)").json
    }

    // MARK: Firing

    @Test(arguments: [-86_400, 86_400])
    func `calls go by the store's time, whatever the clock of this machine says`(difference: Int) async throws {
        let clock: @Sendable () -> Instant = { .wallClock() + .seconds(difference) }
        try await LocalOrigin.run({ _ in LocalOrigin.Answer(status: 204) }) { origin in
            try await LiveService.run({ $0.clock = clock }) { live in
                let reply = try await putNotification(
                    "n",
                    #"{"payload":{"aps":\#(Self.alert)},"late_limit":60,"handover":{"url":"\#(origin.url("/hook"))"}}"#,
                    live)
                try #require(reply.status == 201, "\(reply.text)")
                try await eventually("it is delivered") {
                    try await self.firing("n", 1, live)["state"].string == "delivered"
                }
                let call = try #require(origin.requests.first)
                let timestamp = try #require(call.headers["webhook-timestamp"].flatMap { Int64($0) })
                #expect(abs(timestamp - clock().milliseconds / 1000) < 60)
            }
        }
    }

    @Test func `media are prepared ahead, and the payload is handed over with links that live from then on`()
        async throws
    {
        try await LocalOrigin.run(LocalOrigin.mediaAndHook) { origin in
            try await LiveService.run({ $0.worker = .codec }) { live in
                let reply = try await putNotification(
                    "order",
                    """
                    {"payload":{"aps":\(Self.alert),"my-attachment":"\(origin.url("/jpeg/coffee.jpg"))","deep":["cid:cat"]},
                     "attachments":[{"identifier":"cat","url":"\(origin.url("/webp/cat.webp"))"}],
                     "trigger":{"type":"manual"},"handover":{"url":"\(origin.url("/hook"))"},"metadata":{"order":"1"}}
                    """, live, ["Prefer": "wait=20"])
                try #require(reply.status == 201, "\(reply.text)")
                #expect(reply["location"] == "/v1/notifications/order")
                let record = try reply.json
                #expect(record["state"].string == "pending" && record["media"].string == "ready")
                #expect(record["category"].string == "order" && record["next"].isNull)
                #expect(try #require(record["payload_bytes"].int) > 500)
                #expect(origin.requests.allSatisfy { $0.method == "GET" })

                let fired = try await live.send(.post, "/v1/notifications/order/fire", ["Idempotency-Key": "k"])
                try #require(fired.status == 200, "\(fired.text)")
                try await eventually("it is delivered") {
                    try await self.firing("order", 1, live)["state"].string == "delivered"
                }
                let call = try #require(origin.requests.first { $0.path == "/hook" })
                let event = Tree(try JSONSerialization.jsonObject(with: call.body))
                #expect(event["type"].string == "notification.fired")
                #expect(event["data"]["id"].string == "order" && event["data"]["number"].int == 1)
                #expect(event["data"]["collapse_id"].string == "order")
                #expect(event["data"]["metadata"]["order"].string == "1")
                let firing = try await firing("order", 1, live)
                #expect(call.headers["webhook-id"] == firing["id"].string)
                #expect(firing["call"]["state"].string == "delivered" && firing["call"]["attempts"].int == 1)
                // The same in the call, in the answer and in the record.
                let payload = firing["payload"]
                let url = try #require(payload["my-attachment"].string)
                #expect(event["data"]["payload"]["my-attachment"].string == url)
                #expect(try fired.json["payload"]["my-attachment"].string == url)
                #expect(
                    payload["satchel"]["attachments"].array.map { $0["identifier"].string } == ["cat", "my-attachment"])
                for text in [url, try #require(payload["deep"][0].string)] {
                    #expect(try await live.open(text) != nil)
                }
                #expect(payload["aps"]["mutable-content"].int == 1)

                // The same key is the same firing; another is another, with links of its own.
                let again = try await live.send(.post, "/v1/notifications/order/fire", ["Idempotency-Key": "k"])
                #expect(try again.json["number"].int == 1)
                let second = try await live.send(
                    .post, "/v1/notifications/order/fire", json: #"{"handover": false}"#)
                #expect(try second.json["number"].int == 2 && second.json["state"].string == "delivered")
                #expect(try second.json["call"].isNull)
                #expect(try second.json["payload"]["my-attachment"].string != url)
                #expect(origin.requests.count { $0.path == "/hook" } == 1)

                // Taken back, what it gave out opens nothing.
                #expect(try await live.send(.delete, "/v1/notifications/order?from=delivered").status == 204)
                #expect(try await live.open(url) == nil)
                let ended = try await self.firing("order", 1, live)
                #expect(ended["state"].string == "removed")
                #expect(ended["payload"]["my-attachment"].string?.contains("/c/satn_") == true)
                #expect(ended["payload"]["my-attachment"].string?.count ?? 0 < url.count)
            }
        }
    }

    @Test func `added again before its time it fires once, at the later one`() async throws {
        try await LiveService.run { live in
            func body(_ seconds: Double) -> String {
                #"{"payload":{"aps":\#(Self.alert)},"trigger":{"type":"interval","seconds":\#(seconds)}}"#
            }
            let first = try await putNotification("sampleRequest", body(2), live)
            #expect(first.status == 201)
            #expect(try await putNotification("sampleRequest", body(2), live).json["generation"].int == 1)
            let second = try await putNotification("sampleRequest", body(2.5), live)
            #expect(second.status == 200)
            #expect(try second.json["generation"].int == 2 && second.json["state"].string == "pending")
            let due = try #require(try second.json["next"]["at"].string)
            let pending = try await live.send(.get, "/v1/notifications?list=pending").json
            #expect(pending["notifications"].array.map { $0["id"].string } == ["sampleRequest"])
            try await eventually("it fires") {
                try await live.send(.get, "/v1/notifications/sampleRequest").json["state"].string == "done"
            }
            let firings = try await live.send(.get, "/v1/firings?limit=10", ["Prefer": "wait=10"]).json
            #expect(firings["firings"].array.count == 1)
            let firing = firings["firings"][0]
            #expect(firing["scheduled_at"].string == due && firing["state"].string == "delivered")
            #expect(firing["generation"].int == 2 && firing["number"].int == 1)
            // Whoever comes back with the cursor gets what came since: nothing.
            let next = try #require(firings["next"].string)
            #expect(try await live.send(.get, "/v1/firings?cursor=\(next)").json["firings"].array.isEmpty)
            let delivered = try await live.send(.get, "/v1/notifications?list=delivered").json
            #expect(delivered["notifications"].array.map { $0["id"].string } == ["sampleRequest"])
            #expect(try await live.send(.get, "/v1/notifications?list=pending").json["notifications"].array.isEmpty)
        }
    }

    @Test func `removed before its time it never fires`() async throws {
        try await LiveService.run { live in
            let body = #"{"payload":{"aps":\#(Self.alert)},"trigger":{"type":"interval","seconds":0.3}}"#
            _ = try await putNotification("a", body, live)
            #expect(try await live.send(.delete, "/v1/notifications/a?from=pending").status == 204)
            _ = try await putNotification("b", body, live)
            try await eventually("another fires") {
                try await live.send(.get, "/v1/notifications/b").json["state"].string == "done"
            }
            let record = try await live.send(.get, "/v1/notifications/a").json
            #expect(record["state"].string == "cancelled" && record["last"].isNull)
            #expect(try await live.send(.post, "/v1/notifications/a/fire").status == 409)
            // Once more is no error.
            #expect(try await live.send(.delete, "/v1/notifications/a").status == 204)
            #expect(try await live.send(.delete, "/v1/notifications/none").status == 204)
        }
    }

    @Test func `without a trigger it fires at once, a medium that fails is told, and with error nothing goes`()
        async throws
    {
        try await LocalOrigin.run(LocalOrigin.mediaAndHook) { origin in
            try await LiveService.run({ $0.worker = .codec }) { live in
                let media = #""payload":{"aps":\#(Self.alert),"my-attachment":"\#(origin.url("/none.jpg"))"}"#
                let dropped = try await putNotification("dropped", "{\(media)}", live, ["Prefer": "wait=20"])
                #expect(try dropped.json["media"].string == "failed")
                #expect(try dropped.json["last"]["state"].string == "delivered")
                let firing = try await firing("dropped", 1, live)
                #expect(firing["failed"][0]["identifier"].string == "my-attachment")
                #expect(firing["failed"][0]["code"].string == "fetch_failed")
                #expect(firing["payload"].keys == ["aps"])
                _ = try await putNotification(
                    "strict", #"{\#(media),"on_failure":"error","handover":{"url":"\#(origin.url("/hook"))"}}"#, live,
                    ["Prefer": "wait=20"])
                let failed = try await self.firing("strict", 1, live)
                #expect(failed["state"].string == "failed" && failed["payload"].isNull)
                #expect(failed["error"]["code"].string == "fetch_failed")
                try await eventually("the receiver is told") { origin.requests.contains { $0.path == "/hook" } }
                let call = try #require(origin.requests.first { $0.path == "/hook" })
                let event = Tree(try JSONSerialization.jsonObject(with: call.body))
                #expect(event["type"].string == "notification.failed")
                #expect(event["data"]["error"]["code"].string == "fetch_failed")
            }
        }
    }

    @Test func `files come along, and what was prepared before is used again`() async throws {
        try await LiveService.run({ $0.worker = .codec }) { live in
            let photo = try Data(contentsOf: Repository.media.appending(path: "jpeg/coffee.jpg"))
            func body(_ alert: String) -> Data {
                let notification =
                    #"{"payload":{"aps":\#(alert),"photo":"cid:photo"},"attachments":[{"identifier":"photo","part":"file"}],"trigger":{"type":"manual"}}"#
                let head =
                    "--b\r\nContent-Disposition: form-data; name=\"notification\"\r\n\r\n\(notification)\r\n"
                    + "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"coffee.jpg\"\r\n\r\n"
                return Data(head.utf8) + photo + Data("\r\n--b--\r\n".utf8)
            }
            let headers = ["Content-Type": "multipart/form-data; boundary=b", "Prefer": "wait=20"]
            let reply = try await live.send(.put, "/v1/notifications/first", headers, body: body(Self.alert))
            try #require(reply.status == 201, "\(reply.text)")
            #expect(try reply.json["media"].string == "ready")
            let job = try #require(try reply.json["job"].string)
            let attachment = try #require(
                try await live.send(.get, "/v1/jobs/\(job)").json["attachments"][0]["id"].string)
            let second = try await putNotification(
                "second",
                #"{"payload":{"aps":\#(Self.alert),"photo":"cid:photo"},"attachments":[{"identifier":"photo","attachment_id":"\#(attachment)"}]}"#,
                live, ["Prefer": "wait=20"])
            #expect(try second.json["job"].isNull && second.json["state"].string == "done")
            let firing = try await firing("second", 1, live)
            let content = try await live.open(try #require(firing["payload"]["photo"].string))
            #expect(content?.attachment.rawValue == attachment)
            // The text alone changed: the media are the same job.
            let changed = Self.alert.replacingOccurrences(of: "Ada", with: "Eve")
            let updated = try await live.send(.put, "/v1/notifications/first", headers, body: body(changed))
            #expect(try updated.json["generation"].int == 2 && updated.json["job"].string == job)
        }
    }

    @Test func `an update without a trigger is waited for until it has fired itself`() async throws {
        try await LiveService.run { live in
            for number in 1...3 {
                let body = #"{"payload":{"aps":{"alert":"\#(number)"}}}"#
                for _ in 0..<2 {
                    let reply = try await putNotification("a", body, live, ["Prefer": "wait=20"])
                    let last = try reply.json["last"]
                    #expect(last["number"].int == number && last["state"].string == "delivered", "\(reply.text)")
                }
            }
        }
    }

    // MARK: What can't be taken

    @Test func `over the quota nothing is left of a notification and its files`() async throws {
        try await LiveService.run({ $0.settings.quotas.pendingNotifications = 1 }) { live in
            #expect(try await putNotification("a", #"{"payload":{},"trigger":{"type":"manual"}}"#, live).status == 201)
            let photo = try Data(contentsOf: Repository.media.appending(path: "jpeg/coffee.jpg"))
            let head =
                "--b\r\nContent-Disposition: form-data; name=\"notification\"\r\n\r\n"
                + #"{"payload":{},"attachments":[{"identifier":"photo","part":"file"}],"trigger":{"type":"manual"}}"#
                + "\r\n--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.jpg\"\r\n\r\n"
            let refused = try await live.send(
                .put, "/v1/notifications/b", ["Content-Type": "multipart/form-data; boundary=b"],
                body: Data(head.utf8) + photo + Data("\r\n--b--\r\n".utf8))
            #expect(refused.status == 429)
            #expect(try refused.json["code"].string == "quota_exceeded")
            #expect(try await live.send(.get, "/v1/jobs").json["jobs"].array.isEmpty)
            try await eventually("its file is gone") { try await live.spooled().isEmpty }
        }
    }

    @Test func `everything that can't be taken is named`() async throws {
        try await LiveService.run { live in
            let cases: [(json: String, status: Int, code: String, pointer: String)] = [
                (#"{"trigger":null}"#, 400, "invalid_request", "/payload"),
                (#"{"payload":"text"}"#, 400, "invalid_request", "/payload"),
                (#"{"payload":{},"colour":"red"}"#, 400, "invalid_request", "/colour"),
                (#"{"payload":{},"prepare":"never"}"#, 400, "invalid_request", "/prepare"),
                (#"{"payload":{},"late_limit":0}"#, 400, "invalid_request", "/late_limit"),
                (#"{"payload":{},"handover":{}}"#, 400, "invalid_request", "/handover/url"),
                (
                    #"{"payload":{},"handover":{"url":"http://10.0.0.1/"}}"#, 422, "blocked_address", "/handover/url"
                ),
                (#"{"payload":{"a":["cid:b"]}}"#, 400, "invalid_request", "/payload/a/0"),
                (
                    #"{"payload":{},"attachments":[{"identifier":"a","attachment_id":"none"}]}"#, 400,
                    "invalid_request", "/attachments/0/attachment_id"
                ),
                (
                    #"{"payload":{},"attachments":[{"url":"https://a/b"}]}"#, 400, "invalid_request",
                    "/attachments/0/identifier"
                ),
                (#"{"payload":{},"trigger":{"type":"location"}}"#, 422, "unsupported_trigger", "/trigger/type"),
                (
                    #"{"payload":{},"trigger":{"type":"date","at":"2020-01-01T00:00:00Z"}}"#, 422, "trigger_passed",
                    "/trigger/at"
                ),
                (
                    #"{"payload":{},"trigger":{"type":"calendar","time_zone":"Europe/Berln","components":{"hour":8}}}"#,
                    422, "unknown_time_zone", "/trigger/time_zone"
                ),
                (
                    #"{"payload":{},"trigger":{"type":"calendar","time_zone":"UTC","components":{"day":31,"month":4}}}"#,
                    422, "trigger_never_fires", "/trigger/components"
                ),
            ]
            for (json, status, code, pointer) in cases {
                let reply = try await putNotification("a", json, live)
                #expect(reply.status == status, "\(json): \(reply.text)")
                #expect(try reply.json["code"].string == code, "\(json): \(reply.text)")
                #expect(try reply.json["errors"].array.map { $0["pointer"].string }.contains(pointer), "\(reply.text)")
            }
            let long = String(repeating: "a", count: 4097 - #"{"a":""}"#.utf8.count)
            let reply = try await putNotification("a", #"{"payload":{"a":"\#(long)"}}"#, live)
            #expect(reply.status == 413)
            #expect(try reply.json["code"].string == "payload_too_large")
            #expect(try await live.send(.get, "/v1/notifications/a").status == 404)
            #expect(try await putNotification("a%20b", #"{"payload":{}}"#, live).status == 400)
            #expect(try await live.send(.get, "/v1/firings?cursor=x").status == 400)
        }
    }

    @Test func `under an idempotency key it is added once`() async throws {
        try await LiveService.run { live in
            let body = #"{"payload":{"aps":\#(Self.alert)},"trigger":{"type":"manual"}}"#
            let first = try await live.send(.post, "/v1/notifications", ["Idempotency-Key": "k"], json: body)
            #expect(first.status == 201)
            let again = try await live.send(.post, "/v1/notifications", ["Idempotency-Key": "k"], json: body)
            #expect(again.status == 200)
            #expect(try again.json["id"].string == first.json["id"].string)
            let other = try await live.send(
                .post, "/v1/notifications", ["Idempotency-Key": "k"], json: #"{"payload":{"aps":{}}}"#)
            #expect(other.status == 422)
            #expect(try other.json["code"].string == "idempotency_conflict")
        }
    }
}
