import Foundation
import NIOCore
import ServiceTestSupport
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct SpoolOrderTests {
    /// A fetched source can be fetched again. What is kept for a job is synced before it has a name, and the name before
    /// anyone hears of it: DurabilityTests take these syncs back one by one. strace is the witness here.
    @Test func `a fetched source waits for no disk, and its name goes with whoever reads it`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path
        try await LocalOrigin.runBytewise { request, answer in
            let count = request.path.hasPrefix("/large") ? 1_000_000 : 10
            try await answer.send("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n")
            try await answer.write(ByteBuffer(repeating: 0x41, count: count))
        } _: { server in
            let status = try await Self.trace(path + "/trace", [path + "/spool", server.url("")])
            try #require(status == 0)
        }
        let trace = try String(contentsOfFile: path + "/trace", encoding: .utf8)
        // `write(7</…/x.part>` becomes `write part`, and so on.
        let calls = trace.split(separator: "\n").compactMap { line -> String? in
            let name = line.drop { $0.isNumber || $0 == " " }.prefix { $0 != "(" }
            if name == "write", line.contains("/spool/"), line.contains(".part") { return "write part" }
            if name == "fsync" { return line.contains(".part") ? "sync part" : "sync directory" }
            if name.hasPrefix("unlink"), line.contains(".part") { return "remove part" }
            return nil
        }
        let steps = calls.reduce(into: [String]()) { steps, call in if steps.last != call { steps.append(call) } }
        let fetched = ["write part", "remove part"]
        // The first sync is that of the new spool's own name.
        #expect(steps == ["sync directory"] + fetched + fetched)
    }

    private static func trace(_ output: String, _ arguments: [String]) async throws -> Int32 {
        try await Program.tool("strace").start(
            [
                "-f", "-y", "-o", output, "-e", "trace=write,fsync,fdatasync,unlink,unlinkat",
                try Repository.product("fetch-probe").path(percentEncoded: false),
            ] + arguments
        ).end().status
    }
}
