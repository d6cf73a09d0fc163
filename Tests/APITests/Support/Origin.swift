import Foundation
import NIOCore
import NIOPosix
import Synchronization
import TestSupport

/// A server on the loopback that sources are fetched from and webhooks go to.
///
/// By default it gives out the files of `Media/`: `/jpeg/coffee.jpg`.
final class Origin: Sendable {
    /// A request as it came.
    struct Request: Sendable {
        var method: String
        /// With the query.
        var target: String
        /// Names in lower case.
        var headers: [String: String]
        var body: Data

        /// Without the query.
        var path: String { String(target.prefix { $0 != "?" }) }
    }

    /// What the origin says to it.
    struct Answer: Sendable {
        var status = 200
        var headers: [String: String] = [:]
        var body = Data()
        /// Whether the connection stays open for another request.
        var keepsOpen = false
        /// Before the first byte.
        var delay: Duration = .zero
        /// Before each 16 KiB of the body.
        var pause: Duration = .zero

        /// A file of `Media/`.
        static func media(_ path: String) -> Answer {
            guard !path.contains(".."),
                let data = try? Data(contentsOf: Repository.media.appending(path: path))
            else { return Answer(status: 404) }
            return Answer(body: data)
        }
    }

    typealias Script = @Sendable (Request) async throws -> Answer

    let port: Int
    private let seen = Mutex<[Request]>([])
    private let accepted = Atomic(0)

    private init(port: Int) {
        self.port = port
    }

    /// All requests so far.
    var requests: [Request] { seen.withLock { $0 } }

    /// Connections that were made so far.
    var connections: Int { accepted.load(ordering: .relaxed) }

    /// How often a path was asked for.
    func count(of path: String) -> Int { requests.count { $0.path == path } }

    func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    /// Runs an origin for as long as `body`.
    ///
    /// - Parameter host: Where it listens; at `0.0.0.0` it is reached at every address of the loopback.
    static func run<Result>(
        host: String = "127.0.0.1", _ script: @escaping Script = { .media(String($0.path.dropFirst())) },
        _ body: (Origin) async throws -> Result
    ) async throws -> Result {
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: host, port: 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                        wrappingChannelSynchronously: channel,
                        configuration: .init(isOutboundHalfClosureEnabled: true))
                }
            }
        let origin = Origin(port: listener.channel.localAddress?.port ?? 0)
        let serving = Task {
            try await listener.executeThenClose { connections in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for try await connection in connections {
                        group.addTask { try? await origin.serve(connection, script) }
                    }
                    group.cancelAll()
                }
            }
        }
        let outcome: Swift.Result<Result, any Error>
        do {
            outcome = .success(try await body(origin))
        } catch {
            outcome = .failure(error)
        }
        // Closes the listener, not the task that accepts: connections that wait to be accepted must be closed by someone.
        try await listener.channel.close()
        try await serving.value
        return try outcome.get()
    }

    private func serve(_ connection: NIOAsyncChannel<ByteBuffer, ByteBuffer>, _ script: Script) async throws {
        accepted.add(1, ordering: .relaxed)
        try await connection.executeThenClose { inbound, outbound in
            var pieces = inbound.makeAsyncIterator()
            let end = Data("\r\n\r\n".utf8)
            while true {
                var text = Data()
                while text.range(of: end) == nil {
                    guard let piece = try await pieces.next() else { return }
                    text.append(contentsOf: piece.readableBytesView)
                }
                guard let split = text.range(of: end) else { return }
                let lines = String(decoding: text[..<split.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
                let start = lines[0].split(separator: " ").map(String.init)
                guard start.count == 3 else { return }
                var request = Request(
                    method: start[0], target: start[1], headers: [:], body: Data(text[split.upperBound...]))
                for line in lines.dropFirst() {
                    let parts = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
                    if parts.count == 2 { request.headers[parts[0].lowercased()] = parts[1] }
                }
                let length = request.headers["content-length"].flatMap { Int($0) } ?? 0
                while request.body.count < length {
                    guard let piece = try await pieces.next() else { return }
                    request.body.append(contentsOf: piece.readableBytesView)
                }
                let whole = request
                seen.withLock { $0.append(whole) }
                let answer = try await script(whole)
                if answer.delay > .zero { try await Task.sleep(for: answer.delay) }
                let connection = answer.keepsOpen ? "keep-alive" : "close"
                var head =
                    "HTTP/1.1 \(answer.status) Answer\r\nContent-Length: \(answer.body.count)\r\nConnection: \(connection)\r\n"
                for (name, value) in answer.headers { head += "\(name): \(value)\r\n" }
                try await outbound.write(ByteBuffer(string: head + "\r\n"))
                var rest = answer.body[...]
                while !rest.isEmpty {
                    if answer.pause > .zero { try await Task.sleep(for: answer.pause) }
                    let size = answer.pause > .zero ? 16 << 10 : 1 << 20
                    try await outbound.write(ByteBuffer(bytes: rest.prefix(size)))
                    rest = rest.dropFirst(size)
                }
                guard !answer.keepsOpen else { continue }
                outbound.finish()
                while try await pieces.next() != nil {}
                return
            }
        }
    }
}
