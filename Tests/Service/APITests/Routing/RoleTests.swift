import SatchelCore
import Foundation
import Payloads
import TestSupport
import Testing

@testable import API

/// What each role may do: by the list of endpoints, and wherever it is written.
@Suite(.timeLimit(.minutes(10))) struct RoleTests {
    @Test func `a key that submits looks at what it made by its id, and at nothing else`() {
        let submits = Endpoint.all.filter { $0.access != .anyone && $0.permits(.submit) }
        #expect(
            submits.map(\.name) == [
                "POST /v1/jobs", "PUT /v1/jobs/{id}", "GET /v1/jobs/{id}", "GET /v1/jobs/{id}/events",
                "DELETE /v1/jobs/{id}", "POST /v1/jobs/{id}/retry", "POST /v1/jobs/retry",
                "POST /v1/jobs/{id}/callback",
                "GET /v1/calls/{id}", "POST /v1/calls/{id}/replay",
                "GET /v1/attachments/{id}", "DELETE /v1/attachments/{id}", "POST /v1/payloads/apns",
                "POST /v1/payloads/fcm", "POST /v1/payloads/onesignal", "POST /v1/payloads/expo",
                "POST /v1/payloads/webpush",
                "POST /v1/notifications", "PUT /v1/notifications/{id}", "GET /v1/notifications/{id}",
                "DELETE /v1/notifications/{id}", "POST /v1/notifications/{id}/fire",
                "GET /v1/notifications/{id}/firings", "GET /v1/notifications/{id}/firings/{number}",
                "POST /v1/triggers/check",
                "POST /v1/uploads", "GET /v1/uploads/{id}", "DELETE /v1/uploads/{id}",
                "PUT /v1/categories/{id}", "GET /v1/categories/{id}", "DELETE /v1/categories/{id}",
            ])
        for endpoint in Endpoint.all {
            #expect(endpoint.permits(.admin), "\(endpoint.name)")
            let isOfJobs = ["/v1/jobs", "/v1/payloads", "/v1/notifications"].contains(where: endpoint.path.hasPrefix)
            let looks = "\(endpoint.method)" == "GET" || endpoint == .createPreview
            #expect(!endpoint.permits(.read) || !isOfJobs || looks, "\(endpoint.name)")
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `each role is refused just where the list of endpoints says`() async throws {
        try await LiveService.run {
            $0.worker = .nobody
        } _: { live in
            for endpoint in Endpoint.all where endpoint.access != .anyone {
                let method = try #require(Method(rawValue: "\(endpoint.method)"))
                for role in AccessRole.allCases {
                    let path = endpoint.path.replacing("{id}", with: "nothing").replacing("{number}", with: "1")
                    let reply = try await live.send(method, path, as: role)
                    let isRefused = try reply.status == 403 && reply.json["code"].string == "forbidden"
                    #expect(isRefused != endpoint.permits(role), "\(endpoint.name) by \(role): \(reply.status)")
                    #expect(reply.status != 401 && reply.status != 500, "\(endpoint.name) by \(role)")
                }
            }
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `a key that submits follows its job to the end`() async throws {
        try await LiveService.run {
            $0.worker = .codec
        } _: { live in
            let picture = try Data(contentsOf: Repository.media.appending(path: "png/alpha.png"))
            let submitted = try await live.send(
                .put, "/v1/jobs/mine", ["Content-Type": "image/png"], body: picture, as: .submit)
            #expect(submitted.status == 202)
            let events = try await live.send(.get, "/v1/jobs/mine/events", as: .submit)
            #expect(events.status == 200 && events.text.contains("event: finished"))
            let job = try await live.send(.get, "/v1/jobs/mine", ["Prefer": "wait=20"], as: .submit)
            #expect(try job.status == 200 && job.json["state"].string == "delivered")
            let attachment = try #require(try job.json["attachments"][0]["id"].string)
            #expect(try await live.send(.get, "/v1/attachments/\(attachment)", as: .submit).status == 200)
            for path in ["/v1/jobs", "/v1/attachments", "/v1/categories", "/v1/profiles"] {
                #expect(try await live.send(.get, path, as: .submit).status == 403, "\(path)")
            }
        }
    }

    @Test func `the description and its pages say of each role what the list of endpoints does`()
        throws
    {
        let document = OpenAPIDocument.current
        let scheme = document.root["components"]?["securitySchemes"]?["apiKey"]?["description"]?.text ?? ""
        let page = try String(contentsOf: Repository.root.appending(path: "docs/http-api.md"), encoding: .utf8)
        for role in AccessRole.allCases {
            #expect(scheme.contains("`\(role.rawValue)` \(role.permission)."))
            #expect(page.contains("| `\(role.rawValue)` | \(role.permission) |"))
        }
        let served = DocumentationPage.current
        for endpoint in Endpoint.all {
            let operation = try #require(
                document.operations.first { $0.method == "\(endpoint.method)" && $0.path == endpoint.path })
            let roles = (operation.value["security"]?.elements ?? []).flatMap(\.members).filter { $0.key == "apiKey" }
                .flatMap { $0.value.elements.compactMap(\.text) }
            for role in AccessRole.allCases where endpoint.access != .anyone && role != .admin {
                #expect(roles.contains(role.rawValue) == endpoint.permits(role), "\(endpoint.name)")
            }
            let anchor = "id=\"\(operation.value["operationId"]?.text ?? "")\""
            let section = served[try #require(served.range(of: anchor)).upperBound...].prefix(2000)
            let words = roles.map { "<code>\($0)</code>" }.joined(separator: " or ")
            #expect(
                section.contains(
                    endpoint.access == .anyone ? "Requires no credentials." : "an API key with the role \(words)"),
                "\(endpoint.name)")
        }
    }

    @Test func `the keys that the compose files make may submit and follow`() throws {
        for name in ["compose.yaml", "compose.nginx.yaml"] {
            let text = try String(contentsOf: Repository.root.appending(path: "Docker/\(name)"), encoding: .utf8)
            let made = try #require(text.firstMatch(of: /key create .*--role ([a-z,]+)/))
            let roles = made.1.split(separator: ",").compactMap { AccessRole(rawValue: String($0)) }
            for endpoint in [Endpoint.submitJob, .job, .jobEvents, .deleteJob] {
                #expect(roles.contains(where: endpoint.permits), "\(name): \(endpoint.name)")
            }
        }
    }
}
