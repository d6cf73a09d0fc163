import Foundation
import TestSupport
import Testing

/// A server on the loopback that hands out the files in a machine's home, for as long as it lives.
final class Origin {
    let url: String
    private let server: RunningProgram

    init(for machine: borrowing Machine) throws {
        let port = "\(machine.path)/port"
        server = try Program.tool("python3").start(["-c", Self.script, machine.home, port])
        let end = ContinuousClock.now + .seconds(60)
        while !Disk.exists(port), ContinuousClock.now < end { Thread.sleep(forTimeInterval: 0.01) }
        try #require(Disk.exists(port), "the server didn't start")
        url = "http://127.0.0.1:\(String(decoding: try Disk.read(port), as: UTF8.self))"
    }

    private static let script = """
        import functools, http.server, os, sys
        handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        with open(sys.argv[2] + ".new", "w") as file: file.write(str(server.server_port))
        os.rename(sys.argv[2] + ".new", sys.argv[2])
        server.serve_forever()
        """
}
