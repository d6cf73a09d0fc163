import SatchelCore
import Foundation
import HTTPServer
import Logging
import ServiceLifecycle
import TestSupport
import Testing

@testable import API

/// TLS from files, and how a server ends.
@Suite(.timeLimit(.minutes(10))) struct SecureConnectionTests {
    private static func makeCertificate(_ name: String, at files: TLSFiles) async throws {
        try await onThread {
            try Program.makeCertificate(name, certificate: files.certificate, key: files.key)
        }
    }

    private static func curl(_ arguments: [String]) async throws -> ProgramResult {
        try await onThread { try Program.tool("curl").run(["-sS", "--max-time", "20"] + arguments) }
    }

    @Test func `content and the rest come over TLS, and a changed certificate counts for new connections`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let files = TLSFiles(certificate: directory.path + "/certificate.pem", key: directory.path + "/key.pem")
        try await Self.makeCertificate("first", at: files)
        try await LiveService.run {
            $0.tls = files
        } _: { live in
            let base = "https://localhost:\(live.port)"
            let data = Data((0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
            let content = try await live.deliver([.main: data, .thumbnail: data.prefix(9000)])
            let main = base + (try await live.leasePath(to: content, .main))
            let thumbnail = base + (try await live.leasePath(to: content, .thumbnail))
            let trust = ["--cacert", files.certificate]
            #expect(try await Self.curl(trust + [main]).output == data)
            #expect(try await Self.curl(trust + [thumbnail]).output == data.prefix(9000))
            #expect(try await Self.curl(trust + ["-r", "100000-1500000", main]).output == data[100_000...1_500_000])
            #expect(try await Self.curl(trust + [base + "/livez"]).status == 0)
            // Refused before the body was read, and read all the same.
            let refused = try await Self.curl(
                trust + [
                    "-o", "/dev/null", "-w", "%{http_code}", "--data-binary", "@/dev/zero", "-H", "Expect:", "-H",
                    "Content-Length: 1000000000", "-X", "POST", "--max-filesize", "100000", base + "/v1/jobs",
                ])
            #expect(refused.outputText.hasSuffix("401") || refused.status != 0)

            try await Self.makeCertificate("second", at: files)
            try await eventually {
                try await Self.curl(trust + ["-v", base + "/livez"]).errorText.contains("CN=second")
            }
        }
    }

    /// The service on a second server, which may be stopped.
    private static func serve(
        _ live: LiveService, grace: Duration
    ) async throws -> (port: Int, group: ServiceGroup, running: Task<Void, any Error>) {
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        let server = try SatchelServer(
            live.service, listen: ListenAddress(host: "127.0.0.1", port: 0), grace: grace,
            onListening: { listening.yield($0) })
        let group = ServiceGroup(
            configuration: .init(services: [.init(service: server)], logger: live.service.logger))
        let running = Task {
            defer { listening.finish() }
            try await group.run()
        }
        return (try #require(await ports.first { _ in true }), group, running)
    }

    @Test func `a server that stops finishes what it is sending and takes nothing new`() async throws {
        try await LiveService.run { live in
            let data = Data(repeating: 3, count: 20_000_000)
            let content = try await live.deliver([.main: data])
            let path = try await live.leasePath(to: content, .main)
            let (port, group, running) = try await Self.serve(live, grace: .seconds(5))
            let isIdle = AsyncStream.makeStream(of: Void.self)
            async let idle = onThread {
                defer { isIdle.continuation.finish() }
                let client = try RawClient(port: port)
                client.send("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
                _ = try client.reply()
                isIdle.continuation.finish()
                return try client.end().bytes
            }
            async let slow = onThread {
                let client = try RawClient(port: port, receiveBuffer: 65_536)
                client.send("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
                usleep(700_000)
                let count = try client.reply().body.count
                #expect(try client.end().bytes == 0)
                return count
            }
            for await _ in isIdle.stream {}
            try await Task.sleep(for: .milliseconds(300))
            await group.triggerGracefulShutdown()
            #expect(try await idle == 0)
            #expect(try await slow == data.count)
            try await running.value
            await #expect(throws: RawClient.Failure.cannotConnect) {
                try await onThread { _ = try RawClient(port: port) }
            }
        }
    }

    @Test func `what is still open at the end of the grace is cut`() async throws {
        try await LiveService.run { live in
            let content = try await live.deliver([.main: Data(repeating: 3, count: 50_000_000)])
            let path = try await live.leasePath(to: content, .main)
            let (port, group, running) = try await Self.serve(live, grace: .milliseconds(600))
            let isReading = AsyncStream.makeStream(of: Void.self)
            let isOver = DispatchSemaphore(value: 0)
            defer { isOver.signal() }
            async let end = onThread {
                defer { isReading.continuation.finish() }
                let client = try RawClient(port: port, receiveBuffer: 4096)
                client.send("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
                _ = try client.receive(upTo: 10)
                isReading.continuation.finish()
                isOver.wait()
                return try client.end().wasReset
            }
            for await _ in isReading.stream {}
            await group.triggerGracefulShutdown()
            try await running.value
            isOver.signal()
            #expect(try await end)
        }
    }
}
