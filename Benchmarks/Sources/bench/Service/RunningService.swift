import Foundation
import Glibc
import Synchronization

/// `satchel serve` over a store of its own, until it ends.
final class RunningService: Sendable {
    let port: UInt16
    let process: pid_t
    let store: URL
    private let key: String
    private let log: URL

    /// Starts the service and waits until it is ready.
    init(_ workplace: Workplace, settings: [String] = []) throws {
        let place = workplace.scratch.appending(path: "service-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        store = place.appending(path: "store", directoryHint: .isDirectory)
        log = place.appending(path: "log")
        port = try Self.freePort()
        var command = Command(
            workplace.satchel, ["serve", "--listen", "127.0.0.1:\(port)"] + settings,
            environment: [
                "SATCHEL_STORE": store.path(percentEncoded: false),
                "SATCHEL_ACCESS_KEYS": place.appending(path: "keys").path(percentEncoded: false),
            ])
        var making = command
        making.arguments = ["key", "create", "--name", "bench", "--role", "admin", "--format", "json"]
        let answer = place.appending(path: "key")
        making.output = answer
        try making.run()
        key = try JSONDecoder().decode(CreatedKey.self, from: Data(contentsOf: answer)).key
        command.output = log
        process = try command.start()
        for _ in 0..<400 {
            usleep(50_000)
            let connection = HTTPConnection(port: port)
            if let answer = try? connection.send("GET", "/readyz"), answer.status == 200 { return }
        }
        let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
        throw CommandFailure(command: command.line, reason: "was not ready after 20 s\n\(text.suffix(2000))")
    }

    private struct CreatedKey: Decodable {
        var key: String
    }

    deinit {
        stop()
    }

    private let isStopped = Mutex(false)

    /// Ends it as an operator does, and waits until it has ended.
    func stop() {
        let wasStopped = isStopped.withLock { stopped in
            defer { stopped = true }
            return stopped
        }
        guard !wasStopped else { return }
        kill(process, SIGTERM)
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0 && errno == EINTR {}
    }

    var authorization: [String: String] { ["Authorization": "Bearer \(key)"] }

    /// The header with a key of another tenant.
    func makeKey(of tenant: String, _ workplace: Workplace) throws -> [String: String] {
        let place = store.deletingLastPathComponent()
        var making = Command(
            workplace.satchel,
            ["key", "create", "--name", "bench", "--role", "admin", "--tenant", tenant, "--format", "json"],
            environment: [
                "SATCHEL_STORE": store.path(percentEncoded: false),
                "SATCHEL_ACCESS_KEYS": place.appending(path: "keys").path(percentEncoded: false),
            ])
        let answer = place.appending(path: "key-\(tenant)")
        making.output = answer
        try making.run()
        let key = try JSONDecoder().decode(CreatedKey.self, from: Data(contentsOf: answer)).key
        return ["Authorization": "Bearer \(key)"]
    }

    /// Submits a file as it is, and waits for the end of its job.
    ///
    /// - Throws: ``CommandFailure`` unless it was delivered.
    func deliver(
        _ body: Data, type: String, over connection: HTTPConnection, profile: String = "notification",
        query: String = ""
    ) throws -> HTTPConnection.Answer {
        let answer = try connection.send(
            "POST", "/v1/jobs?profile=\(profile)\(query)",
            headers: authorization.merging(["Content-Type": type, "Prefer": "wait=60"]) { $1 }, body: body)
        let state = try? JSONDecoder().decode(Job.self, from: answer.body).state
        guard answer.status == 200, state == "delivered" else {
            throw CommandFailure(
                command: ["POST", "/v1/jobs"],
                reason: "answered \(answer.status): \(String(decoding: answer.body.prefix(800), as: UTF8.self))")
        }
        return answer
    }

    struct Job: Decodable {
        var id: String
        var state: String
    }

    /// What the service holds, which must not grow.
    var footprint: Footprint {
        get throws { try Footprint(of: process, store: store) }
    }

    static func freePort() throws -> UInt16 {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutablePointer(to: &place) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe bind(listener, pointer, length) == 0 && getsockname(listener, pointer, &length) == 0
            }
        }
        guard isBound else { throw CommandFailure(command: ["bind"], reason: "there is no free port") }
        return UInt16(bigEndian: place.sin_port)
    }
}

/// What a service holds at one moment.
struct Footprint: Sendable {
    /// Bytes resident of the service itself.
    var memory: Int64
    var descriptors: Int
    /// Processes beneath it.
    var children: Int
    /// Files in the spool and in the making.
    var files: Int

    init(of process: pid_t, store: URL) throws {
        let files = FileManager.default
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
        memory = (Int64(line.filter(\.isNumber)) ?? 0) * 1024
        descriptors = try files.contentsOfDirectory(atPath: "/proc/\(process)/fd").count
        children = Self.descendants(of: process)
        self.files = ["spool", "staging"].reduce(0) { sum, name in
            let path = store.appending(path: name).path(percentEncoded: false)
            return sum + ((try? files.contentsOfDirectory(atPath: path).count) ?? 0)
        }
    }

    private static func descendants(of process: pid_t) -> Int {
        var parents: [pid_t: pid_t] = [:]
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] {
            guard let id = pid_t(name), let text = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8),
                let end = text.lastIndex(of: ")")
            else { continue }
            let fields = text[text.index(after: end)...].split(separator: " ")
            if fields.count > 1, fields[0] != "Z" { parents[id] = pid_t(fields[1]) }
        }
        var count = 0
        var known: Set<pid_t> = [process]
        var before = 0
        while known.count != before {
            before = known.count
            for (id, parent) in parents where known.contains(parent) { known.insert(id) }
        }
        count = known.count - 1
        return count
    }
}

/// Clients side by side, a thread each.
enum Clients {
    /// Runs `body` once for each client and waits for all.
    ///
    /// - Throws: The first error of any.
    static func run(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
        let failures = Failures()
        let group = DispatchGroup()
        for client in 0..<count {
            group.enter()
            let thread = Thread {
                do { try body(client) } catch { failures.add(error) }
                group.leave()
            }
            thread.stackSize = 512 << 10
            thread.start()
        }
        group.wait()
        if let failure = failures.first { throw failure }
    }

    private final class Failures: Sendable {
        private let errors = Mutex<[any Error]>([])

        var first: (any Error)? { errors.withLock { $0.first } }

        func add(_ error: any Error) {
            errors.withLock { $0.append(error) }
        }
    }
}

/// Hands out the numbers from zero up, each once.
final class Counter: Sendable {
    private let value = Atomic(0)

    func next() -> Int {
        value.add(1, ordering: .relaxed).oldValue
    }
}

/// Gathers figures from several threads.
final class Figures: Sendable {
    private let values: Mutex<[Double]>

    init(_ values: [Double] = []) {
        self.values = Mutex(values)
    }

    func add(_ value: Double) {
        values.withLock { $0.append(value) }
    }

    var all: [Double] { values.withLock { $0 } }

    /// The value that this part of all is not over.
    func percentile(_ part: Double) -> Double {
        Percentiles.percentile(part, of: all)
    }
}

extension Data {
    /// The same with a few bytes after its end, which decoders pass over: unlike every other, so that no result is found
    /// again.
    func unlike(_ index: Int) -> Data {
        self + Data("\(index) \(UUID().uuidString)".utf8)
    }
}
