import Foundation
import ServiceLifecycle
import TestSupport
import Testing

@testable import HTTPServer

/// Connections over a live socket, with next to nothing behind them.
@Suite(.timeLimit(.minutes(10))) struct HTTP1ConnectionTests {
    private static let short: ConnectionLimits = {
        var limits = ConnectionLimits()
        limits.header = .milliseconds(500)
        limits.idle = .milliseconds(700)
        limits.rateWindow = .milliseconds(500)
        limits.minimumRate = 4000
        limits.body = .seconds(3)
        limits.linger = .milliseconds(500)
        return limits
    }()

    private static func get(_ path: String, _ headers: String = "") -> String {
        "GET \(path) HTTP/1.1\r\nHost: x\r\n\(headers)\r\n"
    }

    @Test func `requests sent at once are answered in their order, whoever answers them`() async throws {
        try await TrivialServer.run { port in
            let bodies = try await onThread {
                let client = try RawClient(port: port)
                let paths = (0..<300).map { ["/", "/direct/\($0)", "/later/\($0 * 100)", "/chunks"][$0 % 4] }
                client.send(paths.map { Self.get($0) }.joined())
                return try paths.map { ($0, try client.reply().body) }
            }
            for (path, body) in bodies {
                let count = path.split(separator: "/").last.flatMap { Int($0) }
                #expect(body.count == (path == "/" ? 4 : count ?? 50_010), "\(path)")
            }
        }
    }

    @Test func `bodies that say their length and bodies in chunks go both ways`() async throws {
        try await TrivialServer.run { port in
            let replies = try await onThread {
                let client = try RawClient(port: port)
                client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello")
                let plain = try client.reply().body
                client.send("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
                client.send("3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n")
                let chunked = try client.reply().body
                client.send(Self.get("/chunks"))
                let chunks = try client.reply()
                return (plain, chunked, chunks)
            }
            #expect(replies.0 == Data("hello".utf8) && replies.1 == Data("hello".utf8))
            #expect(replies.2.headers["transfer-encoding"] == "chunked" && replies.2.body.count == 50_010)
        }
    }

    @Test func `interim responses come before the answer alone, and only to HTTP/1.1`() async throws {
        try await TrivialServer.run { port in
            let heads = try await onThread {
                let client = try RawClient(port: port)
                client.send("POST /inform HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello")
                var heads = [try client.reply(isHead: true), try client.reply(isHead: true)]
                heads.append(try client.reply())
                // The connection goes on, and an older client gets its answer alone.
                client.send(Self.get("/"))
                heads.append(try client.reply())
                let old = try RawClient(port: port)
                old.send("POST /inform HTTP/1.0\r\nContent-Length: 5\r\n\r\nhello")
                return heads + [try old.reply()]
            }
            #expect(heads.map(\.status) == [104, 104, 200, 200, 200])
            #expect(heads.map { $0.headers["location"] } == ["begin", "5", nil, nil, nil])
            // An interim response says nothing of framing or connection.
            #expect(
                heads.prefix(2).allSatisfy { $0.headers["content-length"] == nil && $0.headers["connection"] == nil })
            #expect(heads[2].body == Data("done".utf8) && heads[4].body == Data("done".utf8))
        }
    }

    @Test func `HEAD, 204 and 304 get no body, whatever the application writes`() async throws {
        try await TrivialServer.run { port in
            let replies = try await onThread {
                let client = try RawClient(port: port)
                var replies: [RawReply] = []
                for path in ["/", "/chunks", "/direct/500", "/later/5000"] {
                    client.send("HEAD \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
                    replies.append(try client.reply(isHead: true))
                }
                for status in [204, 304] {
                    client.send(Self.get("/status/\(status)"))
                    replies.append(try client.reply())
                }
                client.send(Self.get("/"))
                replies.append(try client.reply())
                return replies
            }
            #expect(replies.map(\.status) == [200, 200, 200, 200, 204, 304, 200])
            #expect(replies.map { $0.headers["content-length"] } == ["4", nil, "500", "5000", nil, nil, "4"])
            #expect(replies[1].headers["transfer-encoding"] == "chunked")
            #expect(replies[6].body == Data("fine".utf8))
        }
    }

    @Test func `HTTP 1.0 gets its answer by length or by the end, and keeps the connection where it asks to`()
        async throws
    {
        try await TrivialServer.run { port in
            for (path, keeps) in [("/", true), ("/direct/9", true), ("/chunks", false)] {
                let (head, rest) = try await onThread {
                    let client = try RawClient(port: port)
                    client.send("GET \(path) HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
                    if keeps {
                        let reply = try client.reply()
                        client.send("GET /direct/3 HTTP/1.0\r\n\r\n")
                        #expect(try client.reply().headers["connection"] == "close")
                        return (reply.headers["connection"] ?? "", try client.end().bytes)
                    }
                    var all: [UInt8] = []
                    while true {
                        let some = try client.receive()
                        if some.isEmpty { break }
                        all += some
                    }
                    let text = String(decoding: all, as: UTF8.self)
                    #expect(text.contains("\r\nConnection: close\r\n") && !text.contains("chunked"))
                    return ("", text.split(separator: "\r\n\r\n", maxSplits: 1).last?.utf8.count ?? 0)
                }
                #expect(head == (keeps ? "keep-alive" : "") && rest == (keeps ? 0 : 50_010), "\(path)")
            }
        }
    }

    @Test func `an answer that breaks off is no whole one`() async throws {
        try await TrivialServer.run { port in
            let wasWhole = try await onThread {
                let client = try RawClient(port: port)
                client.send(Self.get("/broken"))
                return (try? client.reply()) != nil
            }
            #expect(!wasWhole)
            #expect(try await RawClient.ask(port, "GET", "/").status == 200)
        }
    }

    @Test func `whoever reads a body learns why it doesn't come to its end`() async throws {
        let faults = TrivialServer.Faults()
        try await TrivialServer.run(limits: Self.short, faults: faults) { port in
            let start = "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nsome"
            let slow = try await onThread {
                let client = try RawClient(port: port)
                client.send(start)
                return try client.reply().status
            }
            #expect(slow == 408)
            try await eventually { faults.list == [.bodyTooSlow] }
            try await onThread {
                let client = try RawClient(port: port)
                client.send(start)
                usleep(50_000)
                client.leave()
            }
            try await eventually { faults.list == [.bodyTooSlow, .bodyIncomplete] }
        }
    }

    @Test func `an early answer is read, and the connection goes on after a short body alone`() async throws {
        try await TrivialServer.run { port in
            let (short, next, long) = try await onThread {
                let client = try RawClient(port: port)
                client.send("POST /early HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n")
                let short = try client.reply()
                client.send([UInt8](repeating: 97, count: 60_000))
                client.send(Self.get("/"))
                let next = try client.reply().status
                client.send("POST /early HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000000\r\n\r\n")
                let megabyte = [UInt8](repeating: 97, count: 1 << 20)
                for _ in 0..<4 { client.send(megabyte) }
                return (short, next, try client.reply())
            }
            #expect(short.status == 401 && short.headers["connection"] == nil)
            #expect(next == 200)
            #expect(long.status == 401 && long.headers["connection"] == "close")
        }
    }

    @Test func `each fault is answered in the application's words, and the connection ends`() async throws {
        let requests: [(RequestFault, String)] = [
            (.notHTTP, "hello\r\n\r\n"),
            (.headersTooLarge, Self.get("/", "X-A: \(String(repeating: "a", count: 100_000))\r\n")),
            (.invalidHost, "GET / HTTP/1.1\r\n\r\n"),
            (.invalidLength, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -\r\n\r\n"),
            (.unknownExpectation, Self.get("/", "Expect: cake\r\n")),
            (.proxyRequest, "CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n"),
            (.unknownTransferEncoding, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"),
        ]
        try await TrivialServer.run { port in
            for (fault, request) in requests {
                let (reply, end) = try await onThread {
                    let client = try RawClient(port: port)
                    client.send(request)
                    return (try client.reply(), try client.end())
                }
                // NIO's decoder sees some of them before the head is whole.
                let text = String(decoding: reply.body, as: UTF8.self)
                #expect(text == "\(fault)" || text == "notHTTP", "\(fault)")
                #expect(reply.status == 400 && reply.headers["connection"] == "close", "\(fault)")
                #expect(reply.headers["date"]?.hasSuffix("GMT") == true)
                #expect(end.bytes == 0 && !end.wasReset, "\(fault)")
            }
        }
    }

    @Test func `a connection on which an answer never comes leaves nothing when its client goes`() async throws {
        try await TrivialServer.run { port in
            try await onThread {
                for _ in 0..<20 {
                    let client = try RawClient(port: port)
                    client.send(Self.get("/stuck") + Self.get("/"))
                    client.reset()
                }
            }
            #expect(try await RawClient.ask(port, "GET", "/").status == 200)
        }
    }

    @Test func `a server that stops closes idle connections, and cuts what is open at the end of its grace`()
        async throws
    {
        try await TrivialServer.run(grace: .milliseconds(600)) { port, lifecycle in
            let isReady = AsyncStream.makeStream(of: Void.self)
            async let ends = onThread {
                defer { isReady.continuation.finish() }
                let idle = try RawClient(port: port)
                idle.send(Self.get("/"))
                _ = try idle.reply()
                let stuck = try RawClient(port: port)
                stuck.send(Self.get("/direct/1") + Self.get("/stuck"))
                _ = try stuck.reply()
                isReady.continuation.finish()
                return (try idle.end(), try stuck.end())
            }
            for await _ in isReady.stream {}
            await lifecycle.triggerGracefulShutdown()
            let (idle, stuck) = try await ends
            #expect(idle.bytes == 0 && !idle.wasReset)
            #expect(stuck.bytes == 0 && stuck.wasReset)
        }
    }
}
