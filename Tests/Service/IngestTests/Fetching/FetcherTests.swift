import SatchelCore
import Foundation
import Glibc
import NIOCore
import ServiceTestSupport
import TestSupport
import Testing

@testable import Ingest

@Suite(.timeLimit(.minutes(10))) struct FetcherTests: ~Copyable {
    private let directory: TemporaryDirectory
    private let spool: Spool

    init() throws {
        let directory = try TemporaryDirectory()
        spool = try Spool(at: directory.path + "/spool")
        self.directory = directory
    }

    private func fetcher(
        allowing: [String] = ["127.0.0.0/8"], tracing: [String] = [], redirects: Int = Fetcher.defaultRedirects,
        resolve: Fetcher.Resolve? = nil
    ) throws -> Fetcher {
        Fetcher(
            guardedBy: FetchGuard(allowing: try FetchAllowance.list(allowing)), into: spool, userAgent: "Satchel/test",
            tracing: TracedOrigins(try tracing.map(TracedOrigins.origin)), redirects: redirects, resolve: resolve)
    }

    private func read(_ source: FetchedSource) throws -> Data {
        try FileHandle(fileDescriptor: source.file.reader.number, closeOnDealloc: false).readToEnd() ?? Data()
    }

    /// What is in the spool.
    private func left() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.path + "/spool")
    }

    /// The error that a fetch from a scripted origin ends in; afterwards nothing may be left of it.
    private func failure(
        within limits: FetchLimits = FetchLimits(time: .seconds(60)), headers: [String: String] = [:],
        _ script: @escaping LocalOrigin.ByteScript
    ) async throws -> AttachmentError? {
        let fetcher = try fetcher()
        let error = try await LocalOrigin.runBytewise(script) { server in
            await #expect(throws: AttachmentError.self) {
                try await fetcher.fetch(server.url("/file"), headers: headers, within: limits)
            }
        }
        #expect(try left().isEmpty)
        return error
    }

    private static let small = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

    // MARK: What comes

    @Test func `a file arrives whole, with what is known of it`() async throws {
        let body = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let fetcher = try fetcher()
        let (source, request) = try await LocalOrigin.runBytewise { _, answer in
            try await answer.send(
                "HTTP/1.1 200 OK\r\nContent-Type: Image/JPEG; q=1\r\nContent-Length: \(body.count)\r\n\r\n")
            try await answer.write(ByteBuffer(bytes: body))
        } _: { server in
            (try await fetcher.fetch(server.url("/a/IMG%201.jpg?x=y")), server.heads)
        }
        #expect(source.bytes == Int64(body.count))
        #expect(source.contentType == "image/jpeg")
        #expect(source.fileName == "IMG 1.jpg")
        #expect(try read(source) == body)
        #expect(try left().map { directory.path + "/spool/" + $0 } == [source.file.path])
        let head = try #require(request.first).lowercased()
        #expect(head.hasPrefix("get /a/img%201.jpg?x=y http/1.1\r\n"))
        #expect(head.contains("accept-encoding: identity\r\n"))
        #expect(head.contains("user-agent: satchel/test\r\n"))
        #expect(!head.contains("cookie:"))
    }

    @Test func `a chunked body arrives whole`() async throws {
        let fetcher = try fetcher()
        let source = try await LocalOrigin.runBytewise { _, answer in
            try await answer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
            try await answer.send("7\r\n, world\r\n0\r\n\r\n")
        } _: { server in
            try await fetcher.fetch(server.url("/"))
        }
        #expect(try read(source) == Data("hello, world".utf8))
        #expect(source.contentType == nil && source.fileName == nil)
    }

    // MARK: Names

    @Test func `a name is resolved once, and the connection goes to the address that was checked`() async throws {
        let asked = ChangingNames([["127.0.0.1"], ["127.0.0.2"]])
        let fetcher = try fetcher(allowing: ["127.0.0.1"], resolve: asked.resolve)
        let request = try await LocalOrigin.runBytewise { _, answer in
            try await answer.send(Self.small)
        } _: { server in
            _ = try await fetcher.fetch(server.url("/x", host: "Media.Example."))
            return (server.heads, server.port)
        }
        #expect(asked.names == ["media.example"])
        #expect(request.0.count == 1)
        #expect(request.0.first?.lowercased().contains("host: media.example:\(request.1)\r\n") == true)
    }

    @Test func `an answer of the name service that changes is checked again on a redirect`() async throws {
        let asked = ChangingNames([["127.0.0.1"], ["127.0.0.2"]])
        let fetcher = try fetcher(allowing: ["127.0.0.1"], resolve: asked.resolve)
        let error = try await LocalOrigin.runBytewise { _, answer in
            try await answer.send("HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n")
        } _: { server in
            let error = await #expect(throws: AttachmentError.self) {
                try await fetcher.fetch(server.url("/", host: "media.example"))
            }
            #expect(server.heads.count == 1)
            return error
        }
        #expect(error == .blockedAddress(host: "media.example", address: "127.0.0.2"))
        #expect(asked.names.count == 2)
    }

    @Test func `one bad address among good ones refuses the name before anything is contacted`() async throws {
        let asked = ChangingNames([["127.0.0.1", "127.0.0.2"]])
        let fetcher = try fetcher(allowing: ["127.0.0.1"], resolve: asked.resolve)
        try await LocalOrigin.runBytewise { _, answer in
            try await answer.send(Self.small)
        } _: { server in
            await #expect(throws: AttachmentError.blockedAddress(host: "media.example", address: "127.0.0.2")) {
                try await fetcher.fetch(server.url("/", host: "media.example"))
            }
            #expect(server.heads.isEmpty)
        }
    }

    @Test func `where one address refuses connections the next is tried`() async throws {
        let asked = ChangingNames([["127.0.0.2", "127.0.0.1"]])
        let fetcher = try fetcher(resolve: asked.resolve)
        let source = try await LocalOrigin.runBytewise { _, answer in
            try await answer.send(Self.small)
        } _: { server in
            try await fetcher.fetch(server.url("/", host: "media.example"))
        }
        #expect(source.bytes == 5)
        #expect(asked.names.count == 1)
    }

    @Test func `the system's name service is asked where none is given`() async throws {
        let fetcher = try fetcher(allowing: ["localhost"])
        let source = try await LocalOrigin.runBytewise { _, answer in
            try await answer.send(Self.small)
        } _: { server in
            try await fetcher.fetch(server.url("/", host: "localhost"))
        }
        #expect(source.bytes == 5)
    }

    // MARK: Redirects

    @Test(arguments: [(0, 10), (1, 10), (10, 10), (11, 10), (0, 0), (1, 0), (3, 2)], [301, 302, 303, 307, 308])
    func `as many redirects are followed as the setting allows`(
        _ example: (count: Int, limit: Int), status: Int
    ) async throws {
        let (count, limit) = example
        let fetcher = try fetcher(redirects: limit)
        let result: Result<FetchedSource, AttachmentError> = try await LocalOrigin.runBytewise { request, answer in
            let left = Int(request.target.dropFirst()) ?? 0
            guard left > 0 else { return try await answer.send(Self.small) }
            try await answer.send("HTTP/1.1 \(status) Moved\r\nLocation: /\(left - 1)\r\nContent-Length: 0\r\n\r\n")
        } _: { server in
            do throws(AttachmentError) {
                return .success(try await fetcher.fetch(server.url("/\(count)")))
            } catch {
                return .failure(error)
            }
        }
        switch result {
        case .success(let source):
            #expect(count <= limit)
            #expect(source.url.target == "/0")
        case .failure(let error):
            #expect(count > limit)
            #expect(error == .fetchFailed(.redirect, reason: "too many redirects (limit \(limit))"))
            #expect(!error.isRetryable)
        }
    }

    @Test func `a redirect to itself ends`() async throws {
        let error = try await failure { _, answer in
            try await answer.send("HTTP/1.1 302 Found\r\nLocation: /file\r\nContent-Length: 0\r\n\r\n")
        }
        #expect(error == .fetchFailed(.redirect, reason: "too many redirects (limit 10)"))
    }

    @Test(arguments: [
        ("http://10.0.0.1/", ErrorCode.blockedAddress), ("//169.254.169.254/latest", .blockedAddress),
        ("http://[::ffff:127.0.0.1]/", .blockedAddress), ("file:///etc/passwd", .fetchFailed),
        ("http://0177.0.0.1/", .fetchFailed), ("http://a@b/", .fetchFailed),
        ("http://93.184.216.34:22/", .blockedAddress),
    ])
    func `a redirect to where a fetch may not start is refused`(target: String, code: ErrorCode) async throws {
        let error = try await failure { _, answer in
            try await answer.send("HTTP/1.1 302 Found\r\nLocation: \(target)\r\nContent-Length: 0\r\n\r\n")
        }
        #expect(error?.code == code)
    }

    @Test func `the submission's headers go to their origin alone`() async throws {
        let fetcher = try fetcher()
        try await LocalOrigin.runBytewise { _, answer in
            try await answer.send(Self.small)
        } _: { other in
            let target = other.url("/stolen")
            try await LocalOrigin.runBytewise { request, answer in
                let location = request.path.hasPrefix("/first") ? "/second" : target
                try await answer.send("HTTP/1.1 302 Found\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n")
            } _: { server in
                _ = try await fetcher.fetch(
                    server.url("/first"), headers: ["Authorization": "Bearer CANARY", "X-Own": "CANARY"])
                #expect(server.heads.count == 2)
                for request in server.heads {
                    #expect(request.contains("Authorization: Bearer CANARY"))
                    #expect(request.contains("X-Own: CANARY"))
                }
            }
            #expect(other.heads.count == 1)
            #expect(other.heads.allSatisfy { !$0.contains("CANARY") && !$0.contains("Authorization") })
        }
    }

    private static let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    @Test func `an origin that is listed sees the trace, one that isn't, or that it redirects to, never`() async throws
    {
        try await LocalOrigin.runBytewise { request, answer in
            guard request.path.hasPrefix("/back") else { return try await answer.send(Self.small) }
            let location = request.target.split(separator: "?")[1]
            try await answer.send("HTTP/1.1 302 Found\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n")
        } _: { other in
            let target = other.url("/elsewhere")
            try await LocalOrigin.runBytewise { request, answer in
                guard request.path.hasPrefix("/first") else { return try await answer.send(Self.small) }
                try await answer.send("HTTP/1.1 302 Found\r\nLocation: \(target)\r\nContent-Length: 0\r\n\r\n")
            } _: { server in
                let own = String(server.url("/").dropLast())
                let line = "traceparent: \(Self.trace)"
                let fetcher = try fetcher(tracing: [own])
                _ = try await fetcher.fetch(server.url("/plain"), trace: Self.trace)
                #expect(server.heads.count == 1 && server.heads.allSatisfy { $0.contains(line) })
                // To another origin by a redirect, even to one that is listed.
                _ = try await fetcher.fetch(server.url("/first"), trace: Self.trace)
                #expect(server.heads.count == 2 && server.heads.allSatisfy { $0.contains(line) })
                _ = try await fetcher.fetch(other.url("/plain"), trace: Self.trace)
                _ = try await fetcher.fetch(other.url("/back?\(server.url("/plain"))"), trace: Self.trace)
                #expect(server.heads.count == 3 && server.heads.last?.contains("traceparent") == false)
                #expect(other.heads.count == 3 && other.heads.allSatisfy { !$0.contains("traceparent") })
                // What the submission says of itself is its sender's.
                _ = try await fetcher.fetch(
                    server.url("/plain"), headers: ["Traceparent": "own"], trace: Self.trace)
                let last = try #require(server.heads.last)
                #expect(last.contains("Traceparent: own") && !last.contains(line))
                _ = try await self.fetcher().fetch(server.url("/plain"), trace: Self.trace)
                #expect(server.heads.last?.contains("traceparent") == false, "none is listed")
            }
        }
    }

    @Test(arguments: [
        ("https://Media.Example.com", "https://media.example.com:443"),
        ("http://10.0.0.7:8080/", "http://10.0.0.7:8080"),
        ("media.example.com", nil), ("https://media.example.com/path", nil), ("https://media.example.com?a", nil),
        ("ftp://media.example.com", nil),
    ])
    func `an origin is a scheme, a host and a port`(text: String, origin: String?) {
        #expect((try? TracedOrigins.origin(text)) == origin)
    }

    @Test(arguments: [
        ["Host": "other"], ["Content-Length": "5"], ["Transfer-Encoding": "chunked"], ["Accept-Encoding": "gzip"],
        ["X-A": "a\r\nX-B: b"], ["X A": "a"], ["": "a"], ["X-A": "\u{7F}"], ["X-A": "ü"], ["CONNECTION": "close"],
        ["Range": "bytes=0-"], ["X-A": String(repeating: "a", count: 20_000)],
    ])
    func `headers that would change the request itself are refused`(headers: [String: String]) async throws {
        let error = try await failure(headers: headers) { _, answer in
            try await answer.send(Self.small)
        }
        #expect(error?.code == .invalidSource)
    }

    // MARK: Origins that misbehave

    @Test(arguments: [
        (404, "Not Found"), (500, "Oops\u{1B}[31m"), (401, "Unauthorized"), (206, "Partial"), (204, "No"),
    ])
    func `another status than 200 is named`(status: Int, phrase: String) async throws {
        let error = try await failure { _, answer in
            try await answer.send("HTTP/1.1 \(status) \(phrase)\r\nContent-Length: 0\r\n\r\n")
        }
        guard case .fetchFailed(.status, status, let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.utf8.allSatisfy { $0 >= 0x20 })
    }

    @Test(arguments: ["gzip", "br", "GZIP", "identity, gzip", "aws-chunked,zstd"])
    func `a compressed body is refused, and not asked for again`(coding: String) async throws {
        let error = try await failure { _, answer in
            try await answer.send("HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: 2\r\n\r\nab")
        }
        #expect(error?.code == .fetchFailed && error?.isRetryable == false)
    }

    @Test(arguments: ["", "identity", "aws-chunked", "utf-8", "UTF-8, aws-chunked", "none"])
    func `a word in Content-Encoding that names no coding changes nothing`(coding: String) async throws {
        let fetcher = try fetcher()
        let source = try await LocalOrigin.runBytewise { _, answer in
            try await answer.send("HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: 5\r\n\r\nhello")
        } _: { server in
            try await fetcher.fetch(server.url("/file"))
        }
        #expect(try read(source) == Data("hello".utf8))
    }

    @Test func `an answer that a proxy has changed is a success`() async throws {
        let fetcher = try fetcher()
        let source = try await LocalOrigin.runBytewise { _, answer in
            try await answer.send(
                "HTTP/1.1 203 Non-Authoritative Information\r\nContent-Length: 5\r\n\r\nhello")
        } _: { server in
            try await fetcher.fetch(server.url("/file"))
        }
        #expect(try read(source) == Data("hello".utf8))
    }

    @Test(arguments: [
        ("/my photo.jpg?a=b c", "/my%20photo.jpg?a=b%20c"), ("my photo.jpg", "/my%20photo.jpg"), ("/a%20b", "/a%20b"),
    ])
    func `blanks in a redirect are encoded, as browsers do`(location: String, target: String) async throws {
        let fetcher = try fetcher()
        let source = try await LocalOrigin.runBytewise { request, answer in
            guard request.target == "/file" else { return try await answer.send(Self.small) }
            try await answer.send("HTTP/1.1 302 Found\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n")
        } _: { server in
            try await fetcher.fetch(server.url("/file"))
        }
        #expect(source.url.target == target)
    }

    @Test func `an announced length over the limit is refused before the body`() async throws {
        let error = try await failure(within: FetchLimits(bytes: 1000)) { _, answer in
            try await answer.send("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n")
            try await Task.sleep(for: .seconds(5))
        }
        #expect(error == .sourceTooLarge(bytes: 1001, limit: 1000))
    }

    @Test func `an endless body is stopped at the limit`() async throws {
        let error = try await failure(within: FetchLimits(bytes: 5_000_000)) { _, answer in
            try await answer.send("HTTP/1.1 200 OK\r\n\r\n")
            let piece = ByteBuffer(repeating: 0x41, count: 65_536)
            while true { try await answer.write(piece) }
        }
        guard case .sourceTooLarge(let bytes, 5_000_000) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(bytes < 10_000_000)
    }

    @Test func `a body of exactly the limit is taken`() async throws {
        let fetcher = try fetcher()
        let source = try await LocalOrigin.runBytewise { _, answer in
            try await answer.send(Self.small)
        } _: { server in
            try await fetcher.fetch(server.url("/"), within: FetchLimits(bytes: 5))
        }
        #expect(source.bytes == 5)
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nshort",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\nshort",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 7\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200", "nonsense\r\n\r\n", "",
        "HTTP/1.1 200 OK\r\nX: \(String(repeating: "a", count: 200_000))\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\n\(String(repeating: "X-Y: z\r\n", count: 50_000))Content-Length: 5\r\n\r\nhello",
        "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nhello",
    ])
    func `an answer that lies or ends early fails`(answer text: String) async throws {
        let error = try await failure(within: FetchLimits(time: .seconds(60))) { _, answer in
            try await answer.send(text)
        }
        #expect(error?.code == .fetchFailed, "\(String(describing: error))")
    }

    @Test func `a body that trickles is given up after the window of the rate limit`() async throws {
        let limits = FetchLimits(time: .seconds(60), minimumRate: 1000, rateWindow: .milliseconds(500))
        let start = ContinuousClock.now
        let error = try await failure(within: limits) { _, answer in
            try await answer.send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
            while true {
                try await answer.send("a")
                try await Task.sleep(for: .milliseconds(20))
            }
        }
        #expect(error == .fetchFailed(.tooSlow, reason: "less than 1000 bytes per second arrived"))
        #expect(.now - start < .seconds(25))
    }

    @Test(arguments: ["", "HTTP/1.1 200 OK\r\nX: ", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"])
    func `an origin that falls silent is given up when time is up`(start text: String) async throws {
        let limits = FetchLimits(time: .milliseconds(600), minimumRate: 0)
        let start = ContinuousClock.now
        let error = try await failure(within: limits) { _, answer in
            try await answer.send(text)
            try await Task.sleep(for: .seconds(30))
        }
        guard case .fetchTimeout(let seconds) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(seconds >= 0.6 && seconds <= (ContinuousClock.now - start).inSeconds && .now - start < .seconds(25))
        #expect(error?.cause == FetchCause(.tooSlow))
    }

    @Test func `an origin that is slower than the deadline is one of those each time, whoever notices it first`()
        async throws
    {
        let fetcher = try fetcher()
        try await LocalOrigin.runBytewise { _, _ in
            try await Task.sleep(for: .seconds(30))
        } _: { server in
            let codes = await withTaskGroup(of: ErrorCode?.self) { group in
                for number in 0..<24 {
                    group.addTask {
                        let limits = FetchLimits(time: .milliseconds(200 + number))
                        do throws(AttachmentError) {
                            _ = try await fetcher.fetch(server.url("/file"), within: limits)
                            return nil
                        } catch {
                            return error.code
                        }
                    }
                }
                return await group.reduce(into: [ErrorCode?]()) { $0.append($1) }
            }
            #expect(codes == Array(repeating: .fetchTimeout, count: 24))
        }
    }

    @Test(arguments: [
        ("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", FetchCause(.status, status: 404)),
        ("HTTP/1.1 302 Found\r\nLocation: ftp://x/\r\nContent-Length: 0\r\n\r\n", FetchCause(.redirect)),
        ("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", FetchCause(.reset)),
        ("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nab", FetchCause(.encoding)),
        ("nonsense\r\n\r\n", FetchCause(.invalidAnswer)),
    ])
    func `a failed fetch has its cause`(answer text: String, cause: FetchCause) async throws {
        let error = try await failure { _, answer in try await answer.send(text) }
        #expect(error?.cause == cause, "\(String(describing: error))")
    }

    @Test func `a name without an address is a cause of its own`() async throws {
        let fetcher = try fetcher(resolve: { _ in [] })
        let error = await #expect(throws: AttachmentError.self) { try await fetcher.fetch("http://media.example/") }
        #expect(error?.cause == FetchCause(.dns))
    }

    @Test func `redirects share one time limit`() async throws {
        let error = try await failure(within: FetchLimits(time: .milliseconds(700))) { _, answer in
            try await Task.sleep(for: .milliseconds(300))
            try await answer.send("HTTP/1.1 302 Found\r\nLocation: /file\r\nContent-Length: 0\r\n\r\n")
        }
        #expect(error?.code == .fetchTimeout)
    }

    @Test func `a name service that hangs is given up when time is up`() async throws {
        let fetcher = try fetcher(resolve: { _ in
            try await Task.sleep(for: .seconds(60))
            return []
        })
        let error = await #expect(throws: AttachmentError.self) {
            try await fetcher.fetch("http://media.example/", within: FetchLimits(time: .milliseconds(300)))
        }
        #expect(error?.code == .fetchTimeout)
    }

    @Test func `an origin that takes no connections is named`() async throws {
        let port = try await LocalOrigin.runBytewise { _, _ in
        } _: {
            $0.port
        }
        let fetcher = try fetcher()
        await #expect(throws: AttachmentError.fetchFailed(.refused, reason: "the connection was refused")) {
            try await fetcher.fetch("http://127.0.0.1:\(port)/")
        }
    }

    @Test func `a cancelled fetch ends at once and leaves nothing`() async throws {
        let fetcher = try fetcher()
        try await LocalOrigin.runBytewise { _, answer in
            try await answer.send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nabc")
            try await Task.sleep(for: .seconds(30))
        } _: { server in
            let url = server.url("/")
            let fetch = Task { try await fetcher.fetch(url) }
            while server.heads.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
            let start = ContinuousClock.now
            fetch.cancel()
            await #expect(throws: AttachmentError.self) { try await fetch.value }
            #expect(.now - start < .seconds(25))
        }
        #expect(try left().isEmpty)
    }
}
