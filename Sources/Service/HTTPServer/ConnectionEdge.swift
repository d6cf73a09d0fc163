import Glibc
import NIOCore

/// What is nearest to the socket, before TLS.
final class ConnectionEdge: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    /// Resets the connection: what the kernel has not delivered yet it delivers no more.
    func cut() {
        guard let context else { return }
        // Takes effect at once on the channel's own loop.
        _ = (context.channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
        context.close(promise: nil)
    }
}
