import Foundation
import NIOCore
import ServiceTestSupport
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct FetchMemoryTests {
    @Test func `a large body passes through in little memory, however fast it comes`() async throws {
        // 1 GB with SATCHEL_FETCH_BYTES=1000000000; memory doesn't depend on it.
        let bytes = ProcessInfo.processInfo.environment["SATCHEL_FETCH_BYTES"].flatMap { Int($0) } ?? 256_000_000
        let directory = try TemporaryDirectory()
        let path = directory.path
        let words = try await LocalOrigin.runBytewise { request, answer in
            let count = request.path.hasPrefix("/large") ? bytes : 100_000
            try await answer.send("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n")
            let piece = ByteBuffer(repeating: 0x41, count: 100_000)
            for _ in 0..<(count / 100_000) { try await answer.write(piece) }
        } _: { server in
            try await Self.probe(path + "/spool", server.url(""))
        }
        let figures = words.split(separator: " ").compactMap { Int($0) }
        try #require(figures.count == 2)
        #expect(figures[0] == bytes)
        #expect(figures[1] < 16 * 1024, "\(figures[1]) KiB")
    }

    private static func probe(_ arguments: String...) async throws -> String {
        let result = try await Program(Repository.product("fetch-probe")).start(arguments).end()
        try #require(result.status == 0)
        return result.outputText.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
