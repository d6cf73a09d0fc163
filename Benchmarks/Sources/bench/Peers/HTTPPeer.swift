import Foundation
import Glibc

/// A service that gives out small pictures, asked over HTTP.
struct HTTPPeer: Sendable {
    var port: UInt16
    /// Whose time is counted, with all processes beneath it; nil where it isn't known.
    var process: pid_t?
    /// The path and query for a source in a size.
    var target: @Sendable (_ source: String, _ size: Int) -> String

    /// Asks for all sources in all sizes, with a client for each processor.
    func make(_ task: StillTask, of sources: [String], in place: URL) throws -> Usage {
        let before = process.map { ProcessTree(of: $0).cpu }
        let start = ContinuousClock.now
        let next = Counter()
        try Clients.run(Machine.usableCores.count) { _ in
            let connection = HTTPConnection(port: port)
            while case let index = next.next(), index < sources.count {
                for size in task.sizes {
                    let path = target(sources[index], size)
                    let answer = try connection.send("GET", path)
                    guard answer.status == 200 else {
                        throw CommandFailure(
                            command: ["GET", path],
                            reason:
                                "answered \(answer.status): \(String(decoding: answer.body.prefix(300), as: UTF8.self))"
                        )
                    }
                    try answer.body.write(to: URL(filePath: task.output(of: sources[index], size, in: place)))
                }
            }
        }
        var usage = Usage.none
        usage.wall = (ContinuousClock.now - start) / .seconds(1)
        if let process, let before { usage.cpu = ProcessTree(of: process).cpu - before }
        return usage
    }

    func contender(_ name: String, _ title: String, _ task: StillTask) -> Contender {
        var contender = Contender(name, title, .peer) { sources, place in
            try make(task, of: sources, in: place)
        }
        contender.services = process.map { [$0] } ?? []
        return contender
    }
}

extension HTTPPeer {
    /// - Throws: ``CommandFailure`` where the URL isn't of this machine: what is measured beside runs beside.
    init(url pattern: String, process: pid_t?) throws {
        guard let start = URL(string: pattern.replacing("{", with: "").replacing("}", with: "")),
            let host = start.host(), ["127.0.0.1", "localhost"].contains(host),
            let slash = pattern.dropFirst("http://".count).firstIndex(of: "/")
        else {
            throw CommandFailure(command: [pattern], reason: "is no URL of http://127.0.0.1 with a path")
        }
        port = UInt16(clamping: start.port ?? 80)
        self.process = process
        let path = String(pattern[slash...])
        target = { source, size in PeerTemplate.url(path, input: source, width: size, height: size) }
    }
}

/// thumbor with a process for each processor, while it is measured.
final class Thumbor {
    let peer: HTTPPeer
    private let process: pid_t

    /// - Throws: ``CommandFailure`` where it is missing or doesn't start.
    init(_ run: RunContext) throws {
        let environment = run.environment("thumbor")
        guard environment.isThere else { throw CommandFailure(command: ["thumbor"], reason: environment.absence) }
        let port = try RunningService.freePort()
        let command = Command(
            environment.program("thumbor"),
            [
                "--ip", "127.0.0.1", "--port", "\(port)", "--processes", "\(Machine.usableCores.count)", "--log-level",
                "error", "--conf", run.options.peerFiles.appending(path: "thumbor.conf").path(percentEncoded: false),
            ])
        process = try command.start()
        peer = HTTPPeer(port: port, process: process) { source, size in
            PeerTemplate.url("/unsafe/fit-in/{width}x{height}/{path}", input: source, width: size, height: size)
        }
        for _ in 0..<100 {
            usleep(100_000)
            if let answer = try? HTTPConnection(port: port).send("GET", "/healthcheck"), answer.status == 200 { return }
        }
        stop()
        throw CommandFailure(command: command.line, reason: "was not ready after 10 s")
    }

    /// With its processes, which its parent doesn't always end.
    func stop() {
        for process in ProcessTree(of: process).processes { kill(process, SIGTERM) }
        var status: Int32 = 0
        for _ in 0..<50 {
            if unsafe waitpid(process, &status, WNOHANG) != 0 { return }
            usleep(100_000)
        }
        for process in ProcessTree(of: process).processes { kill(process, SIGKILL) }
        _ = unsafe waitpid(process, &status, 0)
    }
}
