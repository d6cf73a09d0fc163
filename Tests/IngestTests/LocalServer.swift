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
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for try await connection in connections {
                        group.addTask { try? await server.serve(connection, script) }
                    }
                    group.cancelAll()
                }
            }
        }
        let result: Result
        do {
            result = try await body(server)
        } catch {
            try await stop(listener.channel, serving)
            throw error
        }
        try await stop(listener.channel, serving)
        return result
    }

    /// Closes the listener, not the task that accepts: connections that wait to be accepted must be closed by someone.
    private static func stop(_ channel: any Channel, _ serving: Task<Void, any Error>) async throws {
        try await channel.close()
        try await serving.value
    }

    private func serve(_ connection: NIOAsyncChannel<ByteBuffer, ByteBuffer>, _ script: Script) async throws {
        try await connection.executeThenClose { inbound, outbound in
            var head = ""
            var pieces = inbound.makeAsyncIterator()
            while !head.contains("\r\n\r\n") {
                guard let piece = try await pieces.next() else { return }
                head += String(buffer: piece)
            }
            let request = head
            heads.withLock { $0.append(request) }
            try await script(request, outbound)
            // The end of the answer; the connection lasts until the client has it all and closes.
            outbound.finish()
            while try await pieces.next() != nil {}
        }
    }
}
