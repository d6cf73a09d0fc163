import Foundation
import TestSupport
import Testing

/// A site that others fetch from and call back to: it gives a photograph on every path, after as many seconds as
/// `/slow/<seconds>/…` says, takes every POST, and writes down each request.
final class Origin {
    private let program: RunningProgram
    let port: Int

    init() async throws {
        let program = try Program.tool("python3").start([
            "-u", "-c", Self.script, Repository.media.appending(path: "jpeg/coffee.jpg").path(percentEncoded: false),
        ])
        var port: Int?
        try await eventually("the origin listens") {
            port = try program.outputSoFar.firstMatch(of: /^port (\d+)\n/).flatMap { Int($0.1) }
            return port != nil
        }
        self.program = program
        self.port = try #require(port)
    }

    deinit {
        program.process.terminate()
    }

    func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    /// Every request: its line, and its headers in lower case.
    var requests: [(line: String, headers: [String: String])] {
        get throws {
            try program.outputSoFar.split(separator: "\n").dropFirst().compactMap { line in
                guard let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                    let request = object["line"] as? String
                else { return nil }
                return (request, object["headers"] as? [String: String] ?? [:])
            }
        }
    }

    private static let script = """
        import http.server, json, sys, threading, time
        photo = open(sys.argv[1], 'rb').read()
        lock = threading.Lock()
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'
            def note(self):
                with lock:
                    print(json.dumps({'line': self.requestline,
                        'headers': {k.lower(): v for k, v in self.headers.items()}}), flush=True)
            def do_GET(self):
                self.note()
                parts = self.path.split('/')
                if parts[1] == 'slow': time.sleep(float(parts[2]))
                status = int(parts[2]) if parts[1] == 'status' else 200
                # A trailer of its own makes every path another picture.
                body = photo + self.path.split('?')[0].encode()
                self.send_response(status)
                self.send_header('Content-Type', 'image/jpeg')
                self.send_header('Content-Length', str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            def do_POST(self):
                self.rfile.read(int(self.headers.get('Content-Length', 0)))
                self.note()
                self.send_response(204)
                self.end_headers()
            def log_message(self, *arguments): pass
        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 128
            daemon_threads = True
        server = Server(('127.0.0.1', 0), Handler)
        print('port', server.server_port, flush=True)
        server.serve_forever()
        """
}
