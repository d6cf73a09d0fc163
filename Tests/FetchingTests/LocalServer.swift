import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// What a scripted origin writes with.
typealias AnswerWriter = NIOAsyncChannelOutboundWriter<ByteBuffer>

extension AnswerWriter {
    func send(_ text: String) async throws {
        try await write(ByteBuffer(string: text))
    }
}

/// A server on the loopback that answers each request as its script says, byte for byte, then closes the connection.
final class LocalServer: Sendable {
    /// Is given the request's head as text.
    typealias Script = @Sendable (_ request: String, _ answer: AnswerWriter) async throws -> Void

    let port: Int
    private let heads = Mutex<[String]>([])

    private init(port: Int) {
        self.port = port
    }

    /// The heads of all requests so far.
    var requests: [String] { heads.withLock { $0 } }

    /// The URL of a path on this server.
    func url(_ path: String, host: String = "127.0.0.1", scheme: String = "http") -> String {
        "\(scheme)://\(host):\(port)\(path)"
    }

    /// Runs a server for as long as `body`.
    static func run<Result>(
        on host: String = "127.0.0.1", tls: NIOSSLContext? = nil, _ script: @escaping Script,
        _ body: (LocalServer) async throws -> Result
    ) async throws -> Result {
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: host, port: 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
                    return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                        wrappingChannelSynchronously: channel,
                        configuration: .init(isOutboundHalfClosureEnabled: true))
                }
            }
        let server = LocalServer(port: listener.channel.localAddress?.port ?? 0)
        let serving = Task {
            try await listener.executeThenClose { connections in
                await withTaskGroup(of: Void.self) { group in
                    do {
                        for try await connection in connections {
                            group.addTask { try? await server.serve(connection, script) }
                        }
                    } catch {
                        group.cancelAll()
                    }
                }
            }
        }
        defer { serving.cancel() }
        return try await body(server)
    }

    private func serve(_ connection: NIOAsyncChannel<ByteBuffer, ByteBuffer>, _ script: Script) async throws {
        try await connection.executeThenClose { inbound, outbound in
            var head = ""
            for try await piece in inbound {
                head += String(buffer: piece)
                if head.contains("\r\n\r\n") { break }
            }
            guard head.contains("\r\n\r\n") else { return }
            let request = head
            heads.withLock { $0.append(request) }
            try await script(request, outbound)
        }
    }
}
