import SatchelCore
import Foundation
import Platform
import ServiceTestSupport
import TestSupport
import Testing

@testable import API
@testable import Ingest

/// Sources that are encrypted as messengers do it, over a live connection.
@Suite(.timeLimit(.minutes(10))) struct EncryptedSourceTests {
    private static func photo() throws -> Data { try SubmittingTests.media(SubmittingTests.photo) }

    private static func encrypted(_ seed: UInt64) throws -> [(EncryptionScheme, EncryptionJudge.Encrypted)] {
        var generator = SeededGenerator(seed: seed)
        let files = try EncryptionScheme.allCases.map { EncryptionJudge.Plain($0, try photo(), using: &generator) }
        return Array(zip(EncryptionScheme.allCases, try EncryptionJudge.encrypt(files)))
    }

    @Test func `an encrypted file is taken from a URL, a part and an upload, and no other sees what is in it`()
        async throws
    {
        let files = try Self.encrypted(11)
        let bodies = Dictionary(uniqueKeysWithValues: files.map { ("/\($0.rawValue)", $1.bytes) })
        try await LocalOrigin.run { request in
            LocalOrigin.Answer(
                headers: ["Content-Type": "application/octet-stream"], body: bodies[request.path] ?? Data())
        } _: { origin in
            try await LiveService.run {
                $0.worker = .codec
            } _: { live in
                let attachments = files.map { scheme, file in
                    """
                    {"identifier": "\(scheme.rawValue)", "url": "\(origin.url("/\(scheme.rawValue)"))",
                     "encryption": \(file.description)}
                    """
                }
                let job = try await live.send(
                    .post, "/v1/jobs", ["Prefer": "wait=30"],
                    json: "{\"attachments\": [\(attachments.joined(separator: ", "))]}", as: .submit
                ).json
                #expect(job["counts"]["delivered"].int == 3)
                for (index, (scheme, file)) in files.enumerated() {
                    let attachment = job["attachments"][index]
                    #expect(attachment["identifier"].string == scheme.rawValue)
                    #expect(attachment["source"]["bytes"].int == file.bytes.count)
                    let steps = attachment["steps"].array.compactMap { $0["name"].string }
                    #expect(steps.prefix(2) == ["fetch", "decrypt"], "\(steps)")
                    let url = try #require(attachment["renditions"]["main"]["url"].string)
                    let main = try await live.send(.get, live.path(of: url))
                    #expect(main.status == 200 && main.body.starts(with: [0xFF, 0xD8]))
                }
                let parts = files.map { scheme, file in
                    (name: scheme.rawValue, headers: "; filename=\"a.bin\"", body: file.bytes)
                }
                let wishes = files.map { "{\"part\": \"\($0.rawValue)\", \"encryption\": \($1.description)}" }
                let description = Data("{\"attachments\": [\(wishes.joined(separator: ", "))]}".utf8)
                let uploaded = try await live.send(
                    .post, "/v1/jobs", SubmittingTests.multipartType.merging(["Prefer": "wait=30"]) { $1 },
                    body: SubmittingTests.multipart([("job", "", description)] + parts)
                ).json
                #expect(uploaded["counts"]["delivered"].int == 3, "\(uploaded)")
                let (_, file) = files[0]
                // A job that waits for its upload has keys and headers like any other.
                let waiting = try await OpenedUpload(
                    live,
                    """
                    {"job": {"attachments": [
                      {"identifier": "own", "upload": "self", "encryption": \(file.description)},
                      {"identifier": "other", "url": "\(origin.url("/\(files[1].0.rawValue)"))",
                       "encryption": \(files[1].1.description), "headers": {"X-Asked": "yes"}}]}}
                    """)
                let sent = try await live.send(.put, waiting.path, body: file.bytes, key: nil)
                let submitted = try #require(sent["satchel-job"])
                let ended = try await live.send(.get, "/v1/jobs/\(submitted)", ["Prefer": "wait=30"], as: .submit)
                #expect(try ended.json["counts"]["delivered"].int == 2, "\(ended.text)")
                #expect(origin.requests.last?.headers["x-asked"] == "yes")
                let upload = try await OpenedUpload(live)
                #expect(try await live.send(.put, upload.path, body: file.bytes, key: nil).status == 200)
                let used = try await live.send(
                    .post, "/v1/jobs", ["Prefer": "wait=30"],
                    json: """
                        {"attachments": [{"upload": "\(upload.id)", "encryption": \(file.description)}]}
                        """, as: .submit)
                #expect(try used.json["state"].string == "delivered", "\(used.text)")
            }
        }
    }

    @Test func `a file that was changed fails with decryption_failed, is not tried again, and says nothing of its key`()
        async throws
    {
        let files = try Self.encrypted(12)
        try await LiveService.run {
            $0.worker = .codec
        } _: { live in
            var parts: [(name: String, headers: String, body: Data)] = []
            var wishes: [String] = []
            for (scheme, file) in files {
                var bytes = file.bytes
                bytes[bytes.count / 2] ^= 4
                parts.append((scheme.rawValue, "", bytes))
                wishes.append("{\"part\": \"\(scheme.rawValue)\", \"encryption\": \(file.description)}")
            }
            let description = Data("{\"attachments\": [\(wishes.joined(separator: ", "))]}".utf8)
            let reply = try await live.send(
                .put, "/v1/jobs/changed", SubmittingTests.multipartType.merging(["Prefer": "wait=30"]) { $1 },
                body: SubmittingTests.multipart([("job", "", description)] + parts))
            let job = try reply.json
            #expect(job["counts"]["failed"].int == 3)
            for (index, (_, file)) in files.enumerated() {
                let attachment = job["attachments"][index]
                #expect(attachment["error"]["code"].string == "decryption_failed")
                #expect(attachment["error"]["retryable"].bool == false && attachment["error"]["un_error"].isNull)
                #expect(attachment["steps"].array.last?["name"].string == "decrypt")
                #expect(!attachment["steps"].array.contains { $0["name"].string == "retry" })
                let key = try #require(file.encryption.key).key
                for text in [
                    key.base64EncodedString().prefix(40), key.base64URL.prefix(40), key.hexadecimal.prefix(40),
                ] {
                    #expect(!reply.text.contains(text))
                }
            }
        }
    }

    @Test func `the same bytes under another key are other work`() async throws {
        let file = try #require(try Self.encrypted(13).first { $0.0 == .aesgcm }).1
        let fragment = try #require(file.encryption.key).fragment
        let other = String(fragment.dropLast(2)) + (fragment.hasSuffix("00") ? "11" : "00")
        try await LiveService.run {
            $0.worker = .codec
        } _: { live in
            func state(_ fragment: String) async throws -> String? {
                let description = Data(
                    """
                    {"attachments": [{"part": "a", "encryption": {"scheme": "aesgcm", "fragment": "\(fragment)"}}]}
                    """.utf8)
                return try await live.send(
                    .post, "/v1/jobs", SubmittingTests.multipartType.merging(["Prefer": "wait=30"]) { $1 },
                    body: SubmittingTests.multipart([("job", "", description), ("a", "", file.bytes)])
                ).json["state"].string
            }
            let states = try await [state(fragment), state(other), state(fragment)]
            #expect(states == ["delivered", "failed", "delivered"])
        }
    }

    @Test func `what is wrong with a key is told field by field, and never by what it is`() async throws {
        let key = String(repeating: "A", count: 43)
        let good = """
            "key": {"kty": "oct", "alg": "A256CTR", "k": "\(key)"}, "iv": "AAAAAAAAAAAAAAAAAAAAAA", "hashes": {"sha256": "\(key)"}
            """
        let cases: [(encryption: String, pointer: String)] = [
            (#"{}"#, "scheme"), (#"{"scheme": "rot13"}"#, "scheme"), (#""matrix""#, ""),
            (#"{"scheme": "matrix"}"#, "key"),
            ("{\"scheme\": \"matrix\", \"v\": \"v1\", \(good)}", "v"),
            ("{\"scheme\": \"matrix\", \(good), \"url\": \"mxc://x/y\"}", "url"),
            ("{\"scheme\": \"matrix\", \(good.replacing(key, with: "c2VjcmV0c2VjcmV0"))}", "key/k"),
            ("{\"scheme\": \"matrix\", \(good.replacing("A256CTR", with: "A256GCM"))}", "key/alg"),
            ("{\"scheme\": \"matrix\", \(good.replacing("sha256", with: "sha512"))}", "hashes/sha256"),
            ("{\"scheme\": \"matrix\", \(good.replacing("\"AAAAAAAAAAAAAAAAAAAAAA\"", with: "\"c2VjcmV0\""))}", "iv"),
            (#"{"scheme": "aesgcm"}"#, "fragment"), (#"{"scheme": "aesgcm", "fragment": "c2VjcmV0"}"#, "fragment"),
            (#"{"scheme": "signal", "key": "c2VjcmV0", "digest": "c2VjcmV0", "size": 1}"#, "key"),
            ("{\"scheme\": \"signal\", \"key\": \"\(key)\(key)\", \"digest\": \"\(key)\", \"size\": -1}", "size"),
        ]
        try await LiveService.run { live in
            for (encryption, pointer) in cases {
                let reply = try await live.send(
                    .post, "/v1/jobs",
                    json: "{\"attachments\": [{\"url\": \"https://example.com/a\", \"encryption\": \(encryption)}]}",
                    as: .submit)
                #expect(reply.status == 400, "\(encryption): \(reply.text)")
                let place = "/attachments/0/encryption" + (pointer.isEmpty ? "" : "/\(pointer)")
                let pointers = try reply.json["errors"].array.compactMap { $0["pointer"].string }
                #expect(pointers.contains(place), "\(encryption): \(pointers)")
                #expect(!reply.text.contains("c2VjcmV0"))
            }
            let both = try await live.send(
                .post, "/v1/jobs",
                json: """
                    {"attachments": [{"url": "aesgcm://example.com/a#\(String(repeating: "5e", count: 44))",
                                      "encryption": {"scheme": "aesgcm", "fragment": "\(String(repeating: "0", count: 88))"}}]}
                    """, as: .submit)
            #expect(both.status == 400 && both.text.contains("an aesgcm URL contains its key"))
            let broken = try await live.send(
                .post, "/v1/jobs", json: #"{"attachments": [{"url": "aesgcm://example.com/a#5e5e5e"}]}"#, as: .submit)
            #expect(broken.status == 400 && !broken.text.contains("5e5e5e"))
        }
    }
}
