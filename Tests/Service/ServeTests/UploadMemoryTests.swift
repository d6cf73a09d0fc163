import Foundation
import FoundationNetworking
import ServiceTestSupport
import TestSupport
import Testing

/// How much of an upload the program holds in memory.
@Suite(.timeLimit(.minutes(5))) struct UploadMemoryTests {
    /// Bytes that the process holds now (`VmRSS`), or held at its most (`VmHWM`).
    private func memory(_ field: String, of server: ServiceProcess) throws -> Int {
        let text = try String(
            contentsOfFile: "/proc/\(server.program.process.processIdentifier)/status", encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix(field + ":") })
        let kilobytes = try #require(line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) })
        return kilobytes << 10
    }

    private func zeros(_ count: UInt64, in harness: borrowing ServiceHarness) throws -> URL {
        let file = try harness.file("zeros", Data())
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: count)
        try handle.close()
        return file
    }

    @Test func `what a phone sends to an upload's URL takes no more memory than a round of its pieces`() async throws {
        let harness = try ServiceHarness()
        let server = try await harness.serve()
        func open() async throws -> URL {
            let opened = try await server.send(
                "POST", "/v1/uploads", ["Content-Type": "application/json"], body: Data("{}".utf8))
            let document = try JSONSerialization.jsonObject(with: opened.data) as? [String: Any]
            let url = try #require((document?["url"] as? String).flatMap { URL(string: $0) })
            return server.url.appending(path: url.path())
        }
        func put(_ file: URL, to url: URL) async throws -> Int? {
            var request = URLRequest(url: url, timeoutInterval: 60)
            request.httpMethod = "PUT"
            return (try await URLSession.shared.upload(for: request, fromFile: file).1 as? HTTPURLResponse)?.statusCode
        }
        let small = try harness.file("small", Data(count: 1_000_000))
        #expect(try await put(small, to: open()) == 200)
        let file = try zeros(200_000_000, in: harness)
        let before = try memory("VmRSS", of: server)
        #expect(try await put(file, to: open()) == 200)
        let grown = try memory("VmHWM", of: server) - before
        #expect(grown < 16 << 20, "\(grown) bytes")
        _ = try await server.stop()
    }

    @Test func `an upload of 200 MB goes to the spool without staying in memory`() async throws {
        let harness = try ServiceHarness()
        let server = try await harness.serve()
        let small = try await server.send("POST", "/v1/jobs", ["Prefer": "wait=20"], body: Data(count: 1000))
        #expect(small.status == 200)
        let file = try zeros(200_000_000, in: harness)
        let before = try memory("VmRSS", of: server)
        var request = URLRequest(url: server.url.appending(path: "/v1/jobs"), timeoutInterval: 60)
        request.httpMethod = "POST"
        request.setValue("wait=30", forHTTPHeaderField: "Prefer")
        request.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
        request.setValue("Bearer \(server.key ?? "")", forHTTPHeaderField: "Authorization")
        let (data, response) = try await URLSession.shared.upload(for: request, fromFile: file)
        let grown = try memory("VmHWM", of: server) - before
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        #expect(grown < 32 << 20, "\(grown) bytes")
        let answer = String(decoding: data, as: UTF8.self)
        #expect(answer.contains(#""code":"unrecognized_type""#), "\(answer)")
        _ = try await server.stop()
    }
}
