public import Foundation
public import NIOCore
import NIOPosix
public import NIOSSL
import Synchronization
import TestSupport

/// An HTTP server on the loopback, in this process, that sources are fetched from and callbacks go to. It writes down every
/// request, and answers as its script says.
///
/// It works on the threads of its event loops alone, so it answers also while a test keeps the threads of Swift's tasks.
public final class LocalOrigin: Sendable {
    /// A request as it came, whole.
    public struct Request: Sendable {
        public var method: String
        /// With the query.
        public var target: String
        /// Names in lower case.
        public var headers: [String: String]
        /// What came before the body, byte for byte.
        public var head: String
        public var body: Data

        /// Without the query.
        public var path: String { String(target.prefix { $0 != "?" }) }
    }

    /// What the origin says to it.
    public struct Answer: Sendable {
        public var status: Int
        public var headers: [String: String]
        public var body: Data
        /// Whether the connection stays open for another request.
        public var keepsOpen: Bool
        /// Before the first byte.
        public var delay: Duration
        /// Before each 16 KiB of the body.
        public var pause: Duration

        public init(
            status: Int = 200, headers: [String: String] = [:], body: Data = Data(), keepsOpen: Bool = false,
            delay: Duration = .zero, pause: Duration = .zero
        ) {
            self.status = status
            self.headers = headers
            self.body = body
            self.keepsOpen = keepsOpen
            self.delay = delay
            self.pause = pause
        }

        func write(to writer: Writer) async throws {
            if delay > .zero { try await Task.sleep(for: delay) }
            var head = "HTTP/1.1 \(status) Answer\r\n"
            if status != 204 { head += "Content-Length: \(body.count)\r\n" }
            head += "Connection: \(keepsOpen ? "keep-alive" : "close")\r\n"
            for (name, value) in headers { head += "\(name): \(value)\r\n" }
            try await writer.send(head + "\r\n")
            var rest = body[...]
            while !rest.isEmpty {
                if pause > .zero { try await Task.sleep(for: pause) }
                let size = pause > .zero ? 16 << 10 : 1 << 20
                try await writer.write(ByteBuffer(bytes: rest.prefix(size)))
                rest = rest.dropFirst(size)
            }
        }
    }

    public typealias Script = @Sendable (Request) async throws -> Answer
    /// Takes the bytes of an answer as they shall go out.
    public typealias Writer = NIOAsyncChannelOutboundWriter<ByteBuffer>
    /// Answers byte for byte; the connection is closed afterwards.
    public typealias ByteScript = @Sendable (Request, Writer) async throws -> Void

    /// - Returns: Whether the connection stays open.
    private typealias Answering = @Sendable (Request, Writer) async throws -> Bool

    /// What is written down, by connections too that outlast the origin.
    private final class Book: Sendable {
        let requests = Mutex<[Request]>([])
        let connections = Atomic(0)
    }

    /// A connection on its way from the listening socket: NIO ends the process where one is dropped that nobody executed,
    /// as one that comes while the origin ends.
    private final class Accepted: Sendable {
        typealias Bytes = NIOAsyncChannel<ByteBuffer, ByteBuffer>

        private let bytes: Bytes
        private let isTaken = Atomic(false)

        init(_ bytes: Bytes) {
            self.bytes = bytes
        }

        func take() -> Bytes {
            isTaken.store(true, ordering: .relaxed)
            return bytes
        }

        deinit {
            guard !isTaken.load(ordering: .relaxed) else { return }
            Task { [bytes] in try? await bytes.executeThenClose { _, _ in } }
        }
    }

    public let port: Int
    private let scheme: String
    private let book = Book()
    private let channel: any Channel
    private let serving: Task<Void, any Error>

    /// Listens until the end of its life.
    ///
    /// - Parameter host: At `0.0.0.0` it is reached at every address of the loopback.
    public convenience init(
        host: String = "127.0.0.1", tls: NIOSSLContext? = nil, _ script: @escaping Script = media
    ) async throws {
        try await self.init(host: host, tls: tls, answering: Self.answering(script))
    }

    private static func answering(_ script: @escaping Script) -> Answering {
        { request, writer in
            let answer = try await script(request)
            try await answer.write(to: writer)
            return answer.keepsOpen
        }
    }

