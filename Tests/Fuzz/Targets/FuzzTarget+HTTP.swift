import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPTypes

@testable import HTTPServer

extension FuzzTarget {
    /// A connection's bytes, in pieces, as they come from the socket: requests are told apart as the server does, passed on to
    /// something that answers, and answered. What goes out is HTTP, one answer for each request at most.
    static let http = FuzzTarget("http") { bytes in
        guard let size = bytes.first else { return }
        let channel = EmbeddedChannel()
        let application = AnsweringApplication()
        let edge = ConnectionEdge()
        let state = EventLoopState(loop: channel.embeddedEventLoop, responder: NothingDirect())
        var limits = ConnectionLimits()
        limits.headerBytes = 2 << 10
        let connection = HTTP1Connection(
            loopState: state, edge: edge, limits: limits, isSecure: false, grace: .seconds(1),
            refusals: { _ in (HTTPResponse(status: .badRequest), ByteBuffer(string: "no")) })
        do {
            try channel.pipeline.syncOperations.addHandler(edge)
            try connection.add(to: channel.pipeline.syncOperations, limits: limits)
            try channel.pipeline.syncOperations.addHandler(application)
        } catch { preconditionFailure("no connection: \(error)") }
        var rest = bytes.dropFirst()
        while !rest.isEmpty, channel.isActive || application.requests == 0 {
            let piece = rest.prefix(size == 0 ? 4096 : Int(size))
            rest = rest.dropFirst(piece.count)
            _ = try? channel.writeInbound(ByteBuffer(bytes: piece))
        }
        channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        check(written(by: channel), requests: application.requests)
        _ = try? channel.finish(acceptAlreadyClosed: true)
    }

    private static func written(by channel: EmbeddedChannel) -> [UInt8] {
        var bytes: [UInt8] = []
        while case .byteBuffer(let buffer)? = try? channel.readOutbound(as: IOData.self) {
            bytes += buffer.readableBytesView
        }
        return bytes
    }

    /// Each answer of the application is a head of one kind with its body, and one refusal may follow.
    private static func check(_ bytes: [UInt8], requests: Int) {
        let text = String(decoding: bytes, as: UTF8.self)
        let heads = text.split(separator: "HTTP/1.1 ", omittingEmptySubsequences: false)
        precondition(heads[0].isEmpty, "it begins with something else than an answer")
        precondition(heads.dropFirst().allSatisfy { $0.hasPrefix("200 ") || $0.hasPrefix("400 ") })
        precondition(heads.count - 1 <= requests + 1, "there are more answers than requests")
    }
}

/// Answers each request when all of it is there.
private final class AnsweringApplication: ChannelInboundHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundOut = HTTPResponsePart

    private(set) var requests = 0

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch Self.unwrapInboundIn(data) {
        case .head(let request):
            requests += 1
            precondition(request.path?.isEmpty == false)
        case .body: break
        case .end:
            let response = HTTPResponse(status: .ok, headerFields: [.contentLength: "2"])
            context.write(Self.wrapOutboundOut(.head(response)), promise: nil)
            context.write(Self.wrapOutboundOut(.body(ByteBuffer(string: "ok"))), promise: nil)
            context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {}
}

private final class NothingDirect: DirectResponder {
    func answers(_ head: HTTPRequestHead) -> Bool { false }
    func respond(to head: HTTPRequestHead, _ exchange: DirectExchange) {}
    func tick(at now: NIODeadline) -> Bool { false }
}
