import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import API

/// What no good client sends.
@Suite(.timeLimit(.minutes(10))) struct HostileRequestTests {
    /// A request as it goes over the wire, and the status that it gets.
    struct Malformed: CustomTestStringConvertible, Sendable {
        var name: String
        var bytes: String
        var status: Int

        var testDescription: String { name }
    }

    static let malformed: [Malformed] = [
        Malformed(name: "no HTTP at all", bytes: "hello, is anybody there?\r\n\r\n", status: 400),
        Malformed(name: "TLS on a plain port", bytes: "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}\r\n\r\n", status: 400),
        Malformed(name: "a version that isn't one", bytes: "GET /livez HTTP/9.9\r\nHost: x\r\n\r\n", status: 400),
        Malformed(name: "HTTP/2 without asking", bytes: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", status: 400),
        Malformed(name: "an unknown method", bytes: "BREW /livez HTTP/1.1\r\nHost: x\r\n\r\n", status: 400),
        Malformed(name: "no host", bytes: "GET /livez HTTP/1.1\r\n\r\n", status: 400),
        Malformed(name: "two hosts", bytes: "GET /livez HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", status: 400),
        Malformed(
            name: "a space before the colon", bytes: "GET /livez HTTP/1.1\r\nHost : x\r\n\r\n", status: 400),
        Malformed(
            name: "a header over two lines",
            bytes: "GET /livez HTTP/1.1\r\nHost: x\r\nX-A: one\r\n two\r\n\r\n", status: 400),
        Malformed(
            name: "a header with a null byte", bytes: "GET /livez HTTP/1.1\r\nHost: x\r\nX-A: a\u{0}b\r\n\r\n",
            status: 400),
        Malformed(
            name: "a length and chunks",
            bytes:
                "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            status: 400),
        Malformed(
            name: "two lengths",
            bytes: "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
            status: 400),
        Malformed(
            name: "a list of lengths", bytes: "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 5, 5\r\n\r\nhello",
            status: 400),
        Malformed(
            name: "a negative length", bytes: "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
            status: 400),
        Malformed(
            name: "a length with a plus", bytes: "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: +5\r\n\r\nhello",
            status: 400),
        Malformed(
            name: "a length beyond all numbers",
            bytes: "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999\r\n\r\n", status: 400),
        Malformed(
            name: "another transfer encoding",
            bytes: "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", status: 501
        ),
        Malformed(
            name: "chunks that aren't",
            bytes: "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n",
            status: 400),
        Malformed(
            name: "chunks in HTTP/1.0",
            bytes: "POST /v1/jobs HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", status: 400),
        Malformed(
            name: "a header of 100 kB",
            bytes: "GET /livez HTTP/1.1\r\nHost: x\r\nX-A: \(String(repeating: "a", count: 100_000))\r\n\r\n",
            status: 431),
        Malformed(
            name: "a path of 100 kB",
            bytes: "GET /\(String(repeating: "a", count: 100_000)) HTTP/1.1\r\nHost: x\r\n\r\n", status: 431),
        Malformed(
            name: "10,000 headers",
            bytes: "GET /livez HTTP/1.1\r\nHost: x\r\n"
                + (0..<10_000).map { "X-\($0): a\r\n" }.joined() + "\r\n", status: 431),
        Malformed(
            name: "a wish to be a proxy", bytes: "CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n", status: 501),
        Malformed(
            name: "an unknown expectation", bytes: "GET /livez HTTP/1.1\r\nHost: x\r\nExpect: cake\r\n\r\n", status: 417
        ),
    ]

    @Test func `each malformed request gets its status as a problem, and the connection ends`() async throws {
        try await LiveService.run { live in
            let port = live.port
            for request in Self.malformed {
                let reply = try await onThread {
                    let client = try RawClient(port: port)
                    client.send(request.bytes)
                    let reply = try client.reply()
                    return (reply, try client.end())
                }
                #expect(reply.0.status == request.status, "\(request.name)")
                #expect(reply.0.headers["content-type"] == "application/problem+json", "\(request.name)")
                #expect(reply.0.headers["connection"] == "close", "\(request.name)")
                #expect(reply.0.code != nil, "\(request.name)")
                #expect(reply.1.bytes == 0 && !reply.1.wasReset, "\(request.name)")
            }
            #expect(try await RawClient.ask(port, "GET", "/livez").status == 200)
        }
    }

    @Test func `requests sent at once are answered in their order, up to the one that is malformed`() async throws {
        try await LiveService.run { live in
            let port = live.port
            let content = try await live.deliver([.main: Data(repeating: 7, count: 200_000)])
            let path = try await live.leasePath(to: content, .main)
            let replies = try await onThread {
                let client = try RawClient(port: port)
                func get(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n" }
                client.send(
                    get("/livez") + get(path) + get("/c/nothing/main.jpg") + get("/livez") + get(path) + get(path)
                        + get("/nowhere") + "rubbish\r\n\r\n" + get("/livez"))
                let replies = try (0..<8).map { _ in try client.reply() }
                return (replies.map(\.status), replies.map(\.body.count), try client.end())
            }
            #expect(replies.0 == [200, 200, 404, 200, 200, 200, 404, 400])
            #expect(replies.1[1] == 200_000 && replies.1[4] == 200_000 && replies.1[5] == 200_000)
            #expect(replies.2.bytes == 0 && !replies.2.wasReset)
        }
    }

    @Test func `a thousand requests sent at once are all answered`() async throws {
        try await LiveService.run { live in
            let port = live.port
            let content = try await live.deliver([.main: Data("small".utf8)])
            let path = try await live.leasePath(to: content, .main)
            let bodies = try await onThread {
                let client = try RawClient(port: port)
                let request = "GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n"
                client.send(String(repeating: request, count: 1000))
                return try (0..<1000).map { _ in try client.reply().body }
            }
            #expect(bodies.allSatisfy { $0 == Data("small".utf8) })
        }
    }
}
