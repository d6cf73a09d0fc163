import NIOCore

/// Between the socket, or TLS, and the coding of HTTP: tells the connection of every byte that comes and goes, and gathers
/// what is written in small pieces.
final class ByteStreamHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// Pieces up to this size are copied together with what is before them.
    private static let copied = 16 << 10
    /// What has gathered to so many bytes goes on.
    private static let enough = 64 << 10

    private var connection: HTTP1Connection?
    private var context: ChannelHandlerContext?
    private var gathered = ByteBuffer()

    init(of connection: HTTP1Connection) {
        self.connection = connection
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        connection = nil
        self.context = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        connection?.received(Self.unwrapInboundIn(data).readableBytes)
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        write(Self.unwrapOutboundIn(data), promise)
    }

    func flush(context: ChannelHandlerContext) {
        send(nil)
        context.flush()
    }

    /// Bytes as they are to go out.
    func write(_ data: IOData, _ promise: EventLoopPromise<Void>?) {
        guard case .byteBuffer(let buffer) = data, buffer.readableBytes <= Self.copied else {
            send(nil)
            return pass(data, promise)
        }
        if gathered.readableBytes == 0 { gathered = buffer } else { gathered.writeImmutableBuffer(buffer) }
        if promise != nil || gathered.readableBytes >= Self.enough { send(promise) }
    }

    /// What `write` writes, instead of letting it go on.
    func capture(_ write: () -> Void) -> ByteBuffer {
        let before = gathered
        gathered = ByteBuffer()
        write()
        defer { gathered = before }
        return gathered
    }

    private func send(_ promise: EventLoopPromise<Void>?) {
        guard gathered.readableBytes > 0 || promise != nil else { return }
        let buffer = gathered
        gathered = ByteBuffer()
        pass(.byteBuffer(buffer), promise)
    }

    private func pass(_ data: IOData, _ promise: EventLoopPromise<Void>?) {
        guard let context else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        connection?.wrote(data.readableBytes)
        context.write(Self.wrapOutboundOut(data), promise: promise)
    }
}
