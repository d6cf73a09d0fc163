import Foundation
import Glibc
import ServiceTestSupport
import TestSupport
import Testing

/// What systemd and the service say to each other: sd_notify(3), sd_watchdog_enabled(3), sd_listen_fds(3).
@Suite(.timeLimit(.minutes(5))) struct ServiceManagerTests {
    @Test(arguments: [false, true])
    func `its manager hears when it takes requests, and that it ends`(isAbstract: Bool) async throws {
        let harness = try ServiceHarness()
        let manager = try NotifySocket((isAbstract ? "@" : "") + harness.home.path + "/notify")
        let server = try await serve(harness, ["NOTIFY_SOCKET": manager.name], "--grace", "7")
        try await eventually("it is told to be ready") { manager.messages.first?.contains("READY=1\n") == true }
        #expect(manager.messages == ["READY=1\nSTATUS=Listening on 127.0.0.1:\(server.url.port ?? 0)"])
        #expect(try await server.get("/livez").status == 200)
        #expect(try await server.stop().status == 0)
        #expect(
            manager.messages.dropFirst() == [
                "STOPPING=1\nSTATUS=Finishing running jobs\nEXTEND_TIMEOUT_USEC=12000000"
            ])
    }

    @Test func `its watchdog hears from it again and again, and nobody else's does`() async throws {
        let harness = try ServiceHarness()
        let manager = try NotifySocket(harness.home.path + "/notify")
        let server = try await serve(harness, ["NOTIFY_SOCKET": manager.name, "WATCHDOG_USEC": "300000"])
        try await eventually("three signs of life") { manager.messages.count { $0 == "WATCHDOG=1" } >= 3 }
        #expect(try await server.stop().status == 0)

        let other = try NotifySocket(harness.home.path + "/other")
        let next = try await serve(
            harness, ["NOTIFY_SOCKET": other.name, "WATCHDOG_USEC": "1000", "WATCHDOG_PID": "1"])
        try await eventually("it is ready") { !other.messages.isEmpty }
        #expect(try await next.stop().status == 0)
        #expect(!other.messages.contains("WATCHDOG=1"))
    }

    @Test func `SIGHUP has it read its settings again, and its manager hears that`() async throws {
        let harness = try ServiceHarness()
        let manager = try NotifySocket(harness.home.path + "/notify")
        let origin = try await LocalOrigin(LocalOrigin.photographs)
        let settings = try harness.file("settings.yaml", text: "codecs: 1\n")
        let server = try await serve(
            harness, ["NOTIFY_SOCKET": manager.name], "--config", settings.path(percentEncoded: false))
        try await eventually("it is ready") { !manager.messages.isEmpty }
        let ready = manager.messages[0]
        func reload(_ text: String) async throws -> [String: Any] {
            func lines() throws -> [[String: Any]] {
                try server.log.filter { ($0["message"] as? String)?.contains("settings") == true }
            }
            let before = try lines().count
            _ = try harness.file("settings.yaml", text: text)
            server.signal(SIGHUP)
            return try await whenFound("a line about the settings") { try lines().dropFirst(before).first }
        }
        let wrong = try await reload("log.level: loud\nfetch.allow: [127.0.0.1]\n")
        #expect(wrong["message"] as? String == "the settings are wrong; nothing changed", "\(wrong)")
        #expect("\(wrong)".contains("loud"))
        func state(_ job: String) async throws -> String? {
            _ = try await server.submit(job, "http://127.0.0.1:\(origin.port)/photo.jpg")
            return try await server.finished(job)["state"] as? String
        }
        #expect(try await state("before") == "failed")

        let right = try await reload("log.level: debug\nfetch.allow: [127.0.0.1]\ncodecs: 2\n")
        #expect(right["changed"] as? [String] == ["fetch.allow", "log.level"], "\(right)")
        #expect(right["needs_restart"] as? [String] == ["codecs"])
        #expect(try await state("after") == "delivered")
        try await eventually("it is ready again") {
            manager.messages.count { $0.hasPrefix("RELOADING=1\n") } == 2 && manager.messages.last == ready
        }
        #expect(try await server.stop().status == 0)
    }

    @Test func `where nobody hears it the service works all the same, and says so`() async throws {
        let harness = try ServiceHarness()
        for name in [harness.home.path + "/nobody", "relative", "/" + String(repeating: "x", count: 200)] {
            let server = try await serve(harness, ["NOTIFY_SOCKET": name])
            #expect(try await server.get("/livez").status == 200)
            #expect(try await server.stop().outputText.contains("cannot notify the service manager"), "\(name)")
        }
    }

    @Test func `a socket that is passed is served, with the request that started the service`() async throws {
        let harness = try ServiceHarness()
        let port = try FreePort.find()
        let program = try activated(harness, at: ["127.0.0.1:\(port)"], "--listen", "127.0.0.1:1")
        #expect(try await firstAnswer("http://127.0.0.1:\(port)/livez") == "ok\n")
        let server = try await ServiceProcess(program)
        #expect(server.url.port == port)
        #expect(try await server.accepts())
        let errors = try program.errorsSoFar
        #expect(errors.contains("'listen' (--listen) is ignored"), "\(errors)")
        // Nothing that it starts inherits the socket, nor takes itself for the service.
        let process = program.process.processIdentifier
        let flags = try String(contentsOfFile: "/proc/\(process)/fdinfo/3", encoding: .utf8)
            .firstMatch(of: /flags:\s*([0-7]+)/).flatMap { Int32($0.1, radix: 8) }
        #expect(try #require(flags) & O_CLOEXEC != 0)
        let children = try String(contentsOfFile: "/proc/\(process)/task/\(process)/children", encoding: .utf8)
        for child in children.split(separator: " ") {
            let environment = try String(contentsOfFile: "/proc/\(child)/environ", encoding: .utf8)
            #expect(!environment.contains("LISTEN_"))
        }
        #expect(try await server.stop().status == 0)
    }

    @Test func `several sockets are served, those of the file system too`() async throws {
        let harness = try ServiceHarness()
        let ports = try [FreePort.find(), FreePort.find()]
        let path = harness.home.path + "/socket"
        let program = try activated(harness, at: ["127.0.0.1:\(ports[0])", path, "[::1]:\(ports[1])"])
        #expect(try await firstAnswer("--unix-socket", path, "http://satchel/livez") == "ok\n")
        #expect(try await firstAnswer("http://127.0.0.1:\(ports[0])/livez") == "ok\n")
        #expect(try await firstAnswer("http://[::1]:\(ports[1])/livez") == "ok\n")
        let server = try await ServiceProcess(program)
        let places = try server.log.first { $0["message"] as? String == "listening" }?["address"] as? String
        #expect(places == "127.0.0.1:\(ports[0]), \(path), [::1]:\(ports[1])")
        #expect(try await server.stop().status == 0)
    }

    @Test func `a socket that others can reach needs a public URL and a key`() async throws {
        let harness = try ServiceHarness()
        let port = try FreePort.find()
        let withoutURL = try activated(harness, at: ["0.0.0.0:\(port)"])
        _ = try? await firstAnswer("http://127.0.0.1:\(port)/livez")
        let refused = try await withoutURL.end()
        #expect(refused.status == 2 && refused.errorText.contains("listens on 0.0.0.0:\(port)"), "\(refused.errorText)")
        let path = harness.home.path + "/socket"
        let local = try activated(harness, at: [path])
        _ = try? await firstAnswer("--unix-socket", path, "http://satchel/livez")
        let nowhere = try await local.end()
        #expect(nowhere.status == 2 && nowhere.errorText.contains("public_url"), "\(nowhere.errorText)")
        let keyless = try activated(
            harness, at: ["0.0.0.0:\(port)"], "--public-url", "https://media.example.com")
        _ = try? await firstAnswer("http://127.0.0.1:\(port)/livez")
        let closed = try await keyless.end()
        #expect(closed.status == 2 && closed.errorText.contains("satchel key create"), "\(closed.errorText)")
    }

    @Test func `what is no socket to listen on is named`() async throws {
        let harness = try ServiceHarness()
        let path = harness.home.path + "/datagrams"
        let program = try activated(harness, at: [path], datagrams: true)
        try await eventually("it is listened on") { FileManager.default.fileExists(atPath: path) }
        try NotifySocket.send("x", to: path)
        let result = try await program.end()
        #expect(result.status == 2 && result.errorText.contains("'datagrams'"), "\(result.errorText)")
        #expect(result.errorText.contains("ListenStream="))
    }

    @Test func `sockets of another process are none of its business`() async throws {
        let harness = try ServiceHarness()
        let server = try await serve(harness, ["LISTEN_PID": "1", "LISTEN_FDS": "1"])
        #expect(try await server.accepts())
        #expect(try await server.stop().status == 0)
    }

    @Test func `where a journal keeps what is said it makes no key, and takes the first that is made`() async throws {
        let harness = try ServiceHarness()
        var shell = Program.tool("sh")
        shell.environment.merge(harness.satchel.environment) { $1 }
        let program = try shell.start([
            "-c", "JOURNAL_STREAM=$(stat -L -c %d:%i /dev/stderr) exec \"$0\" serve --listen 127.0.0.1:0",
            harness.satchel.executable.path(percentEncoded: false),
        ])
        let server = try await ServiceProcess(program)
        #expect(server.key == nil)
        #expect(try server.program.outputSoFar.contains("satchel key create"))
        let key = try await harness.makeKey()
        #expect(try await server.accepts(key))
        #expect(try await server.stop().status == 0)
    }

    // MARK: How it is started

    private func serve(
        _ harness: borrowing ServiceHarness, _ variables: [String: String], _ arguments: String...
    ) async throws -> ServiceProcess {
        var satchel = harness.satchel
        satchel.environment.merge(variables) { $1 }
        return try await ServiceProcess(satchel.start(["serve", "--listen", "127.0.0.1:0"] + arguments))
    }

    /// Starts the service with what first connects to one of these places, as a .socket unit does.
    private func activated(
        _ harness: borrowing ServiceHarness, at places: [String], datagrams: Bool = false, _ arguments: String...
    ) throws -> RunningProgram {
        var words = places.flatMap { ["--listen", $0] } + (datagrams ? ["--datagram", "--fdname=datagrams"] : [])
        words += harness.satchel.environment.map { "--setenv=\($0.key)=\($0.value)" }
        words += [harness.satchel.executable.path(percentEncoded: false), "serve"]
        return try Program.tool("systemd-socket-activate").start(words + arguments)
    }

    /// What is answered as soon as somebody listens; waits for the answer itself as long as it takes.
    private func firstAnswer(_ words: String...) async throws -> String {
        try await whenFound("an answer to \(words)") {
            let asked = try await onThread { try Program.tool("curl").run(["-sS", "-m", "60"] + words) }
            // 7: nobody listens yet.
            return asked.status == 7 ? nil : asked.outputText
        }
    }
}

