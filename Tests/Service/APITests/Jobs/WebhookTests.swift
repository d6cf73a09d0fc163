import API
import SatchelCore
import Foundation
import Ingest
import Jobs
import ServiceTestSupport
import Synchronization
import TestSupport
import Testing

@testable import Stores

/// Webhooks, from the submission of a job to a receiver that checks what it gets.
@Suite(.timeLimit(.minutes(10))) struct WebhookTests {
    private static let good = Data("fault: null".utf8)

    /// Submits a job that is done by the fault codec, and waits for its end.
    @discardableResult
    private func finish(
        _ id: String, calling url: String, in live: LiveService, body: Data = good
    ) async throws -> Reply {
        let reply = try await live.send(.put, "/v1/jobs/\(id)?callback=\(url)", ["Prefer": "wait=20"], body: body)
        try #require(reply.status == 200, "\(reply.text)")
        return reply
    }

    /// Waits until no webhook is left to be called, and a moment longer, in which nothing may come.
    private func settle(_ live: LiveService) async throws {
        try await eventually { try await live.store.records.statistics().pendingWebhooks == 0 }
        try await Task.sleep(for: .milliseconds(150))
    }

    /// Checks a call as the specification of Standard Webhooks has it, with none of the service's code.
    private func isSigned(_ request: LocalOrigin.Request, by secret: String) throws -> Bool {
        let script = """
            import base64, hashlib, hmac, json, sys
            call = json.load(sys.stdin)
            body = base64.b64decode(call['body'])
            signed = f"{call['id']}.{call['timestamp']}.".encode() + body
            key = base64.b64decode(call['secret'].removeprefix('whsec_'))
            expected = 'v1,' + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
            print(any(hmac.compare_digest(expected, one) for one in call['signature'].split(' ')))
            """
        let call = [
            "id": request.headers["webhook-id"], "timestamp": request.headers["webhook-timestamp"],
            "signature": request.headers["webhook-signature"], "secret": secret,
            "body": request.body.base64EncodedString(),
        ]
        let result = try Program(URL(filePath: "/usr/bin/python3"))
            .run(["-c", script], input: try JSONEncoder().encode(call))
        try #require(result.status == 0, "\(result.errorText)")
        return result.outputText == "True\n"
    }

    /// Answers with each of these statuses in turn, then with the last.
    private func answers(_ statuses: [Int]) -> LocalOrigin.Script {
        let next = Ordinals()
        return { request in
            let number = next.next(of: request.path)
            return LocalOrigin.Answer(status: statuses[min(number, statuses.count - 1)])
        }
    }

    private final class Ordinals: Sendable {
        private let counts = Mutex<[String: Int]>([:])

        func next(of path: String) -> Int {
            counts.withLock { counts in
                counts[path, default: -1] += 1
                return counts[path] ?? 0
            }
        }
    }

    // MARK: What is sent

    @Test func `a receiver is told once of each end, with the job as it is, signed`() async throws {
        try await LocalOrigin.run(answers([204])) { origin in
            try await LiveService.run {
                $0.worker = .faultCodec
            } _: { live in
                try await finish("done", calling: origin.url("/done"), in: live)
                try await finish("broken", calling: origin.url("/broken"), in: live, body: Data("nothing".utf8))
                _ = try await live.send(
                    .put, "/v1/jobs/stopped?callback=\(origin.url("/stopped"))",
                    body: Data("fault: late-sleep".utf8))
                _ = try await live.send(.delete, "/v1/jobs/stopped")
                try await settle(live)
                let secret = try #require(try await live.store.webhookSecrets(of: live.tenant).first?.secret).text
                for (id, state) in [("done", "delivered"), ("broken", "failed"), ("stopped", "cancelled")] {
                    let calls = origin.requests.filter { $0.path == "/\(id)" }
                    try #require(calls.count == 1, "\(id)")
                    let call = calls[0]
                    let document = try await live.send(.get, "/v1/jobs/\(id)")
                    #expect(call.method == "POST" && call.headers["content-type"] == "application/json")
                    // The document, but for what tells of the call itself.
                    var record = try #require(JSONSerialization.jsonObject(with: document.body) as? [String: Any])
                    #expect(record["callback"] is [String: Any])
                    record["callback"] = NSNull()
                    let sent = try #require(JSONSerialization.jsonObject(with: call.body) as? [String: Any])
                    #expect(NSDictionary(dictionary: sent) == NSDictionary(dictionary: record))
                    #expect(try document.json["state"].string == state)
                    #expect(call.headers["webhook-id"]?.isEmpty == false)
                    let timestamp = try #require(call.headers["webhook-timestamp"].flatMap { Int64($0) })
                    #expect(abs(timestamp - Instant.wallClock().milliseconds / 1000) < 60)
                    #expect(try isSigned(call, by: secret))
                    // The check can tell.
                    var forged = call
                    forged.body.append(32)
                    #expect(try !isSigned(forged, by: secret))
                }
                #expect(Set(origin.requests.map { $0.headers["webhook-id"] }).count == 3)
            }
        }
    }

    @Test func `after a rotation of the keys the old secret and the new one check`() async throws {
        try await LocalOrigin.run(answers([204])) { origin in
            try await LiveService.run {
                $0.worker = .faultCodec
            } _: { live in
                let old = try #require(try await live.store.webhookSecrets(of: live.tenant).first?.secret).text
                try live.store.keys.rotate()
                let new = try #require(try await live.store.webhookSecrets(of: live.tenant).first?.secret).text
                try await finish("r", calling: origin.url("/r"), in: live)
                try await settle(live)
                let call = try #require(origin.requests.first)
                #expect(old != new)
                #expect(try isSigned(call, by: old) && isSigned(call, by: new))
                let bob = TenantID(rawValue: "bob")
                let others = try #require(try await live.store.webhookSecrets(of: bob).first?.secret).text
                #expect(try !isSigned(call, by: others))
            }
        }
    }

    @Test func `after a rotation of the secret messages bear both signatures, and after the overlap one`() async throws
    {
        try await LocalOrigin.run(answers([204])) { origin in
            try await LiveService.run {
                $0.worker = .faultCodec
            } _: { live in
                let before = try await live.send(.get, "/v1/webhook-secrets")
                let old = try #require(try before.json["secrets"][0]["secret"].string)
                #expect(try await live.store.webhookSecrets(of: live.tenant).first?.secret.text == old)
                #expect(before["cache-control"] == "no-store")
                let rotated = try await live.send(.post, "/v1/webhook-secrets/rotate")
                let secrets = try rotated.json["secrets"].array
                #expect(rotated.status == 201 && secrets.count == 2 && secrets[1]["secret"].string == old)
                #expect(secrets[0]["ends_at"].isNull && secrets[1]["ends_at"].string != nil)
                let new = try #require(secrets[0]["secret"].string)
                try await finish("both", calling: origin.url("/both"), in: live)
                try await settle(live)
                let both = try #require(origin.requests.first)
                #expect(try old != new && isSigned(both, by: old) && isSigned(both, by: new))

                let last = try await live.send(.post, "/v1/webhook-secrets/rotate", json: #"{"overlap": 0}"#).json
                let only = try #require(last["secrets"][0]["secret"].string)
                #expect(last["secrets"].array.count == 1)
                try await finish("one", calling: origin.url("/one"), in: live)
                try await settle(live)
                let one = try #require(origin.requests.last)
                #expect(try isSigned(one, by: only) && !isSigned(one, by: new) && !isSigned(one, by: old))
            }
        }
    }

    // MARK: What is answered

    @Test(arguments: [1, 5])
    func `a receiver that fails is called again under the same id until it takes it`(failures: Int) async throws {
        try await LocalOrigin.run(answers(Array(repeating: 500, count: failures) + [200])) { origin in
            try await LiveService.run {
                $0.worker = .faultCodec
            } _: { live in
                try await finish("f", calling: origin.url("/f"), in: live)
                try await settle(live)
                let calls = origin.requests
                #expect(calls.count == failures + 1)
                #expect(Set(calls.map { $0.headers["webhook-id"] }).count == 1)
                #expect(Set(calls.map(\.body)).count == 1)
            }
        }
    }

    @Test func `a receiver that is gone is called no more, until its call is asked for again`() async throws {
        try await LocalOrigin.run(answers([410, 410, 200])) { origin in
            try await LiveService.run {
                $0.worker = .faultCodec
            } _: { live in
                try await finish("g", calling: origin.url("/g"), in: live)
                try await settle(live)
                #expect(origin.requests.count == 1)
                for count in 2...4 {
                    // The third was taken, and is told again all the same.
                    let replayed = try await live.send(.post, "/v1/jobs/g/callback")
                    #expect(replayed.status == 202)
                    try await settle(live)
                    #expect(origin.requests.count == count)
                }
                #expect(Set(origin.requests.map { $0.headers["webhook-id"] }).count == 1)
            }
        }
    }

    @Test func `no redirect is followed`() async throws {
        try await LocalOrigin.run({ request in
            request.path == "/elsewhere"
                ? LocalOrigin.Answer() : LocalOrigin.Answer(status: 307, headers: ["Location": "/elsewhere"])
        }) { origin in
            try await LiveService.run {
                $0.worker = .faultCodec
            } _: { live in
                try await finish("r", calling: origin.url("/r"), in: live)
                try await eventually { origin.count(of: "/r") >= 3 }
                #expect(origin.count(of: "/elsewhere") == 0)
                #expect(try await live.store.records.statistics().pendingWebhooks == 1)
            }
        }
    }

    @Test func `a private address is called only where that is allowed`() async throws {
        try await LocalOrigin.run(answers([200])) { origin in
            try await LiveService.run {
                $0.worker = .faultCodec
                $0.webhookAllow = ["hooks.example:\(origin.port)", "10.0.0.0/8:\(origin.port)"]
                $0.webhookNames = { $0 == "hooks.example" ? [.v4(0x7F00_0001)] : [.v4(0xC0A8_0001)] }
            } _: { live in
                try await finish("a", calling: "http://hooks.example:\(origin.port)/a", in: live)
                // The port could pass, so the name is looked up, with each call.
                try await finish("n", calling: "http://private.example:\(origin.port)/n", in: live)
                try await settle(live)
                #expect(origin.requests.map(\.path) == ["/a"])
                let allowed = try await live.send(.get, "/v1/jobs/a").json["callback"]
                #expect(allowed["state"].string == "delivered" && allowed["reason"].isNull)
                let refused = try await live.send(.get, "/v1/jobs/n").json["callback"]
                #expect(refused["state"].string == "failed" && refused["attempts"].int == 1)
                #expect(refused["reason"].string == "blocked_address" && refused["next_at"].isNull)
            }
            try await LiveService.run {
                $0.worker = .faultCodec
                $0.webhookAllow = ["127.0.0.1:\(origin.port)"]
            } _: { live in
                try await finish("a", calling: origin.url("/own"), in: live)
                try await settle(live)
                #expect(origin.count(of: "/own") == 1)
            }
        }
    }

    private static let neverAllowed = [
        ("http://127.0.0.1/hook", "blocked_address"), ("https://10.1.2.3/hook", "blocked_address"),
        ("https://[::1]/hook", "blocked_address"), ("https://[::ffff:127.0.0.1]/hook", "blocked_address"),
        ("http://169.254.169.254/latest", "blocked_address"), ("http://localhost/hook", "blocked_address"),
        ("https://LOCALHOST./hook", "blocked_address"), ("https://api.localhost/hook", "blocked_address"),
        ("https://example.com:8443/hook", "blocked_address"), ("ftp://example.com/hook", "invalid_source"),
        ("file:///etc/passwd", "invalid_source"), ("example.com/hook", "invalid_source"),
    ]

    @Test func `what no name service could make good is refused with the submission, without asking one`()
        async throws
    {
        try await LiveService.run {
            $0.webhookAllow = []
            $0.webhookNames = { _ in
                Issue.record("a name was looked up")
                return []
            }
        } _: { live in
            for (url, code) in Self.neverAllowed {
                let job = #"{"attachments": [{"url": "https://example.com/a.jpg"}], "callback": {"url": "\#(url)"}}"#
                let reply = try await live.send(.post, "/v1/jobs", json: job)
                #expect(reply.status == 422, "\(url): \(reply.text)")
                #expect(try reply.json["code"].string == code, "\(url)")
                #expect(try reply.json["errors"][0]["pointer"].string == "/callback/url")
                let encoded = try #require(url.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
                let raw = try await live.send(.post, "/v1/jobs?callback=\(encoded)", body: Self.good)
                #expect(raw.status == 422, "\(url): \(raw.text)")
                #expect(try raw.json["errors"][0]["pointer"].string == "callback")
            }
            let fine = try await live.send(
                .post, "/v1/jobs",
                json: """
                    {"attachments": [{"url": "https://example.com/a.jpg"}], "callback": {"url": "https://example.com/"}}
                    """)
            #expect(fine.status == 202, "\(fine.text)")
            let callback = try fine.json["callback"]
            #expect(callback["state"].string == "waiting" && callback["attempts"].int == 0)
        }
    }

    @Test func `a job says whether its callback waits, why, and how it ended`() async throws {
        let taken = Mutex(false)
        try await LocalOrigin.run({ _ in LocalOrigin.Answer(status: taken.withLock { $0 } ? 200 : 503) }) { origin in
            try await LiveService.run {
                $0.worker = .faultCodec
                $0.webhookSchedule = WebhookSchedule(base: .seconds(3600), minimum: .seconds(1800))
            } _: { live in
                func callback(_ id: String) async throws -> Tree {
                    try await live.send(.get, "/v1/jobs/\(id)").json["callback"]
                }
                try await finish("w", calling: origin.url("/w"), in: live)
                let waiting = try await whenFound {
                    let callback = try await callback("w")
                    return callback["reason"].isNull ? nil : callback
                }
                #expect(waiting["state"].string == "waiting" && waiting["attempts"].int == 1)
                #expect(waiting["reason"].string == "the receiver answered 503")
                let next = try Date(
                    try #require(waiting["next_at"].string),
                    strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
                #expect(next.timeIntervalSinceNow > 900)
                taken.withLock { $0 = true }
                let replayed = try await live.send(.post, "/v1/jobs/w/callback")
                #expect(try replayed.json["callback"]["state"].string == "waiting")
                let told = try await whenFound {
                    let callback = try await callback("w")
                    return callback["state"].string == "delivered" ? callback : nil
                }
                #expect(told["attempts"].int == 1 && told["next_at"].isNull && told["reason"].isNull)
                let list = try await live.send(.get, "/v1/jobs").json["jobs"][0]["callback"]
                #expect(list["state"].string == "delivered")
                _ = try await live.send(.put, "/v1/jobs/none", ["Prefer": "wait=20"], body: Self.good)
                #expect(try await callback("none").isNull)
            }
        }
    }

    // MARK: What goes wrong

    @Test(.timeLimit(.minutes(5)))
    func `a receiver that never answers holds up neither its tenant's others nor another tenant's`() async throws {
        try await LocalOrigin.run({ _ in
            try await Task.sleep(for: .seconds(600))
            return LocalOrigin.Answer()
        }) { silent in
            try await LocalOrigin.run({ _ in LocalOrigin.Answer(status: 204, keepsOpen: true) }) { good in
                try await LiveService.run {
                    $0.webhookAllow = nil
                } _: { live in
                    // Nobody is given up: what the others get, they get beside it.
                    let sender = try LiveService.webhookSender(
                        for: live.service, allowing: ["127.0.0.1"], schedule: WebhookSchedule(),
                        timeLimit: .seconds(600))
                    let calling = Task { await sender.run() }
                    let bob = try #require(
                        try await live.makeKeys(of: TenantID(rawValue: "bob"))[.submit])
                    try await cancel(150, calling: silent.url("/silent"), in: live)
                    try await eventually { silent.requests.count >= WebhookPlaces.first }
                    try await cancel(40, calling: good.url("/ada"), in: live)
                    try await cancel(40, calling: good.url("/bob"), in: live, key: bob)
                    try await eventually {
                        good.count(of: "/ada") == 40 && good.count(of: "/bob") == 40
                    }
                    #expect(silent.requests.count == WebhookPlaces.first, "it hasn't earned more")
                    // Those that were taken are told, however long the others last.
                    try await eventually {
                        try await live.store.records.statistics().pendingWebhooks == 150
                    }
                    calling.cancel()
                    await calling.value
                }
            }
        }
    }

    /// Submits jobs and cancels them: each is an end that the receiver is told.
    private func cancel(
        _ count: Int, calling url: String, in live: LiveService, key: AccessToken? = nil
    ) async throws {
        let key = key ?? live.keys[.admin]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<4 {
                group.addTask {
                    for number in stride(from: lane, to: count, by: 4) {
                        let path = "/v1/jobs/\(url.suffix(4).filter(\.isLetter))\(number)"
                        let made = try await live.send(.put, "\(path)?callback=\(url)", body: Self.good, key: key)
                        try #require(made.status == 202, "\(made.text)")
                        let ended = try await live.send(.delete, path, key: key)
                        try #require(ended.status == 200, "\(ended.text)")
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func `connections are used again, for the address that was checked and no other`() async throws {
        let moved = Mutex(false)
        try await LocalOrigin.run({ _ in LocalOrigin.Answer(status: 204, keepsOpen: true) }) { origin in
            try await LiveService.run {
                $0.webhookAllow = nil
            } _: { live in
                // An address on the loopback alone is allowed; later the name leads elsewhere.
                let sender = try LiveService.webhookSender(
                    for: live.service, allowing: ["127.0.0.1:\(origin.port)"], schedule: WebhookSchedule(),
                    resolve: { _ in moved.withLock { $0 } ? [.v4(0x0A00_0001)] : [.v4(0x7F00_0001)] })
                let calling = Task { await sender.run() }
                let url = "http://hooks.example:\(origin.port)/again"
                for number in 0..<10 {
                    _ = try await live.send(.put, "/v1/jobs/k\(number)?callback=\(url)", body: Self.good)
                    _ = try await live.send(.delete, "/v1/jobs/k\(number)")
                    try await eventually { origin.requests.count == number + 1 }
                }
                #expect(origin.connections < 10, "\(origin.connections) connections for 10 calls")
                moved.withLock { $0 = true }
                _ = try await live.send(.put, "/v1/jobs/moved?callback=\(url)", body: Self.good)
                _ = try await live.send(.delete, "/v1/jobs/moved")
                let callback = try await whenFound {
                    let callback = try await live.send(.get, "/v1/jobs/moved").json["callback"]
                    return callback["state"].string == "failed" ? callback : nil
                }
                #expect(callback["reason"].string == "blocked_address")
                #expect(origin.requests.count == 10)
                calling.cancel()
                await calling.value
            }
        }
    }

    @Test func `what ends is called at once, not at the next look`() async throws {
        try await LocalOrigin.run({ _ in LocalOrigin.Answer(status: 204) }) { origin in
            try await LiveService.run {
                $0.webhookAllow = nil
            } _: { live in
                // Never, as far as this test is concerned.
                let sender = try LiveService.webhookSender(
                    for: live.service, allowing: ["127.0.0.1"],
                    schedule: WebhookSchedule(base: .milliseconds(20), minimum: .milliseconds(5)),
                    interval: .seconds(3600))
                let calling = Task { await sender.run() }
                try await cancel(20, calling: origin.url("/once"), in: live)
                try await eventually { origin.count(of: "/once") == 20 }
                let replayed = try await live.send(.post, "/v1/jobs/once0/callback")
                #expect(replayed.status == 202)
                try await eventually { origin.count(of: "/once") == 21 }
                calling.cancel()
                await calling.value
            }
        }
    }

    @Test func `what was due when the sender ended is called by the next`() async throws {
        let silent = Mutex(true)
        try await LocalOrigin.run({ _ in
            if silent.withLock({ $0 }) { try await Task.sleep(for: .seconds(600)) }
            return LocalOrigin.Answer()
        }) { origin in
            try await LiveService.run {
                $0.worker = .faultCodec
                $0.webhookAllow = nil
            } _: { live in
                let sender = {
                    try LiveService.webhookSender(
                        for: live.service, allowing: ["127.0.0.1"], schedule: WebhookSchedule())
                }
                let first = try sender()
                let calling = Task { await first.run() }
                try await finish("h", calling: origin.url("/h"), in: live)
                try await eventually { !origin.requests.isEmpty }
                calling.cancel()
                await calling.value
                silent.withLock { $0 = false }
                #expect(try await live.store.records.statistics().pendingWebhooks == 1)
                let second = try sender()
                let again = Task { await second.run() }
                try await settle(live)
                again.cancel()
                await again.value
                let calls = origin.requests
                #expect(calls.count == 2)
                #expect(Set(calls.map { $0.headers["webhook-id"] }).count == 1)
            }
        }
    }
}
