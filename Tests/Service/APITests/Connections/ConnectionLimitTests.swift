import SatchelCore
import Foundation
import HTTPServer
import Stores
import TestSupport
import Testing

@testable import API

/// Clients that take their time, or more than their share. The limits are short so that the tests are.
@Suite(.timeLimit(.minutes(10))) struct ConnectionLimitTests {
    private static func short(_ configuration: inout LiveService.Configuration) {
        configuration.settings.connections.header = .milliseconds(500)
        configuration.settings.connections.idle = .milliseconds(700)
        configuration.settings.connections.rateWindow = .milliseconds(500)
        configuration.settings.connections.minimumRate = 4000
        configuration.settings.connections.body = .seconds(3)
        configuration.settings.connections.linger = .milliseconds(500)
    }

    @Test func `headers that come byte by byte are waited for only so long`() async throws {
        try await LiveService.run(Self.short) { live in
            let port = live.port
            let reply = try await onThread {
                let client = try RawClient(port: port)
                let start = ContinuousClock.now
                for byte in "GET /livez HTTP/1.1\r\nHost: x\r\nX-Slow: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" {
                    guard client.send(String(byte)), ContinuousClock.now - start < .milliseconds(900) else { break }
                    usleep(20_000)
                }
                return try client.reply()
            }
            #expect(reply.status == 408 && reply.code == "request_timeout")
        }
    }

    @Test func `a connection on which nothing comes is closed without a word`() async throws {
        try await LiveService.run(Self.short) { live in
            let port = live.port
            let ends = try await onThread {
                let silent = try RawClient(port: port)
                let idle = try RawClient(port: port)
                idle.send("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
                let status = try idle.reply().status
                return (status, try silent.end(), try idle.end())
            }
            #expect(ends.0 == 200)
            #expect(ends.1.bytes == 0 && ends.2.bytes == 0)
        }
    }

    @Test func `a body of a byte now and then is refused, one of ten gigabytes that never comes too`() async throws {
        try await LiveService.run(Self.short) { live in
            let port = live.port
            let key = live.keys[.submit]?.secretText ?? ""
            for length in ["Content-Length: 100000", "Transfer-Encoding: chunked"] {
                let reply = try await onThread {
                    let client = try RawClient(port: port)
                    client.send(
                        "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(key)\r\nContent-Type: image/jpeg\r\n\(length)\r\n\r\n"
                    )
                    for _ in 0..<100 {
                        guard client.send(length.hasPrefix("T") ? "1\r\na\r\n" : "a") else { break }
                        usleep(20_000)
                    }
                    return try client.reply()
                }
                #expect(reply.status == 408, "\(length)")
            }
            #expect(try await live.spooled().isEmpty)
        }
    }

    @Test func `a client that doesn't read what it asked for is cut off`() async throws {
        try await LiveService.run(Self.short) { live in
            let port = live.port
            let content = try await live.deliver([.main: Data(repeating: 1, count: 30_000_000)])
            let path = try await live.leasePath(to: content, .main)
            let descriptors = try Self.descriptors(of: live)
            try await onThread {
                let client = try RawClient(port: port, receiveBuffer: 4096)
                client.send("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
                usleep(2_500_000)
                let end = try client.end()
                #expect(end.wasReset)
                #expect(end.bytes < 5_000_000)
            }
            try await Self.settle(descriptors, of: live)
        }
    }

    @Test func `a client that reads slowly but surely gets all of it`() async throws {
        try await LiveService.run { configuration in
            Self.short(&configuration)
            configuration.settings.connections.idle = .seconds(10)
        } _: { live in
            let port = live.port
            let content = try await live.deliver([.main: Data(repeating: 1, count: 6_000_000)])
            let path = try await live.leasePath(to: content, .main)
            let bytes = try await onThread {
                let client = try RawClient(port: port, receiveBuffer: 65_536)
                client.send("GET \(path) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                var count = 0
                while true {
                    let read = try client.receive(upTo: 40_000).count
                    if read == 0 { return count }
                    count += read
                    usleep(10_000)
                }
            }
            #expect(bytes > 6_000_000)
        }
    }

    @Test func `connections beyond the limit are closed as they come, and places are free again afterwards`()
        async throws
    {
        try await LiveService.run {
            $0.settings.connections.connections = 8
        } _: { live in
            let port = live.port
            try await onThread {
                var held: [RawClient] = []
                for _ in 0..<8 {
                    let client = try RawClient(port: port)
                    client.send("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
                    #expect(try client.reply().status == 200)
                    held.append(client)
                }
                let ninth = try RawClient(port: port)
                #expect(try ninth.end().bytes == 0)
                for client in held { client.leave() }
            }
            try await eventually {
                (try? await RawClient.ask(port, "GET", "/livez").status) == 200
            }
        }
    }

    @Test func `who closes its side still gets its answer, and the connection ends`() async throws {
        try await LiveService.run {
            Self.short(&$0)
            // Longer than a busy machine takes for an answer: whoever is slower than this is cut off.
            $0.settings.connections.linger = patience
        } _: { live in
            let port = live.port
            let content = try await live.deliver([.main: Data(repeating: 1, count: 3_000_000)])
            let path = try await live.leasePath(to: content, .main)
            for path in ["/livez", path] {
                let (reply, end) = try await onThread {
                    let client = try RawClient(port: port)
                    client.send("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
                    client.finishSending()
                    return (try client.reply(), try client.end())
                }
                #expect(reply.status == 200)
                #expect(end.bytes == 0 && !end.wasReset)
            }
            // In the middle of a head, and of a body.
            for start in ["GET /li", "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc"] {
                let end = try await onThread {
                    let client = try RawClient(port: port)
                    client.send(start)
                    client.finishSending()
                    return try client.end()
                }
                #expect(!end.wasReset)
            }
        }
    }

    @Test func `a refusal before the body is read by the client, however much it goes on sending`() async throws {
        try await LiveService.run { live in
            let port = live.port
            let reply = try await onThread {
                let client = try RawClient(port: port)
                client.send("POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000000\r\n\r\n")
                let megabyte = [UInt8](repeating: 97, count: 1 << 20)
                for _ in 0..<4 { client.send(megabyte) }
                return try client.reply()
            }
            #expect(reply.status == 401)
            #expect(reply.headers["connection"] == "close")
            #expect(try await RawClient.ask(port, "GET", "/livez").status == 200)
        }
    }

    @Test func `a body that is announced with a question is asked for only by whoever reads it`() async throws {
        try await LiveService.run { live in
            let port = live.port
            let key = live.keys[.submit]?.secretText ?? ""
            let (refused, asked, answered) = try await onThread {
                func head(_ key: String) -> String {
                    "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(key)\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
                }
                let stranger = try RawClient(port: port)
                stranger.send(head("nobody"))
                let refused = try stranger.reply()
                let client = try RawClient(port: port)
                client.send(head(key))
                let asked = try client.reply()
                client.send("{}")
                return (refused, asked, try client.reply())
            }
            #expect(refused.status == 401 && refused.headers["connection"] == "close")
            #expect(asked.status == 100)
            #expect(answered.status == 400)
        }
    }

    @Test func `clients that leave at any moment leave nothing behind`() async throws {
        try await LiveService.run(Self.short) { live in
            let port = live.port
            let key = live.keys[.submit]?.secretText ?? ""
            let content = try await live.deliver([.main: Data(repeating: 1, count: 5_000_000)])
            let path = try await live.leasePath(to: content, .main)
            _ = try await RawClient.ask(port, "GET", path)
            let descriptors = try Self.descriptors(of: live)
            let boundary = "--b\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"a.jpg\"\r\n\r\nabcdef"
            let requests = [
                "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n",
                "GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n",
                "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(key)\r\nContent-Type: image/jpeg\r\nContent-Length: 5000\r\n\r\nsome",
                "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(key)\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 5000\r\n\r\n\(boundary)",
            ]
            try await onThread {
                for request in requests {
                    let bytes = Array(request.utf8)
                    for length in stride(from: 0, through: bytes.count, by: max(bytes.count / 12, 1)) {
                        for leave in [RawClient.leave, RawClient.reset] {
                            let client = try RawClient(port: port)
                            client.send(Array(bytes.prefix(length)))
                            if length % 3 == 0 { usleep(2000) }
                            leave(client)()
                        }
                    }
                }
            }
            #expect(try await RawClient.ask(port, "GET", "/livez").status == 200)
            try await Self.settle(descriptors, of: live)
            try await eventually { try await live.spooled().isEmpty }
        }
    }

    /// Open files of this service's store.
    private static func descriptors(of live: LiveService) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
            let target = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + name)) ?? ""
            return target.hasPrefix(live.store.directory + "/blobs/") || target.hasPrefix(live.store.scratch + "/")
        }
    }

    private static func settle(_ before: Int, of live: LiveService) async throws {
        try await eventually { try descriptors(of: live) <= before }
    }
}
