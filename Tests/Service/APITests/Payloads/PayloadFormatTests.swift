import API
import Foundation
import ServiceTestSupport
import Stores
import TestSupport
import Testing

@testable import SatchelCore

/// `POST /v1/payloads/{format}` and notifications of each format, from a request to what a back end sends on.
@Suite(.timeLimit(.minutes(10))) struct PayloadFormatTests {
    /// A message with a picture, by its URL, and where that and the key `satchel` are in it.
    private struct Example: Sendable {
        var format: PayloadFormat
        var start: String
        var end: String
        var picture: [String]
        var satchel: [String]

        /// - Parameter tree: Of a message.
        func satchel(of tree: Tree) throws -> Tree {
            let value = satchel.reduce(tree) { $0[$1] }
            guard format == .fcm else { return value }
            let text = try #require(value.string)
            return Tree(try JSONSerialization.jsonObject(with: Data(text.utf8)))
        }

        func url(of tree: Tree) -> String? { picture.reduce(tree) { $0[$1] }.string }
    }

    private static let examples = [
        Example(
            format: .fcm, start: #"{ "message":{"topic":"news","notification":{"title":"Ada","image":""#,
            end: #""} , "android" : {"ttl":"3600s"}}}"#, picture: ["message", "notification", "image"],
            satchel: ["message", "data", "satchel"]),
        Example(
            format: .onesignal, start: #"{"contents":{"en":"Ada"},"big_picture":""#, end: #"","ttl":1.0e3}"#,
            picture: ["big_picture"], satchel: ["data", "satchel"]),
        Example(
            format: .expo, start: #"[ {"to":"t","title":"Ada","richContent":{"image":""#,
            end: #""}},{"to":"u","body":"\u0041"}]"#, picture: ["richContent", "image"], satchel: ["data", "satchel"]),
        Example(
            format: .webpush,
            start: #"{"web_push":8030,"notification":{"title":"Ada","navigate":"https://example.com/","image":""#,
            end: #""},"app_badge":"1"}"#, picture: ["notification", "image"],
            satchel: ["notification", "data", "satchel"]),
    ]

    private func first(_ tree: Tree, _ format: PayloadFormat) -> Tree { format == .expo ? tree[0] : tree }

    // MARK: Calls

    @Test func `a picture of each format is prepared and linked in place, and the rest stays`() async throws {
        try await LocalOrigin.run { origin in
            try await LiveService.run({ $0.worker = .codec }) { live in
                for example in Self.examples {
                    let reply = try await live.enrich(
                        example.start + origin.url("/heic/coffee-gps.heic") + example.end, format: example.format)
                    try #require(reply.status == 200, "\(example.format): \(reply.text)")
                    #expect(reply["content-type"] == "application/json" && reply["satchel-job"] != nil)
                    #expect(reply["satchel-failed"] == nil && reply["satchel-dropped"] == nil)
                    let message = first(try reply.json, example.format)
                    let url = try #require(example.url(of: message))
                    #expect(reply.text.hasPrefix(example.start + url + "\""))
                    #expect(try await live.open(url) != nil)
                    let entry = try example.satchel(of: message)["attachments"][0]
                    #expect(entry["url"].string == url && entry["width"].int == 600)
                    // What is the sender's own is as it came: "to" and others keep their place and their spelling.
                    let own = example.end.split(separator: ",").last.map(String.init) ?? ""
                    #expect(reply.text.contains(own.trimming(while: "}]".contains)), "\(reply.text)")
                }
            }
        }
    }

    @Test func `where only pictures are shown, a film's poster is, by a link of the same kind`() async throws {
        try await LocalOrigin.run { origin in
            try await LiveService.run({ $0.worker = .codec }) { live in
                let film = origin.url("/mov/phone.mov")
                let reply = try await live.enrich(
                    #"{"contents":{"en":"A"},"ios_attachments":{"film":"\#(film)"},"big_picture":"\#(film)"}"#,
                    format: .onesignal)
                try #require(reply.status == 200, "\(reply.text)")
                let message = try reply.json
                let poster = try #require(message["big_picture"].string)
                #expect(poster.hasSuffix("/poster.jpg") && message["ios_attachments"]["film"].string != poster)
                #expect(message["ios_attachments"]["film"].string?.hasSuffix("/main.mp4") == true)
                #expect(message["data"]["satchel"]["attachments"][0]["url"].string?.hasSuffix("/main.mp4") == true)
                let content = try #require(try await live.open(poster))
                #expect(content.rendition.mediaType == .jpeg)
            }
        }
    }

    @Test func `a picture that is too large for Android is left out there, told, or an error that says what to do`()
        async throws
    {
        try await LocalOrigin.run { origin in
            try await LiveService.run({
                $0.worker = .codec
                $0.profiles = Profile.builtIn + [Self.large]
            }) { live in
                let picture = origin.url("/jpeg/galaxies.jpg")
                let text =
                    #"{"message":{"notification":{"title":"A"},"android":{"notification":{"image":"\#(picture)"}},"apns":{"fcm_options":{"image":"\#(picture)"}}}}"#
                let dropped = try await live.enrich(text, "?profile=large", format: .fcm)
                try #require(dropped.status == 200, "\(dropped.text)")
                #expect(
                    dropped["satchel-failed"]
                        == #"image_too_large;of="image";at="/message/android/notification/image""#)
                let message = try dropped.json["message"]
                #expect(message["android"].isMissing && message["apns"]["fcm_options"]["image"].string != nil)
                let refused = try await live.enrich(text, "?profile=large&on_failure=error", format: .fcm)
                #expect(refused.status == 422)
                #expect(try refused.json["code"].string == "image_too_large")
                #expect(try refused.json["errors"][0]["pointer"].string == "/message/android/notification/image")
                #expect(try refused.json["detail"].string?.contains("Choose a profile") == true)
            }
        }
    }

    /// Makes pictures that Android doesn't show.
    private static let large = Profile(
        name: "large", summary: "Without loss.", deadline: 30, thumbnail: .defaults,
        image: ImagePolicy(types: [.png], cap: 20_000_000),
        animation: Profile.notification.animation, video: Profile.notification.video,
        audio: Profile.notification.audio)

    @Test(
        arguments: [
            (.fcm, "{}", "", 400, "invalid_request", "messages:send"),
            (.fcm, #"{"message":{}}"#, "?push_type=alert", 400, "invalid_request", "Unknown parameter"),
            (.onesignal, "[]", "", 400, "invalid_request", "OneSignal"),
            (.expo, "[{},3]", "", 400, "invalid_request", "each an object"),
            (.webpush, "{", "", 400, "invalid_json", "line 1"),
            (.webpush, "{}", "?deadline=26", 400, "invalid_request", "between 0.05 and 25 seconds"),
            (
                .webpush, #"{"title":"\#(String(repeating: "x", count: 3982))"}"#, "", 413, "payload_too_large",
                "at most 3993. Shorten it by 1 bytes"
            ),
            (
                .expo, #"[{},{"title":"\#(String(repeating: "x", count: 4085))"}]"#, "", 413, "payload_too_large",
                "The message at '/1' has 4097 bytes; Expo accepts at most 4096"
            ),
        ] as [(PayloadFormat, String, String, Int, String, String)])
    func `what a service would not take is refused with what it would`(
        format: PayloadFormat, text: String, query: String, status: Int, code: String, word: String
    ) async throws {
        try await LiveService.run { live in
            let reply = try await live.enrich(text, query, format: format)
            #expect(reply.status == status, "\(reply.text)")
            #expect(try reply.json["code"].string == code)
            #expect(reply.text.contains(word), "\(reply.text)")
        }
    }

    @Test func `no other format is a call`() async throws {
        try await LiveService.run { live in
            let reply = try await live.send(.post, "/v1/payloads/wns", json: "{}")
            #expect(reply.status == 404)
        }
    }

    // MARK: Notifications

    @Test func `a notification of each format fires, and a preview tells its facts`() async throws {
        try await LocalOrigin.run(LocalOrigin.mediaAndHook) { origin in
            try await LiveService.run({ $0.worker = .codec }) { live in
                for example in Self.examples {
                    let id = example.format.rawValue
                    let payload = example.start + origin.url("/jpeg/coffee.jpg") + example.end
                    let put = try await putNotification(
                        id,
                        #"{"payload":\#(payload),"format":"\#(id)","trigger":{"type":"manual"},"handover":{"url":"\#(origin.url("/hook"))"}}"#,
                        live, ["Prefer": "wait=20"])
                    try #require(put.status == 201, "\(put.text)")
                    #expect(try put.json["warnings"].array.isEmpty, "\(put.text)")
                    let preview = try await live.send(.post, "/v1/notifications/\(id)/previews", json: "{}", as: .read)
                    let path = live.path(of: try #require(try preview.json["url"].string))
                    let page = try await live.send(.get, path, key: nil).text
                    #expect(page.contains(">Ada<") && page.contains(example.format.service))
                    #expect(page.contains(example.format == .webpush ? "of 3,993" : "of 4,096"))
                    #expect(page.contains("shows only pictures"))
                    #expect(page.contains("up to 1,000,000 bytes") == (example.format != .webpush))

                    let fired = try await live.send(.post, "/v1/notifications/\(id)/fire", json: "{}")
                    try #require(fired.status == 200, "\(fired.text)")
                    let message = first(try fired.json["payload"], example.format)
                    let url = try #require(example.url(of: message))
                    #expect(try await live.open(url) != nil)
                    #expect(try example.satchel(of: message)["attachments"][0]["url"].string == url)
                    try await eventually("it is handed over") {
                        origin.requests.contains { $0.path == "/hook" && $0.body.firstRange(of: Data(url.utf8)) != nil }
                    }
                    let call = try #require(origin.requests.last { $0.path == "/hook" })
                    let data = Tree(try JSONSerialization.jsonObject(with: call.body))["data"]
                    #expect(data["format"].string == id && data["push_type"].isNull)
                    #expect(example.url(of: first(data["payload"], example.format)) == url)
                }
            }
        }
    }

    @Test func `a notification's payload is of the form of its format`() async throws {
        try await LiveService.run { live in
            let cases = [
                (#"{"payload":[],"format":"fcm"}"#, "/payload", "messages:send"),
                (#"{"payload":[]}"#, "/payload", "'aps'"),
                (#"{"payload":{"title":"A"},"format":"expo","push_type":"voip"}"#, "/push_type", "apns"),
                (#"{"payload":{},"format":"wns"}"#, "/format", "apns, fcm, onesignal, expo, webpush"),
            ]
            for (json, pointer, word) in cases {
                let reply = try await putNotification("a", json, live)
                #expect(reply.status == 400, "\(reply.text)")
                #expect(try reply.json["errors"].array.map { $0["pointer"].string }.contains(pointer), "\(reply.text)")
                #expect(reply.text.contains(word), "\(reply.text)")
            }
            let reply = try await putNotification("a", #"{"payload":{},"format":"fcm"}"#, live)
            #expect(reply.status == 400 && reply.text.contains("'message'"), "\(reply.text)")
        }
    }

    @Test func `a category that FCM's message names takes responses, and its ticket is in the data`() async throws {
        try await LiveService.run { live in
            let category = #"{"actions":[{"id":"yes","title":"Yes"}],"responses":{"forward":null}}"#
            #expect(try await live.send(.put, "/v1/categories/order", json: category).status == 201)
            let put = try await putNotification(
                "a",
                #"{"payload":{"message":{"notification":{"title":"A"},"apns":{"payload":{"aps":{"category":"order"}}}}},"format":"fcm"}"#,
                live, ["Prefer": "wait=20"])
            #expect(try put.status == 201 && put.json["category"].string == "order", "\(put.text)")
            let firing = try await live.send(.get, "/v1/notifications/a/firings/1").json
            let text = try #require(firing["payload"]["message"]["data"]["satchel"].string)
            let satchel = Tree(try JSONSerialization.jsonObject(with: Data(text.utf8)))
            let respond = live.path(of: try #require(satchel["respond"].string))
            let answer = try await live.send(
                .post, respond,
                json: #"{"id":"\#(UUID())","session":"\#(UUID())","action":"yes"}"#)
            #expect(try answer.status == 200 && answer.json["then"].string == "forward", "\(answer.text)")
        }
    }
}

extension String {
    fileprivate func trimming(while isTrimmed: (Character) -> Bool) -> String {
        var text = self[...]
        while let last = text.last, isTrimmed(last) { text.removeLast() }
        return String(text)
    }
}
