import SatchelCore
import Foundation
import Stores
import TestSupport
import Testing

@testable import API

/// What waits or streams under a key ends with the key.
@Suite(.timeLimit(.minutes(10))) struct CredentialsTests {
    /// How a key comes to its end.
    enum Ending: CaseIterable {
        case revoked
        case rotated
        case tenantRemoved

        /// How long after ``begin(_:_:_:)`` the key is good no more.
        var overlap: Duration { self == .rotated ? .milliseconds(700) : .zero }

        func begin(_ key: APIKeyRecord, in records: RecordStore) async throws {
            switch self {
            case .revoked: #expect(try await records.revokeKey(key.id))
            case .rotated: #expect(try await records.rotateKey(key.id, overlap: overlap) != nil)
            case .tenantRemoved: try await records.beginRemoval(of: key.tenant)
            }
        }
    }

    /// What lasts: the request, and the status with which it ends early. A stream has begun by then.
    private struct Lasting {
        var name: String
        var method = Method.get
        var path: String
        var headers = ["Prefer": "wait=40"]
        var body: String?
        var length: Int?
        var status = 401
    }

    private static let lasting = [
        Lasting(name: "a job's events", path: "/v1/jobs/j/events", status: 200),
        Lasting(name: "a look at a job", path: "/v1/jobs/j"),
        Lasting(name: "a new job", method: .put, path: "/v1/jobs/k", body: "x"),
        Lasting(
            name: "a notification", method: .put, path: "/v1/notifications/n",
            body: #"{"payload":{"aps":{"alert":"a"},"my-attachment":"https://media.example/a.jpg"}}"#),
        Lasting(name: "firings", path: "/v1/firings"),
        Lasting(
            name: "a payload", method: .post, path: "/v1/payloads/apns?deadline=25",
            body: #"{"aps":{"alert":"a"},"my-attachment":"https://media.example/a.jpg"}"#),
        Lasting(name: "a body that doesn't come", method: .put, path: "/v1/jobs/l", body: "x", length: 100),
    ]

    @Test(arguments: Ending.allCases)
    func `all that waits or streams under a key ends within a second of the key's end, and nothing else does`(
        ending: Ending
    ) async throws {
        try await LiveService.run { live in
            let records = live.store.records
            let tenant = TenantID(rawValue: "carol")
            let (key, token) = try await records.createKey(
                named: "hers", for: tenant, roles: [.submit, .read], lasting: nil)
            let (_, cookie) = try #require(try await records.signIn(with: key))
            #expect(try await live.send(.put, "/v1/jobs/j", body: Data("x".utf8), key: token).status == 202)
            async let others = live.send(.get, "/v1/firings", ["Prefer": "wait=4"], as: .read)
            let ends = try await withThrowingTaskGroup(of: (String, Int, Int, String, ContinuousClock.Instant).self) {
                group in
                for lasting in Self.lasting {
                    group.addTask {
                        let reply = try await Self.reply(to: lasting, key: token, live)
                        return (lasting.name, lasting.status, reply.status, reply.text, .now)
                    }
                }
                group.addTask {
                    let reply = try await live.send(
                        .get, "/console/jobs/j/events", ["Cookie": "__Host-satchel=\(cookie.secretText)"], key: nil)
                    return ("the console's events", 200, reply.status, reply.text, .now)
                }
                // All of them have begun: these can be seen, and the others need no longer.
                try await eventually("the jobs are there") {
                    let job = try await records.job(JobID(rawValue: "k"), of: tenant)
                    let notification = try await records.notification(NotificationID(rawValue: "n"), of: tenant)
                    return job != nil && notification != nil
                }
                try await Task.sleep(for: .milliseconds(300))
                try await ending.begin(key, in: records)
                let end = ContinuousClock.now + ending.overlap
                // What would be told with URLs comes after the end.
                if ending == .revoked { #expect(try await records.cancel(JobID(rawValue: "j"), of: tenant) != nil) }
                var ends: [String: Duration] = [:]
                for try await (name, expected, status, text, at) in group {
                    #expect(status == expected && !text.contains("event: finished"), "\(name): \(status) \(text)")
                    ends[name] = at - end
                }
                return ends
            }
            // A second is promised; a busy machine gets two more.
            #expect(ends.values.allSatisfy { $0 < .seconds(3) && $0 > .milliseconds(-100) }, "\(ends)")
            #expect(try await others.status == 200)
        }
    }

    private static func reply(to lasting: Lasting, key: AccessToken, _ live: LiveService) async throws -> Reply {
        try await live.connect { connection in
            var headers = lasting.headers
            if lasting.body?.hasPrefix("{") == true { headers["Content-Type"] = "application/json" }
            if lasting.body == "x" { headers["Content-Type"] = "image/png" }
            try await connection.send(
                connection.head(
                    lasting.method, lasting.path, headers, length: lasting.length ?? lasting.body?.utf8.count, key: key,
                    keepAlive: false))
            if let body = lasting.body { try await connection.send(body) }
            return try await connection.reply()
        }
    }
}
