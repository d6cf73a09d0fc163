import SatchelCore
import Foundation
import Stores
import TestSupport
import Testing

@testable import API

/// API keys over HTTP.
@Suite(.timeLimit(.minutes(5))) struct KeyRoutesTests {
    @Test func `a key is shown once, is good for its roles and time, and opens nothing once it was taken back`()
        async throws
    {
        try await LiveService.run { live in
            let made = try await live.send(
                .post, "/v1/keys", json: #"{"name": "dashboard", "roles": ["read", "read"], "ttl": 60}"#)
            #expect(made.status == 201 && made["cache-control"] == "no-store")
            let body = try made.json
            let id = try #require(body["id"].string)
            let token = AccessToken(secretText: try #require(body["key"].string))
            #expect(body["name"].string == "dashboard" && body["roles"].array.map(\.string) == ["read"])
            #expect(body["revoked_at"].isNull && body["expires_at"].string != nil)
            #expect(try await live.send(.get, "/v1/jobs", key: token).status == 200)
            #expect(try await live.send(.put, "/v1/jobs/a", body: Data("x".utf8), key: token).status == 403)
            #expect(try await live.send(.get, "/v1/keys", key: token).status == 403)

            let listed = try await live.send(.get, "/v1/keys?limit=1")
            #expect(try listed.json["keys"][0]["id"].string == id && !listed.text.contains("satk_"))
            let cursor = try #require(try listed.json["next"].string)
            let second = try await live.send(.get, "/v1/keys?limit=100&cursor=\(cursor)").json
            #expect(!second["keys"].array.contains { $0["id"].string == id } && second["next"].isNull)

            for _ in 0..<2 { #expect(try await live.send(.delete, "/v1/keys/\(id)").status == 204) }
            #expect(try await live.send(.get, "/v1/jobs", key: token).status == 401)
            #expect(try await live.send(.get, "/v1/keys").json["keys"][0]["revoked_at"].string != nil)
            #expect(try await live.send(.post, "/v1/keys/\(id)/rotate").status == 404)
        }
    }

    @Test func `a rotated key and its successor are good side by side, until the overlap is over`() async throws {
        try await LiveService.run { live in
            let made = try await live.send(.post, "/v1/keys", json: "{}").json
            #expect(made["roles"].array.map(\.string) == ["submit", "read"] && made["expires_at"].isNull)
            let old = AccessToken(secretText: try #require(made["key"].string))
            let id = try #require(made["id"].string)
            let rotated = try await live.send(.post, "/v1/keys/\(id)/rotate")
            #expect(try rotated.status == 201 && rotated.json["roles"].array.count == 2)
            let new = AccessToken(secretText: try #require(try rotated.json["key"].string))
            for key in [old, new] { #expect(try await live.send(.get, "/v1/jobs", key: key).status == 200) }
            let again = try await live.send(.post, "/v1/keys/\(id)/rotate", json: #"{"overlap": 0}"#)
            #expect(again.status == 201)
            #expect(try await live.send(.get, "/v1/jobs", key: old).status == 401)
            #expect(try await live.send(.get, "/v1/jobs", key: new).status == 200)
        }
    }

    @Test func `another tenant's key is nobody's, and every field is looked at`() async throws {
        try await LiveService.run { live in
            let foreign = try await live.makeKeys(of: TenantID(rawValue: "bob"))
            let id = try #require(try await live.send(.post, "/v1/keys", json: "{}").json["id"].string)
            #expect(try await live.send(.delete, "/v1/keys/\(id)", key: foreign[.admin]).status == 204)
            #expect(try await live.send(.post, "/v1/keys/\(id)/rotate", key: foreign[.admin]).status == 404)
            let keys = try await live.send(.get, "/v1/keys").json["keys"].array
            #expect(keys.contains { $0["id"].string == id && $0["revoked_at"].isNull })
            #expect(try await !live.send(.get, "/v1/keys", key: foreign[.admin]).text.contains(id))
            for (body, pointer) in [
                (#"{"roles": []}"#, "/roles"), (#"{"roles": ["root"]}"#, "/roles/0"), (#"{"ttl": 0}"#, "/ttl"),
                (#"{"name": 5}"#, "/name"), (#"{"tenant": "bob"}"#, "/tenant"),
            ] {
                let reply = try await live.send(.post, "/v1/keys", json: body)
                #expect(try reply.status == 400 && reply.json["errors"][0]["pointer"].string == pointer, "\(body)")
            }
            for body in [#"{"overlap": -1}"#, #"{"overlap": 2592001}"#, #"{"ttl": 5}"#] {
                #expect(try await live.send(.post, "/v1/keys/\(id)/rotate", json: body).status == 400, "\(body)")
            }
        }
    }

    @Test func `whoever signed in with a key is signed out with it`() async throws {
        try await LiveService.run { live in
            let made = try await live.send(.post, "/v1/keys", json: #"{"roles": ["admin"]}"#).json
            let key = try #require(
                try await live.store.records.authenticate(AccessToken(secretText: made["key"].string ?? "")))
            let (_, cookie) = try #require(try await live.store.records.signIn(with: key))
            #expect(try await live.store.records.consoleSession(of: cookie, byPerson: true) != nil)
            #expect(try await live.send(.delete, "/v1/keys/\(key.id)").status == 204)
            #expect(try await live.store.records.consoleSession(of: cookie, byPerson: true) == nil)
        }
    }
}
