import Foundation
import TestSupport

@testable import SatchelClient

/// Answers requests for a name with that name, once it was opened; what is called `missing` with 404.
final class NotificationOrigin: Sendable {
    let home: TemporaryDirectory
    let url: URL
    private let process: pid_t
    private let running: Locked<RunningProgram>

    private static let program = """
        import collections, http.server, threading
        gates = collections.defaultdict(threading.Event)
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                kind, name = self.path.strip("/").split("/")
                name = name.split(".")[0]
                if kind == "open":
                    gates[name].set()
                else:
                    gates[name].wait(300)
                self.send_response(404 if "missing" in name and kind != "open" else 200)
                self.send_header("Content-Length", str(len(name)))
                self.end_headers()
                self.wfile.write(name.encode())
            def log_message(self, *arguments):
                pass
        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 128
        server = Server(("127.0.0.1", 0), Handler)
        print(server.server_port)
        threading.Timer(600, lambda: server.shutdown()).start()
        server.serve_forever()
        """

    init() async throws {
        home = try TemporaryDirectory()
        let program = try Program.tool("python3").start(["-u", "-c", Self.program])
        process = program.process.processIdentifier
        var port = ""
        for _ in 0..<6000 where !port.hasSuffix("\n") {
            try await Task.sleep(for: .milliseconds(10))
            port = try program.outputSoFar
        }
        guard let url = URL(string: "http://127.0.0.1:\(port.dropLast())/") else {
            throw ServiceFailure(description: "python3 says no port: \(try program.errorsSoFar)")
        }
        self.url = url
        running = Locked(program)
    }

    deinit {
        kill(process, SIGKILL)
    }

    /// A link and its preview, and which of the names that it needs are opened.
    typealias Wanted = (link: SatchelNotification.Link, opened: [String])

    func link(_ name: String, preview: String?, opened: [String]) -> Wanted {
        let link = SatchelNotification.Link(
            identifier: name, url: url.appending(path: "get/\(name).txt"),
            previewURL: preview.map { url.appending(path: "get/\($0).txt") })
        return (link, opened)
    }

    func notification(_ wanted: [Wanted]) async throws -> SatchelNotification {
        for name in wanted.flatMap(\.opened) { try await open(name) }
        return SatchelNotification(v: 1, attachments: wanted.map(\.link))
    }

    func open(_ name: String) async throws {
        _ = try await RunningService.get(url.appending(path: "open/\(name)"))
    }

    /// The files that lie there, without extensions.
    func kept() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: home.path).map { String($0.prefix { $0 != "." }) }.sorted()
    }

    static func content(of file: SatchelNotification.File) throws -> String {
        try String(contentsOf: file.file, encoding: .utf8)
    }
}
