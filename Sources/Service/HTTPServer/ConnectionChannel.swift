import HTTPTypes
package import HummingbirdCore
package import Logging
package import NIOCore
import NIOHTTPTypes
import NIOSSL
import Synchronization

/// How a connection is set up, from the bytes to the application.
package struct ConnectionChannel: ServerChildChannel, HTTPChannelHandler {
    package typealias Value = AcceptedConnection

    /// Connections that are open.
    private final class Count: Sendable {
        let open = Atomic(0)
    }

    /// More of them are open than may be.
    private struct TooManyConnections: Error {}

    /// Each read passes through every handler and wakes whoever takes the body, so large bodies are read in large pieces;
    /// the size follows what comes.
    private static let receiving = AdaptiveRecvByteBufferAllocator(
        minimum: 1 << 10, initial: 4 << 10, maximum: 512 << 10)

    package let responder: HTTPChannelHandler.Responder
    private let limits: ConnectionLimits
    private let loopStates: EventLoopStates
    private let tls: ReloadingCertificate?
    private let grace: Duration
    private let refusals: Refusals
    private let count = Count()

    /// - Parameters:
    ///   - responder: The application.
    ///   - grace: For requests that are being answered when the server stops.
    ///   - refusals: What the connection answers by itself.
    package init(
        responder: @escaping HTTPChannelHandler.Responder, limits: ConnectionLimits, loopStates: EventLoopStates,
        tls: ReloadingCertificate?, grace: Duration, refusals: @escaping Refusals
    ) {
        // A client that asked whether to send its body is told so when somebody begins to read it.
        self.responder = { request, writer, channel in
            guard request.headers[.expect] != nil else { return try await responder(request, writer, channel) }
            let body = RequestBody(asyncSequence: AwaitedBody(body: request.body, channel: channel))
            try await responder(Request(head: request.head, body: body), writer, channel)
        }
        self.limits = limits
        self.loopStates = loopStates
        self.tls = tls
        self.grace = grace
        self.refusals = refusals
    }

    package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        guard count.open.add(1, ordering: .relaxed).newValue <= limits.connections else {
            count.open.subtract(1, ordering: .relaxed)
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(TooManyConnections())
        }
        channel.closeFuture.whenComplete { [count] _ in _ = count.open.subtract(1, ordering: .relaxed) }
        return channel.eventLoop.makeCompletedFuture {
            guard let loopState = loopStates[channel.eventLoop] else {
                throw ChannelError.inappropriateOperationForState
            }
            let pipeline = channel.pipeline.syncOperations
            try channel.syncOptions?.setOption(.recvAllocator, value: Self.receiving)
            let edge = ConnectionEdge()
            let connection = HTTP1Connection(
                loopState: loopState, edge: edge, limits: limits, isSecure: tls != nil, grace: grace,
                refusals: refusals)
            try pipeline.addHandler(edge)
            if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls.context)) }
            try connection.add(to: pipeline, limits: limits)
            return AcceptedConnection(
                try NIOAsyncChannel(
                    wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true)))
        }
    }

    /// Answers the requests of one connection. Whoever is at work on one when the client leaves is cancelled.
    package func handle(value: Value, logger: Logger) async {
        let messages = value.take()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await handleHTTP(asyncChannel: messages, logger: logger) }
            group.addTask { try? await messages.channel.closeFuture.get() }
            await group.next()
            group.cancelAll()
        }
    }
}

/// A body that the client sends only when it is told that somebody wants it.
private struct AwaitedBody: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    let body: RequestBody
    let channel: any Channel

    struct AsyncIterator: AsyncIteratorProtocol {
        var base: RequestBody.AsyncIterator
        var channel: (any Channel)?

        @concurrent mutating func next() async throws -> ByteBuffer? {
            if let channel {
                self.channel = nil
                try await channel.triggerUserOutboundEvent(ReadyForBody())
            }
            return try await base.next()
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(base: body.makeAsyncIterator(), channel: channel)
    }
}
