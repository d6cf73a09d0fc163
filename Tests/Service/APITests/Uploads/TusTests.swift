import SatchelCore
import Crypto
import Foundation
import TestSupport
import Testing

@testable import API

/// tus 1.0.0: what its text says that a server MUST, sentence by sentence, with the extensions that are spoken.
@Suite(.timeLimit(.minutes(5))) struct TusTests {
    private let tus = OpenedUpload.tus

    private func create(
        _ live: LiveService, _ headers: [String: String], body: String? = nil, as role: AccessRole = .submit
    ) async throws -> Reply {
        let type = body == nil ? [:] : ["Content-Type": "application/offset+octet-stream"]
        return try await live.send(
            .post, "/v1/uploads", tus.merging(headers) { $1 }.merging(type) { $1 }, body: Data((body ?? "").utf8),
            as: role)
    }

    @Test func `OPTIONS tells version, extensions, checksums and size, whatever Tus-Resumable says`() async throws {
        try await LiveService.run {
            $0.settings.limits.clipBytes = 12_345
        } _: { live in
            let asked: [(String, [String: String])] = [
                ("/v1/uploads", [:]), ("/u/x", tus), ("/u/x", ["Tus-Resumable": "0.2.2"]),
            ]
            for (path, headers) in asked {
                let reply = try await live.send(.options, path, headers, key: nil)
                #expect(reply.status == 204 && reply["tus-version"] == "1.0.0" && reply["tus-max-size"] == "12345")
                let extensions = reply["tus-extension"]?.split(separator: ",").map { String($0) }
                #expect(
                    Set(extensions ?? []) == [
                        "creation", "creation-with-upload", "creation-defer-length", "expiration", "termination",
                        "checksum",
                    ])
                #expect(reply["tus-checksum-algorithm"]?.contains("sha1") ?? false)
            }
        }
    }

    @Test func `another version is answered with 412 and the version, and does nothing`() async throws {
        try await LiveService.run { live in
            let upload = try await OpenedUpload(live)
            for (method, path) in [(Method.head, upload.path), (.patch, upload.path), (.post, "/v1/uploads")] {
                let reply = try await live.send(
                    method, path, ["Tus-Resumable": "0.2.2", "Upload-Offset": "0", "Upload-Length": "1"],
                    body: method == .patch ? Data("x".utf8) : nil, as: .submit)
                #expect(reply.status == 412 && reply["tus-version"] == "1.0.0" && reply["tus-resumable"] == "1.0.0")
            }
            #expect(try await upload.record(live)["offset"].int == 0)
        }
    }

    @Test func `HEAD always has the offset, the length where it is known, and isn't cached`() async throws {
        try await LiveService.run { live in
            let known = try await OpenedUpload(live, #"{"length": 5}"#)
            var head = try await known.head(live)
            #expect(head.status == 200 && head["upload-offset"] == "0" && head["upload-length"] == "5")
            #expect(head["cache-control"] == "no-store" && head["tus-resumable"] == "1.0.0")
            _ = try await known.patch(live, at: 0, "hello")
            head = try await known.head(live)
            #expect(head["upload-offset"] == "5" && head["upload-length"] == "5", "also when it is complete")
            let deferred = try await OpenedUpload(live).head(live)
            #expect(deferred["upload-defer-length"] == "1" && deferred["upload-length"] == nil)
            let missing = try await live.send(.head, "/u/x", tus, key: nil)
            #expect(missing.status == 404 && missing["upload-offset"] == nil && missing["tus-resumable"] == "1.0.0")
        }
    }

    @Test func `PATCH takes bytes at the offset alone, and answers the new one`() async throws {
        try await LiveService.run { live in
            let upload = try await OpenedUpload(live, #"{"length": 10}"#)
            let first = try await upload.patch(live, at: 0, "hello")
            #expect(first.status == 204 && first["upload-offset"] == "5" && first["tus-resumable"] == "1.0.0")
            #expect(first["upload-expires"]?.hasSuffix(" GMT") ?? false)
            for offset in [0, 4, 6, 10] {
                let conflict = try await upload.patch(live, at: offset, "xx")
                #expect(conflict.status == 409 && conflict["tus-resumable"] == "1.0.0", "\(offset)")
            }
            let untyped = try await upload.patch(live, at: 5, "world", ["Content-Type": "image/jpeg"])
            #expect(untyped.status == 415)
            let unplaced = try await live.send(
                .patch, upload.path, tus.merging(["Content-Type": "application/offset+octet-stream"]) { $1 },
                body: Data("world".utf8), key: nil)
            #expect(unplaced.status == 400)
            #expect(try await upload.head(live)["upload-offset"] == "5")
            #expect(try await upload.patch(live, at: 5, "world").status == 204)
            #expect(try await upload.record(live)["state"].string == "complete")
            #expect(try await upload.patch(live, at: 10, "").status == 204)
            #expect(try await upload.patch(live, at: 10, "x").status == 409)
            let missing = try await live.send(
                .patch, "/u/x", tus.merging(["Upload-Offset": "0"]) { $1 }, body: Data("x".utf8), key: nil)
            #expect(missing.status == 404)
        }
    }

    @Test(arguments: [true, false])
    func `nothing of a request with more bytes than there is room for counts`(isAnnounced: Bool) async throws {
        try await LiveService.run { live in
            let upload = try await OpenedUpload(
                live, #"{"length": 10, "job": {"attachments": [{"upload": "self"}]}}"#)
            #expect(try await upload.patch(live, at: 0, "hello").status == 204)
            let headers = [
                "Content-Type": "application/offset+octet-stream", "Upload-Offset": "5", "Transfer-Encoding": "chunked",
            ]
            let long =
                isAnnounced
                ? try await upload.patch(live, at: 5, "world!")
                : try await live.connect { connection in
                    try await connection.send(
                        connection.head(.patch, upload.path, tus.merging(headers) { $1 }, keepAlive: false)
                            + "5\r\nworld\r\n1\r\n!\r\n0\r\n\r\n")
                    return try await connection.reply(to: .patch)
                }
            #expect(long.status == 413 && long["tus-resumable"] == "1.0.0")
            #expect(try await upload.head(live)["upload-offset"] == "5")
            #expect(try await upload.record(live)["state"].string == "open", "and nothing was submitted")
            #expect(try await upload.patch(live, at: 5, "world").status == 204)
            #expect(try await upload.record(live)["state"].string == "consumed")
        }
    }

    @Test(arguments: [
        ["Upload-Length": "5", "Upload-Metadata": "filename YQ=="], ["Upload-Defer-Length": "1"],
        ["Upload-Length": "5", "Upload-Concat": "partial"],
    ])
    func `tus' headers without a version are a mistake that is named`(headers: [String: String]) async throws {
        try await LiveService.run { live in
            let made = try await live.send(.post, "/v1/uploads", headers, as: .submit)
            #expect(try made.status == 400 && made.json["errors"][0]["pointer"].string == "Tus-Resumable")
            let upload = try await OpenedUpload(live, #"{"length": 5}"#)
            let sent = try await live.send(
                .patch, upload.path, headers.merging(["Upload-Offset": "0"]) { $1 }, body: Data("hello".utf8), key: nil)
            #expect(sent.status == 400)
            #expect(try await upload.head(live)["upload-offset"] == "0")
        }
    }

    @Test func `the method that a header names counts, not the request's`() async throws {
        try await LiveService.run { live in
            let upload = try await OpenedUpload(live, #"{"length": 5}"#)
            let patched = try await live.send(
                .post, upload.path,
                tus.merging([
                    "X-HTTP-Method-Override": "PATCH", "Content-Type": "application/offset+octet-stream",
                    "Upload-Offset": "0",
                ]) { $1 }, body: Data("hel".utf8), key: nil)
            #expect(patched.status == 204 && patched["upload-offset"] == "3")
            let ended = try await live.send(
                .post, upload.path, tus.merging(["X-HTTP-Method-Override": "DELETE"]) { $1 }, key: nil)
            #expect(ended.status == 204)
            #expect(try await upload.head(live).status == 404)
        }
    }

    @Test func `creation says its length or defers it, and is answered with a URL`() async throws {
        try await LiveService.run { live in
            let metadata = "filename SU1HLk1PVg==,filetype dmlkZW8vcXVpY2t0aW1l,is_confidential"
            let made = try await create(live, ["Upload-Length": "5", "Upload-Metadata": metadata])
            #expect(made.status == 201 && made["tus-resumable"] == "1.0.0" && made["upload-expires"] != nil)
            let path = live.path(of: try #require(made["location"]))
            let head = try await live.send(.head, path, tus, key: nil)
            #expect(head["upload-metadata"] == metadata && head["upload-length"] == "5")
            let record = try await live.send(.get, "/v1/uploads", as: .read).json["uploads"][0]
            #expect(record["name"].string == "IMG.MOV" && record["type_hint"].string == "video/quicktime")

            let deferred = try await create(live, ["Upload-Defer-Length": "1"])
            let upload = OpenedUpload(id: "", path: live.path(of: try #require(deferred["location"])))
            #expect(try await upload.patch(live, at: 0, "hel").status == 204)
            #expect(try await upload.head(live)["upload-defer-length"] == "1")
            #expect(try await upload.patch(live, at: 3, "l", ["Upload-Length": "5"]).status == 204)
            #expect(try await upload.patch(live, at: 4, "o", ["Upload-Length": "6"]).status == 400, "once set it stays")
            #expect(try await upload.head(live)["upload-length"] == "5")

            let refused: [[String: String]] = [
                [:], ["Upload-Defer-Length": "2"], ["Upload-Length": "-1"], ["Upload-Length": "five"],
                ["Upload-Length": "5", "Upload-Defer-Length": "1"], ["Upload-Length": "5", "Upload-Metadata": "a b c"],
                ["Upload-Length": "5", "Upload-Metadata": "a YQ==,a YQ=="],
                ["Upload-Length": "5", "Upload-Concat": "partial"],
            ]
            for bad in refused { #expect(try await create(live, bad).status == 400, "\(bad)") }
            #expect(try await create(live, ["Upload-Length": "999999999999"]).status == 413)
            #expect(try await create(live, ["Upload-Length": "5"], as: .read).status == 403)
        }
    }

    @Test func `creation takes bytes along, and an empty file is complete with it`() async throws {
        try await LiveService.run { live in
            let made = try await create(live, ["Upload-Length": "10"], body: "hello")
            #expect(made.status == 201 && made["upload-offset"] == "5")
            let upload = OpenedUpload(id: "", path: live.path(of: try #require(made["location"])))
            #expect(try await upload.patch(live, at: 5, "world")["upload-offset"] == "10")
            let whole = try await create(live, ["Upload-Length": "5"], body: "hello")
            #expect(whole.status == 201 && whole["upload-offset"] == "5")
            _ = try await create(live, ["Upload-Length": "0"])
            let states = try await live.send(.get, "/v1/uploads", as: .read).json["uploads"].array
            #expect(states.allSatisfy { $0["state"].string == "complete" } && states.count == 3)
            // At the URL that a back end opened, too.
            let opened = try await OpenedUpload(live)
            let begun = try await live.send(
                .post, opened.path,
                tus.merging(["Upload-Length": "5", "Content-Type": "application/offset+octet-stream"]) { $1 },
                body: Data("hel".utf8), key: nil)
            #expect(begun.status == 201 && begun["location"] == opened.path && begun["upload-offset"] == "3")
        }
    }

    @Test func `a chunk with another checksum is discarded, and the offset stays`() async throws {
        try await LiveService.run { live in
            let upload = try await OpenedUpload(live, #"{"length": 10}"#)
            let sha1 = Data(Insecure.SHA1.hash(data: Data("hello".utf8))).base64EncodedString()
            let sha256 = Data(SHA256.hash(data: Data("world".utf8))).base64EncodedString()
            let wrong = try await upload.patch(live, at: 0, "jello", ["Upload-Checksum": "sha1 \(sha1)"])
            #expect(wrong.status == 460 && wrong["tus-resumable"] == "1.0.0")
            #expect(try await upload.head(live)["upload-offset"] == "0")
            #expect(try await upload.patch(live, at: 0, "hello", ["Upload-Checksum": "crc32 AAAA"]).status == 400)
            #expect(try await upload.patch(live, at: 0, "hello", ["Upload-Checksum": "sha1 \(sha1)"]).status == 204)
            #expect(try await upload.patch(live, at: 5, "xorld", ["Upload-Checksum": "sha256 \(sha256)"]).status == 460)
            #expect(try await upload.patch(live, at: 5, "world", ["Upload-Checksum": "sha256 \(sha256)"]).status == 204)
            let hash = SHA256.hash(data: Data("helloworld".utf8)).map { String(format: "%02x", $0) }.joined()
            #expect(
                try await upload.record(live)["sha256"].string == hash, "the hash went along with what was discarded")
        }
    }

    @Test func `nothing of a chunk with a checksum counts when the connection breaks`() async throws {
        try await LiveService.run { live in
            let upload = try await OpenedUpload(live, #"{"length": 300000}"#)
            try await live.connect { connection in
                try await connection.send(
                    connection.head(
                        .patch, upload.path,
                        tus.merging([
                            "Content-Type": "application/offset+octet-stream", "Upload-Offset": "0",
                            "Upload-Checksum": "sha1 AAAAAAAAAAAAAAAAAAAAAAAAAAA=",
                        ]) { $1 }, length: 300_000))
                try await connection.send(Data(count: 200_000))
                await connection.abort()
            }
            #expect(try await upload.head(live)["upload-offset"] == "0")
            let whole = try await upload.patch(live, at: 0, String(repeating: "a", count: 300_000))
            #expect(whole["upload-offset"] == "300000")
            let large = try await OpenedUpload(live)
            let over = try await live.connect { connection in
                try await connection.send(
                    connection.head(
                        .patch, large.path,
                        tus.merging([
                            "Content-Type": "application/offset+octet-stream", "Upload-Offset": "0",
                            "Upload-Checksum": "sha1 AAAAAAAAAAAAAAAAAAAAAAAAAAA=",
                        ]) { $1 }, length: (64 << 20) + 1))
                return try await connection.reply().status
            }
            #expect(over == 413)
        }
    }

    @Test func `DELETE ends an upload, whole or not, and its URL with it`() async throws {
        try await LiveService.run { live in
            for bytes in ["", "hel", "hello"] {
                let upload = try await OpenedUpload(live, #"{"length": 5}"#)
                if !bytes.isEmpty { _ = try await upload.patch(live, at: 0, bytes) }
                let ended = try await live.send(.delete, upload.path, tus, key: nil)
                #expect(ended.status == 204 && ended["tus-resumable"] == "1.0.0")
                #expect(try await upload.head(live).status == 404)
                #expect(try await upload.patch(live, at: 0, "x").status == 404)
                #expect(try await live.send(.delete, upload.path, tus, key: nil).status == 404)
                #expect(try await upload.record(live)["state"].string == "cancelled")
            }
            #expect(try await live.spooled().isEmpty)
        }
    }
}
