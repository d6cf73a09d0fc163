import Foundation
import Glibc

extension Part {
    static let delivery = Part(
        "delivery", "content over HTTP beside nginx"
    ) { run in
        Findings(try DeliveryBenchmark(workplace: run.workplace, inputs: run.inputs, rounds: run.rounds).measure())
    }
}

/// How quickly content comes, beside nginx with the same bytes as plain files.
struct DeliveryBenchmark {
    private static let seconds = 3
    private static let port = 18_099
    private static let peerPort = 18_098

    let workplace: Workplace
    let photograph: String
    let recording: URL
    let rounds: Int

    init(workplace: Workplace, inputs: Inputs, rounds: Int) throws {
        self.workplace = workplace
        self.rounds = rounds
        guard let first = try inputs.photographs(12).files.first else {
            throw CommandFailure(command: ["ffmpeg"], reason: "made no photograph")
        }
        photograph = first
        recording = try inputs.recording(bytes: 50_000_000)
    }

    func measure() throws -> [Measurement] {
        let shop = try Shop(workplace)
        let small = try shop.add(photograph, profile: "small", role: "main")
        let large = try shop.add(recording.path(percentEncoded: false), profile: "kept", role: "original")
        let server = try shop.serve(port: Self.port)
        defer { server.stop() }
        let peer = try shop.servePeer([small, large], port: Self.peerPort)
        defer { peer.stop() }
        var requests: (own: [Double], peer: [Double]) = ([], [])
        var bytes: (own: [Double], peer: [Double]) = ([], [])
        for round in 0..<rounds {
            Progress.say("delivery, round \(round + 1) of \(rounds)")
            requests.own.append(try ask(Self.port, small.path, connections: 32).requests)
            requests.peer.append(try ask(Self.peerPort, "/" + small.name, connections: 32).requests)
            bytes.own.append(try ask(Self.port, large.path, connections: 2).bytes / 1e6)
            bytes.peer.append(try ask(Self.peerPort, "/" + large.name, connections: 2).bytes / 1e6)
        }
        func ratios(_ pair: (own: [Double], peer: [Double])) -> [Double] { zip(pair.own, pair.peer).map { $0 / $1 } }
        let size = "\(small.bytes / 1000) kB"
        return [
            Measurement(
                "delivery.small_ratio", "Content of \(size): requests a second, in terms of nginx's", .ratio,
                ratios(requests), target: .atLeast(0.5)),
            Measurement("delivery.small", "— requests a second", .perSecond, requests.own),
            Measurement("delivery.small_peer", "— nginx's", .perSecond, requests.peer),
            Measurement(
                "delivery.large_ratio", "Content of 50 MB: bytes a second, in terms of nginx's", .ratio,
                ratios(bytes), target: .atLeast(0.9)),
            Measurement("delivery.large", "— megabytes a second", .megabytes, bytes.own),
            Measurement("delivery.large_peer", "— nginx's", .megabytes, bytes.peer),
        ]
    }

    /// What wrk counts of whole answers.
    private func ask(_ port: Int, _ path: String, connections: Int) throws -> (requests: Double, bytes: Double) {
        let lines = workplace.scratch.appending(path: "wrk")
        let script = workplace.scratch.appending(path: "count.lua")
        try Data(
            """
            done = function(summary)
              local bad = summary.errors.status + summary.errors.connect + summary.errors.read
              print(string.format("counted %d %d %d %d", summary.duration, summary.requests, summary.bytes, bad))
            end
            """.utf8
        ).write(to: script)
        var command = Command(
            "wrk",
            [
                "-t1", "-c\(connections)", "-d\(Self.seconds)s", "-s", script.path(percentEncoded: false),
                "http://127.0.0.1:\(port)\(path)",
            ])
        command.output = lines
        try command.run()
        let text = try String(contentsOf: lines, encoding: .utf8)
        let counted = text.split(separator: "\n").first { $0.hasPrefix("counted ") }
        let numbers = (counted ?? "").split(separator: " ").dropFirst().compactMap { Double($0) }
        guard numbers.count == 4, numbers[1] > 0, numbers[3] == 0 else {
            throw CommandFailure(command: command.line, reason: "not all requests were answered\n\(text)")
        }
        return (numbers[1] / numbers[0] * 1e6, numbers[2] / numbers[0] * 1e6)
    }
}

