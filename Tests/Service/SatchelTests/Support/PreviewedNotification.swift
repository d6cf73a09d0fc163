import Foundation
import Glibc
import TestSupport
import Testing

/// `satchel preview` with files of `Media/notifications`, or others, and perhaps the handler beside them.
final class PreviewedNotification {
    let program: RunningProgram
    let url: URL
    private let handler: RunningProgram?

    /// Waits until the page is there.
    ///
    /// - Parameters:
    ///   - sample: The name of a sample of `Media/notifications`.
    ///   - handler: Whether the samples' handler is asked.
    convenience init(sample: String, handler: Bool = true, in home: borrowing TemporaryDirectory) async throws {
        let directory = Repository.media.appending(path: "notifications").path(percentEncoded: false)
        try await self.init(
            ["\(directory)/\(sample).push.json", "--category", "\(directory)/\(sample).json"]
                + (sample == "event-invite"
                    ? [] : ["--attach", "photo=\(Repository.media.path(percentEncoded: false))/jpeg/coffee.jpg"]),
            handler: handler ? "\(directory)/handler.py" : nil, in: home)
    }

    /// - Parameter handler: A script of Python that listens on the port which it is given, and prints where.
    init(_ arguments: [String], handler: String? = nil, in home: borrowing TemporaryDirectory) async throws {
        var arguments = ["preview"] + arguments
        self.handler = try handler.map { try Program.tool("python3").start(["-B", $0, "0"]) }
        if let handler = self.handler {
            let url = try await whenFound("where the handler listens") { try Self.line(handler) }
            arguments += ["--handler", url]
        }
        let satchel = Program(
            try Repository.product("satchel"),
            environment: ["SATCHEL_PROFILES": "", "SATCHEL_CONFIG": "", "TMPDIR": home.path], in: home.url)
        let program = try satchel.start(arguments)
        self.program = program
        let line = try await whenFound("where the page is") { () -> String?? in
            let line = try Self.line(program)
            return line == nil && program.process.isRunning ? nil : .some(line)
        }
        let errors = try program.errorsSoFar
        url = try #require(line.flatMap { URL(string: $0) }, "\(errors)")
    }

    private static func line(_ program: RunningProgram) throws -> String? {
        let output = try program.outputSoFar
        return output.hasSuffix("\n") ? String(output.dropLast()) : nil
    }

    /// Ends it as Ctrl-C does.
    func interrupt() async throws -> ProgramResult {
        kill(program.process.processIdentifier, SIGINT)
        return try await program.end()
    }

    func stopHandler() {
        if let handler { kill(handler.process.processIdentifier, SIGKILL) }
    }

    // MARK: Without a browser

    func get(_ path: String? = nil) async throws -> RawReply {
        try await RawClient.ask(port, "GET", path ?? url.path)
    }

    var port: Int { url.port ?? 0 }

    /// The page as text.
    var page: String {
        get async throws { String(decoding: try await get().body, as: UTF8.self) }
    }

    func post(_ response: [String: Any]) async throws -> (status: Int, answer: [String: Any]) {
        let body = String(decoding: try JSONSerialization.data(withJSONObject: response), as: UTF8.self)
        let reply = try await RawClient.ask(
            port, "POST", url.path.replacingOccurrences(of: "/p/", with: "/r/"),
            ["Origin: null", "Content-Type: application/json"], body: body)
        #expect(reply.headers["access-control-allow-origin"] == "*")
        let answer = try #require(try JSONSerialization.jsonObject(with: reply.body) as? [String: Any])
        return (reply.status, answer)
    }
}
