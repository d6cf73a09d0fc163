import SatchelCore
import Bytes
import Foundation
import Ingest
import NIOCore
import NIOPosix
import Stores
import Synchronization

/// Tries hostile URLs for real, with listeners on every address as the judge. For a network namespace in which
/// `ip route add local 0.0.0.0/0 dev lo` and `ip -6 route add local ::/0 dev lo` make every address this machine's.
///
/// Arguments: a directory for the spool; standard input: one JSON object for each URL, `{"url": …, "answers": […]}`.
/// Standard output: a ``ProbeReport``.
@main enum FetchProbe {
    static func main() async throws {
        if CommandLine.arguments.count == 3, CommandLine.arguments[2] == "--keep" {
            try await keep()
            return
        }
        if CommandLine.arguments.count == 3 {
            try await measure(CommandLine.arguments[2])
            return
        }
        guard try isAlone() else {
            FileHandle.standardError.write(Data("fetch-probe runs only in a namespace with lo alone\n".utf8))
            exit(2)
        }
        let spool = try Spool(at: CommandLine.arguments[1])
        let lines = try FileHandle.standardInput.readToEnd() ?? Data()
        let attempts = try lines.split(separator: UInt8(ascii: "\n")).map {
            try JSONDecoder().decode(ProbeAttempt.self, from: $0)
        }
        var report = ProbeReport()

        // The canary hears what comes to any address on these ports; the kernel counts attempts on all others.
        let canary = Listener()
        let redirector = Listener(redirectingTo: attempts.map(\.url))
        // A listener on :: takes IPv4 too; the controls show that it does.
        for port in [80, 443, 22, 6379, 8080] { try await canary.listen("::", port) }
        try await redirector.listen("0.0.0.0", 8099)
        let before = try activeOpens()

        for attempt in attempts {
            let fetcher = Fetcher(
                guardedBy: FetchGuard(), into: spool, userAgent: "probe",
                resolve: attempt.resolve)
            report.direct.append(await outcome(fetcher, attempt.url))
        }
        report.heardDirect = canary.heard
        report.opensDirect = try activeOpens() - before

        // The same as targets of redirects by an origin that is allowed.
        for (index, attempt) in attempts.enumerated() {
            let fetcher = Fetcher(
                guardedBy: FetchGuard(allowing: [try FetchAllowance("198.51.100.77:8099")]), into: spool,
                userAgent: "probe",
                resolve: attempt.resolve)
            report.redirected.append(await outcome(fetcher, "http://198.51.100.77:8099/\(index)"))
        }
        report.heardRedirected = canary.heard - report.heardDirect
        report.opensRedirected = try activeOpens() - before - report.opensDirect
        report.redirects = redirector.heard

        // What is allowed must be heard, or the canary proves nothing.
        let allowing = FetchGuard(
            allowing: try FetchAllowance.list(["10.9.8.7", "[fd00::/8]:8080", "169.254.0.0/16:22"]))
        let controls = [
            "http://93.184.216.34/", "http://[2606:2800:220:1::7]/", "http://10.9.8.7/", "http://[fd00::9]:8080/",
            "http://169.254.169.254:22/",
        ]
        let heard = canary.heard
        for url in controls {
            report.controls.append(
                await outcome(Fetcher(guardedBy: allowing, into: spool, userAgent: "probe"), url))
        }
        report.heardControls = canary.heard - heard
        // A file goes with the last task that has it, which may be a moment later.
        let end = ContinuousClock.now + .seconds(20)
        let spooled = CommandLine.arguments[1]
        func left() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: spooled).count }
        while try left() > 0, .now < end { try await Task.sleep(for: .milliseconds(10)) }
        report.left = try left()
        FileHandle.standardOutput.write(try JSONEncoder().encode(report))
    }

    /// With `--keep` as the second argument: receives standard input in the spool, has it kept, durably, and prints its
    /// name there.
    private static func keep() async throws {
        let bytes = try FileHandle.standardInput.readToEnd() ?? Data()
        let path = CommandLine.arguments[1]
        var file = try Spool(at: path).create(hashing: true)
        try unsafe bytes.withUnsafeBytes { unsafe try file.write($0) }
        print(try await FileSourceStore(directory: path).put(file.finish()).rawValue)
    }

    /// With a URL on the loopback as the second argument: fetches it and prints the bytes that came, and by how many KiB
    /// the process's peak memory grew after a first, small fetch.
    private static func measure(_ url: String) async throws {
        let fetcher = Fetcher(
            guardedBy: FetchGuard(allowing: [try FetchAllowance("127.0.0.1")]),
            into: try Spool(at: CommandLine.arguments[1]),
            userAgent: "probe")
        _ = try await fetcher.fetch(url + "/small")
        let before = try peakMemory()
        let source = try await fetcher.fetch(url + "/large", within: FetchLimits(bytes: 4_000_000_000))
        print(source.bytes, try peakMemory() - before)
    }

    /// The most memory that was resident so far, in KiB.
    private static func peakMemory() throws -> Int {
        let lines = try String(contentsOfFile: "/proc/self/status", encoding: .utf8).split(separator: "\n")
        let line = lines.first { $0.hasPrefix("VmHWM:") } ?? ""
        let words = line.split { $0 == " " || $0 == "\t" }
        guard words.count == 3, let peak = Int(words[1]) else {
            throw CocoaError(.fileReadCorruptFile)
        }
        return peak
    }

    /// The error's code, or `fetched`.
    private static func outcome(_ fetcher: Fetcher, _ url: String) async -> String {
        do {
            _ = try await fetcher.fetch(url, within: FetchLimits(time: .seconds(5), connect: .seconds(2)))
            return "fetched"
        } catch {
            return error.code.rawValue
        }
    }

    /// Whether `lo` is the only interface.
    private static func isAlone() throws -> Bool {
        let devices = try String(contentsOfFile: "/proc/self/net/dev", encoding: .utf8).split(separator: "\n")
            .dropFirst(2)
        return devices.allSatisfy { $0.drop { $0 == " " }.hasPrefix("lo:") }
    }

    /// The namespace's count of TCP connections that were begun, IPv4 and IPv6, whatever became of them.
    private static func activeOpens() throws -> Int {
        let lines = try String(contentsOfFile: "/proc/self/net/snmp", encoding: .utf8).split(separator: "\n")
            .filter { $0.hasPrefix("Tcp:") }.map { $0.split(separator: " ") }
        guard lines.count == 2, let column = lines[0].firstIndex(of: "ActiveOpens"), let count = Int(lines[1][column])
        else { throw CocoaError(.fileReadCorruptFile) }
        return count
    }
}