/// What a service is told to send its messages to.
private final class NotifySocket {
    let name: String
    private let number: Int32
    private var heard: [String] = []

    /// - Parameter name: A path; an abstract one begins with `@`.
    init(_ name: String) throws {
        self.name = name
        number = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        let number = number
        let status = unsafe Self.with(name) { unsafe bind(number, $0, $1) }
        try #require(status == 0)
    }

    deinit { close(number) }

    /// All that it has heard by now.
    var messages: [String] {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe recv(number, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            guard count >= 0 else { return heard }
            heard.append(String(decoding: buffer.prefix(count), as: UTF8.self))
        }
    }

    static func send(_ text: String, to path: String) throws {
        let number = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(number) }
        let sent = unsafe with(path) { unsafe sendto(number, text, text.utf8.count, 0, $0, $1) }
        try #require(sent == text.utf8.count)
    }

    private static func with<Result>(
        _ name: String, _ body: (UnsafePointer<sockaddr>?, socklen_t) throws -> Result
    ) rethrows -> Result {
        var bytes = Array(name.utf8)
        if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
        bytes = unsafe withUnsafeBytes(of: sa_family_t(AF_UNIX)) { unsafe Array($0) } + bytes
        return try unsafe bytes.withUnsafeBytes {
            try unsafe body($0.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
    }
}
