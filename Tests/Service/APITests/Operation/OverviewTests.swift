import SatchelCore
import Foundation
import ServiceTestSupport
import Stores
import Testing

@testable import API

/// What an operator looks at first, and lists that are narrowed, over HTTP.
@Suite(.timeLimit(.minutes(10))) struct OverviewTests {
    /// Has a job fail.
    @discardableResult
    private func fail(
        _ live: LiveService, _ error: AttachmentError, metadata: [String: String] = [:]
    ) async throws -> JobRecord {
        let job = JobSubmission(
            tenant: live.tenant, profile: .archive, metadata: metadata,
            attachments: [AttachmentSubmission(location: .url("https://example.com/a.jpg", headers: [:]))])
        _ = try await live.store.records.submit(job)
        let claims = try await live.store.records.claim(
            ClaimCapacity(1), from: .lane(.fetch), by: WorkerID(rawValue: "w"), for: .seconds(60))
        let claim = try #require(claims.first)
        let outcome = AttachmentOutcome(
            id: claim.attachments[0], result: .failure(error), kind: .image, source: SourceFacts(),
            steps: [Step(name: "fetch", seconds: 0.5)])
        return try await live.store.records.deliver([outcome], under: claim)
    }

    @Test func `the overview tells a tenant's last hour, and the whole service to administrators alone`() async throws {
        try await LiveService.run {
            $0.settings.quotas.storedBytes = 1_000
        } _: { live in
            for _ in 0..<3 { try await fail(live, .unreadable(Finding(.checksumDiffers))) }
            let reply = try await live.send(.get, "/v1/overview", as: .read)
            let overview = try reply.json
            #expect(reply.status == 200 && overview["service"].isNull && !overview["service"].isMissing)
            #expect(overview["hour"]["failed"].int == 3 && overview["codes"]["corrupt"].int == 3)
            let minutes = overview["minutes"].array
            #expect(minutes.count == 60 && minutes.reduce(0) { $0 + ($1["failed"].int ?? 0) } == 3)
            let p50 = try #require(overview["hour"]["work"]["p50"].double)
            #expect((0.33...0.75).contains(p50))
            #expect(minutes[0]["work"]["p50"].isNull)
            #expect(overview["stored_bytes"]["quota"].int == 1_000 && overview["leases"]["quota"].isNull)
            let service = try await live.send(.get, "/v1/overview", as: .admin).json["service"]
            #expect(service["ready"].bool == true && service["lanes"].array.count == 3)
            #expect(service["free_bytes"].int ?? 0 > 0)
            #expect(try await live.send(.get, "/v1/overview", as: .submit).status == 403)
        }
    }

    @Test func `failures are told by code, and tried again together`() async throws {
        try await LiveService.run { live in
            let first = try await fail(live, .fetchTimeout(seconds: 3))
            let second = try await fail(live, .fetchTimeout(seconds: 3))
            try await fail(live, .unreadable(Finding(.checksumDiffers)))
            let groups = try await live.send(.get, "/v1/failures", as: .read).json["groups"].array
            #expect(groups.map { $0["code"].string } == ["corrupt", "fetch_timeout"])
            #expect(groups[1]["count"].int == 2 && groups[1]["retryable"].bool == true)
            #expect(
                groups[1]["jobs"].array.compactMap(\.string).sorted() == [first, second].map(\.id.rawValue).sorted())
            #expect(groups[0]["message"].string?.contains("a checksum") == true)
            #expect(groups[0]["kinds"].array.map(\.string) == ["image"] && groups[0]["retryable"].bool == false)
            let none = try await live.send(.get, "/v1/failures?since=2999-01-01T00:00:00Z", as: .read)
            #expect(try none.json["groups"].array.isEmpty)

            let late = try await live.send(
                .post, "/v1/jobs/retry", json: #"{"code": "fetch_timeout", "since": "2999-01-01T00:00:00+01:00"}"#)
            #expect(try late.status == 202 && late.json["accepted"].int == 0 && late.json["forgotten"].int == 0)
            // Part by part, as a list is read.
            let part = try await live.send(.post, "/v1/jobs/retry", json: #"{"code": "fetch_timeout", "limit": 1}"#)
                .json
            let next = try #require(part["next"].string)
            #expect(part["accepted"].int == 1)
            let all = try await live.send(
                .post, "/v1/jobs/retry", json: #"{"code": "fetch_timeout", "cursor": "\#(next)"}"#)
            #expect(try all.json["accepted"].int == 1 && all.json["next"].isNull)
            #expect(try await live.store.records.job(second.id, of: live.tenant)?.state == .pending)
            let left = try await live.send(.get, "/v1/failures?code=fetch_timeout", as: .read)
            #expect(try left.json["groups"].array.isEmpty)
            for body in [
                "{}", #"{"code": "nonsense"}"#, #"{"code": "corrupt", "jobs": []}"#,
                #"{"code": "corrupt", "since": "now"}"#, #"{"code": "corrupt", "cursor": "1"}"#,
                #"{"code": "corrupt", "limit": 1001}"#, #"{"code": "corrupt", "limit": 0}"#,
            ] {
                let refused = try await live.send(.post, "/v1/jobs/retry", json: body)
                #expect(try refused.status == 400 && refused.json["code"].string == "invalid_request", "\(body)")
            }
        }
    }

    @Test func `a fetch that fails names host and file in the record and the console, and nowhere else`() async throws {
        let answer = LocalOrigin.Answer(status: 404)
        try await LocalOrigin.run { _ in
            answer
        } _: { origin in
            try await LiveService.run({ $0.worker = .codec }) { live in
                let url = origin.url("/album/secret%20cat.jpg?token=t0ken")
                let job = try await live.send(
                    .put, "/v1/jobs/f", ["Prefer": "wait=20"],
                    json: #"{"attachments": [{"identifier": "a", "url": "\#(url)"}]}"#)
                let attachment = try job.json["attachments"][0]
                #expect(attachment["source"]["name"].string == "secret cat.jpg", "\(job.text)")
                #expect(attachment["source"]["host"].string == "127.0.0.1")
                #expect(attachment["error"]["cause"].text == #"{"status":404,"type":"status"}"#)
                let groups = try await live.send(.get, "/v1/failures").json["groups"].array
                #expect(groups.map { $0["cause"].text } == [#"{"status":404,"type":"status"}"#])
                let token = try #require(live.keys[.read])
                let key = try #require(try await live.store.records.authenticate(token))
                let (_, cookie) = try #require(try await live.store.records.signIn(with: key))
                for page in ["failures", "jobs/f", "attachments/\(attachment["id"].string ?? "")"] {
                    let text = try await live.send(
                        .get, "/console/\(page)", ["Cookie": "__Host-satchel=\(cookie.secretText)"], key: nil
                    ).text
                    #expect(text.contains("secret cat.jpg") && text.contains("127.0.0.1"), "\(page)")
                    #expect(!text.contains("t0ken"), "\(page)")
                }
                let silent = try await live.send(.get, "/metrics").text + live.log.lines.joined()
                #expect(!silent.contains("cat.jpg") && !silent.contains("t0ken"))
            }
        }
    }

    @Test func `lists are narrowed by all that is asked, and name what can't be asked`() async throws {
        try await LiveService.run { live in
            let one = try await fail(
                live, .unreadable(Finding(.checksumDiffers)), metadata: ["order": "1 & 2", "app": "a"])
            try await fail(live, .storeFull, metadata: ["order": "3", "app": "a"])
            for list in ["jobs", "attachments"] {
                func found(_ query: String) async throws -> Int {
                    let reply = try await live.send(.get, "/v1/\(list)?\(query)", as: .read)
                    #expect(reply.status == 200, "\(query): \(reply.text)")
                    return try reply.json[list].array.count
                }
                #expect(try await found("metadata.app=a") == 2)
                #expect(try await found("metadata.app=a&metadata.order=1+%26+2") == 1)
                #expect(try await found("metadata.app=b") == 0)
                #expect(try await found("code=corrupt&kind=image&state=failed&profile=archive") == 1)
                #expect(try await found("profile=notification") == 0)
                #expect(try await found("since=2999-01-01T00:00:00Z") == 0)
                #expect(try await found("before=2999-01-01T00:00:00%2B01:00&since=1970-01-01T00:00:00Z") == 2)
                #expect(try await found("identifier=\(one.attachments[0].identifier)") >= 1)
                let many = (0..<11).map { "metadata.k\($0)=v" }.joined(separator: "&")
                for (query, pointer) in [
                    ("code=nonsense", "code"), ("since=yesterday", "since"), ("since=2026-11-21T10:15:00", "since"),
                    ("metadata.=x", "metadata."), ("metadata=x", "metadata"), (many, "metadata.k0"),
                    ("metadata.k=\(String(repeating: "x", count: 201))", "metadata.k"), ("tenant=bob", "tenant"),
                ] {
                    let refused = try await live.send(.get, "/v1/\(list)?\(query)", as: .read)
                    #expect(refused.status == 400, "\(query)")
                    #expect(try refused.json["errors"][0]["pointer"].string == pointer, "\(query): \(refused.text)")
                }
            }
        }
    }

    @Test func `access to an attachment is listed with its ends, and its tokens are nowhere`() async throws {
        try await LiveService.run {
            $0.worker = .faultCodec
        } _: { live in
            let job = try await live.send(
                .put, "/v1/jobs/a", ["Prefer": "wait=20"], body: Data("fault: null".utf8))
            let id = try #require(try job.json["attachments"][0]["id"].string, "\(job.text)")
            let grant = try await live.send(.post, "/v1/attachments/\(id)/grants", json: "{}").json
            let lease = try await live.send(.post, "/v1/leases", json: #"{"attachment_id": "\#(id)"}"#).json
            let stopped = try #require(lease["id"].string)
            #expect(try await live.send(.delete, "/v1/leases/\(stopped)").status == 204)
            let reply = try await live.send(.get, "/v1/attachments/\(id)/access", as: .read)
            let entries = try reply.json["access"].array
            #expect(reply.status == 200 && entries.contains { $0["id"].string == grant["id"].string })
            let ended = entries.first { $0["id"].string == stopped }
            #expect(ended?["kind"].string == "lease" && ended?["ended_at"].string != nil)
            for token in ["satg_", "satl_"] { #expect(!reply.text.contains(token)) }
            let part = try await live.send(.get, "/v1/attachments/\(id)/access?limit=1", as: .read).json
            #expect(part["access"].array.count == 1 && part["next"].string != nil)
            #expect(try await live.send(.get, "/v1/attachments/nothing/access", as: .read).status == 404)
        }
    }
}
