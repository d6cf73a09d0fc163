import SatchelCore
import Crypto
import Foundation
import NIOCore
import TestSupport
import Testing

@testable import API

/// Resumable Uploads for HTTP (draft-ietf-httpbis-resumable-upload): what its texts say that a server MUST, in the versions that
/// clients speak.
@Suite(.timeLimit(.minutes(5))) struct ResumableTests {
    /// How a version is spoken by a client; the server's table is not looked at.
    struct Dialect: CustomTestStringConvertible, Sendable {
        var number: Int?
        var field = "Upload-Complete"
        var complete = "?1"
        var incomplete = "?0"
        var partType: String? = "application/partial-upload"
        var age: String? = "max-age"
        var partial = 204
        var testDescription: String { number.map { "version \($0)" } ?? "the final form" }

        static let all = [
            Dialect(
                number: 3, field: "Upload-Incomplete", complete: "?0", incomplete: "?1", partType: nil, age: nil,
                partial: 201),
            Dialect(number: 6, age: "expires", partial: 201), Dialect(number: 8), Dialect(number: nil),
        ]

        var fields: [String: String] { number.map { ["Upload-Draft-Interop-Version": "\($0)"] } ?? [:] }

        func create(_ live: LiveService, _ path: String, _ text: String, isWhole: Bool) async throws -> Reply {
            try await live.send(
                .post, path, fields.merging([field: isWhole ? complete : incomplete]) { $1 }, body: Data(text.utf8),
                key: nil)
        }

        func append(
            _ live: LiveService, _ path: String, at offset: Int, _ text: String, isLast: Bool,
            _ more: [String: String] = [:]
        ) async throws -> Reply {
            var headers = fields.merging(["Upload-Offset": "\(offset)", field: isLast ? complete : incomplete]) { $1 }
            headers["Content-Type"] = partType
            return try await live.send(
                .patch, path, headers.merging(more) { $1 }, body: Data(text.utf8), key: nil)
        }

        func look(_ live: LiveService, _ path: String) async throws -> Reply {
            try await live.send(.head, path, fields, key: nil)
        }

        /// What an answer says of completeness.
        func isComplete(_ reply: Reply) -> Bool? { reply[field].map { $0 == complete } }
    }

    @Test(arguments: Dialect.all)
    func `an upload in one request is whole, and its answer says so`(dialect: Dialect) async throws {
        try await LiveService.run { live in
            let upload = try await OpenedUpload(live)
            let reply = try await live.send(
                .post, upload.path,
                dialect.fields.merging([
                    dialect.field: dialect.complete, "Content-Type": "image/jpeg",
                    "Content-Disposition": "inline; filename=\"a b.jpg\"",
                ]) { $1 }, body: Data("hello".utf8), key: nil)
            #expect((200..<300).contains(reply.status) && dialect.isComplete(reply) == true, "\(reply.text)")
            #expect(reply["upload-offset"] == "5")
            #expect(reply["upload-draft-interop-version"] == dialect.number.map { "\($0)" })
            let record = try await upload.record(live)
            #expect(record["state"].string == "complete" && record["name"].string == "a b.jpg")
            #expect(record["type_hint"].string == "image/jpeg")
        }
    }

    @Test(arguments: Dialect.all)
    func `an upload in parts is created, looked at, gone on with and completed`(dialect: Dialect) async throws {
        try await LiveService.run { live in
            let upload = try await OpenedUpload(live)
            let begun = try await dialect.create(live, upload.path, "hel", isWhole: false)
            #expect(begun.status == 201 && dialect.isComplete(begun) == false && begun["upload-offset"] == "3")
            #expect(begun["location"].map(live.path) == upload.path)
            var look = try await dialect.look(live, upload.path)
            #expect(look.status == 204 && look["upload-offset"] == "3" && dialect.isComplete(look) == false)
            #expect(look["cache-control"] == "no-store")
            #expect(look["upload-limit"]?.contains("\(dialect.age ?? "x")=") ?? false == (dialect.age != nil))
            let part = try await dialect.append(live, upload.path, at: 3, "lowo", isLast: false)
            #expect(part.status == dialect.partial && dialect.isComplete(part) == false && part["upload-offset"] == "7")
            let last = try await dialect.append(live, upload.path, at: 7, "rld", isLast: true)
            #expect((200..<300).contains(last.status) && dialect.isComplete(last) == true)
            look = try await dialect.look(live, upload.path)
            #expect(look["upload-offset"] == "10" && dialect.isComplete(look) == true)
            if dialect.number != 3 { #expect(look["upload-length"] == "10") }
            // Whoever lost the last answer gets it again, in the versions that know that.
            let again = try await dialect.append(live, upload.path, at: 10, "", isLast: true)
            #expect(again.status == (dialect.number == 3 || dialect.number == 6 ? 400 : 200))
            // It takes nothing more.
            let more = try await dialect.append(live, upload.path, at: 10, "x", isLast: true)
            #expect(more.status == 400)
            #expect(try more.json["type"].string?.hasSuffix("#completed-upload") ?? false)
            #expect(try await upload.record(live)["length"].int == 10)
        }
    }

    @Test(arguments: Dialect.all)
    func `bytes at another offset are refused with the right one`(dialect: Dialect) async throws {
        try await LiveService.run { live in
            let upload = try await OpenedUpload(live)
            _ = try await dialect.create(live, upload.path, "hello", isWhole: false)
            for offset in [0, 4, 6] {
                let reply = try await dialect.append(live, upload.path, at: offset, "x", isLast: false)
                #expect(reply.status == 409 && reply["upload-offset"] == "5" && dialect.isComplete(reply) == false)
                let body = try reply.json
                #expect(body["type"].string?.hasSuffix("#mismatching-upload-offset") ?? false)
                #expect(body["expected-offset"].int == 5 && body["provided-offset"].int == offset)
            }
            #expect(try await dialect.look(live, upload.path)["upload-offset"] == "5")
        }
    }

    @Test(arguments: Dialect.all)
    func `the length can't be said twice in two ways, nor be passed`(dialect: Dialect) async throws {
        try await LiveService.run { live in
            let upload = try await OpenedUpload(live, #"{"length": 8}"#)
            let whole = try await dialect.create(live, upload.path, "hello", isWhole: true)
            #expect(whole.status == 400)
            #expect(try whole.json["type"].string?.hasSuffix("#inconsistent-upload-length") ?? false)
            _ = try await dialect.create(live, upload.path, "hello", isWhole: false)
            let long = try await dialect.append(live, upload.path, at: 5, "world!", isLast: false)
            #expect(long.status == 400)
            #expect((try? long.json["type"].string?.hasSuffix("#inconsistent-upload-length")) ?? false)
            let look = try await dialect.look(live, upload.path)
            if dialect.number == 3 || dialect.number == 6 {
                #expect(look["upload-offset"] == "5", "nothing of the request counts")
            } else {
                #expect(look.status == 404, "it is invalid from then on")
                #expect(try await upload.record(live)["state"].string == "failed")
            }
        }
    }

    @Test(arguments: Dialect.all)
    func `a request that is cut off completes nothing, whatever it says`(dialect: Dialect) async throws {
        try await LiveService.run { live in
            let upload = try await OpenedUpload(live)
            try await live.connect { connection in
                try await connection.send(
                    connection.head(
                        .post, upload.path, dialect.fields.merging([dialect.field: dialect.complete]) { $1 },
                        length: 100_000))
                try await connection.send(Data(count: 70_000))
                try await eventually("something has come") { try await upload.record(live)["offset"].int ?? 0 > 0 }
                await connection.abort()
            }
            try await eventually("what came is there") {
                try await dialect.look(live, upload.path)["upload-offset"] == "70000"
            }
            #expect(try await dialect.isComplete(dialect.look(live, upload.path)) == false)
            let rest = String(repeating: "\u{0}", count: 30_000)
            let last = try await dialect.append(live, upload.path, at: 70_000, rest, isLast: true)
            #expect(dialect.isComplete(last) == true)
        }
    }

    @Test(arguments: Dialect.all)
    func `cancellation ends it, and drafts refuse questions that are answers`(dialect: Dialect) async throws {
        try await LiveService.run { live in
            let upload = try await OpenedUpload(live)
            let odd = dialect.fields.merging(["Upload-Offset": "0"]) { $1 }
            let isStrict = dialect.number == 3 || dialect.number == 6
            #expect(try await live.send(.head, upload.path, odd, key: nil).status == (isStrict ? 400 : 204))
            if isStrict { #expect(try await live.send(.delete, upload.path, odd, key: nil).status == 400) }
            #expect(try await live.send(.delete, upload.path, dialect.fields, key: nil).status == 204)
            #expect(try await dialect.look(live, upload.path).status == 404)
            #expect(try await dialect.append(live, upload.path, at: 0, "x", isLast: true).status == 404)
        }
    }

    @Test func `what is appended is declared as such, and says whether it is the last`() async throws {
        try await LiveService.run { live in
            let upload = try await OpenedUpload(live)
            for dialect in Dialect.all.dropFirst() {
                let untyped = try await dialect.append(
                    live, upload.path, at: 0, "x", isLast: false, ["Content-Type": "image/jpeg"])
                #expect(untyped.status == 415 && untyped["accept-patch"] == "application/partial-upload")
                let silent = try await dialect.append(
                    live, upload.path, at: 0, "x", isLast: false, [dialect.field: "maybe"])
                #expect(silent.status == 400)
            }
            let options = try await live.send(
                .options, upload.path, ["Upload-Draft-Interop-Version": "6"], key: nil)
            #expect(options["upload-limit"]?.hasPrefix("max-size=") ?? false)
            #expect(options["upload-draft-interop-version"] == "6")
        }
    }

    @Test func `digests hold for a request and for the whole`() async throws {
        try await LiveService.run { live in
            let dialect = Dialect(number: nil)
            func digest(_ text: String) -> String {
                "sha-256=:\(Data(SHA256.hash(data: Data(text.utf8))).base64EncodedString()):"
            }
            let upload = try await OpenedUpload(live)
            let begun = try await live.send(
                .post, upload.path, ["Upload-Complete": "?0", "Repr-Digest": digest("helloworld")],
                body: Data("hello".utf8), key: nil)
            #expect(begun.status == 201)
            let wrong = try await dialect.append(
                live, upload.path, at: 5, "xorld", isLast: true, ["Content-Digest": digest("world")])
            #expect(try wrong.status == 422 && wrong.json["code"].string == "checksum_mismatch")
            #expect(try await dialect.look(live, upload.path)["upload-offset"] == "5")
            let last = try await dialect.append(
                live, upload.path, at: 5, "world", isLast: true, ["Content-Digest": digest("world")])
            #expect(last.status == 200 && last["repr-digest"] == digest("helloworld"))
            let other = try await OpenedUpload(live)
            let bad = try await live.send(
                .post, other.path, ["Upload-Complete": "?1", "Repr-Digest": digest("x")], body: Data("y".utf8), key: nil
            )
            #expect(bad.status == 422)
            #expect(try await other.record(live)["state"].string == "failed")
        }
    }

    // MARK: Interim responses

    /// The interim responses to an upload that is sent in two pieces, and the last answer.
    private func interims(
        _ live: LiveService, _ headers: [String: String], version: String = "1.1"
    ) async throws -> (interims: [Reply], last: Reply) {
        let upload = try await OpenedUpload(live)
        return try await live.connect { connection in
            let head = connection.head(
                .post, upload.path, ["Upload-Complete": "?1"].merging(headers) { $1 }, length: 200_000)
            try await connection.send(head.replacing("HTTP/1.1", with: "HTTP/\(version)"))
            try await connection.send(Data(count: 150_000))
            // A second later it is recorded, and told of.
            try await eventually("it is recorded") { try await upload.record(live)["offset"].int == 150_000 }
            try await connection.send(Data(count: 50_000))
            var interims: [Reply] = []
            while true {
                let reply = try await connection.replyHead()
                guard reply.status < 200 else { return (interims, reply) }
                interims.append(reply)
            }
        }
    }

    @Test func `interim responses tell where an upload is and how far, to who understands them`() async throws {
        try await LiveService.run {
            // A bucket gets 8 MiB at a time, and only those are told of before the end.
            $0.needsDirectory = true
        } _: { live in
            let (final, last) = try await interims(live, [:])
            #expect(last.status == 200)
            #expect(final.allSatisfy { $0.status == 104 && $0["upload-draft-interop-version"] == nil })
            let location = try #require(final.first?["location"])
            #expect(location.hasPrefix("https://media.example.com/u/satu_") && location == last["location"])
            #expect(final.first?["upload-limit"]?.contains("max-age=") ?? false)
            let offsets = final.dropFirst().compactMap { Int($0["upload-offset"] ?? "") }
            #expect(offsets.contains(150_000) && offsets == offsets.sorted())
            for number in [3, 6, 8] {
                let header = ["Upload-Draft-Interop-Version": "\(number)", "Upload-Incomplete": "?0"]
                let (interims, _) = try await interims(live, header)
                #expect(!interims.isEmpty)
                #expect(interims.allSatisfy { $0["upload-draft-interop-version"] == "\(number)" })
            }
            for header in [["Upload-Draft-Interop-Version": "5"], ["Upload-Draft-Interop-Version": "none"]] {
                #expect(try await interims(live, header).interims.isEmpty, "\(header)")
            }
            #expect(try await interims(live, [:], version: "1.0").interims.isEmpty)
        }
    }

    @Test func `behind a proxy none is sent unless the operator says so`() async throws {
        for (interim, header, sends) in [
            (UploadSettings.Interim.auto, "X-Forwarded-For", false), (.auto, "Forwarded", false), (.auto, "Via", false),
            (.auto, "X-Other", true), (.on, "X-Forwarded-For", true), (.off, "X-Other", false),
        ] {
            try await LiveService.run {
                $0.settings.uploads.interim = interim
            } _: { live in
                let told = try await interims(live, [header: "10.0.0.1"]).interims
                #expect(told.isEmpty != sends, "\(interim) \(header)")
            }
        }
    }

    @Test func `a client that waits for 100 gets it although it got a 104`() async throws {
        try await LiveService.run { live in
            let upload = try await OpenedUpload(live)
            try await live.connect { connection in
                try await connection.send(
                    connection.head(
                        .post, upload.path, ["Upload-Complete": "?1", "Expect": "100-continue"], length: 5))
                #expect(try await connection.replyHead().status == 104)
                #expect(try await connection.replyHead().status == 100)
                try await connection.send("hello")
                #expect(try await connection.reply().status == 200)
            }
        }
    }
}
