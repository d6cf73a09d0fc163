import Glibc
import NIOCore
import NIOPosix
public import NIOSSL
import Synchronization

/// Stands between a client and a server on the loopback, passes on what both say, and breaks what a test wants broken.
public final class FaultProxy: Sendable {
    public enum Fault: Sendable {
        /// The connection is reset once so many bytes of the request have passed.
        case resetRequest(after: Int)
        /// The same of the answer.
        case resetAnswer(after: Int)
        /// These bytes are the answer, and the server hears nothing.
        case answer(String)
        /// Nobody answers.
        case silence
    }

    /// Asked as a request begins, with its first line.
    public typealias Plan = @Sendable (_ line: String) -> Fault?

    public let port: Int
    private let channel: any Channel
    private let book = Book()

    private final class Book: Sendable {
        let lines = Mutex<[String]>([])
        let connections = Atomic(0)
    }

    /// - Parameter tls: What the client is shown; the server is talked to without.
    public init(to port: Int, tls: NIOSSLContext? = nil, _ plan: @escaping Plan = { _ in nil }) async throws {
        let book = book
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 256)
            .childChannelOption(.allowRemoteHalfClosure, value: false)
            .childChannelInitializer { front in
                book.connections.add(1, ordering: .relaxed)
                return ClientBootstrap(group: front.eventLoop).connect(host: "127.0.0.1", port: port)
                    .flatMap { back in
                        front.eventLoop.makeCompletedFuture {
                            if let tls {
                                try front.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls))
                            }
                            let answers = Answers(front: front)
                            try back.pipeline.syncOperations.addHandler(answers)
                            try front.pipeline.syncOperations.addHandler(
                                Requests(back: back, answers: answers, plan: plan) { line in
                                    book.lines.withLock { $0.append(line) }
                                })
                        }
                    }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        self.port = channel.localAddress?.port ?? 0
    }

    deinit {
        channel.close(promise: nil)
    }

    /// The first lines of all requests so far.
    public var requests: [String] { book.lines.withLock(\.self) }

    public var connections: Int { book.connections.load(ordering: .relaxed) }

    /// What a client says goes to the server. A request begins where a piece does, for none is sent before the last answer.
    private final class Requests: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let back: any Channel
        private let answers: Answers
        private let plan: Plan
        private let note: (String) -> Void
        private var left: Int?
        private var isDeaf = false

        init(back: any Channel, answers: Answers, plan: @escaping Plan, note: @escaping (String) -> Void) {
            self.back = back
            self.answers = answers
            self.plan = plan
            self.note = note
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var piece = unwrapInboundIn(data)
            let line = String(decoding: piece.readableBytesView.prefix { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
            if line.hasSuffix(" HTTP/1.1") {
                note(line)
                switch plan(line) {
                case nil: left = nil
                case .resetRequest(let count): left = count
                case .resetAnswer(let count): answers.left = count
                case .silence: isDeaf = true
                case .answer(let text):
                    isDeaf = true
                    context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
                }
            }
            guard !isDeaf else { return }
            if let left {
                guard piece.readableBytes < left else {
                    FaultProxy.reset(context.channel)
                    return
                }
                self.left = left - piece.readableBytes
            }
            back.writeAndFlush(piece.readSlice(length: piece.readableBytes), promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) {
            back.close(promise: nil)
            context.fireChannelInactive()
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            context.close(promise: nil)
        }
    }

    /// What the server says goes to the client.
    private final class Answers: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let front: any Channel
        var left: Int?

        init(front: any Channel) {
            self.front = front
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let piece = unwrapInboundIn(data)
            guard let left else {
                front.writeAndFlush(piece, promise: nil)
                return
            }
            self.left = left - piece.readableBytes
            let passing = piece.getSlice(at: piece.readerIndex, length: min(left, piece.readableBytes))
            front.writeAndFlush(passing).whenComplete { [front] _ in
                if left <= piece.readableBytes { FaultProxy.reset(front) }
            }
        }

        func channelInactive(context: ChannelHandlerContext) {
            front.close(promise: nil)
            context.fireChannelInactive()
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            context.close(promise: nil)
        }
    }

    /// Closes so that the other side gets a reset, not an end.
    private static func reset(_ channel: any Channel) {
        let closed = (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
        guard let closed else { return channel.close(promise: nil) }
        closed.whenComplete { _ in channel.close(promise: nil) }
    }
}
