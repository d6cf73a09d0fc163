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

    @Test func `an upload of 200 MB goes to the spool without staying in memory`() async throws {
        let harness = try ServiceHarness()
        let server = try await harness.serve()
        let small = try await server.send("POST", "/v1/jobs", ["Prefer": "wait=20"], body: Data(count: 1000))
        #expect(small.status == 200)
        let file = try harness.file("zeros", Data())
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: 200_000_000)
        try handle.close()
        let before = try memory("VmRSS", of: server)
        var request = URLRequest(url: server.url.appending(path: "/v1/jobs"), timeoutInterval: 60)
        request.httpMethod = "POST"
        request.setValue("wait=30", forHTTPHeaderField: "Prefer")
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
