import SatchelCore
import Foundation
import Stores
import TestSupport
import Testing

@testable import API

/// Leases and grants over the wire.
@Suite(.timeLimit(.minutes(10))) struct AccessTests {
    private static let photo: [RenditionRole: Data] = [.main: Data("main".utf8), .thumbnail: Data("small".utf8)]

    private static func status(_ live: LiveService, _ url: String?) async throws -> Int {
        try await RawClient.ask(live.port, "GET", live.path(of: url ?? "/c/none")).status
    }

    @Test func `a lease is started, looked at, renewed and stopped, and opens the bytes meanwhile`() async throws {
        try await LiveService.run { live in
            let id = try await live.deliver(Self.photo)
            let started = try await live.send(
                .post, "/v1/leases", json: #"{"attachment_id": "\#(id.rawValue)", "ttl": 60, "renditions": ["main"]}"#,
                as: .read)
            #expect(started.status == 201)
            let lease = try started.json
            #expect(
                lease.keys == [
                    "attachment_id", "best", "expires_at", "grant_id", "id", "renditions", "started_at",
                ])
            #expect(lease["best"].string == "main" && lease["grant_id"].isNull)
            #expect(lease["renditions"].keys == ["main"])
            #expect(
                lease["renditions"]["main"].keys == [
                    "bytes", "encryption", "height", "media_type", "url", "uti", "width",
                ])
            let path = "/v1/leases/\(lease["id"].string ?? "")"
            #expect(started["location"] == path)
            let url = lease["renditions"]["main"]["url"].string
            #expect(try await Self.status(live, url) == 200)
            #expect(try await Self.status(live, url?.replacing("main.jpg", with: "thumbnail.jpg")) == 404)

            let seen = try await live.send(.get, path, as: .read).json
            #expect(seen["renditions"]["main"]["url"].string == url)
            let renewed = try await live.send(.put, path, json: #"{"ttl": 600}"#, as: .read)
            #expect(renewed.status == 200)
            #expect(try renewed.json["expires_at"].string ?? "" > lease["expires_at"].string ?? "x")
            for _ in 0..<2 { #expect(try await live.send(.delete, path, as: .read).status == 204) }
            #expect(try await Self.status(live, url) == 404)
            #expect(try await live.send(.put, path, json: "{}", as: .read).status == 404)
            #expect(try await live.send(.get, path, as: .read).status == 404)
        }
    }

    @Test func `a grant starts leases, is narrowed, and takes everything along when it is revoked`() async throws {
        try await LiveService.run { live in
            let id = try await live.deliver(Self.photo)
            let granted = try await live.send(
                .post, "/v1/attachments/\(id.rawValue)/grants", json: #"{"ttl": 600, "lease_limit": 2}"#, as: .read)
            #expect(granted.status == 201)
            let grant = try granted.json
            #expect(
                grant.keys == [
                    "attachment_id", "created_at", "expires_at", "id", "lease_limit", "parent_id", "renditions",
                    "token",
                ])
            let token = AccessToken(secretText: grant["token"].string ?? "")
            func send(_ method: Method, _ path: String, _ json: String = "{}", by token: AccessToken) async throws
                -> Reply
            {
                try await live.send(
                    method, path, ["Content-Type": "application/json"], body: Data(json.utf8), key: token)
            }
            let narrowed = try await send(
                .post, "/v1/grants/\(grant["id"].string ?? "")/grants", #"{"renditions": ["thumbnail"]}"#, by: token)
            #expect(narrowed.status == 201)
            let narrow = AccessToken(secretText: try narrowed.json["token"].string ?? "")
            #expect(try narrowed.json["parent_id"].string == grant["id"].string)

            let lease = try await send(.post, "/v1/leases", by: narrow)
            #expect(lease.status == 201)
            #expect(try lease.json["renditions"].keys == ["thumbnail"])
            #expect(try await send(.post, "/v1/leases", #"{"renditions": ["main"]}"#, by: narrow).status == 403)
            #expect(
                try await send(.post, "/v1/leases", #"{"attachment_id": "another"}"#, by: narrow).status == 404)
            let second = try await send(.post, "/v1/leases", by: token)
            #expect(second.status == 201)
            let third = try await send(.post, "/v1/leases", by: token)
            #expect(third.status == 429 && third["retry-after"] != nil)
            // Upwards and sideways nothing is reached.
            let other = "/v1/leases/\(try second.json["id"].string ?? "")"
            #expect(try await send(.get, other, by: narrow).status == 404)
            #expect(try await send(.put, other, by: narrow).status == 404)
            #expect(try await send(.delete, other, by: narrow).status == 204)
            #expect(try await Self.status(live, second.json["renditions"]["main"]["url"].string) == 200)
            #expect(try await send(.delete, "/v1/grants/\(grant["id"].string ?? "")", by: narrow).status == 204)
            #expect(try await send(.get, other, by: token).status == 200)

            #expect(try await send(.delete, "/v1/grants/\(grant["id"].string ?? "")", by: token).status == 204)
            for reply in [lease, second] {
                let url = try reply.json["renditions"].keys.first.flatMap {
                    try reply.json["renditions"][$0]["url"].string
                }
                #expect(try await Self.status(live, url) == 404)
            }
            for bearer in [token, narrow] {
                #expect(try await send(.post, "/v1/leases", by: bearer).status == 401)
            }
        }
    }

    @Test func `an owner narrows a grant by its id, and no deeper than it goes`() async throws {
        try await LiveService.run { live in
            let id = try await live.deliver(Self.photo)
            var grant = try await live.send(.post, "/v1/attachments/\(id.rawValue)/grants", json: "", as: .read).json
            #expect(grant["lease_limit"].int == 16)
            var depth = 1
            while true {
                let next = try await live.send(
                    .post, "/v1/grants/\(grant["id"].string ?? "")/grants", json: #"{"ttl": 60}"#, as: .read)
                if next.status != 201 {
                    #expect(next.status == 409)
                    break
                }
                grant = try next.json
                depth += 1
            }
            #expect(depth == AccessLimits.deepestGrant)
        }
    }

    @Test func `another tenant finds nothing, a key without the role may nothing`() async throws {
        try await LiveService.run { live in
            let id = try await live.deliver(Self.photo)
            let lease = try await live.send(
                .post, "/v1/leases", json: #"{"attachment_id": "\#(id.rawValue)"}"#, as: .read
            ).json
            let grant = try await live.send(.post, "/v1/attachments/\(id.rawValue)/grants", json: "{}", as: .read).json
            let url = lease["renditions"]["main"]["url"].string
            let leasePath = "/v1/leases/\(lease["id"].string ?? "")"
            let grantPath = "/v1/grants/\(grant["id"].string ?? "")"
            let calls: [(Method, String, String, Int)] = [
                (.post, "/v1/leases", #"{"attachment_id": "\#(id.rawValue)"}"#, 404),
                (.get, leasePath, "", 404), (.put, leasePath, "{}", 404), (.delete, leasePath, "", 204),
                (.post, "/v1/attachments/\(id.rawValue)/grants", "{}", 404), (.post, grantPath + "/grants", "{}", 404),
                (.delete, grantPath, "", 204),
            ]
            let stranger = try await live.makeKeys(of: TenantID(rawValue: "eve"))
            for (method, path, json, status) in calls {
                let body = json.isEmpty ? nil : Data(json.utf8)
                for role in [AccessRole.read, .admin] {
                    #expect(
                        try await live.send(method, path, body: body, key: stranger[role]).status == status, "\(path)")
                }
                #expect(try await live.send(method, path, body: body, as: .submit).status == 403, "\(path)")
                #expect(try await live.send(method, path, body: body, key: nil).status == 401, "\(path)")
            }
            #expect(try await Self.status(live, url) == 200)
            let token = AccessToken(secretText: grant["token"].string ?? "")
            #expect(try await live.send(.post, "/v1/leases", body: Data("{}".utf8), key: token).status == 201)
            #expect(!live.log.lines.contains { $0.contains(token.secretText) })
        }
    }

    @Test func `what can't be taken is named, field by field`() async throws {
        try await LiveService.run {
            $0.settings.quotas.liveLeases = 1
        } _: { live in
            let id = try await live.deliver(Self.photo).rawValue
            let cases: [(String, [String])] = [
                (#"{"attachment_id": "\#(id)", "ttl": 0, "colour": 1}"#, ["/colour", "/ttl"]),
                (#"{"attachment_id": "\#(id)", "ttl": 99999999}"#, ["/ttl"]),
                (#"{"attachment_id": "\#(id)", "renditions": []}"#, ["/renditions"]),
                (#"{"attachment_id": "\#(id)", "renditions": ["big"]}"#, ["/renditions/0"]),
                (#"{"attachment_id": "\#(id)", "renditions": ["poster"]}"#, ["/renditions"]),
                (#"{"attachment_id": 7}"#, ["/attachment_id"]), ("{}", ["/attachment_id"]),
            ]
            for (json, pointers) in cases {
                let reply = try await live.send(.post, "/v1/leases", json: json, as: .read)
                #expect(reply.status == 400, "\(json)")
                let named = try reply.json["errors"].array.compactMap { $0["pointer"].string }.sorted()
                #expect(named == pointers, "\(json)")
            }
            #expect(try await live.send(.post, "/v1/leases", json: "{", as: .read).status == 400)
            #expect(
                try await live.send(.post, "/v1/leases", json: #"{"attachment_id": "none"}"#, as: .read).status == 404)
            let first = try await live.send(.post, "/v1/leases", json: #"{"attachment_id": "\#(id)"}"#, as: .read)
            #expect(first.status == 201)
            let second = try await live.send(.post, "/v1/leases", json: #"{"attachment_id": "\#(id)"}"#, as: .read)
            #expect(second.status == 429 && second["retry-after"] != nil)
        }
    }
}
