import Foundation
import FoundationNetworking
import Glibc
import TestSupport
import Testing

/// Where a service is tried: a directory with a store, keys and files of its own, and the real program.
struct ServiceHarness: ~Copyable {
    let home: TemporaryDirectory
    let satchel: Program

    init() throws {
        let executable = try Repository.product("satchel")
        home = try TemporaryDirectory(inMemory: true)
        satchel = Program(
            executable,
            environment: [
                "SATCHEL_STORE": home.path + "/store", "SATCHEL_ACCESS_KEYS": home.path + "/keys/access.keys",
                "SATCHEL_PROFILES": "", "SATCHEL_CONFIG": "", "HOME": home.path,
            ],
            in: home.url)
    }

    var store: String { home.path + "/store" }

    @discardableResult
    func run(_ arguments: String...) throws -> ProgramResult {
        try satchel.run(arguments)
    }

    /// A file of the harness's own.
    @discardableResult
    func file(_ path: String, _ contents: Data) throws -> URL {
        let url = home.url.appending(path: path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try contents.write(to: url)
        return url
    }

    func file(_ path: String, text: String) throws -> URL {
        try file(path, Data(text.utf8))
    }

    /// Starts the service on a port of its own and waits until it listens.
    ///
    /// - Parameter key: Whose key requests bear; nil: the development key that the service makes.
    func serve(_ arguments: String..., key: String? = nil) async throws -> Server {
        let listens = arguments.contains("--listen") ? [] : ["--listen", "127.0.0.1:0"]
        return try await Server(satchel.start(["serve"] + listens + arguments), key: key)
    }

    /// A lasting key, by the command.
    func makeKey(_ arguments: String...) throws -> String {
        let result = try satchel.run(["key", "create", "--format", "json"] + arguments)
        let object = try #require(try JSONSerialization.jsonObject(with: result.output) as? [String: Any])
        return try #require(object["key"] as? String)
    }
}

/// A service that was started and listens.
final class Server: Asking {
    let program: RunningProgram
    let url: URL
    /// What requests bear.
    let key: String?

    init(_ program: RunningProgram, key: String? = nil) async throws {
        self.program = program
        var address: String?
        try await eventually("the service listens") {
            address = try program.outputSoFar.firstMatch(of: /"public_url":"([^"]+)"/).map { String($0.1) }
            return address != nil || !program.process.isRunning
        }
        guard let address, let url = URL(string: address) else {
            throw Ended(errors: try program.errorsSoFar, output: try program.outputSoFar)
        }
        self.url = url
        self.key = try key ?? program.errorsSoFar.firstMatch(of: /satk_[0-9A-Za-z]+/).map { String($0.0) }
    }

    deinit {
        if program.process.isRunning { Glibc.kill(program.process.processIdentifier, SIGKILL) }
    }

    /// It ended before it listened.
    struct Ended: Error, CustomStringConvertible {
        var errors: String
        var output: String
        var description: String { errors + output }
    }

    func signal(_ number: Int32) {
        Glibc.kill(program.process.processIdentifier, number)
    }

    /// Tells it to end and waits for that.
    func stop(_ number: Int32 = SIGTERM) throws -> ProgramResult {
        signal(number)
        return try program.wait()
    }

    /// What it has logged by now, a dictionary for each line.
    var log: [[String: Any]] {
        get throws {
            try program.outputSoFar.split(separator: "\n").map { line in
                try #require(
                    try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "no JSON: \(line)")
            }
        }
    }

    /// The same to ask from another task.
    var client: Client { Client(url: url, key: key) }
}

/// Somebody who asks a service.
protocol Asking {
    var url: URL { get }
    /// What requests bear.
    var key: String? { get }
}

struct Client: Asking, Sendable {
    var url: URL
    var key: String?
}

private let session: URLSession = {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpMaximumConnectionsPerHost = 64
    return URLSession(configuration: configuration)
}()

extension Asking {
    func send(
        _ method: String, _ path: String, _ headers: [String: String] = [:], body: Data? = nil, key: String? = nil,
        timeout: TimeInterval = 60
    ) async throws -> Answer {
        // Not as a component: that would escape the question mark.
        let whole = url.absoluteString + path
        var request = URLRequest(url: try #require(URL(string: whole)), timeoutInterval: timeout)
        request.httpMethod = method
        request.httpBody = body
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        if let key = key ?? self.key { request.setValue("Bearer \(key)", forHTTPHeaderField: "Authorization") }
        let (data, response) = try await session.data(for: request)
        return Answer(data: data, response: try #require(response as? HTTPURLResponse))
    }

    func get(_ path: String, _ headers: [String: String] = [:], key: String? = nil) async throws -> Answer {
        try await send("GET", path, headers, key: key)
    }

    /// Whether a key opens anything.
    func accepts(_ key: String? = nil) async throws -> Bool {
        try await get("/metrics", key: key).status != 401
    }

    /// Submits a job of one source by URL.
    func submit(
        _ id: String, _ source: String, _ headers: [String: String] = [:], more: [String: Any] = [:],
        attachment: [String: Any] = [:]
    ) async throws -> Answer {
        var body = more
        body["attachments"] = [attachment.merging(["identifier": "photo", "url": source]) { $1 }]
        return try await send(
            "PUT", "/v1/jobs/\(id)", headers.merging(["Content-Type": "application/json"]) { $1 },
            body: JSONSerialization.data(withJSONObject: body))
    }

    /// The job when it has come to its end.
    func finished(_ id: String, within seconds: Double = 60) async throws -> [String: Any] {
        var job: [String: Any] = [:]
        try await eventually("job \(id) ends", within: seconds) {
            let answer = try await get("/v1/jobs/\(id)")
            guard answer.status == 200 else { return false }
            job = try answer.json
            return ["delivered", "failed", "cancelled"].contains(job["state"] as? String)
        }
        return job
    }
}

struct Answer {
    var data: Data
    var response: HTTPURLResponse

    var status: Int { response.statusCode }
    var text: String { String(decoding: data, as: UTF8.self) }
    var json: [String: Any] {
        get throws { try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any], "\(text)") }
    }

    subscript(_ header: String) -> String? { response.value(forHTTPHeaderField: header) }
}

/// Waits until `condition` holds.
func eventually(
    _ what: String, within seconds: Double = 60, _ condition: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + .seconds(seconds)
    while try await !condition() {
        guard .now < end else { throw Late(what: what) }
        try await Task.sleep(for: .milliseconds(20))
    }
}

struct Late: Error {
    var what: String
}
