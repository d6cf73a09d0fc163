import SatchelCore
import Foundation
import Ingest
import Jobs
import ServiceTestSupport
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct HandlerClientTests {
    private static let body = Data(#"{"action":"rotate"}"#.utf8)

    private func ask(
        _ url: String, allowing allowed: String, timeout: Double = 2, secrets: [WebhookSecret] = []
    ) async throws -> Result<Data, HandlerFailure> {
        let client = HandlerClient(
            clock: { .wallClock() }, guardedBy: FetchGuard(allowing: try FetchAllowance.list([allowed])),
            userAgent: "Satchel/test")
        let answer = await client.answer(
            of: ResponseHandler(url: url, timeout: timeout), to: Self.body, id: "r1", secrets: secrets)
        await client.end()
        return answer
    }

    private func ask(
        timeout: Double = 2, _ answer: @escaping LocalOrigin.Script
    ) async throws -> Result<Data, HandlerFailure> {
        try await LocalOrigin.run(answer) { origin in
            try await ask(origin.url("/respond"), allowing: "127.0.0.1:\(origin.port)", timeout: timeout)
        }
    }

    @Test func `a handler gets the response signed, and its answer comes back as it is`() async throws {
        let secret = WebhookSecret(bytes: Data((0..<32).map { UInt8($0) }))
        try await LocalOrigin.run { _ in
            .init(body: Data("whatever".utf8))
        } _: { origin in
            let answer = try await ask(
                origin.url("/respond"), allowing: "127.0.0.1:\(origin.port)", secrets: [secret])
            #expect(answer == .success(Data("whatever".utf8)))
            let request = try #require(origin.requests.first)
            #expect(request.method == "POST" && request.body == Self.body)
            #expect(request.headers["webhook-id"] == "r1" && request.headers["content-type"] == "application/json")
            let timestamp = try #require(request.headers["webhook-timestamp"])
            let judge = try Python.run(
                """
                import base64, hashlib, hmac, sys
                code = hmac.new(bytes(range(32)), f'r1.{sys.argv[1]}.{sys.argv[2]}'.encode(), hashlib.sha256)
                print('v1,' + base64.b64encode(code.digest()).decode(), end='')
                """, [timestamp, String(decoding: Self.body, as: UTF8.self)])
            #expect(request.headers["webhook-signature"] == judge.outputText)
        }
    }

    @Test func `without a secret there is no signature`() async throws {
        try await LocalOrigin.run { _ in
            .init(body: Data("{}".utf8))
        } _: { origin in
            _ = try await ask(origin.url("/"), allowing: "127.0.0.1:\(origin.port)")
            let request = try #require(origin.requests.first)
            #expect(request.headers["webhook-signature"] == nil && request.headers["webhook-id"] == "r1")
        }
    }

    @Test(arguments: [
        (200, 65_536, nil), (200, 65_537, "the answer has more than 65536 bytes"), (204, 0, nil),
        (500, 0, "the handler answered 500"), (404, 2, "the handler answered 404"),
        (302, 0, "the handler answered 302: redirects are not followed"),
    ])
    func `only 2xx and 64 KiB are an answer`(status: Int, bytes: Int, reason: String?) async throws {
        let answer = try await ask { _ in
            .init(status: status, headers: ["Location": "/elsewhere"], body: Data(repeating: 0x20, count: bytes))
        }
        switch answer {
        case .success(let body): #expect(reason == nil && body.count == bytes)
        case .failure(let failure): #expect(failure.reason == reason)
        }
    }

    @Test func `who is waited for in vain is given up when the time is over`() async throws {
        // Who waited longer would not be back before the suite's time limit.
        let silent = try await ask(timeout: 1) { _ in .init(delay: .seconds(3600)) }
        // It begins in time, and goes on.
        let slow = try await ask(timeout: 1) { _ in
            .init(body: Data(repeating: 0x20, count: 64 << 10), pause: .seconds(3600))
        }
        for answer in [silent, slow] {
            guard case .failure(let failure) = answer else { return #expect(Bool(false), "\(answer)") }
            // On a busy machine the second may go by before there is a connection.
            let late = ["the receiver did not answer in 1 s", "connecting took too long"]
            #expect(late.contains(failure.reason), "\(failure.reason)")
        }
    }

    @Test func `nobody is called but who is allowed`() async throws {
        try await LocalOrigin.run { _ in
            .init()
        } _: { origin in
            let answer = try await ask(origin.url("/"), allowing: "127.0.0.1:1")
            #expect(answer == .failure(HandlerFailure("blocked_address")))
            #expect(origin.requests.isEmpty)
            let unread = try await ask("http://exa mple/", allowing: "127.0.0.1")
            guard case .failure = unread else { return #expect(Bool(false), "\(unread)") }
        }
    }
}
