import SatchelCore
import Foundation
import Payloads
import ServiceTestSupport
import Synchronization
import TestSupport
import Testing

@testable import API
@testable import Stores

/// Calls that are no job's: messages, kept as they were made.
@Suite(.timeLimit(.minutes(10))) struct CallTests {
    /// Has a message sent, as a transaction does that makes what it tells of.
    @discardableResult
    private func enqueue(
        _ text: String, hiding tokens: [AccessToken] = [], to url: String, subject: String? = nil,
        giveUpAfter time: Duration? = nil, in live: LiveService
    ) async throws -> String {
        let records = live.store.records
        let id = UUID.version7().uuidString.lowercased()
        let tenant = live.tenant
        try await records.write { work in
            let call = OutgoingCall(
                id: id, tenant: tenant, type: CallType(rawValue: "test.happened"), subject: subject, url: url,
                body: TokenTemplate(Data(text.utf8), hiding: tokens), giveUpAt: time.map { work.now + $0 })
            _ = try work.send([work.enqueueing(call)])
        }
        return id
    }

    private func ended(_ id: String, in live: LiveService) async throws -> Tree {
        try await whenFound {
            let call = try await live.send(.get, "/v1/calls/\(id)").json
            return call["state"].string == "waiting" ? nil : call
        }
    }

    /// A link to something that was delivered.
    private func link(in live: LiveService) async throws -> (AccessEntry, AccessToken) {
        let job = try await live.send(
            .put, "/v1/jobs/linked", ["Prefer": "wait=20"], body: Data("fault: null".utf8))
        let attachment = AttachmentID(
            rawValue: try #require(try job.json["attachments"][0]["id"].string, "\(job.text)"))
        return try #require(
            try await live.store.records.link(
                to: attachment, of: live.tenant, renditions: nil, for: .seconds(600)))
    }

    @Test func `a message is sent byte for byte at each attempt, with its tokens, and replayed while they live`()
        async throws
    {
        let failures = Mutex(2)
        try await LocalOrigin.run({ _ in
            LocalOrigin.Answer(
                status: failures.withLock { left in
                    left -= 1
                    return left >= 0 ? 503 : 204
                })
        }) { origin in
            try await LiveService.run {
                $0.worker = .faultCodec
                $0.memory = try? StoreMemory()
            } _: { live in
                let (link, token) = try await link(in: live)
                let text = #"{"odd" :  "\u0041","url":"https://x.example/c/\#(token.secretText)/main.jpg" }"#
                let id = try await enqueue(text, hiding: [token], to: origin.url("/m"), subject: "s", in: live)
                let call = try await ended(id, in: live)
                #expect(call["state"].string == "delivered" && call["attempts"].int == 3)
                #expect(call["subject"].string == "s" && call["type"].string == "test.happened")
                #expect(call["url"].string == origin.url("/m") && call["finished_at"].string != nil)
                #expect(origin.requests.map(\.body) == Array(repeating: Data(text.utf8), count: 3))
                #expect(Set(origin.requests.map { $0.headers["webhook-id"] }) == [id])
                #expect(origin.requests.allSatisfy { $0.headers["webhook-signature"]?.hasPrefix("v1,") == true })

                #expect(try await live.send(.post, "/v1/calls/\(id)/replay").status == 202)
                try await eventually { origin.requests.count == 4 }
                #expect(try await live.store.records.revoke(link.id, in: .owner(live.tenant)))
                let refused = try await live.send(.post, "/v1/calls/\(id)/replay")
                #expect(try refused.status == 409 && refused.json["code"].string == "tokens_ended")
                // What is still to be sent then is sent as it reads then.
                let late = try await enqueue(text, hiding: [token], to: origin.url("/late"), in: live)
                #expect(try await ended(late, in: live)["state"].string == "delivered")
                let short = text.replacing(token.secretText, with: token.secretText.prefix(8))
                #expect(origin.requests.last?.body == Data(short.utf8))
            }
        }
    }

    @Test func `each attempt's answer is kept, without the tokens that a receiver says again`() async throws {
        let failures = Mutex(1)
        try await LocalOrigin.run({ request in
            let isFirst = failures.withLock { left in
                left -= 1
                return left >= 0
            }
            return isFirst
                ? LocalOrigin.Answer(status: 502, body: Data("<b>bad\r\ngateway</b>".utf8) + request.body)
                : LocalOrigin.Answer(status: 200, body: Data(repeating: UInt8(ascii: "x"), count: 100_000))
        }) { origin in
            try await LiveService.run {
                $0.worker = .faultCodec
                $0.memory = try? StoreMemory()
            } _: { live in
                let (_, token) = try await link(in: live)
                let text = #"{"url": "https://x.example/c/\#(token.secretText)/main.jpg"}"#
                let id = try await enqueue(text, hiding: [token], to: origin.url("/m"), in: live)
                let answers = try await ended(id, in: live)["answers"].array
                #expect(answers.map { $0["attempt"].int } == [1, 2] && answers.map { $0["status"].int } == [502, 200])
                #expect(answers[0]["reason"].string == "the receiver answered 502" && answers[1]["reason"].isNull)
                let short = text.replacing(token.secretText, with: token.secretText.prefix(8) + "…")
                #expect(answers[0]["body"].string == "<b>badgateway</b>" + short)
                #expect(answers[1]["body"].string == String(repeating: "x", count: CallAnswer.bodyBytes))
                #expect(answers.allSatisfy { (0...30).contains($0["seconds"].double ?? -1) })
                #expect(answers.allSatisfy { $0["at"].string?.hasSuffix("Z") == true })

                let refused = try await enqueue("{}", to: "http://10.0.0.1/hook", in: live)
                let blocked = try await ended(refused, in: live)["answers"].array
                #expect(blocked.map { $0["reason"].string } == ["blocked_address"] && blocked[0]["status"].isNull)
                let over = try await enqueue("{}", to: origin.url("/over"), giveUpAfter: .seconds(-1), in: live)
                #expect(try await ended(over, in: live)["answers"].array.isEmpty)

                // A strange answer is text on the console's page.
                let form = ["Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"]
                let signedIn = try await live.send(
                    .post, "/console/sign-in", form, body: Data("key=\(live.keys[.read]?.secretText ?? "")".utf8),
                    key: nil)
                let cookie = String(try #require(signedIn["set-cookie"]).prefix { $0 != ";" })
                let page = try await live.send(.get, "/console/calls/\(id)", ["Cookie": cookie], key: nil)
                #expect(page.status == 200 && page.text.contains("&lt;b&gt;badgateway&lt;/b&gt;"))
                #expect(page.text.contains(">Answers</h2>") && !page.text.contains(token.secretText))
                let list = try await live.send(.get, "/console/calls", ["Cookie": cookie], key: nil)
                #expect(list.text.contains("href=\"/console/calls/\(id)\""))
            }
        }
    }

    @Test func `a call ends with its time, with a receiver that is gone, or when it is called off`() async throws {
        try await LocalOrigin.run({ request in LocalOrigin.Answer(status: request.path == "/gone" ? 410 : 503) }) {
            origin in
            try await LiveService.run {
                $0.memory = try? StoreMemory()
            } _: { live in
                let gone = try await enqueue("{}", to: origin.url("/gone"), in: live)
                #expect(
                    try await ended(gone, in: live)["reason"].string
                        == "the receiver asked for no more calls (410 Gone)")
                let over = try await enqueue("{}", to: origin.url("/over"), giveUpAfter: .seconds(-1), in: live)
                #expect(try await ended(over, in: live)["reason"].string?.hasPrefix("given up") == true)
                #expect(origin.count(of: "/over") == 0)
                // For as long as there is time for one attempt.
                let brief = try await enqueue("{}", to: origin.url("/brief"), giveUpAfter: .seconds(1), in: live)
                #expect(
                    try await ended(brief, in: live)["reason"].string
                        == "given up after 1 attempts: the receiver answered 503")
                let other = try await enqueue("{}", to: origin.url("/other"), subject: "s", in: live)
                try await eventually { origin.count(of: "/other") >= 2 }
                let tenant = live.tenant
                try await live.store.records.write { work in
                    _ = try work.send([work.cancelling(callsOf: "s", tenant: tenant, reason: "superseded")])
                }
                let calledOff = try await live.send(.get, "/v1/calls/\(other)").json
                #expect(calledOff["state"].string == "cancelled" && calledOff["reason"].string == "superseded")
                let refused = try await live.send(.post, "/v1/calls/\(other)/replay")
                #expect(try refused.status == 409 && refused.json["code"].string == "call_cancelled")
                #expect(try await live.send(.post, "/v1/calls/nothing/replay").status == 404)
            }
        }
    }

    @Test func `calls are listed newest first, by state and type`() async throws {
        try await LocalOrigin.run({ request in LocalOrigin.Answer(status: request.path == "/gone" ? 410 : 204) }) {
            origin in
            try await LiveService.run {
                $0.memory = try? StoreMemory()
            } _: { live in
                _ = try await live.send(.put, "/v1/jobs/one?callback=\(origin.url("/job"))", body: Data("a".utf8))
                _ = try await live.send(.delete, "/v1/jobs/one")
                try await eventually { origin.count(of: "/job") == 1 }
                let gone = try await enqueue("{}", to: origin.url("/gone"), in: live)
                _ = try await ended(gone, in: live)
                func listed(_ query: String) async throws -> [String?] {
                    let calls = try await live.send(.get, "/v1/calls\(query)").json["calls"]
                    return calls.array.map { $0["type"].string }
                }
                #expect(try await listed("") == ["test.happened", "job.finished"])
                #expect(try await listed("?type=job.finished") == ["job.finished"])
                #expect(try await listed("?state=failed") == ["test.happened"])
                #expect(try await listed("?state=failed&type=job.finished") == [])
                let page = try await live.send(.get, "/v1/calls?limit=1").json
                #expect(page["calls"][0]["id"].string == gone)
                let rest = try await live.send(.get, "/v1/calls?cursor=\(try #require(page["next"].string))").json
                #expect(rest["calls"][0]["subject"].string == "one" && rest["next"].isNull)
                let unknown = try await live.send(.get, "/v1/calls?type=job.begun")
                #expect(unknown.status == 400 && unknown.text.contains("job.finished"))
            }
        }
    }

    @Test func `the description names the types of calls and their states`() {
        let schemas = OpenAPIDocument.current.root["components"]?["schemas"]
        #expect(schemas?["CallType"]?["enum"]?.elements.compactMap(\.text) == CallType.allCases.map(\.rawValue))
        #expect(
            schemas?["CallState"]?["enum"]?.elements.compactMap(\.text)
                == WebhookReport.State.allCases.map(\.rawValue))
    }
}
