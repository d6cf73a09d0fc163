import API
import SatchelCore
import Foundation
import Ingest
import Jobs
import ServiceTestSupport
import Stores
import TestSupport
import Testing

/// `POST /v1/payloads/apns`, from a request to the links of its answer.
@Suite(.timeLimit(.minutes(10))) struct PayloadTests {
    // MARK: Conventions

    @Test func `a photograph of FCM is prepared, linked in place and described`() async throws {
        try await LocalOrigin.run { origin in
            try await LiveService.run({ $0.worker = .codec }) { live in
                let start =
                    #"{ "gcm.message_id":"17\u00300","aps" : {"alert":{"title":"Ada","body":"sent a photo"},"badge":1.0e0},"fcm_options":{"image":""#
                let end = #""} , "encrypted-content":"AA\/8=", "google.c.a.e":"1""#
                let reply = try await live.enrich(start + origin.url("/heic/coffee-gps.heic") + end + " }\n")
                #expect(reply.status == 200)
                #expect(reply["content-type"] == "application/json")
                #expect(reply["cache-control"] == "no-store")
                #expect(reply["satchel-failed"] == nil && reply["satchel-dropped"] == nil)

                let medium = try reply.json["satchel"]["attachments"][0]
                let url = try #require(medium["url"].string)
                let aps = #"{"alert":{"title":"Ada","body":"sent a photo"},"badge":1.0e0}"#
                let untouched = start.replacingOccurrences(
                    of: aps, with: String(aps.dropLast()) + #","mutable-content":1}"#)
                #expect(reply.text.hasPrefix(untouched + url + end + #", "satchel":{"v":1,"#))
                #expect(reply.text.hasSuffix(" }\n"))

                #expect(medium["identifier"].string == "image")
                #expect(medium["width"].int == 600 && medium["height"].int == 400)
                #expect(medium["options"]["type_hint"].string == "public.jpeg")
                #expect(medium["options"].keys == ["type_hint"])
                #expect(medium["thumbhash"].string?.isEmpty == false)
                #expect(url.hasPrefix("https://media.example.com/c/satn_") && url.hasSuffix("/main.jpg"))
                let preview = try #require(medium["preview_url"].string)
                #expect(preview.hasSuffix("/thumbnail.jpg"))
                for text in [url, preview] {
                    let content = try #require(try await live.open(text))
                    #expect(content.delivery == .private)
                    #expect(try await live.bytes(of: content).starts(with: [0xFF, 0xD8, 0xFF]))
                }
                #expect(try await live.open(url)?.rendition.bytes == medium["bytes"].int.map(Int64.init))

                let job = try #require(reply["satchel-job"])
                let record = try await live.store.records.job(JobID(rawValue: job), of: live.tenant)
                #expect(record?.state == .delivered && record?.mode == .lenient && record?.priority == .interactive)
                #expect(record?.attachments.map(\.identifier) == ["image"])
            }
        }
    }

    @Test func `each medium of OneSignal becomes what iOS shows, under its own identifier`() async throws {
        try await LocalOrigin.run { origin in
            try await LiveService.run({ $0.worker = .codec }) { live in
                let reply = try await live.enrich(
                    #"{"aps":{"alert":"A"},"os_data":{"i":"id","att":{"cat":"\#(origin.url("/webp/cat.webp"))","film":"\#(origin.url("/gif/film.gif"))","voice":"\#(origin.url("/ogg/voice.opus"))"}}}"#
                )
                #expect(reply.status == 200)
                let payload = try reply.json
                let attachments = payload["satchel"]["attachments"].array
                #expect(attachments.map { $0["identifier"].string } == ["cat", "film", "voice"])
                #expect(
                    attachments.map { $0["options"]["type_hint"].string }
                        == ["public.jpeg", "com.compuserve.gif", "com.apple.m4a-audio"])
                #expect(payload["os_data"]["i"].string == "id")
                for attachment in attachments {
                    let name = try #require(attachment["identifier"].string)
                    #expect(payload["os_data"]["att"][name].string == attachment["url"].string)
                    let url = try #require(attachment["url"].string)
                    #expect(try await live.open(url) != nil)
                }
                #expect(attachments[2]["preview_url"].string?.hasSuffix("/waveform.png") == true)
                #expect(attachments[2]["width"].isMissing)
            }
        }
    }

    @Test func `the types of Braze and CleverTap are said in their own words`() async throws {
        try await LocalOrigin.run { origin in
            try await LiveService.run({ $0.worker = .codec }) { live in
                let reply = try await live.enrich(
                    #"{"aps":{"alert":"A"},"ab":{"att":{"type":"heic","url":"\#(origin.url("/heic/rotated.heic"))"}},"ct_mediaType":"video/quicktime","ct_mediaUrl":"\#(origin.url("/mov/phone.mov"))"}"#
                )
                #expect(reply.status == 200)
                let payload = try reply.json
                #expect(payload["ab"]["att"]["type"].string == "jpg")
                #expect(payload["ct_mediaType"].string == "video/mp4")
                #expect(payload["ct_mediaUrl"].string?.hasSuffix("/main.mp4") == true)
                let video = payload["satchel"]["attachments"][1]
                #expect(video["preview_url"].string?.hasSuffix("/thumbnail.jpg") == true)
                #expect(video["options"]["type_hint"].string == "public.mpeg-4")
                let url = try #require(video["url"].string)
                let content = try #require(try await live.open(url))
                #expect(try await live.bytes(of: content).dropFirst(4).starts(with: Array("ftyp".utf8)))
            }
        }
    }

    @Test func `Airship's options go along`() async throws {
        try await LocalOrigin.run { origin in
            try await LiveService.run({ $0.worker = .codec }) { live in
                let reply = try await live.enrich(
                    #"{"aps":{"alert":"A"},"com.urbanairship.media_attachment":{"url":["\#(origin.url("/jpeg/coffee.jpg"))"],"options":{"crop":{"x":0.25,"y":0,"width":0.5,"height":1},"hidden":true}}}"#
                )
                let options = try reply.json["satchel"]["attachments"][0]["options"]
                #expect(options["thumbnail_hidden"].bool == true)
                #expect(options["thumbnail_clipping_rect"]["x"].double.map { abs($0 - 0.25) < 0.01 } == true)
                #expect(options["thumbnail_clipping_rect"]["width"].double.map { abs($0 - 0.5) < 0.01 } == true)
                #expect(try reply.json["com.urbanairship.media_attachment"]["options"]["hidden"].bool == true)
            }
        }
    }

    // MARK: What is left alone

    @Test func `a payload without media or without an alert comes back as it went, and no job is made`() async throws {
        try await LocalOrigin.run { origin in
            try await LiveService.run { live in
                for text in [
                    "{\"aps\" :{\"alert\":\"\\u0041\"},\n \"x\":[1.0, 2e3 ]} ",
                    #"{"aps":{"content-available":1},"my-attachment":"\#(origin.url("/jpeg/coffee.jpg"))"}"#,
                    #"{"my-attachment":"\#(origin.url("/jpeg/coffee.jpg"))"}"#,
                    #"{"aps":{"alert":"A"},"my-attachment":"photo.jpg"}"#,
                    "{}",
                ] {
                    let reply = try await live.enrich(text)
                    #expect(reply.status == 200)
                    #expect(reply.text == text)
                    #expect(reply["satchel-job"] == nil)
                }
                let alert = #"{"aps":{"alert":"A"},"my-attachment":"\#(origin.url("/jpeg/coffee.jpg"))"}"#
                #expect(try await live.enrich(alert, "?push_type=background").text == alert)
                #expect(origin.requests.isEmpty)
                #expect(try await live.jobs.isEmpty)
            }
        }
    }

    // MARK: Failures

    @Test func `a medium that failed is dropped, kept or an error, as was asked`() async throws {
        try await LocalOrigin.run { origin in
            try await LiveService.run({ $0.worker = .codec }) { live in
                let gone = origin.url("/jpeg/none.jpg")
                let text =
                    #"{"aps":{"alert":{"body":"A"},"mutable-content":1},"att":{"a":"\#(gone)","b":"\#(origin.url("/jpeg/coffee.jpg"))"}}"#

                let dropped = try await live.enrich(text)
                #expect(dropped.status == 200)
                #expect(try dropped.json["att"].keys == ["b"])
                #expect(try dropped.json["satchel"]["attachments"].array.count == 1)
                #expect(dropped["satchel-failed"] == #"fetch_failed;of="a""#)

                let kept = try await live.enrich(text, "?on_failure=keep")
                #expect(try kept.json["att"]["a"].string == gone)
                #expect(try kept.json["att"]["b"].string?.hasPrefix("https://media.example.com/c/") == true)
                #expect(kept["satchel-failed"] == #"fetch_failed;of="a""#)

                let refused = try await live.enrich(text, "?on_failure=error")
                #expect(refused.status == 422)
                #expect(refused["content-type"] == "application/problem+json")
                #expect(try refused.json["code"].string == "fetch_failed")
                #expect(try refused.json["errors"][0]["pointer"].string == "/att/a")
                #expect(try refused.json["detail"].string?.contains("'a'") == true)
                #expect(refused["satchel-job"] != nil)
            }
        }
    }

    @Test func `a payload whose media all fail keeps its text, and is as it was where they are kept`() async throws {
        try await LocalOrigin.run { origin in
            try await LiveService.run({
                $0.worker = .codec
                $0.fetchAllow = []
            }) { live in
                let text =
                    #"{"aps":{"alert":{"body":"See the picture"}},"_mediaUrl":"\#(origin.url("/jpeg/coffee.jpg"))","_mediaAlt":"A cup of coffee"}"#
                let reply = try await live.enrich(text)
                #expect(reply.text == #"{"aps":{"alert":{"body":"A cup of coffee"}}}"#)
                #expect(reply["satchel-failed"] == #"blocked_address;of="_mediaUrl""#)
                #expect(try await live.enrich(text, "?on_failure=keep").text == text)
                #expect(origin.requests.isEmpty)
            }
        }
    }

    // MARK: Time

    @Test func `at the deadline what is ready goes in, and the rest is left behind`() async throws {
        try await LocalOrigin.run({ request in
            var answer = try await LocalOrigin.media(request)
            if request.target.hasSuffix("?slow") { answer.delay = .seconds(600) }
            return answer
        }) { origin in
            try await LiveService.run({ $0.worker = .codec }) { live in
                let text =
                    #"{"aps":{"alert":"A"},"att":{"slow":"\#(origin.url("/jpeg/galaxies.jpg?slow"))","fast":"\#(origin.url("/jpeg/coffee.jpg"))"}}"#
                let reply = try await live.enrich(text, "?deadline=8")
                #expect(reply.status == 200)
                #expect(try reply.json["att"].keys == ["fast"])
                #expect(reply["satchel-failed"]?.hasSuffix(#";of="slow""#) == true)
                #expect(try await live.jobs.allSatisfy(\.state.isFinished))
            }
        }
    }

    @Test func `a job that nobody carried out in time is cancelled, and the payload leaves`() async throws {
        try await LiveService.run { live in
            let text = #"{"aps":{"alert":"A"},"my-attachment":"https://o.example/a.jpg","x":1}"#
            let reply = try await live.enrich(text, "?deadline=0.3")
            #expect(reply.text == #"{"aps":{"alert":"A"},"x":1}"#)
            #expect(reply["satchel-failed"] == #"deadline_exceeded;of="my-attachment""#)
            #expect(try await live.jobs.map(\.state) == [.cancelled])
        }
    }

    // MARK: Size

    @Test func `an answer is never longer than APNs takes, and says what was left out`() async throws {
        try await LocalOrigin.run { origin in
            try await LiveService.run({ $0.worker = .codec }) { live in
                func text(_ size: Int) -> String {
                    let start = #"{"aps":{"alert":""#
                    let end =
                        #""},"att":{"ä\n":"\#(origin.url("/jpeg/coffee.jpg"))","b":"\#(origin.url("/png/coffee.png"))"}}"#
                    return start + String(repeating: "x", count: size - start.utf8.count - end.utf8.count) + end
                }
                var seen: Set<String> = []
                for (size, limit) in [(2800, 4096), (3300, 4096), (3700, 4096), (4096, 4096), (5120, 5120)] {
                    let reply = try await live.enrich(text(size), limit == 5120 ? "?push_type=voip" : "")
                    #expect(reply.status == 200)
                    #expect(reply.body.count <= limit)
                    #expect(try !reply.json["aps"]["alert"].isMissing)
                    seen.formUnion(reply["satchel-dropped"].map { [$0] } ?? [])
                }
                #expect(seen.contains { $0.hasPrefix(#"preview_url;of="b""#) })
                #expect(seen.contains { $0.contains(#"preview_url;of="%C3%A4%0A""#) })
                #expect(seen.contains { $0.contains(", satchel, medium;of=") })

                let tooLong = try await live.enrich(text(4097))
                #expect(tooLong.status == 413)
                #expect(try tooLong.json["code"].string == "payload_too_large")
                #expect(try tooLong.json["detail"].string?.contains("by 1 bytes") == true)
                let vast = try await live.enrich(text(100_000))
                #expect(vast.status == 413)
            }
        }
    }

    // MARK: Links

    @Test func `links live as long as the push, and are shared where that was asked`() async throws {
        try await LocalOrigin.run { origin in
            try await LiveService.run({ $0.worker = .codec }) { live in
                let text = #"{"aps":{"alert":"A"},"my-attachment":"\#(origin.url("/jpeg/coffee.jpg"))"}"#
                func life(_ query: String = "", _ headers: [String: String] = [:]) async throws -> (
                    Double, DeliveryMode
                ) {
                    let reply = try await live.enrich(text, query, headers)
                    let satchel = try reply.json["satchel"]
                    let now = try await live.store.records.now()
                    let url = try #require(satchel["attachments"][0]["url"].string)
                    let content = try #require(try await live.open(url))
                    let stated = try #require(satchel["expires_at"].string)
                    let end = try #require(Instant(stated.dropLast() + ".000Z"))
                    // Whole seconds, rounded down.
                    #expect((0..<1000).contains((content.expiresAt - end).wholeMilliseconds))
                    return ((content.expiresAt - now).inSeconds, content.delivery)
                }
                let day = try await life()
                #expect((86_340...86_400).contains(day.0) && day.1 == .private)
                let short = try await life("?expires_in=120&delivery=shared")
                #expect((60...120).contains(short.0) && short.1 == .shared)
                let now = try await live.store.records.now().milliseconds / 1000
                #expect((3500...3600).contains(try await life("", ["apns-expiration": "\(now + 3600)"]).0))
                #expect(
                    (2_500_000...2_592_000).contains(try await life("", ["apns-expiration": "\(now + 9_000_000)"]).0))
                #expect((30...60).contains(try await life("", ["apns-expiration": "1"]).0))
                #expect((86_340...86_400).contains(try await life("", ["apns-expiration": "0"]).0))
            }
        }
    }

    @Test func `no token of a link is logged`() async throws {
        try await LocalOrigin.run { origin in
            try await LiveService.run({ $0.worker = .codec }) { live in
                let reply = try await live.enrich(
                    #"{"aps":{"alert":"A"},"my-attachment":"\#(origin.url("/jpeg/coffee.jpg?key=canary"))"}"#)
                let url = try #require(try reply.json["my-attachment"].string)
                let token = String(url.split(separator: "/")[3])
                #expect(token.hasPrefix("satn_"))
                #expect(!live.log.lines.contains { $0.contains(token.dropFirst(8)) || $0.contains("canary") })
            }
        }
    }

    // MARK: Profiles and places

    @Test func `the category decides on the profile, unless the request does`() async throws {
        try await LocalOrigin.run { origin in
            try await LiveService.run({
                $0.worker = .codec
                $0.settings.categories = ["FACE": "avatar"]
                $0.settings.payloadPointers = ["/extra/pictures", "face"]
            }) { live in
                let text =
                    #"{"aps":{"alert":"A","category":"FACE"},"extra":{"pictures":["\#(origin.url("/jpeg/galaxies.jpg"))"]}}"#
                let mapped = try await live.enrich(text)
                let face = try mapped.json["satchel"]["attachments"][0]
                #expect(face["width"].int == 512 && face["height"].int == 512)
                // That of the tenant's own category comes before the setting, the request's before both.
                let own = try await live.send(.put, "/v1/categories/FACE", json: #"{"profile": "notification"}"#)
                #expect(own.status == 201)
                let ownFace = try await live.enrich(text).json["satchel"]["attachments"][0]
                #expect(ownFace["width"].int == 1000 && ownFace["height"].int == 872)
                _ = try await live.send(.put, "/v1/categories/FACE", json: #"{"profile": "avatar"}"#)
                let named = try await live.enrich(text, "?profile=notification")
                let whole = try named.json["satchel"]["attachments"][0]
                #expect(whole["width"].int == 1000 && whole["height"].int == 872)
                #expect(try named.json["extra"]["pictures"][0].string == whole["url"].string)
            }
        }
    }

    // MARK: What is refused

    @Test(arguments: [
        ("{\"aps\":{\n\"alert\":}}", "", 400, "invalid_json", "line 2, column 9"),
        ("", "", 400, "invalid_json", "line 1, column 1"),
        ("[]", "", 400, "invalid_request", "an object with the key 'aps'"),
        ("{}", "?on_failure=ignore", 400, "invalid_request", "drop, keep, error"),
        ("{}", "?deadline=26", 400, "invalid_request", "between 0.05 and 25 seconds"),
        ("{}", "?deadline=nan", 400, "invalid_request", "between 0.05 and 25 seconds"),
        ("{}", "?expires_in=2592001", 400, "invalid_request", "between 60 and 2592000 seconds"),
        ("{}", "?push_type=silent", 400, "invalid_request", "voip"),
        ("{}", "?delivery=public", 400, "invalid_request", "shared"),
        ("{}", "?deadline=5&deadline=6", 400, "invalid_request", "only once"),
        ("{}", "?profil=x", 400, "invalid_request", "Unknown parameter"),
        ("{}", "?profile=x", 400, "invalid_request", "notification, message, avatar, archive"),
    ])
    func `what can't be taken is refused with what would do`(
        text: String, query: String, status: Int, code: String, word: String
    ) async throws {
        try await LiveService.run { live in
            let reply = try await live.enrich(text, query)
            #expect(reply.status == status)
            #expect(try reply.json["code"].string == code)
            #expect(reply.text.contains(word))
        }
    }

    @Test func `the body is JSON by its type, and the key may submit`() async throws {
        try await LiveService.run { live in
            let path = "/v1/payloads/apns"
            let body = Data("{}".utf8)
            #expect(try await live.send(.post, path, body: body).status == 415)
            #expect(try await live.send(.post, path, ["Content-Type": "text/plain"], body: body).status == 415)
            let type = ["Content-Type": "application/json; charset=utf-8"]
            #expect(try await live.send(.post, path, type, body: body).status == 200)
            #expect(try await live.send(.post, path, type, body: body, as: .submit).status == 200)
            #expect(try await live.send(.post, path, type, body: body, as: .read).status == 403)
            #expect(try await live.send(.post, path, type, body: body, key: nil).status == 401)
            let expired = try await live.send(.post, path, type.merging(["apns-expiration": "soon"]) { $1 }, body: body)
            #expect(expired.status == 400)
        }
    }

    @Test func `a payload is answered while origins that say nothing hold all the places of another tenant`()
        async throws
    {
        try await LocalOrigin.run(host: "0.0.0.0") { request in
            let isGood = request.path.hasPrefix("/good")
            return LocalOrigin.Answer(body: Data("fault: null".utf8), delay: isGood ? .zero : .seconds(600))
        } _: { origin in
            try await LiveService.run({
                $0.worker = .faultCodec
                $0.concurrency = JobService.Concurrency(codecs: 2)
                $0.fetchAllow = ["127.0.0.0/8"]
            }) { live in
                // Each an origin by itself.
                let jobs = (0..<600).map { number in
                    JobSubmission(
                        tenant: TenantID(rawValue: "bob"), profile: .notification, priority: .bulk,
                        attachments: [
                            AttachmentSubmission(
                                location: .url(
                                    "http://127.1.\(number / 200).\(number % 200 + 1):\(origin.port)/slow", headers: [:]
                                ))
                        ])
                }
                _ = try await live.store.records.submit(jobs, SubmissionOptions())
                live.service.jobs.submitted()
                let width = ReservedPlaces.bulk(of: FetchConcurrency().tenant)
                try await eventually { origin.requests.count >= width }
                let reply = try await live.enrich(
                    #"{"aps":{"alert":{"body":"A"},"mutable-content":1},"att":{"a":"\#(origin.url("/good/1"))"}}"#)
                #expect(reply.status == 200 && reply.text.contains("https://media.example.com/c/"), "\(reply.text)")
            }
        }
    }

    @Test(arguments: PayloadFormat.allCases)
    func `an answer counts its media, and says where a URL is that is no medium`(format: PayloadFormat) async throws {
        let messages: [PayloadFormat: String] = [
            .apns: #"{"aps":{"alert":"A"},"photo":"URL","n":1}"#,
            .fcm: #"{"message":{"token":"t","notification":{"body":"A"},"data":{"photo":"URL"}}}"#,
            .onesignal: #"{"contents":{"en":"A"},"data":{"photo":"URL"}}"#,
            .expo: #"[{"to":"t","body":"A","data":{"photo":"URL"}}]"#,
            .webpush: #"{"title":"A","photo":"URL"}"#,
        ]
        let places: [PayloadFormat: String] = [
            .apns: "/photo", .fcm: "/message/data/photo", .onesignal: "/data/photo", .expo: "/data/photo",
            .webpush: "/photo",
        ]
        let (message, place) = (try #require(messages[format]), try #require(places[format]))
        try await LiveService.run { live in
            let stray = try await live.enrich(
                message.replacing("URL", with: "https://o.example/a.jpg"), format: format)
            let at = (format == .expo ? "/0" : "") + place
            #expect(stray.status == 200 && stray["satchel-media"] == "0", "\(stray.text)")
            #expect(stray["satchel-warning"] == "no_media_found;at=\"\(at)\"")
            #expect(stray.text == message.replacing("URL", with: "https://o.example/a.jpg"))
            let text = try await live.enrich(message.replacing("URL", with: "hello"), format: format)
            #expect(text["satchel-media"] == "0" && text["satchel-warning"] == nil)
            // No worker runs, so it fails in time; but it was found.
            let query = "?deadline=0.1&media=/other,\(place)"
            let named = try await live.enrich(
                message.replacing("URL", with: "https://o.example/a.jpg"), query, format: format)
            #expect(named["satchel-media"] == "1" && named["satchel-warning"] == nil, "\(named.text)")
            #expect(named["satchel-failed"]?.contains("photo") == true)
            for query in [
                "?media=", "?media=/a~2", "?media=" + Array(repeating: "/a", count: 11).joined(separator: ","),
            ] {
                let refused = try await live.enrich(message, query, format: format)
                #expect(try refused.status == 400 && refused.json["errors"][0]["pointer"].string == "media", "\(query)")
            }
        }
    }

    @Test func `a silent push is not warned of`() async throws {
        try await LiveService.run { live in
            let reply = try await live.enrich(#"{"aps":{"content-available":1},"photo":"https://o.example/a.jpg"}"#)
            #expect(reply["satchel-media"] == "0" && reply["satchel-warning"] == nil)
        }
    }

    @Test func `a tenant over its quota is told to come back`() async throws {
        try await LiveService.run({ $0.settings.quotas.pendingJobs = 0 }) { live in
            let reply = try await live.enrich(#"{"aps":{"alert":"A"},"my-attachment":"https://o.example/a.jpg"}"#)
            #expect(reply.status == 429)
            #expect(try reply.json["code"].string == "quota_exceeded")
            #expect(reply["retry-after"] != nil)
        }
    }
}

extension LiveService {
    func enrich(
        _ payload: String, _ query: String = "", _ headers: [String: String] = [:], format: PayloadFormat = .apns
    ) async throws -> Reply {
        try await send(.post, "/v1/payloads/\(format.rawValue)" + query, headers, json: payload, as: .submit)
    }

    /// What a content URL of the answer opens.
    func open(_ url: String) async throws -> ContentAccess? {
        let parts = url.split(separator: "/")
        let name = parts.last?.split(separator: ".").first.map(String.init) ?? ""
        guard parts.count == 5, let role = RenditionRole(rawValue: name) else { return nil }
        return try await service.records.open(AccessToken(secretText: String(parts[3])), role: role)
    }

    fileprivate func bytes(of content: ContentAccess) async throws -> Data {
        Data(try await store.blobs.read(0..<content.rendition.bytes, of: content.blob))
    }

    fileprivate var jobs: [JobRecord] {
        get async throws {
            try await store.records.jobs(of: tenant, where: RecordFilter(), after: nil, limit: 100).elements
        }
    }
}
