import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import API

/// The audit list over HTTP.
@Suite(.timeLimit(.minutes(5))) struct AuditRoutesTests {
    @Test func `what keys and grants did is told of them, without a secret`() async throws {
        try await LiveService.run {
            $0.worker = .codec
        } _: { live in
            let picture = try Data(contentsOf: Repository.media.appending(path: "png/alpha.png"))
            let submitted = try await live.send(
                .post, "/v1/jobs", ["Content-Type": "image/png", "Prefer": "wait=20"], body: picture, as: .submit)
            let attachment = try #require(try submitted.json["attachments"][0]["id"].string)
            let grant = try await live.send(
                .post, "/v1/attachments/\(attachment)/grants", json: "{}", as: .read
            ).json
            let token = AccessToken(secretText: try #require(grant["token"].string))
            let id = try #require(grant["id"].string)
            let json = ["Content-Type": "application/json"]
            _ = try await live.send(.post, "/v1/grants/\(id)/grants", json, body: Data("{}".utf8), key: token)
            let made = try await live.send(.post, "/v1/keys", json: #"{"name": "ci"}"#).json
            _ = try await live.send(.delete, "/v1/attachments/\(attachment)", as: .submit)
            let reply = try await live.send(.get, "/v1/audit?limit=4")
            let entries = try reply.json["audit"].array
            let told = entries.map {
                "\($0["action"].string ?? "") \($0["subject"]["kind"].string ?? "") by \($0["actor"]["kind"].string ?? "")"
            }
            #expect(
                told == ["deleted attachment by key", "made key by key", "made grant by grant", "made grant by key"])
            #expect(entries[2]["actor"]["id"].string == id && entries[2]["attachment"].string == attachment)
            #expect(entries[1]["subject"]["id"].string == made["id"].string)
            for secret in [token.secretText, made["key"].string ?? "satk_"] { #expect(!reply.text.contains(secret)) }

            let revoked = try await live.send(.get, "/v1/audit?action=deleted&since=2020-01-01T00:00:00Z").json
            #expect(revoked["audit"].array.count == 1)
            let byGrant = try await live.send(.get, "/v1/audit?actor=\(id)").json
            #expect(byGrant["audit"].array.count == 1 && byGrant["next"].isNull)
            for query in ["action=eaten", "since=yesterday", "actor=", "who=me"] {
                #expect(try await live.send(.get, "/v1/audit?\(query)").status == 400, "\(query)")
            }
            let foreign = try await live.makeKeys(of: TenantID(rawValue: "bob"))
            let others = try await live.send(.get, "/v1/audit", key: foreign[.admin])
            #expect(others.status == 200 && !others.text.contains(attachment))
        }
    }
}