/// A store, and what serves it.
private struct Shop {
    /// Content that can be asked for.
    struct Content {
        /// On the service.
        var path: String
        /// On the peer, and on disk.
        var name: String
        var file: String
        var bytes: Int
    }

    /// A program in the background.
    struct Serving {
        let process: Process

        func stop() {
            process.terminate()
            process.waitUntilExit()
        }
    }

    private struct Job: Decodable {
        struct File: Decodable {
            var bytes: Int
            var mediaType: String
        }

        var attachmentId: String
        var renditions: [String: File]
    }

    private struct Lease: Decodable { var token: String }

    private let workplace: Workplace
    private let environment: [String: String]
    private let profiles: String

    init(_ workplace: Workplace) throws {
        self.workplace = workplace
        environment = workplace.satchel([]).environment
        let url = workplace.scratch.appending(path: "profiles.yaml")
        try Data(
            """
            profiles:
              small:
                based_on: notification
                image: {longest_side: 370}
                deadline: null
              kept:
                based_on: notification
                keeps_original: true
                deadline: null
            """.utf8
        ).write(to: url)
        profiles = url.path(percentEncoded: false)
    }

    /// Prepares a source, and opens a rendition of it to whoever has the path.
    func add(_ source: String, profile: String, role: String) throws -> Content {
        let job: Job = try read(
            ["add", source, "--profiles", profiles, "--profile", profile, "--format", "jsonl"])
        guard let rendition = job.renditions[role] else {
            throw CommandFailure(command: ["satchel", "add", source], reason: "made no \(role)")
        }
        let lease: Lease = try read(["lease", job.attachmentId, "--for", "1d", "--format", "json"])
        let type = rendition.mediaType == "image/jpeg" ? "jpg" : "wav"
        let name = "\(role).\(type)"
        let file = workplace.scratch.appending(path: name).path(percentEncoded: false)
        try satchel(["get", job.attachmentId, "--rendition", role, "--output", file]).run()
        // nginx's workers are not root.
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        return Content(path: "/c/\(lease.token)/\(name)", name: name, file: file, bytes: rendition.bytes)
    }

    func serve(port: Int) throws -> Serving {
        let serving = try start(satchel(["serve", "--listen", "127.0.0.1:\(port)", "--log-level", "error"]))
        try waitFor(port)
        return serving
    }

    /// nginx with the same bytes as files.
    func servePeer(_ contents: [Content], port: Int) throws -> Serving {
        let root = workplace.scratch.appending(path: "peer")
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        for content in contents {
            try FileManager.default.copyItem(
                atPath: content.file, toPath: root.appending(path: content.name).path(percentEncoded: false))
        }
        let path = root.path(percentEncoded: false)
        let configuration = root.appending(path: "nginx.conf")
        try Data(
            """
            user root;
            daemon off;
            worker_processes auto;
            pid \(path)/pid;
            error_log \(path)/errors;
            events { worker_connections 1024; }
            http {
              access_log off;
              sendfile on;
              tcp_nopush on;
              keepalive_requests 100000000;
              types { image/jpeg jpg; audio/wav wav; }
              server { listen 127.0.0.1:\(port); root \(path); }
            }
            """.utf8
        ).write(to: configuration)
        let serving = try start(Command("nginx", ["-c", configuration.path(percentEncoded: false), "-p", path]))
        try waitFor(port)
        return serving
    }

    private func satchel(_ arguments: [String]) -> Command {
        Command(workplace.satchel, arguments, environment: environment)
    }

    private func read<Answer: Decodable>(_ arguments: [String]) throws -> Answer {
        var command = satchel(arguments)
        let output = workplace.scratch.appending(path: "answer")
        command.output = output
        try command.run()
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Answer.self, from: Data(contentsOf: output))
    }

    private func start(_ command: Command) throws -> Serving {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = command.line
        process.environment = ProcessInfo.processInfo.environment.merging(command.environment) { $1 }
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        return Serving(process: process)
    }

    /// Until something listens there, at most 20 seconds.
    private func waitFor(_ port: Int) throws {
        for _ in 0..<400 {
            let attempt = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(attempt) }
            var place = sockaddr_in()
            place.sin_family = sa_family_t(AF_INET)
            place.sin_port = in_port_t(port).bigEndian
            place.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let status = unsafe withUnsafePointer(to: &place) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                    unsafe connect(attempt, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            if status == 0 { return }
            usleep(50_000)
        }
        throw CommandFailure(command: ["serve"], reason: "nothing listens on port \(port)")
    }
}
