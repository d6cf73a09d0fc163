import SatchelCore
import Foundation
import Stores
import Synchronization
import TestSupport
import Testing

@testable import API

/// Content over the wire.
@Suite(.timeLimit(.minutes(10))) struct DeliveryTests {
    private static func bytes(_ count: Int) -> Data {
        var state = UInt64.random(in: 1...UInt64.max)
        var data = Data(capacity: count + 8)
        while data.count < count {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            for shift in stride(from: 8, to: 64, by: 8) { data.append(UInt8(truncatingIfNeeded: state >> shift)) }
        }
        return data.prefix(count)
    }

    @Test func `content comes whole with the headers that keep it private, and HEAD says the same`() async throws {
        try await LiveService.run { live in
            for size in [0, 1, 20_000, 65_536, 65_537, 3_000_000] {
                let data = Self.bytes(size)
                let content = try await live.deliver([.main: data])
                let path = try await live.leasePath(to: content, .main)
                for _ in 0..<2 {
                    let reply = try await RawClient.ask(live.port, "GET", path)
                    #expect(reply.status == 200 && reply.body == data)
                    #expect(reply.headers["content-type"] == "image/jpeg")
                    #expect(reply.headers["cache-control"] == "private, no-cache")
                    #expect(reply.headers["referrer-policy"] == "no-referrer")
                    #expect(reply.headers["x-content-type-options"] == "nosniff")
                    #expect(reply.headers["content-security-policy"] == "default-src 'none'; sandbox")
                    #expect(reply.headers["content-disposition"] == "inline; filename=\"main.jpg\"")
                    #expect(reply.headers["accept-ranges"] == "bytes")
                    #expect(reply.headers["date"]?.hasSuffix(" GMT") == true)
                    let head = try await RawClient.ask(live.port, "HEAD", path)
                    #expect(head.status == 200)
                    #expect(head.headers["etag"] == reply.headers["etag"])
                    #expect(head.headers["content-length"] == "\(size)")
                }
            }
        }
    }

    @Test func `whoever opens content asks the records once`() async throws {
        let questions = Atomic(0)
        // Each reads the clock.
        try await LiveService.run {
            $0.clock = {
                questions.add(1, ordering: .relaxed)
                return .wallClock()
            }
        } _: { live in
            let path = try await live.leasePath(to: live.deliver([.main: Data("bytes".utf8)]), .main)
            let (opener, content) = (ContentOpener(service: live.service), try #require(ContentPath(path)))
            var fewest = Int.max
            // Others ask too, now and then.
            for _ in 0..<100 {
                let before = questions.load(ordering: .relaxed)
                #expect(try await opener.open(content) != nil)
                fewest = min(fewest, questions.load(ordering: .relaxed) - before)
            }
            #expect(fewest == 1)
        }
    }

    @Test func `every bad content URL is the same 404`() async throws {
        try await LiveService.run { live in
            let content = try await live.deliver([.main: Data("bytes".utf8)])
            let (id, path) = try await live.lease(to: content, .main)
            let token = path.split(separator: "/")[1]
            let other = token.dropLast() + (token.last == "a" ? "b" : "a")
            let bad = [
                "/c/\(token)/main.png", "/c/\(token)/main", "/c/\(token)/main.jpeg", "/c/\(token)/thumbnail.jpg",
                "/c/\(token)/MAIN.jpg", "/c/\(token)/main.jpg.jpg", "/c/\(token)/.jpg", "/c/\(token)/main.jpg/",
                "/c/\(token)//main.jpg", "/c/\(token)/%6dain.jpg", "/c/\(other)/main.jpg", "/c/x/main.jpg",
                "/c//main.jpg", "/c/", "/c/\(token)", "/c/\(token)/../\(token)/main.jpg",
                "/c/\(String(repeating: "x", count: 5000))/main.jpg",
            ]
            var bodies: Set<Data> = []
            for path in bad {
                let reply = try await RawClient.ask(live.port, "GET", path)
                #expect(reply.status == 404, "\(path)")
                bodies.insert(reply.body)
            }
            #expect(try await RawClient.ask(live.port, "GET", path + "?cache=no").status == 200)
            _ = try await live.store.records.revoke(id, in: .owner(live.tenant))
            bodies.insert(try await RawClient.ask(live.port, "GET", path).body)
            #expect(bodies.count == 1)
            #expect(!live.log.lines.contains { $0.contains(token) })
        }
    }

    @Test func `curl gets ranges, resumes, and learns that nothing has changed`() async throws {
        try await LiveService.run { live in
            let data = Self.bytes(1_000_000)
            let content = try await live.deliver([.main: data])
            let url = "http://127.0.0.1:\(live.port)" + (try await live.leasePath(to: content, .main))
            let directory = try TemporaryDirectory()
            func curl(_ arguments: String...) async throws -> ProgramResult {
                try await onThread { try Program.tool("curl").run(["-sS", "--max-time", "10"] + arguments) }
            }
            #expect(try await curl(url).output == data)
            #expect(try await curl("-r", "0-9", url).output == data.prefix(10))
            #expect(try await curl("-r", "999990-", url).output == data.suffix(10))
            #expect(try await curl("-r", "-70000", url).output == data.suffix(70_000))
            #expect(try await curl("-r", "5-900004", url).output == data[5...900_004])
            #expect(try await curl("-r", "0-1,5-6", url).output == data)
            #expect(try await curl("-o", "/dev/null", "-w", "%{http_code}", "-r", "1000000-", url).outputText == "416")
            let part = directory.path + "/part"
            try data.prefix(300_000).write(to: URL(filePath: part))
            _ = try await curl("-C", "-", "-o", part, url)
            #expect(try Data(contentsOf: URL(filePath: part)) == data)
            let tag = directory.path + "/tag"
            _ = try await curl("-o", "/dev/null", "--etag-save", tag, url)
            let again = try await curl("-o", "/dev/null", "-w", "%{http_code}", "--etag-compare", tag, url)
            #expect(again.outputText == "304")
            #expect(try await curl("-I", url).outputText.contains("Content-Length: 1000000\r\n"))
            #expect(try await curl("--http1.0", url).output == data)
        }
    }

    @Test func `many clients at once get what they ask for, each its own`() async throws {
        try await LiveService.run { live in
            let port = live.port
            var contents: [(path: String, data: Data)] = []
            for size in [10, 50_000, 70_000, 2_000_000] {
                let data = Self.bytes(size)
                contents.append((try await live.leasePath(to: live.deliver([.main: data]), .main), data))
            }
            let all = contents
            try await withThrowingTaskGroup(of: Int.self) { group in
                for client in 0..<16 {
                    group.addTask {
                        try await onThread {
                            let connection = try RawClient(port: port)
                            return try (0..<20).count { turn in
                                let (path, data) = all[(client + turn) % all.count]
                                connection.send("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
                                return try connection.reply().body == data
                            }
                        }
                    }
                }
                for try await good in group { #expect(good == 20) }
            }
        }
    }

    @Test func `a link for a broadcast may be kept by others until it ends, an original by nobody`() async throws {
        try await LiveService.run { live in
            let content = try await live.deliver([.main: Data("m".utf8), .original: Data("o".utf8)])
            let (_, token) = try #require(
                try await live.store.records.link(
                    to: content, of: live.tenant, renditions: nil, for: .seconds(600), delivery: .shared))
            let shared = try await RawClient.ask(live.port, "GET", "/c/\(token.secretText)/main.jpg")
            let age = shared.headers["cache-control"].flatMap { Int($0.replacing("public, max-age=", with: "")) }
            #expect(age.map { (590...600).contains($0) } == true)
            let original = try await RawClient.ask(
                live.port, "GET", try await live.leasePath(to: content, .original))
            #expect(original.headers["cache-control"] == "no-store")
        }
    }

    @Test func `a server in front is told which file to send`() async throws {
        try await LiveService.run {
            $0.settings.accelPrefix = "/satchel-blobs/"
            $0.needsDirectory = true
        } _: { live in
            let content = try await live.deliver([.main: Data("bytes".utf8)])
            let path = try await live.leasePath(to: content, .main)
            for _ in 0..<2 {
                let reply = try await RawClient.ask(live.port, "GET", path)
                #expect(reply.status == 200 && reply.body.isEmpty)
                let place = try #require(reply.headers["x-accel-redirect"])
                let file = live.store.directory + "/blobs/" + place.dropFirst("/satchel-blobs/".count)
                #expect(try Data(contentsOf: URL(filePath: file)) == Data("bytes".utf8))
            }
            #expect(try await RawClient.ask(live.port, "GET", "/c/x/main.jpg").status == 404)
        }
    }

    @Test func `a request in absolute form is answered as any other`() async throws {
        try await LiveService.run { live in
            let data = Self.bytes(300_000)
            let content = try await live.deliver([.main: data])
            let path = try await live.leasePath(to: content, .main)
            for (headers, status) in [([], 200), (["Range: bytes=5-200004"], 206), (["If-None-Match: *"], 304)] {
                let direct = try await RawClient.ask(live.port, "GET", path, headers)
                let absolute = try await RawClient.ask(live.port, "GET", "HTTP://x" + path + "?y", headers)
                #expect(direct.status == status && absolute.status == status)
                #expect(direct.body == absolute.body)
                #expect(
                    direct.headers.filter { $0.key != "date" } == absolute.headers.filter { $0.key != "date" })
            }
            #expect(try await RawClient.ask(live.port, "GET", "https://x/livez").status == 200)
            #expect(try await RawClient.ask(live.port, "GET", "http://x?y").status == 404)
            // There is no other way to content.
            #expect(try await RawClient.ask(live.port, "GET", "/" + path).status == 404)
        }
    }
}

extension DeliveryTests {
    @Test func `pages of other origins read content where the operator names them`() async throws {
        for (origins, mine, others) in [
            ([], nil, nil), (["*"], "*", "*"), (["https://app.example.com"], "https://app.example.com", nil),
        ] as [([String], String?, String?)] {
            try await LiveService.run {
                $0.settings.contentOrigins = origins
            } _: { live in
                let path = try await live.leasePath(to: live.deliver([.main: Data("bytes".utf8)]), .main)
                for (origin, allowed) in [("https://app.example.com", mine), ("https://evil.example", others)] {
                    let reply = try await live.send(.get, path, ["Origin": origin], key: nil)
                    #expect(reply.status == 200 && reply["access-control-allow-origin"] == allowed, "\(origins)")
                    #expect(reply["access-control-allow-credentials"] == nil)
                }
                let plain = try await live.send(.get, path, key: nil)
                #expect((plain["vary"] == "Origin") == (origins.first?.hasPrefix("https") ?? false))
            }
        }
    }
}