    private init(host: String, tls: NIOSSLContext?, answering: @escaping Answering) async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let listener = try await ServerBootstrap(group: loop)
            .serverChannelOption(.backlog, value: 1024)
            .bind(host: host, port: 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
                    return Accepted(
                        try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                            wrappingChannelSynchronously: channel,
                            configuration: .init(isOutboundHalfClosureEnabled: true)))
                }
            }
        channel = listener.channel
        port = channel.localAddress?.port ?? 0
        scheme = tls == nil ? "http" : "https"
        serving = Task(executorPreference: EventLoopExecutor(loop: loop)) { [book] in
            try await listener.executeThenClose { connections in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for try await connection in connections {
                        book.connections.add(1, ordering: .relaxed)
                        group.addTask { try? await Self.serve(connection.take(), answering, book) }
                    }
                    group.cancelAll()
                }
            }
        }
    }

    deinit {
        channel.close(promise: nil)
    }

    /// Runs an origin for as long as `body`; afterwards its port is closed.
    public static func run<Result>(
        host: String = "127.0.0.1", tls: NIOSSLContext? = nil, _ script: @escaping Script = media,
        _ body: (LocalOrigin) async throws -> Result
    ) async throws -> Result {
        try await run(LocalOrigin(host: host, tls: tls, script), body)
    }

    /// The same with an origin that answers byte for byte.
    public static func runBytewise<Result>(
        tls: NIOSSLContext? = nil, _ script: @escaping ByteScript, _ body: (LocalOrigin) async throws -> Result
    ) async throws -> Result {
        let answering: Answering = { request, writer in
            try await script(request, writer)
            return false
        }
        return try await run(LocalOrigin(host: "127.0.0.1", tls: tls, answering: answering), body)
    }

    private static func run<Result>(
        _ origin: LocalOrigin, _ body: (LocalOrigin) async throws -> Result
    ) async throws -> Result {
        let outcome: Swift.Result<Result, any Error>
        do {
            outcome = .success(try await body(origin))
        } catch {
            outcome = .failure(error)
        }
        // Closes the listener, not the task that accepts: connections that wait to be accepted must be closed by someone.
        try await origin.channel.close()
        try await origin.serving.value
        return try outcome.get()
    }

    /// All requests so far.
    public var requests: [Request] { book.requests.withLock { $0 } }

    /// What came before the bodies of all requests so far, byte for byte.
    public var heads: [String] { requests.map(\.head) }

    /// Connections that were made so far.
    public var connections: Int { book.connections.load(ordering: .relaxed) }

    /// How often a path was asked for.
    public func count(of path: String) -> Int { requests.count { $0.path == path } }

    public func url(_ path: String, host: String = "127.0.0.1") -> String { "\(scheme)://\(host):\(port)\(path)" }

    private static func serve(
        _ connection: Accepted.Bytes, _ answering: Answering, _ book: Book
    ) async throws {
        try await connection.executeThenClose { inbound, outbound in
            var reader = RequestReader(pieces: inbound.makeAsyncIterator())
            while let request = try await reader.next() {
                book.requests.withLock { $0.append(request) }
                guard try await answering(request, outbound) else { break }
            }
            // The end of the answer; the connection lasts until the client has it all and closes.
            outbound.finish()
            try await reader.drain()
        }
    }
}

/// Takes the requests of a connection off it, one after the other.
private struct RequestReader {
    private var pieces: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private var received = Data()

    init(pieces: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator) {
        self.pieces = pieces
    }

    private mutating func receive() async throws -> Bool {
        guard let piece = try await pieces.next(isolation: #isolation) else { return false }
        received.append(contentsOf: piece.readableBytesView)
        return true
    }

    /// Nil at the end, or where what came is no request.
    mutating func next() async throws -> LocalOrigin.Request? {
        let end = Data("\r\n\r\n".utf8)
        while received.range(of: end) == nil {
            guard try await receive() else { return nil }
        }
        guard let split = received.range(of: end) else { return nil }
        let head = String(decoding: received[..<split.upperBound], as: UTF8.self)
        let lines = head.components(separatedBy: "\r\n")
        let start = lines[0].split(separator: " ").map(String.init)
        guard start.count == 3 else { return nil }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            if parts.count == 2 { headers[parts[0].lowercased()] = parts[1] }
        }
        received = Data(received[split.upperBound...])
        let length = headers["content-length"].flatMap { Int($0) } ?? 0
        while received.count < length {
            guard try await receive() else { return nil }
        }
        let body = Data(received.prefix(length))
        received = Data(received.dropFirst(length))
        return LocalOrigin.Request(method: start[0], target: start[1], headers: headers, head: head, body: body)
    }

    mutating func drain() async throws {
        while try await receive() { received.removeAll() }
    }
}

extension LocalOrigin.Writer {
    public func send(_ text: String) async throws {
        try await write(ByteBuffer(string: text))
    }
}

/// Runs tasks on the thread of an event loop.
private final class EventLoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(loop: any EventLoop) {
        self.loop = loop
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