struct ProbeAttempt: Decodable {
    var url: String
    var answers: [String]?

    /// Nil for the system's name service.
    var resolve: Fetcher.Resolve? {
        guard let addresses = answers?.compactMap({ IPAddress($0) }) else { return nil }
        return { _ in addresses }
    }
}

struct ProbeReport: Encodable {
    var direct: [String] = []
    var heardDirect = 0
    var opensDirect = 0
    var redirected: [String] = []
    var heardRedirected = 0
    var opensRedirected = 0
    var redirects = 0
    var controls: [String] = []
    var heardControls = 0
    /// Files in the spool.
    var left = 0
}

private final class Count: Sendable {
    private let total = Mutex(0)
    var value: Int { total.withLock { $0 } }
    func increase() { total.withLock { $0 += 1 } }
}

/// Accepts and counts connections, and answers each with a small file, or with the redirect whose number the path is.
private final class Listener: Sendable {
    private let count = Count()
    private let targets: [String]

    init(redirectingTo targets: [String] = []) {
        self.targets = targets
    }

    var heard: Int { count.value }

    func listen(_ host: String, _ port: Int) async throws {
        let count = count
        let targets = targets
        _ = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                count.increase()
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Answer(targets: targets))
                }
            }
            .bind(to: SocketAddress(ipAddress: host, port: port)).get()
    }
}

private final class Answer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let targets: [String]

    init(targets: [String]) {
        self.targets = targets
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let request = String(buffer: unwrapInboundIn(data))
        let path = request.split(separator: " ").dropFirst().first?.dropFirst() ?? ""
        let answer: String
        if let index = Int(path), targets.indices.contains(index) {
            answer = "HTTP/1.1 302 Found\r\nLocation: \(targets[index])\r\nContent-Length: 0\r\n\r\n"
        } else {
            answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
    }
}
