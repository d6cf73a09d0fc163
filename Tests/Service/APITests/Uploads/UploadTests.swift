import SatchelCore
import Crypto
import Foundation
import NIOCore
import Platform
import Synchronization
import TestSupport
import Testing

@testable import API
@testable import Stores

/// Uploads as a back end opens and uses them, and as a plain PUT sends them.
@Suite(.timeLimit(.minutes(5))) struct UploadTests {
    @Test func `a phone needs nothing but the URL, and one plain PUT is an upload`() async throws {
        try await LiveService.run { live in
            let text = "a photograph"
            let upload = try await OpenedUpload(live, #"{"length": 12, "name": "IMG_0042.JPG"}"#)
            var record = try await upload.record(live)
            #expect(record["state"].string == "open" && record["offset"].int == 0 && record["url"].isMissing)
            let sent = try await live.send(
                .put, upload.path, ["Content-Type": "image/jpeg"], body: Data(text.utf8), key: nil)
            #expect(sent.status == 200 && sent["upload-offset"] == "12", "\(sent.text)")
            record = try await upload.record(live)
            let hash = SHA256.hash(data: Data(text.utf8)).map { String(format: "%02x", $0) }.joined()
            #expect(record["state"].string == "complete" && record["sha256"].string == hash)
            #expect(record["name"].string == "IMG_0042.JPG" && record["type_hint"].string == "image/jpeg")
            #expect(try await live.send(.put, upload.path, body: Data(text.utf8), key: nil).status == 409)
            let list = try await live.send(.get, "/v1/uploads?state=complete", as: .read).json
            #expect(list["uploads"].array.map { $0["id"].string } == [upload.id])
            #expect(try await live.send(.get, "/v1/uploads?state=open", as: .read).json["uploads"].array.isEmpty)
            let forged = String(upload.path.dropLast()) + (upload.path.hasSuffix("0") ? "1" : "0")
            for path in ["/u/x", forged, upload.path.replacing("satu_", with: "satl_")] {
                #expect(try await live.send(.put, path, body: Data("x".utf8), key: nil).status == 404)
            }
        }
    }

    @Test func `a job is made of an upload that is whole, and no other job of the same`() async throws {
        try await LiveService.run {
            $0.worker = .codec
        } _: { live in
            let picture = try Data(contentsOf: Repository.media.appending(path: "png/alpha.png"))
            let upload = try await OpenedUpload(live)
            let body = #"{"attachments": [{"identifier": "photo", "upload": "\#(upload.id)"}]}"#
            let early = try await live.send(.put, "/v1/jobs/one", json: body, as: .submit)
            #expect(try early.status == 422 && early.json["code"].string == "upload_incomplete")
            #expect(try await live.send(.put, upload.path, body: picture, key: nil).status == 200)
            let made = try await live.send(.put, "/v1/jobs/one", ["Prefer": "wait=20"], json: body, as: .submit)
            #expect(try made.status == 200 && made.json["state"].string == "delivered", "\(made.text)")
            let again = try await live.send(.put, "/v1/jobs/one", json: body, as: .submit)
            let first = try made.json["attachments"][0]["id"].string
            #expect(try again.json["attachments"][0]["id"].string == first, "the same may be put again")
            let other = try await live.send(.put, "/v1/jobs/two", json: body, as: .submit)
            #expect(try other.status == 422 && other.json["code"].string == "upload_consumed")
            #expect(try await upload.record(live)["used_by"].string == "job/one")
            let unknown = try await live.send(
                .post, "/v1/jobs", json: #"{"attachments": [{"identifier": "a", "upload": "x"}]}"#, as: .submit)
            #expect(try unknown.status == 400 && unknown.json["errors"][0]["pointer"].string == "/attachments/0/upload")
            let foreign = try await live.makeKeys(of: TenantID(rawValue: "bob"))
            let theirs = try await live.send(
                .post, "/v1/jobs", ["Content-Type": "application/json"], body: Data(body.utf8), key: foreign[.submit])
            #expect(theirs.status == 400)
            try await eventually("its bytes are gone") { try await live.spooled().isEmpty }
        }
    }

    @Test func `a notification is made of an upload, however often it is put`() async throws {
        try await LiveService.run { live in
            let upload = try await OpenedUpload(live)
            #expect(try await live.send(.put, upload.path, body: Data("x".utf8), key: nil).status == 200)
            func body(_ prepare: String) -> String {
                #"""
                {"payload": {"aps": {"alert": "x"}, "clip": "cid:clip"}, "trigger": {"type": "manual"}, "prepare": "\#(prepare)",
                "attachments": [{"identifier": "clip", "upload": "\#(upload.id)"}]}
                """#
            }
            let each = try await live.send(.put, "/v1/notifications/n", json: body("each"), as: .submit)
            #expect(try each.status == 400 && each.json["errors"][0]["pointer"].string == "/attachments/0/upload")
            let put = try await live.send(.put, "/v1/notifications/n", json: body("now"), as: .submit)
            #expect(put.status == 201, "\(put.text)")
            #expect(try await live.send(.put, "/v1/notifications/n", json: body("now"), as: .submit).status == 200)
            #expect(try await upload.record(live)["used_by"].string == "notification/n")
            let other = try await live.send(.put, "/v1/notifications/m", json: body("now"), as: .submit)
            #expect(try other.json["code"].string == "upload_consumed")
        }
    }

    @Test func `the job of an upload is submitted when it is whole, and told of on its URL`() async throws {
        try await LiveService.run {
            $0.worker = .codec
        } _: { live in
            let picture = try Data(contentsOf: Repository.media.appending(path: "png/alpha.png"))
            let upload = try await OpenedUpload(
                live,
                #"""
                {"length": \#(picture.count), "name": "alpha.png",
                "job": {"metadata": {"order": "7"}, "attachments": [{"identifier": "photo", "upload": "self"}]}}
                """#)
            let job = try #require(try await upload.record(live)["job"].string)
            #expect(try await live.send(.get, "/v1/jobs/\(job)", as: .submit).status == 404)
            let sent = try await live.send(.put, upload.path, body: picture, key: nil)
            #expect(sent.status == 200 && sent["satchel-job"] == job)
            #expect(try await upload.head(live)["satchel-job"] == job)
            let done = try await live.send(.get, "/v1/jobs/\(job)", ["Prefer": "wait=20"], as: .submit)
            #expect(try done.json["state"].string == "delivered", "\(done.text)")
            #expect(try done.json["metadata"]["order"].string == "7")
            #expect(try done.json["attachments"][0]["source"]["name"].string == "alpha.png")
            // Whoever gives its URL up takes nothing from the job.
            #expect(try await live.send(.delete, upload.path, OpenedUpload.tus, key: nil).status == 204)
            #expect(try await upload.head(live).status == 404)
            #expect(try await live.send(.get, "/v1/jobs/\(job)", as: .submit).status == 200)
        }
    }

    @Test func `what an upload can't be is said of each field at once`() async throws {
        try await LiveService.run {
            $0.settings.limits.clipBytes = 1000
        } _: { live in
            let bad = try await live.send(
                .post, "/v1/uploads",
                json: #"""
                    {"length": -1, "ttl": 1, "sha256": "xyz", "colour": 1, "callback": {},
                    "job": {"attachments": [{"identifier": "a", "url": "https://example.com/a", "headers": {"Host": "b"}}]}}
                    """#, as: .submit)
            let pointers = try bad.json["errors"].array.compactMap { $0["pointer"].string }
            #expect(
                Set(pointers) == [
                    "/length", "/ttl", "/sha256", "/colour", "/callback/url", "/job/attachments",
                    "/job/attachments/0/headers",
                ])
            let other = try await live.send(
                .post, "/v1/uploads", json: #"{"job": {"attachments": [{"identifier": "a", "upload": "other"}]}}"#,
                as: .submit)
            #expect(try other.json["errors"][0]["pointer"].string == "/job/attachments/0/upload")
            #expect(try await live.send(.post, "/v1/uploads", json: #"{"length": 1001}"#, as: .submit).status == 413)
            let large = try await OpenedUpload(live)
            #expect(try await live.send(.put, large.path, body: Data(count: 1001), key: nil).status == 413)
        }
    }

    @Test func `bytes that don't have the hash that was announced are no upload`() async throws {
        try await LiveService.run { live in
            let wanted = SHA256.hash(data: Data("right".utf8)).map { String(format: "%02x", $0) }.joined()
            let upload = try await OpenedUpload(live, #"{"sha256": "\#(wanted)"}"#)
            let sent = try await live.send(.put, upload.path, body: Data("wrong".utf8), key: nil)
            #expect(try sent.status == 422 && sent.json["code"].string == "checksum_mismatch")
            let record = try await upload.record(live)
            #expect(record["state"].string == "failed" && record["error"]["code"].string == "checksum_mismatch")
            #expect(try await upload.head(live).status == 404)
            #expect(try await live.spooled().isEmpty)
            let good = try await OpenedUpload(live, #"{"sha256": "\#(wanted.uppercased())"}"#)
            #expect(try await live.send(.put, good.path, body: Data("right".utf8), key: nil).status == 200)
        }
    }

    @Test func `curl goes on where it was, by Content-Range`() async throws {
        try await LiveService.run { live in
            let upload = try await OpenedUpload(live)
            let first = try await live.send(
                .put, upload.path, ["Content-Range": "bytes 0-4/10"], body: Data("hello".utf8), key: nil)
            #expect(first.status == 204 && first["upload-offset"] == "5")
            let wrong = try await live.send(
                .put, upload.path, ["Content-Range": "bytes 4-9/10"], body: Data("oworld".utf8), key: nil)
            #expect(wrong.status == 409 && wrong["upload-offset"] == "5")
            #expect(try await live.send(.put, upload.path, body: Data("helloworld".utf8), key: nil).status == 409)
            let rest = try await live.send(
                .put, upload.path, ["Content-Range": "bytes 5-9/10"], body: Data("world".utf8), key: nil)
            #expect(try rest.status == 200 && rest.json["length"].int == 10)
        }
    }

    @Test func `what came before a connection broke is there, and recorded before it is told`() async throws {
        try await LiveService.run { live in
            let upload = try await OpenedUpload(live, #"{"length": 1000000}"#)
            try await live.connect { connection in
                try await connection.send(connection.head(.put, upload.path, length: 1_000_000))
                try await connection.send(Data(repeating: 7, count: 300_000))
                // A second without more is recorded while the request goes on; a bucket gets 8 MiB at a time, and the rest at
                // its end.
                if !SharedEngines.areUsed {
                    try await eventually("what came is recorded") {
                        try await upload.record(live)["offset"].int == 300_000
                    }
                }
                try await connection.send(Data(repeating: 7, count: 200_000))
                await connection.abort()
            }
            try await eventually("what came is there") { try await upload.record(live)["offset"].int == 500_000 }
            let rest = try await upload.patch(live, at: 500_000, String(repeating: "\u{7}", count: 500_000))
            #expect(rest.status == 204 && rest["upload-offset"] == "1000000")
            let hash = SHA256.hash(data: Data(repeating: 7, count: 1_000_000)).map { String(format: "%02x", $0) }
                .joined()
            #expect(try await upload.record(live)["sha256"].string == hash)
        }
    }

    @Test func `a new request ends the one underway, and what was told is where it goes on`() async throws {
        try await LiveService.run { live in
            let upload = try await OpenedUpload(live, #"{"length": 100000}"#)
            try await live.connect { slow in
                try await slow.send(slow.head(.put, upload.path, length: 100_000))
                try await slow.send(Data(repeating: 1, count: 40_000))
                // Whoever asks by its URL means to go on: the record is asked first.
                try await eventually("something has come") { try await upload.record(live)["offset"].int ?? 0 > 0 }
                let offset = try #require(Int(try await upload.head(live)["upload-offset"] ?? ""))
                // It was stopped: what it sends now counts for nothing.
                try? await slow.send(Data(repeating: 2, count: 60_000))
                let rest = String(repeating: "\u{1}", count: 100_000 - offset)
                let done = try await upload.patch(live, at: offset, rest)
                #expect(done.status == 204 && done["upload-offset"] == "100000")
            }
            let hash = SHA256.hash(data: Data(repeating: 1, count: 100_000)).map { String(format: "%02x", $0) }.joined()
            #expect(try await upload.record(live)["sha256"].string == hash)
        }
    }

    @Test func `a full spool first ends what nobody goes on with, then takes nothing more`() async throws {
        let clock = Mutex(Instant.wallClock())
        try await LiveService.run {
            $0.clock = { clock.withLock(\.self) }
            // Room for three, and for the few bytes that arrive.
            $0.settings.intake.spoolBytes = 3 * UploadUsage.reserved + 100
            $0.settings.quotas.uploadBytes = 1 << 40
        } _: { live in
            let idle = try await OpenedUpload(live)
            let second = try await OpenedUpload(live)
            let third = try await OpenedUpload(live)
            let full = try await live.send(.post, "/v1/uploads", json: "{}", as: .submit)
            #expect(try full.status == 507 && full.json["code"].string == "store_full")
            clock.withLock { $0 = $0 + .seconds(3601) }
            _ = try await second.patch(live, at: 0, "x", ["Upload-Length": "2"])
            _ = try await third.patch(live, at: 0, "x", ["Upload-Length": "2"])
            _ = try await OpenedUpload(live)
            #expect(try await idle.record(live)["state"].string == "expired")
            #expect(try await second.record(live)["state"].string == "open")
        }
    }

    @Test func `a page of another origin may upload, and only where the operator lets it`() async throws {
        let settings: [([String], String?)] = [
            (["*"], "*"), (["https://app.example.com"], "https://app.example.com"), ([], nil),
        ]
        for (origins, allowed) in settings {
            try await LiveService.run {
                $0.settings.uploads.origins = origins
            } _: { live in
                let upload = try await OpenedUpload(live)
                let origin = ["Origin": "https://app.example.com"]
                let asked = try await live.send(
                    .options, upload.path, origin.merging(["Access-Control-Request-Method": "PATCH"]) { $1 }, key: nil)
                #expect(asked.status == 204 && asked["access-control-allow-origin"] == allowed)
                #expect((asked["access-control-allow-methods"]?.contains("PATCH") ?? false) == (allowed != nil))
                #expect(asked["access-control-allow-credentials"] == nil && asked["tus-version"] == "1.0.0")
                let sent = try await live.send(.put, upload.path, origin, body: Data("x".utf8), key: nil)
                #expect(sent.status == 200 && sent["access-control-allow-origin"] == allowed)
                let refused = try await live.send(.put, "/u/x", origin, body: Data("x".utf8), key: nil)
                #expect(refused.status == 404 && refused["access-control-allow-origin"] == allowed)
                let stranger = try await live.send(.head, upload.path, ["Origin": "https://evil.example"], key: nil)
                #expect((stranger["access-control-allow-origin"] != nil) == (allowed == "*"))
            }
        }
    }

    @Test func `whoever is to be told hears of its end`() async throws {
        let clock = Mutex(Instant.wallClock())
        try await LiveService.run {
            $0.clock = { clock.withLock(\.self) }
        } _: { live in
            let callback = #""callback": {"url": "http://127.0.0.1:9/hook"}"#
            let whole = try await OpenedUpload(live, "{\(callback)}")
            let late = try await OpenedUpload(live, #"{"ttl": 60, \#(callback)}"#)
            _ = try await live.send(.put, whole.path, body: Data("x".utf8), key: nil)
            clock.withLock { $0 = $0 + .seconds(61) }
            #expect(try await late.head(live).status == 404)
            _ = try await live.store.sweep()
            #expect(try await late.record(live)["state"].string == "expired")
            for (type, id) in [("upload.completed", whole.id), ("upload.expired", late.id)] {
                let calls = try await live.send(.get, "/v1/calls?type=\(type)", as: .read).json["calls"].array
                #expect(calls.map { $0["subject"].string } == [id])
            }
        }
    }
}
