import SatchelCore
import Foundation
import ServiceTestSupport
import TestSupport
import Testing

@testable import API

/// Submitting jobs over a live connection.
@Suite(.timeLimit(.minutes(10))) struct SubmittingTests {
    static let photo = "jpeg/orientation-6.jpg"

    static func media(_ path: String) throws -> Data {
        try Data(contentsOf: Repository.media.appending(path: path))
    }

    /// A multipart body with the boundary `B`.
    static func multipart(_ parts: [(name: String, headers: String, body: Data)]) -> Data {
        var body = Data()
        for part in parts {
            body.append(
                contentsOf: "--B\r\nContent-Disposition: form-data; name=\"\(part.name)\"\(part.headers)\r\n\r\n".utf8)
            body.append(part.body)
            body.append(contentsOf: "\r\n".utf8)
        }
        return body + Data("--B--\r\n".utf8)
    }

    static let multipartType = ["Content-Type": "multipart/form-data; boundary=B"]

    // MARK: The three kinds of bodies

    @Test func `a JSON body with a URL is taken, worked on, and answered with URLs that open the renditions`()
        async throws
    {
        try await LocalOrigin.run { origin in
            try await LiveService.run {
                $0.worker = .codec
            } _: { live in
                let reply = try await live.send(
                    .put, "/v1/jobs/push-1", ["Prefer": "wait=20"],
                    json: """
                        {"profile": "notification", "mode": "lenient", "deadline": 20, "priority": "interactive",
                         "lease_ttl": 300, "metadata": {"messageId": "88213"},
                         "attachments": [{"identifier": "photo", "url": "\(origin.url("/" + Self.photo))",
                                          "headers": {"X-Token": "abc"}, "thumbnail_hidden": true}]}
                        """, as: .submit)
                #expect(reply.status == 200)
                #expect(reply["location"] == "/v1/jobs/push-1")
                #expect(reply["preference-applied"] == "wait=20")
                let job = try reply.json
                #expect(
                    job.keys == [
                        "attachments", "callback", "counts", "created_at", "deadline_at", "finished_at", "id",
                        "metadata", "mode", "profile", "state",
                    ])
                #expect(job["state"].string == "delivered" && job["counts"]["delivered"].int == 1)
                #expect(job["metadata"].keys == ["messageId"])
                let photo = job["attachments"][0]
                #expect(
                    photo.keys == [
                        "best", "content_size_ratio", "diagnosis", "error", "expires_at", "fidelity", "id",
                        "identifier", "kind", "lease", "options", "placeholder", "renditions", "result", "source",
                        "state", "steps", "trim",
                    ])
                #expect(photo["identifier"].string == "photo" && photo["fidelity"].string == "full")
                #expect(photo["error"].isNull && photo["trim"].isNull)
                #expect(photo["options"]["thumbnail_hidden"].bool == true)
                let url = try #require(photo["renditions"]["main"]["url"].string)
                #expect(url.hasPrefix("https://media.example.com/c/satl_") && url.hasSuffix("/main.jpg"))
                #expect(photo["renditions"]["main"]["duration"].isNull)
                #expect(photo["lease"]["id"].string != nil && photo["lease"]["expires_at"].string != nil)
                #expect(origin.requests.first?.headers["x-token"] == "abc")
                let again = try await live.send(.get, "/v1/jobs/push-1", as: .read)
                #expect(again.status == 200 && again.body == reply.body)
                #expect(try await live.spooled().isEmpty)
            }
        }
    }

    @Test func `a multipart body is taken with its parts in any order`() async throws {
        try await LiveService.run {
            $0.worker = .codec
        } _: { live in
            let photo = try Self.media(Self.photo)
            let json = Data(
                #"{"attachments": [{"part": "a", "identifier": "x"}, {"part": "b"}], "lease_ttl": 0}"#.utf8)
            let body = Self.multipart([
                ("a", "; filename=\"../dir/ä.jpg\"\r\nContent-Type: image/jpeg", photo), ("job", "", json),
                ("b", "; filename=notes.txt\r\nContent-Type: text/plain", Data("no picture".utf8)),
            ])
            let reply = try await live.send(
                .post, "/v1/jobs", Self.multipartType.merging(["Prefer": "wait=20"]) { $1 }, body: body)
            #expect(reply.status == 200, "\(reply.text)")
            let job = try reply.json
            #expect(job["state"].string == "delivered")
            #expect(job["counts"]["delivered"].int == 1 && job["counts"]["failed"].int == 1)
            let first = job["attachments"][0]
            #expect(first["source"]["name"].string == "ä.jpg" && first["source"]["bytes"].int == photo.count)
            #expect(first["source"]["declared_type"].string == "image/jpeg")
            #expect(first["lease"].isNull && first["renditions"]["main"]["url"].isNull)
            let text = job["attachments"][1]
            #expect(text["error"]["code"].string == "unrecognized_type")
            #expect(text["error"]["message"].string?.contains("This is text (text/plain)") == true)
            #expect(text["source"]["sniffed_type"].string == "text/plain" && text["source"]["decoded_type"].isNull)
            let strict = Self.multipart([
                ("a", "", photo), ("b", "", Data("no picture".utf8)),
                ("job", "", Data(#"{"mode": "strict", "attachments": [{"part": "a"}, {"part": "b"}]}"#.utf8)),
            ])
            let whole = try await live.send(
                .post, "/v1/jobs", Self.multipartType.merging(["Prefer": "wait=20"]) { $1 }, body: strict
            ).json
            #expect(whole["state"].string == "failed" && whole["counts"]["failed"].int == 2)
            let innocent = whole["attachments"][0]["error"]
            #expect(innocent["code"].string == "withheld" && innocent["un_error"].isNull)
            #expect(innocent["retryable"].bool == false)
            let guilty = whole["attachments"][1]
            #expect(guilty["error"]["code"].string == "unrecognized_type")
            let name = try #require(guilty["identifier"].string)
            #expect(innocent["message"].string?.contains("'\(name)'") == true)
            let generated = try #require(job["attachments"][1]["identifier"].string)
            #expect(UUID(uuidString: generated) != nil && generated == generated.uppercased())
        }
    }

    @Test(arguments: [
        ";", ";,", " ; wait=9", ",", "=", "wait", "wait=", "wait=-1", "wait=99999999999999999999", "wait=9",
    ])
    func `a preference that means nothing is passed over`(prefer: String) async throws {
        try await LiveService.run { live in
            let reply = try await live.send(.post, "/v1/jobs", ["Prefer": prefer], body: Data())
            #expect(reply.status == 422)
            let missing = try await live.send(.get, "/v1/jobs/none", ["Prefer": prefer])
            #expect(missing.status == 404)
        }
    }

    @Test func `any other body is one source, with its options in the query`() async throws {
        try await LiveService.run {
            $0.worker = .codec
        } _: { live in
            let query = "profile=avatar&identifier=me&name=me.jpg&lease_ttl=60&metadata.for=a%20b+c&crop=0.5,0.5"
            let reply = try await live.send(
                .post, "/v1/jobs?\(query)", ["Prefer": "respond-async, wait=20", "Content-Type": "image/jpeg"],
                body: Self.media(Self.photo))
            #expect(reply.status == 200, "\(reply.text)")
            let job = try reply.json
            #expect(job["profile"].string == "avatar" && job["metadata"]["for"].string == "a b c")
            #expect(job["attachments"][0]["identifier"].string == "me")
            #expect(job["attachments"][0]["source"]["name"].string == "me.jpg")
            let main = job["attachments"][0]["renditions"]["main"]
            #expect(main["width"].int != nil && main["width"].int == main["height"].int)
        }
    }

    @Test(
        arguments: [
            (nil, 415), ("text/plain", 415), ("application/x-www-form-urlencoded", 415), ("application/pdf", 415),
            ("*/*", 415),
            ("multipart/mixed; boundary=b", 415), ("application/json-patch+json", 415), ("imageless/jpeg", 415),
            ("image/jpeg", 202), ("Audio/Wav; rate=8000", 202), ("video/quicktime", 202),
            ("application/octet-stream", 202),
        ] as [(String?, Int)])
    func `a body is taken under the types that are described, and no others`(type: String?, status: Int) async throws {
        try await LiveService.run {
            $0.worker = .nobody
        } _: { live in
            for (method, path) in [(Method.post, "/v1/jobs"), (.put, "/v1/jobs/typed")] {
                let reply = try await live.connect { connection in
                    let headers = type.map { ["Content-Type": $0] } ?? [:]
                    try await connection.send(
                        connection.head(method, path, headers, length: 2, key: live.keys[.submit], types: false) + "{}")
                    return try await connection.reply()
                }
                #expect(reply.status == status, "\(reply.text)")
                if status == 415 {
                    #expect(try reply.json["code"].string == "unsupported_media_type")
                    #expect(try reply.json["detail"].string?.hasPrefix("The 'Content-Type' is missing or") == true)
                }
            }
            #expect(try await live.spooled().count == (status == 202 ? 2 : 0))
        }
    }

    @Test func `a trim in the query is made exactly, and told`() async throws {
        try await LiveService.run {
            $0.worker = .codec
        } _: { live in
            let reply = try await live.send(
                .post, "/v1/jobs?trim_start=0.2&trim_end=0.6", ["Prefer": "wait=20"],
                body: Self.media("wav/telephone.wav"))
            let trim = try reply.json["attachments"][0]["trim"]
            #expect(trim["start"].double == 0.2, "\(reply.text)")
            #expect(abs((trim["duration"].double ?? 0) - 0.4) < 0.021)
        }
    }

    @Test func `a trim around the thumbnail's time is asked for in every kind of body, and made`() async throws {
        let inJSON = try SubmissionReader(profiles: ["notification"], leaseTTL: 300).submission(
            #"{"attachments": [{"part": "a", "thumbnail_time": 0.5, "trim": {"around": "thumbnail_time", "duration": 0.4}}]}"#
                .utf8, hasParts: true)
        let trim = inJSON.attachments[0].request.trim
        #expect(trim == TrimRequest(start: nil, duration: 0.4) && inJSON.attachments[0].request.thumbnailTime == 0.5)
        try await LiveService.run {
            $0.worker = .codec
        } _: { live in
            let query = "trim_around=thumbnail_time&trim_duration=0.4&thumbnail_time=0.5"
            let reply = try await live.send(
                .post, "/v1/jobs?\(query)", ["Prefer": "wait=20"], body: Self.media("wav/telephone.wav"))
            let made = try reply.json["attachments"][0]["trim"]
            #expect(abs((made["start"].double ?? 0) - 0.3) < 0.021, "\(reply.text)")
            #expect(abs((made["duration"].double ?? 0) - 0.4) < 0.021)
            let lonely = try await live.send(
                .post, "/v1/jobs?trim_around=thumbnail_time", body: Self.media("wav/telephone.wav"))
            #expect(lonely.status == 400)
            #expect(try lonely.json["errors"].array.compactMap { $0["pointer"].string } == ["trim_around"])
        }
    }

    // MARK: What is refused

    @Test func `every problem of a body is told at once, by pointer`() async throws {
        try await LiveService.run { live in
            let reply = try await live.send(
                .post, "/v1/jobs",
                json: """
                    {"profle": "notification", "profile": "none", "mode": 1, "deadline": 0.01, "lease_ttl": -1,
                     "metadata": {"a": 1}, "delivery": "public", "callback": {"url": "ftp://x/"},
                     "attachments": [
                       {"identifier": "x", "url": "http://u:p@h/", "crop": {"rect": {"x": 0.5, "y": 0, "width": 0.6, "height": 1}},
                        "trim": {"start": -1, "duration": 0}, "headers": {"Host": "x"}, "thumbnail_frame": 1.5},
                       {"identifier": "x", "part": "p", "a/b": null},
                       {"url": "http://h/", "part": "p"}, 7]}
                    """)
            #expect(reply.status == 400 && reply["content-type"] == "application/problem+json")
            let problem = try reply.json
            #expect(problem["code"].string == "invalid_request")
            let pointers = problem["errors"].array.compactMap { $0["pointer"].string }.sorted()
            #expect(
                pointers == [
                    "/attachments/0/crop/rect", "/attachments/0/headers", "/attachments/0/thumbnail_frame",
                    "/attachments/0/trim/duration", "/attachments/0/trim/start", "/attachments/0/url",
                    "/attachments/1/a~1b", "/attachments/1/identifier", "/attachments/1/part", "/attachments/2/part",
                    "/attachments/2/url", "/attachments/3", "/callback/url", "/deadline", "/delivery", "/lease_ttl",
                    "/metadata/a", "/mode", "/profile", "/profle",
                ])
            #expect(problem["errors"].array.allSatisfy { !($0["detail"].string ?? "").isEmpty })
            let list = try await live.send(.get, "/v1/jobs")
            #expect(try list.json["jobs"].array.isEmpty)
        }
    }

    @Test(arguments: [
        (#"{"attachments": []}"#, "/attachments"), (#"{}"#, "/attachments"),
        (#"{"attachments": null}"#, "/attachments"),
        (#"{"attachments": {}}"#, "/attachments"), (#"[]"#, ""),
        (#"{"attachments": [{"url": "http://h/"}], "priority": "high"}"#, "/priority"),
        (#"{"attachments": [{"url": "http://h/", "trim": {"start": 1, "end": 1}}]}"#, "/attachments/0/trim/end"),
        (#"{"attachments": [{"url": "http://h/", "trim": {"end": 2, "duration": 1}}]}"#, "/attachments/0/trim/end"),
        (
            #"{"attachments": [{"url": "http://h/", "trim": {"around": "thumbnail_time"}}]}"#,
            "/attachments/0/trim/around"
        ),
        (
            #"{"attachments": [{"url": "http://h/", "thumbnail_time": 1, "trim": {"around": "middle"}}]}"#,
            "/attachments/0/trim/around"
        ),
        (
            #"{"attachments": [{"url": "http://h/", "thumbnail_time": 1, "trim": {"around": "thumbnail_time", "start": 0}}]}"#,
            "/attachments/0/trim/start"
        ),
        (
            #"{"attachments": [{"url": "http://h/", "thumbnail_time": 1, "trim": {"around": "thumbnail_time", "end": 9}}]}"#,
            "/attachments/0/trim/end"
        ),
        (
            #"{"attachments": [{"url": "http://h/", "thumbnail_time": 1, "trim": {"around": "thumbnail_time", "duration": 0}}]}"#,
            "/attachments/0/trim/duration"
        ),
        (#"{"attachments": [{"url": "http://h/", "crop": "middle"}]}"#, "/attachments/0/crop"),
        (
            #"{"attachments": [{"url": "http://h/", "crop": {"focal_point": {"x": 2, "y": 0}}}]}"#,
            "/attachments/0/crop/focal_point/x"
        ),
        (
            #"{"attachments": [{"url": "http://h/", "thumbnail_clipping_rect": {"x": 0, "y": 0, "width": 1}}]}"#,
            "/attachments/0/thumbnail_clipping_rect/height"
        ),
        (#"{"attachments": [{"url": "http://h/"}], "deadline": 3601}"#, "/deadline"),
        (#"{"attachments": [{"url": "http://h/"}], "lease_ttl": 2592001}"#, "/lease_ttl"),
    ])
    func `a field out of its bounds is named`(body: String, pointer: String) throws {
        let reader = SubmissionReader(profiles: ["notification"], leaseTTL: 300)
        let problem = try #require(throws: Problem.self) { try reader.submission(body.utf8, hasParts: false) }
        #expect(problem.errors.map(\.pointer) == [pointer])
    }

    @Test(.timeLimit(.minutes(5)))
    func `options that make no sense together are refused, each by its name`() async throws {
        let combinations: [(json: String, query: String, fields: [String], parameters: [String])] = [
            (
                #""thumbnail_time": 1, "thumbnail_frame": 1"#, "thumbnail_time=1&thumbnail_frame=1",
                ["thumbnail_time", "thumbnail_frame"], ["thumbnail_time", "thumbnail_frame"]
            ),
            (
                #""trim": {"end": 1, "duration": 2}"#, "trim_end=1&trim_duration=2", ["trim/end"], ["trim_end"]
            ),
        ]
        try await LiveService.run {
            $0.worker = .nobody
        } _: { live in
            for (json, query, fields, parameters) in combinations {
                let inJSON = try await live.send(
                    .post, "/v1/jobs", json: #"{"attachments": [{"url": "http://h/", \#(json)}]}"#)
                let inQuery = try await live.send(.post, "/v1/jobs?\(query)", body: Self.media("png/alpha.png"))
                for (reply, named) in [(inJSON, fields.map { "/attachments/0/\($0)" }), (inQuery, parameters)] {
                    let problem = try reply.json
                    #expect(reply.status == 400 && problem["code"].string == "invalid_request")
                    #expect(problem["errors"].array.compactMap { $0["pointer"].string } == named, "\(reply.text)")
                }
            }
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `a deadline above the profile's is refused, not cut`() async throws {
        try await LiveService.run {
            $0.worker = .nobody
        } _: { live in
            for (deadline, isTaken) in [(30, true), (31, false)] {
                let inJSON = try await live.send(
                    .post, "/v1/jobs",
                    json:
                        #"{"profile": "notification", "deadline": \#(deadline), "attachments": [{"url": "http://h/"}]}"#
                )
                let inQuery = try await live.send(
                    .post, "/v1/jobs?profile=notification&deadline=\(deadline)", body: Self.media("png/alpha.png"))
                for (reply, pointer) in [(inJSON, "/deadline"), (inQuery, "deadline")] {
                    #expect(reply.status == (isTaken ? 202 : 400), "\(deadline): \(reply.text)")
                    guard !isTaken else { continue }
                    let problem = try reply.json["errors"].array
                    #expect(problem.compactMap { $0["pointer"].string } == [pointer])
                    #expect(problem.first?["detail"].string?.contains("at most 30 s") == true)
                }
            }
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `an option that a source has no use for is named in its steps`() async throws {
        try await LiveService.run {
            $0.worker = .codec
        } _: { live in
            let told: [(file: String, query: String, note: String?)] = [
                (
                    "png/alpha.png", "trim_start=1&thumbnail_time=2",
                    "passed over: trim, as a still picture has no length; thumbnail_time, as a still picture has no moments"
                ),
                (
                    "wav/telephone.wav", "crop=0.5,0.5&thumbnail_clipping_rect=0,0,1,1",
                    "passed over: crop, as a sound without a cover has no picture; thumbnail_clipping_rect, as a sound has no picture"
                ),
                ("png/alpha.png", "crop=0.5,0.5", nil),
            ]
            for (file, query, note) in told {
                for _ in 0..<2 {
                    // The second one shares the first one's work, or not: it says the same.
                    let reply = try await live.send(
                        .post, "/v1/jobs?\(query)", ["Prefer": "wait=20"], body: Self.media(file))
                    let steps = try reply.json["attachments"][0]["steps"].array
                    let step = steps.first { $0["name"].string == "options" }
                    #expect(step?["note"].string == note, "\(reply.text)")
                }
            }
        }
    }

    @Test func `metadata and attachments are bounded`() throws {
        func pointers(_ body: String) -> [String] {
            do throws(Problem) {
                _ = try SubmissionReader(profiles: ["notification"], leaseTTL: 300).submission(
                    body.utf8, hasParts: false)
                return []
            } catch {
                return error.errors.map(\.pointer)
            }
        }
        let source = #"{"url": "http://h/"}"#
        func pairs(_ count: Int, _ bytes: Int) -> String {
            (0..<count).map { "\"\($0)\": \"\(String(repeating: "x", count: bytes))\"" }.joined(separator: ", ")
        }
        #expect(pointers("{\"attachments\": [\(source)], \"metadata\": {\(pairs(32, 20))}}") == [])
        #expect(pointers("{\"attachments\": [\(source)], \"metadata\": {\(pairs(33, 1))}}") == ["/metadata"])
        #expect(pointers("{\"attachments\": [\(source)], \"metadata\": {\(pairs(2, 2100))}}") == ["/metadata"])
        let many = Array(repeating: source, count: 10).joined(separator: ",")
        #expect(pointers("{\"attachments\": [\(many)]}") == [])
        #expect(pointers("{\"attachments\": [\(many),\(source)]}") == ["/attachments"])
    }

    @Test func `bodies that can't be read are refused, each with its code`() async throws {
        try await LiveService.run { live in
            let json = try await live.send(.post, "/v1/jobs", json: #"{"attachments": [}"#)
            #expect(json.status == 400)
            #expect(try json.json["code"].string == "invalid_json")
            let cut = try await live.send(.post, "/v1/jobs", Self.multipartType, body: Data("--B\r\nContent".utf8))
            #expect(cut.status == 400)
            #expect(try cut.json["code"].string == "invalid_multipart")
            let unbounded = try await live.send(
                .post, "/v1/jobs", ["Content-Type": "multipart/form-data"], body: Data("--B--".utf8))
            #expect(unbounded.status == 400)
            let description = Data(#"{"attachments": [{"part": "b"}]}"#.utf8)
            let parts = try await live.send(
                .post, "/v1/jobs", Self.multipartType,
                body: Self.multipart([("job", "", description), ("a", "", Data("x".utf8))]))
            #expect(try parts.json["errors"].array.compactMap { $0["pointer"].string } == ["/attachments/0/part", "a"])
            let twice = try await live.send(
                .post, "/v1/jobs", Self.multipartType,
                body: Self.multipart([("a", "", Data()), ("a", "", Data()), ("job", "", description)]))
            #expect(try twice.json["code"].string == "invalid_multipart")
            let empty = try await live.send(.post, "/v1/jobs", body: Data())
            #expect(empty.status == 422)
            #expect(try empty.json["code"].string == "invalid_source")
            let query = try await live.send(
                .post, "/v1/jobs?crop=1,2,3&deadline=soon&frame=1&thumbnail_hidden=yes&trim_end=0", body: Data("x".utf8)
            )
            #expect(
                try query.json["errors"].array.compactMap { $0["pointer"].string }.sorted() == [
                    "crop", "deadline", "frame", "thumbnail_hidden", "trim_end",
                ])
            let stray = try await live.send(
                .post, "/v1/jobs?mode=strict", json: #"{"attachments": [{"url": "https://example.com/a.jpg"}]}"#)
            #expect(stray.status == 400)
            #expect(try stray.json["errors"].array.compactMap { $0["pointer"].string } == ["mode"])
            for id in ["a%20b", "%2e%2e", String(repeating: "x", count: 129), "a$"] {
                let reply = try await live.send(.put, "/v1/jobs/\(id)", body: Data("x".utf8))
                #expect(reply.status == 400 || reply.status == 404, "\(id)")
            }
            #expect(try await live.spooled().isEmpty)
        }
    }

    @Test func `a body over the limit is refused at once where it says so, and as it grows where it doesn't`()
        async throws
    {
        try await LiveService.run {
            $0.settings.limits.clipBytes = 1 << 20
        } _: { live in
            try await live.connect { connection in
                // Not one byte of the gigabyte is sent.
                try await connection.send(
                    connection.head(.post, "/v1/jobs", length: 1_000_000_000, key: live.keys[.submit]))
                let reply = try await connection.reply()
                #expect(reply.status == 413 && reply["connection"] == "close")
                #expect(try reply.json["code"].string == "source_too_large")
            }
            try await live.connect { connection in
                try await connection.send(
                    connection.head(
                        .post, "/v1/jobs", ["Transfer-Encoding": "chunked"], key: live.keys[.submit]))
                let piece = Data("40000\r\n".utf8) + Data(count: 0x40000) + Data("\r\n".utf8)
                for _ in 0..<5 { try? await connection.send(piece) }
                let reply = try await connection.reply()
                #expect(reply.status == 413)
            }
            let json = try await live.send(
                .post, "/v1/jobs", json: #"{"profile": ""# + String(repeating: "x", count: 1 << 20) + #""}"#)
            #expect(json.status == 413)
            #expect(try await live.spooled().isEmpty)
        }
    }
}
