import SatchelCore
import Foundation
import ServiceTestSupport
import Stores
import TestSupport
import Testing

@testable import API

/// Renditions that are kept and delivered as ciphertext.
@Suite(.timeLimit(.minutes(10))) struct EncryptedRenditionTests {
    private static let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF]

    /// Submits a photograph.
    private func submitted(_ scheme: String, to live: LiveService) async throws -> Tree {
        let photo = try SubmittingTests.media(SubmittingTests.photo)
        let description = Data(
            "{\"encrypt\": \"\(scheme)\", \"attachments\": [{\"part\": \"a\"}], \"lease_ttl\": 60}".utf8)
        let reply = try await live.send(
            .post, "/v1/jobs", SubmittingTests.multipartType.merging(["Prefer": "wait=30"]) { $1 },
            body: SubmittingTests.multipart([("job", "", description), ("a", "; filename=a.jpg", photo)]))
        let job = try reply.json
        #expect(job["state"].string == "delivered", "\(reply.text)")
        return job["attachments"][0]
    }

    @Test(arguments: ["matrix", "aesgcm"])
    func `what is made is kept and delivered as ciphertext, which Python opens to a picture`(scheme: String)
        async throws
    {
        try await LiveService.run {
            $0.worker = .codec
        } _: { live in
            let attachment = try await submitted(scheme, to: live)
            var keys: Set<String> = []
            let roles = attachment["renditions"].keys
            #expect(roles.contains("main") && roles.contains("thumbnail"))
            for role in roles {
                let rendition = attachment["renditions"][role]
                #expect(rendition["encryption"]["scheme"].string == scheme)
                #expect(rendition["media_type"].string == "image/jpeg" && rendition["width"].int != nil)
                let path = live.path(of: try #require(rendition["url"].string))
                let content = try await live.send(.get, path, key: nil)
                #expect(content.status == 200 && content.body.count == rendition["bytes"].int)
                #expect(content["content-type"] == "application/octet-stream")
                #expect(content["content-disposition"] == "attachment; filename=\"\(role).encrypted\"")
                #expect(content["etag"] == "\"\(rendition["sha256"].string ?? "")\"")
                #expect(!content.body.starts(with: Self.jpeg))
                let encryption = rendition["encryption"].text
                #expect(keys.insert(encryption).inserted)
                let picture = try #require(try EncryptionJudge.decrypt(content.body, encryption))
                let decoded = try Python.run(Self.decoding, [picture.base64EncodedString()])
                let size = "\(rendition["width"].int ?? 0) \(rendition["height"].int ?? 0)\n"
                #expect(decoded.outputText == size, "\(decoded.errorText)")
            }
            // No file of the store begins as a picture does, or holds one.
            for name in FileManager.default.enumerator(atPath: live.store.directory)?.compactMap({ $0 as? String })
                ?? []
            {
                guard let data = FileManager.default.contents(atPath: live.store.directory + "/" + name) else {
                    continue
                }
                #expect(data.range(of: Data("JFIF".utf8)) == nil, "\(name)")
                for key in keys {
                    for secret in key.matches(of: /[0-9A-Za-z_-]{40,}/) {
                        #expect(data.range(of: Data(secret.output.utf8)) == nil, "a key is in \(name)")
                    }
                }
            }
            let log = live.log.lines.joined(separator: "\n")
            for key in keys {
                for secret in key.matches(of: /[0-9A-Za-z_-]{40,}/) { #expect(!log.contains(secret.output)) }
            }
            // Whoever starts a lease gets the keys of what it opens.
            let id = try #require(attachment["id"].string)
            let lease = try await live.send(
                .post, "/v1/leases", json: "{\"attachment_id\": \"\(id)\", \"ttl\": 60, \"renditions\": [\"main\"]}")
            #expect(lease.status == 201, "\(lease.text)")
            #expect(
                try lease.json["renditions"]["main"]["encryption"].text
                    == attachment["renditions"]["main"]["encryption"].text)
        }
    }

    @Test func `a payload says under satchel with what its media are encrypted`() async throws {
        try await LocalOrigin.run { origin in
            try await LiveService.run {
                $0.worker = .codec
            } _: { live in
                let reply = try await live.send(
                    .post, "/v1/payloads/apns?encrypt=aesgcm",
                    json: """
                        {"aps": {"alert": "x", "mutable-content": 1}, "encrypted-content": "b3BhcXVl+/=",
                         "fcm_options": {"image": "\(origin.url("/" + SubmittingTests.photo))"}}
                        """)
                #expect(reply.status == 200, "\(reply.text)")
                let link = try reply.json["satchel"]["attachments"][0]
                for (url, encryption) in [("url", "encryption"), ("preview_url", "preview_encryption")] {
                    let content = try await live.send(
                        .get, live.path(of: try #require(link[url].string, "\(reply.text)")), key: nil)
                    let picture = try EncryptionJudge.decrypt(content.body, link[encryption].text)
                    #expect(picture?.starts(with: Self.jpeg) == true)
                }
                // What the app encrypted for itself is none of the service's business.
                #expect(reply.text.contains(#""encrypted-content": "b3BhcXVl+/=""#))
                let refused = try await live.send(.post, "/v1/payloads/apns?encrypt=signal", json: "{}")
                #expect(refused.status == 400)
            }
        }
    }

    @Test(arguments: ["matrix", "aesgcm"])
    func `a firing's payload has the keys where it is handed over and read, not where it is kept`(scheme: String)
        async throws
    {
        try await LocalOrigin.run(LocalOrigin.mediaAndHook) { origin in
            try await LiveService.run({ $0.worker = .codec }) { live in
                let attachment = try await submitted(scheme, to: live)
                let alert =
                    #"{"aps": {"alert": "x", "mutable-content": 1}, "my-attachment": "\#(origin.url("/jpeg/coffee.jpg"))"}"#
                let own = #"[{"identifier": "own", "attachment_id": "\#(attachment["id"].string ?? "")"}]"#
                let put = try await putNotification(
                    "n",
                    """
                    {"payload": \(alert), "attachments": \(own), "encrypt": "\(scheme)", "trigger": {"type": "manual"},
                     "handover": {"url": "\(origin.url("/hook"))"}}
                    """, live, ["Prefer": "wait=20"])
                try #require(try put.status == 201 && put.json["media"].string == "ready", "\(put.text)")
                // In the clear the same media are another job.
                let plain = try await putNotification(
                    "n", #"{"payload": \#(alert), "trigger": {"type": "manual"}}"#, live, ["Prefer": "wait=20"])
                #expect(try plain.json["job"].string != put.json["job"].string)
                let again = try await putNotification(
                    "n",
                    """
                    {"payload": \(alert), "attachments": \(own), "encrypt": "\(scheme)", "trigger": {"type": "manual"},
                     "handover": {"url": "\(origin.url("/hook"))"}, "metadata": {"a": "b"}}
                    """, live, ["Prefer": "wait=20"])
                #expect(try again.json["job"].string == put.json["job"].string, "\(again.text)")

                let fired = try await live.send(.post, "/v1/notifications/n/fire")
                try #require(fired.status == 200, "\(fired.text)")
                try await eventually("it is handed over") { origin.requests.contains { $0.path == "/hook" } }
                let event = Tree(
                    try JSONSerialization.jsonObject(
                        with: try #require(origin.requests.first { $0.path == "/hook" }).body))
                let path = "/v1/notifications/n/firings/1"
                let read = try await live.send(.get, path).json["payload"]
                #expect(try event["data"]["payload"].text == read.text && fired.json["payload"].text == read.text)
                var secrets: Set<String> = []
                for link in read["satchel"]["attachments"].array {
                    for (url, encryption) in [("url", "encryption"), ("preview_url", "preview_encryption")] {
                        let url = try #require(link[url].string, "\(read.text)")
                        let content = try await live.send(.get, live.path(of: url), key: nil)
                        let picture = try EncryptionJudge.decrypt(content.body, link[encryption].text)
                        #expect(picture?.starts(with: Self.jpeg) == true)
                        secrets.insert(link[encryption]["key"]["k"].string ?? link[encryption]["fragment"].string ?? "")
                    }
                }
                #expect(secrets.count == 4 && secrets.allSatisfy { $0.count > 40 })
                #expect(
                    read["satchel"]["attachments"].array.first { $0["identifier"].string == "own" }?["encryption"].text
                        == attachment["renditions"]["main"]["encryption"].text)

                // As records keep it, and the call.
                let firing = try #require(
                    try await live.store.records.firing(1, of: NotificationID(rawValue: "n"), tenant: live.tenant))
                let call = try #require(try await live.store.records.call(firing.id.rawValue, of: live.tenant))
                let template = try #require(firing.payload)
                #expect(template.keys.count == 4)
                var kept = [template.stored]
                if case .message(let body) = call.content { kept.append(body.stored) }
                #expect(kept.count == 2)
                for secret in secrets {
                    #expect(kept.allSatisfy { $0.range(of: Data(secret.utf8)) == nil })
                }
                // A preview of it is opened by links of its own, with the same keys.
                let preview = try await live.send(
                    .post, "/v1/notifications/n/previews", json: #"{"firing": 1}"#)
                #expect(preview.status == 201, "\(preview.text)")

                // Links that have ended take the keys with them.
                #expect(try await live.send(.delete, "/v1/notifications/n?from=delivered").status == 204)
                let ended = try await live.send(.get, path)
                #expect(secrets.allSatisfy { !ended.text.contains($0) })
                #expect(try ended.json["payload"]["satchel"]["attachments"][0]["encryption"]["scheme"].string == scheme)
            }
        }
    }

    @Test func `nothing but the schemes of renditions is taken, and what isn't encrypted says nothing of it`()
        async throws
    {
        try await LiveService.run {
            $0.worker = .codec
        } _: { live in
            let refused = try await live.send(
                .post, "/v1/jobs",
                json: #"{"encrypt": "signal", "attachments": [{"url": "https://example.com/a"}]}"#)
            #expect(try refused.status == 400 && refused.json["errors"][0]["pointer"].string == "/encrypt")
            let photo = try SubmittingTests.media(SubmittingTests.photo)
            let reply = try await live.send(
                .post, "/v1/jobs", ["Prefer": "wait=30", "Content-Type": "image/jpeg"], body: photo)
            let plain = try reply.json["attachments"][0]["renditions"]["main"]
            #expect(plain["url"].string != nil && plain["encryption"].isNull)
        }
    }

    private static let decoding = """
        import base64, io, sys
        from PIL import Image
        image = Image.open(io.BytesIO(base64.b64decode(sys.argv[1])))
        image.load()
        print(*image.size)
        """
}
