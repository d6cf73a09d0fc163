import Foundation
import SatchelClient
import TestSupport

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// `satchel serve` on a port of the loopback, with a store of its own and an origin that gives out the sample files.
final class RunningService {
    let home: TemporaryDirectory
    let url: URL
    let key: String
    private let satchel: Program
    private let port: Int
    private let settings: [String]
    private var service: RunningProgram?
    private let origin: RunningProgram
    private var silent: [RunningProgram] = []
    /// Where a sample file is fetched from.
    let media: URL

    /// - Parameter settings: As `--set` takes them.
    init(_ settings: String...) async throws {
        home = try TemporaryDirectory()
        satchel = Program(
            try Repository.product("satchel"),
            environment: [
                "SATCHEL_STORE": home.path + "/store", "SATCHEL_ACCESS_KEYS": home.path + "/access.keys",
                "SATCHEL_PROFILES": "",
            ],
            in: home.url)
        let ports = try Program.tool("python3").run([
            "-c",
            """
            import socket
            sockets = [socket.socket() for _ in range(2)]
            for each in sockets: each.bind(("127.0.0.1", 0))
            for each in sockets: print(each.getsockname()[1])
            """,
        ]).outputText.split(separator: "\n").compactMap { Int($0) }
        guard ports.count == 2, let url = URL(string: "http://127.0.0.1:\(ports[0])"),
            let media = URL(string: "http://127.0.0.1:\(ports[1])")
        else { throw ServiceFailure(description: "no free ports") }
        (port, self.url, self.media) = (ports[0], url, media)
        self.settings = settings + ["fetch.allow=127.0.0.1"]
        let made = try satchel.run(["key", "create", "--role", "admin", "--format", "json"])
        struct Made: Decodable { var key: String }
        key = try JSONDecoder().decode(Made.self, from: made.output).key
        origin = try Program.tool("python3").start([
            "-m", "http.server", "\(ports[1])", "--bind", "127.0.0.1", "--directory",
            Repository.media.path(percentEncoded: false),
        ])
        try await start()
        try await Self.answers(media)
    }

    deinit {
        for program in silent + [origin] + [service].compactMap(\.self) {
            kill(program.process.processIdentifier, SIGKILL)
        }
    }

    var client: SatchelClient { SatchelClient(url: url, key: key) }

    func start() async throws {
        service = try satchel.start(
            ["serve", "--listen", "127.0.0.1:\(port)", "--codecs", "2", "--grace", "1s"]
                + settings.flatMap { ["--set", $0] })
        try await Self.answers(url.appending(path: "readyz"))
    }

    /// As an operator would: SIGTERM, and wait for the end.
    func stop() async throws {
        guard let service else { return }
        service.process.terminate()
        _ = try await service.end(within: 60)
        self.service = nil
    }

    private static func answers(_ url: URL) async throws {
        for _ in 0..<600 {
            if let (_, response) = try? await URLSession.shared.data(from: url),
                (response as? HTTPURLResponse)?.statusCode == 200
            {
                return
            }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw ServiceFailure(description: "\(url) does not answer")
    }

    /// A URL whose server takes connections and never says a word.
    func silence() throws -> URL {
        let program = try Program.tool("python3").start([
            "-u", "-c",
            """
            import socket, time
            listener = socket.socket()
            listener.bind(("127.0.0.1", 0))
            listener.listen(64)
            print(listener.getsockname()[1])
            time.sleep(120)
            """,
        ])
        silent.append(program)
        for _ in 0..<1200 {
            if let port = Int(try program.outputSoFar.split(separator: "\n").first ?? ""),
                let url = URL(string: "http://127.0.0.1:\(port)/silence.jpg")
            {
                return url
            }
            usleep(50_000)
        }
        throw ServiceFailure(description: "python3 says no port")
    }

    /// A sample file.
    static func sample(_ path: String) -> URL { Repository.media.appending(path: path) }

    /// What a plain GET gets, without any credentials.
    static func get(_ url: URL) async throws -> (status: Int, body: Data) {
        let (body, response) = try await URLSession.shared.data(from: url)
        return ((response as? HTTPURLResponse)?.statusCode ?? 0, body)
    }

    /// What may keep a copy of what a plain GET gets.
    static func cacheControl(of url: URL) async throws -> String? {
        let (_, response) = try await URLSession.shared.data(from: url)
        return (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Cache-Control")
    }
}

struct ServiceFailure: Error, CustomStringConvertible {
    var description: String
}
