@testable import API
import SatchelCore
import Foundation
import Stores
import Testing
import TestSupport

/// Who may do what to whose things: every endpoint, with every kind of credentials, against things of one tenant.
@Suite(.timeLimit(.minutes(10))) struct TenancyTests {
    /// Something of tenant `ada` that requests are aimed at.
    private struct Target {
        var job: String
        var call: String
        var attachment: String
        var category: String
        /// It has fired once.
        var notification: String
        var lease: String
        var grant: String
        var grantToken: String
        var upload: String
        var key: String
    }

    /// Whose credentials a request carries.
    private enum Bearer: Hashable {
        case nobody
        /// Not even a token.
        case nonsense
        case revoked
        case expired
        case own(AccessRole)
        case foreign(AccessRole)
        case ownGrant
        case foreignGrant
    }

    private static let bearers: [Bearer] =
        [.nobody, .nonsense, .revoked, .expired, .ownGrant, .foreignGrant]
        + AccessRole.allCases.map { .own($0) } + AccessRole.allCases.map { .foreign($0) }

    /// What a request must come to.
    private enum Outcome: Equatable {
        case status(Int)
        /// Neither refused nor failed.
        case success
        /// A grant of the same tenant, but on another thing.
        case refused
    }

    @Test func `nobody reaches what is another tenant's, and no role more than it may`() async throws {
        try await LiveService.run {
            $0.worker = .codec
        } _: { live in
            let picture = try Data(contentsOf: Repository.media.appending(path: "png/alpha.png"))
            let foreign = try await live.makeKeys(of: TenantID(rawValue: "bob"))
            let credentials = try await self.credentials(live, foreign, picture)
            var checked = 0
            var target = try await self.target(live, live.keys[.admin], picture)
            for endpoint in Endpoint.all where endpoint.access != .anyone {
                for bearer in Self.bearers {
                    var token = credentials[bearer] ?? nil
                    if bearer == .ownGrant { token = target.grantToken }
                    let request = try self.request(endpoint, target, picture)
                    let reply = try await live.send(
                        request.method, request.path, request.headers, body: request.body,
                        key: token.map { AccessToken(secretText: $0) })
                    let wanted = outcome(endpoint, bearer)
                    let comment: Comment =
                        "\(endpoint.method) \(endpoint.path) by \(bearer): \(reply.status) \(reply.text)"
                    switch wanted {
                    case .status(let status): #expect(reply.status == status, comment)
                    case .success: #expect((200..<300).contains(reply.status), comment)
                    case .refused: #expect([401, 403, 404].contains(reply.status), comment)
                    }
                    if wanted != .success && bearer != .ownGrant || isForeign(bearer) {
                        try await expectUntouched(target, live, comment)
                        #expect(!reply.text.contains(target.attachment) || isForeignEcho(endpoint), comment)
                    }
                    // Whoever may has perhaps deleted it.
                    if !isForeign(bearer) {
                        // A tenant has so many of them.
                        _ = try await live.send(.delete, "/v1/categories/\(target.category)")
                        _ = try await live.send(.delete, "/v1/uploads/\(target.upload)")
                        target = try await self.target(live, live.keys[.admin], picture)
                    }
                    checked += 1
                }
            }
            #expect(checked == Self.bearers.count * Endpoint.all.count { $0.access != .anyone })
        }
    }

    @Test func `lists and quotas know only their own tenant`() async throws {
        try await LiveService.run {
            $0.worker = .codec
        } _: { live in
            let picture = try Data(contentsOf: Repository.media.appending(path: "png/alpha.png"))
            let foreign = try await live.makeKeys(of: TenantID(rawValue: "bob"))
            let own = try await target(live, live.keys[.admin], picture)
            let other = try await target(live, foreign[.admin], picture)
            for (keys, mine, theirs) in [(live.keys, own, other), (foreign, other, own)] {
                for (path, id, notID) in [
                    ("/v1/calls", mine.call, theirs.call),
                    ("/v1/jobs", mine.job, theirs.job), ("/v1/attachments", mine.attachment, theirs.attachment),
                    ("/v1/notifications", mine.notification, theirs.notification),
                    ("/v1/firings", mine.notification, theirs.notification),
                ] {
                    let reply = try await live.send(.get, path, key: keys[.read])
                    #expect(reply.status == 200 && reply.text.contains(id) && !reply.text.contains(notID))
                }
            }
            // The same bytes under both tenants: releasing one leaves the other's readable.
            let path = "/v1/attachments/\(own.attachment)"
            #expect(try await live.send(.delete, path, key: live.keys[.admin]).status == 204)
            let left = try await live.send(.get, "/v1/attachments/\(other.attachment)", key: foreign[.read])
            #expect(left.status == 200)
        }
    }

    // MARK: What is asked, and what must come of it

    private func outcome(_ endpoint: Endpoint, _ bearer: Bearer) -> Outcome {
        let takesGrants: Bool
        switch endpoint.access {
        case .anyone: return .success
        case .key: takesGrants = false
        case .keyOrGrant: takesGrants = true
        case .grant: return bearer == .ownGrant ? .success : .refused
        }
        // It names nothing, or makes something new under the bearer's own tenant.
        let namesNothing =
            !endpoint.path.contains("{id}") && endpoint != .startLease
            || [.putJob, .putCategory, .putNotification].contains(endpoint)
        switch bearer {
        case .nobody, .nonsense, .revoked, .expired: return .status(401)
        case .own(let own):
            guard endpoint.permits(own) else { return .status(403) }
            // The target was delivered: there is nothing to try again.
            return endpoint == .retryJob ? .status(409) : .success
        case .foreign(let own):
            guard endpoint.permits(own) else { return .status(403) }
            if endsQuietly(endpoint) { return .status(204) }
            return namesNothing ? .success : .status(404)
        case .ownGrant:
            guard takesGrants else { return .status(401) }
            // The lease was started with a key, not under the grant.
            return [.lease, .renewLease].contains(endpoint)
                ? .status(404) : endsQuietly(endpoint) ? .status(204) : .success
        case .foreignGrant:
            guard takesGrants else { return .status(401) }
            return endsQuietly(endpoint) ? .status(204) : .refused
        }
    }

    /// Ending what isn't there is no error: idempotent, and it tells nothing.
    private func endsQuietly(_ endpoint: Endpoint) -> Bool {
        [.stopLease, .revokeGrant, .deleteCategory, .deleteNotification, .deletePreview, .revokeKey].contains(endpoint)
    }

    private func isForeign(_ bearer: Bearer) -> Bool {
        switch bearer {
        case .own, .ownGrant: false
        default: true
        }
    }

    /// A request whose own words contain the id may have them repeated in its answer.
    private func isForeignEcho(_ endpoint: Endpoint) -> Bool {
        endpoint == .startLease
    }

    private func request(
        _ endpoint: Endpoint, _ target: Target, _ picture: Data
    ) throws -> (method: Method, path: String, headers: [String: String], body: Data?) {
        let id: String
        switch endpoint.path.split(separator: "/").dropFirst().first {
        case "jobs": id = target.job
        case "calls": id = target.call
        case "attachments": id = target.attachment
        case "categories": id = target.category
        case "leases": id = target.lease
        case "notifications": id = target.notification
        case "uploads": id = target.upload
        case "keys": id = target.key
        default: id = target.grant
        }
        let method = try #require(Method(rawValue: "\(endpoint.method)"))
        let path = endpoint.path.replacing("{id}", with: id).replacing("{number}", with: "1")
        func json(_ text: String) -> (Method, String, [String: String], Data?) {
            (method, path, ["Content-Type": "application/json"], Data(text.utf8))
        }
        switch endpoint {
        case .submitJob: return (method, path, ["Content-Type": "image/png"], picture)
        case .putJob: return (method, path, ["Content-Type": "image/png"], picture)
        case .startLease: return json(#"{"attachment_id": "\#(target.attachment)", "ttl": 60}"#)
        case .renewLease: return json(#"{"ttl": 60}"#)
        case .grant, .narrowGrant: return json(#"{"ttl": 60}"#)
        case .putCategory, .openUpload, .createKey: return json("{}")
        case let endpoint where PayloadFormat.allCases.map(Endpoint.enrichPayload).contains(endpoint):
            return json(#"{"aps": {"alert": "text"}, "message": {}, "body": "text"}"#)
        case .retryJobs: return json(#"{"code": "corrupt"}"#)
        case .checkTrigger: return json(#"{"trigger": {"type": "manual"}}"#)
        case .submitNotification, .putNotification: return json(#"{"payload": {}, "trigger": {"type": "manual"}}"#)
        default: return (method, path, [:], nil)
        }
    }

    private func expectUntouched(_ target: Target, _ live: LiveService, _ comment: Comment) async throws {
        let records = live.store.records
        let job = try await records.job(JobID(rawValue: target.job), of: live.tenant)
        #expect(try await records.category(target.category, of: live.tenant) == .sample(target.category), comment)
        #expect(job?.generation == 1 && job?.state == .delivered && job?.attachments.count == 1, comment)
        #expect(try await records.lease(target.lease, in: .owner(live.tenant))?.endedAt == nil, comment)
        let notification = NotificationID(rawValue: target.notification)
        #expect(try await records.notification(notification, of: live.tenant)?.state == .pending, comment)
        let upload = UploadID(rawValue: target.upload)
        #expect(try await records.upload(upload, of: live.tenant)?.state == .open, comment)
        let keys = try await records.keys(of: live.tenant)
        #expect(keys.contains { $0.id == target.key && $0.revokedAt == nil && $0.expiresAt == nil }, comment)
        #expect(try await records.firing(1, of: notification, tenant: live.tenant)?.state == .delivered, comment)
        #expect(try await records.grant(target.grant, in: .owner(live.tenant))?.endedAt == nil, comment)
    }

    // MARK: Preparing

    private func credentials(
        _ live: LiveService, _ foreign: [AccessRole: AccessToken], _ picture: Data
    ) async throws -> [Bearer: String?] {
        let records = live.store.records
        let (revoked, revokedToken) = try await records.createKey(
            named: "revoked", for: live.tenant, roles: [.admin], lasting: nil)
        #expect(try await records.revokeKey(revoked.id))
        let (_, expiredToken) = try await records.createKey(
            named: "expired", for: live.tenant, roles: [.admin], lasting: .zero)
        var credentials: [Bearer: String?] = [
            .nobody: nil, .nonsense: "nonsense", .revoked: revokedToken.secretText, .expired: expiredToken.secretText,
            .foreignGrant: try await target(live, foreign[.admin], picture).grantToken,
        ]
        for role in AccessRole.allCases {
            credentials[.own(role)] = live.keys[role]?.secretText
            credentials[.foreign(role)] = foreign[role]?.secretText
        }
        return credentials
    }

    private func target(_ live: LiveService, _ key: AccessToken?, _ picture: Data) async throws -> Target {
        // A failing webhook is there to be replayed.
        let submitted = try await live.send(
            .post, "/v1/jobs?callback=https%3A%2F%2Fcallback.invalid%2Fhook",
            ["Content-Type": "image/png", "Prefer": "wait=20"], body: picture, key: key)
        let job = try submitted.json
        let attachment = try #require(job["attachments"][0]["id"].string, "\(submitted.status) \(submitted.text)")
        let json = ["Content-Type": "application/json"]
        let lease = try await live.send(
            .post, "/v1/leases", json, body: Data(#"{"attachment_id": "\#(attachment)"}"#.utf8), key: key
        ).json
        let grant = try await live.send(
            .post, "/v1/attachments/\(attachment)/grants", json, body: Data("{}".utf8), key: key
        ).json
        let calls = try await live.send(.get, "/v1/calls", key: key).json["calls"].array
        let call = calls.first { $0["subject"].string == job["id"].string }
        let id = try #require(job["id"].string)
        let put = try await live.send(
            .put, "/v1/categories/\(id)", json, body: JSON.encode(Category.sample(id)), key: key)
        #expect(put.status == 201)
        let notification = try #require(
            try await live.send(
                .post, "/v1/notifications", json, body: Data(#"{"payload": {}, "trigger": {"type": "manual"}}"#.utf8),
                key: key
            ).json["id"].string)
        _ = try await live.send(.post, "/v1/notifications/\(notification)/fire", key: key)
        let upload = try await live.send(.post, "/v1/uploads", json, body: Data("{}".utf8), key: key).json
        let made = try await live.send(.post, "/v1/keys", json, body: Data("{}".utf8), key: key).json
        return Target(
            job: id, call: try #require(call?["id"].string), attachment: attachment, category: id,
            notification: notification, lease: try #require(lease["id"].string),
            grant: try #require(grant["id"].string), grantToken: try #require(grant["token"].string),
            upload: try #require(upload["id"].string), key: try #require(made["id"].string))
    }
}
