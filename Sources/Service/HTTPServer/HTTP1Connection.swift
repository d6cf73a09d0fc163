import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// One client's connection: carries out what ``ConnectionStateMachine`` decides. Requests are passed on to the application
/// or answered by a ``DirectResponder``; what is malformed, too slow or no longer wanted is ended.
///
/// Above it are NIO's encoder and decoder, then the socket; behind it the application's asynchronous channel.
final class HTTP1Connection: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// Whether something is being read, at whose end what was written is flushed.
    private enum Reading {
        case no
        case yes(flushesAtEnd: Bool)
    }

    let loopState: EventLoopState
    let isSecure: Bool
    private let refusals: Refusals
    private let grace: Duration
    private var context: ChannelHandlerContext?
    /// Nearest to the socket: what is closed from here is closed without ceremony.
    private let edge: ConnectionEdge
    /// Takes bytes that need no coding.
    private lazy var bytes = ByteStreamHandler(of: self)

    private var machine: ConnectionStateMachine
    private var timeouts: ConnectionTimeouts
    private var response: (any DirectResponse)?
    private var reading = Reading.no
    private var isAdvancing = false

    init(
        loopState: EventLoopState, edge: ConnectionEdge, limits: ConnectionLimits, isSecure: Bool, grace: Duration,
        refusals: @escaping Refusals
    ) {
        self.loopState = loopState
        self.edge = edge
        self.isSecure = isSecure
        self.grace = grace
        self.refusals = refusals
        machine = ConnectionStateMachine(isSecure: isSecure, answersDirectly: loopState.responder.answers)
        timeouts = ConnectionTimeouts(limits, at: .now())
    }

    /// Adds the connection to a pipeline that ends at the socket or TLS.
    func add(to pipeline: ChannelPipeline.SynchronousOperations, limits: ConnectionLimits) throws {
        var decoding = NIOHTTPDecoderLimitConfiguration()
        decoding.maxHeaderFieldSize = limits.headerBytes
        decoding.maxHeaderListSize = limits.headerBytes
        decoding.maxHeaderFieldCount = limits.headerFields
        // The state machine frames: it knows which requests are HEAD, and that HTTP/1.0 knows no chunks.
        var encoding = HTTPResponseEncoder.Configuration()
        encoding.automaticallySetFramingHeaders = false
        try pipeline.addHandler(bytes)
        try pipeline.addHandler(HTTPResponseEncoder(configuration: encoding))
        try pipeline.addHandler(
            ByteToMessageHandler(
                HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes, limitConfiguration: decoding),
                maximumBufferSize: limits.headerBytes + (256 << 10)))
        try pipeline.addHandler(self)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        loopState.add(self)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        loopState.remove(self)
        endResponse()
        self.context = nil
    }

    // MARK: What comes in

    /// Bytes came, of whatever.
    func received(_ count: Int) {
        machine.receiveBytes()
        noteStage()
        timeouts.received(count)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .no = reading { reading = .yes(flushesAtEnd: false) }
        let action = machine.receive(Self.unwrapInboundIn(data))
        noteStage()
        if let action { perform(action) }
        advance()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if case .yes(flushesAtEnd: true) = reading { context.flush() }
        reading = .no
        machine.completeRead()
        context.fireChannelReadComplete()
        if machine.stage == .lingering { context.read() }
    }

    func read(context: ChannelHandlerContext) {
        if machine.requestRead() { context.read() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? HTTPParserError {
            machine.receive(error == .headerOverflow ? .headersTooLarge : .notHTTP)
        } else {
            machine.fail()
        }
        advance()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ChannelEvent.inputClosed:
            timeouts.closedInput(at: .now())
            machine.finishClient()
        case is ChannelShouldQuiesceEvent:
            timeouts.endBy(.now() + TimeAmount(grace))
            machine.drain()
        default: return context.fireUserInboundEventTriggered(event)
        }
        advance()
    }

    func channelInactive(context: ChannelHandlerContext) {
        machine.becomeInactive()
        advance()
        endResponse()
        context.fireChannelInactive()
    }

    // MARK: What goes out

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch Self.unwrapOutboundIn(data) {
        case .head(let response) where response.status.kind == .informational:
            guard machine.mayInform() else { break }
            let head = HTTPResponseHead(informational: response)
            return context.write(Self.wrapOutboundOut(.head(head)), promise: promise)
        case .head(let response):
            let framing = machine.beginResponse(
                by: .application, status: response.status.code,
                hasLength: response.headerFields[.contentLength] != nil,
                wantsClose: response.headerFields[.connection]?.lowercased() == "close")
            guard let framing else { break }
            let head = HTTPResponseHead(response, framing)
            return context.write(Self.wrapOutboundOut(.head(head)), promise: promise)
        case .body(let buffer):
            switch machine.writeBody(by: .application) {
            case .write where buffer.readableBytes > 0:
                return context.write(Self.wrapOutboundOut(.body(.byteBuffer(buffer))), promise: promise)
            case .write, .drop:
                promise?.succeed()
                return
            case .fail: break
            }
        case .end:
            guard let framing = machine.endResponse(by: .application) else { break }
            if framing.hasBody {
                context.write(Self.wrapOutboundOut(.end(nil)), promise: promise)
            } else {
                promise?.succeed()
            }
            flushSoon()
            noteStage()
            return advance()
        }
        promise?.fail(ChannelError.ioOnClosedChannel)
    }

    func flush(context: ChannelHandlerContext) {
        flushNow()
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        if let interim = event as? InterimResponse {
            if machine.mayInform() {
                context.write(Self.wrapOutboundOut(.head(HTTPResponseHead(informational: interim.head))), promise: nil)
                flushNow()
            }
            promise?.succeed()
            return
        }
        guard event is ReadyForBody else { return context.triggerUserOutboundEvent(event, promise: promise) }
        if machine.requestBody() {
            let head = HTTPResponseHead(version: .http1_1, status: .continue)
            context.write(Self.wrapOutboundOut(.head(head)), promise: nil)
            flushNow()
            timeouts.excuse(at: .now())
        }
        promise?.succeed()
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        switch machine.close(mode) {
        case .awaited: context.channel.closeFuture.cascade(to: promise)
        case .done: promise?.succeed()
        case .passedOn: return context.close(mode: mode, promise: promise)
        }
        advance()
    }

    /// Bytes were handed to the socket.
    func wrote(_ count: Int) {
        timeouts.wrote(count, at: .now())
    }

    private func flushNow() {
        if case .yes = reading { reading = .yes(flushesAtEnd: false) }
        context?.flush()
    }

    /// At the end of what is being read, where something is.
    private func flushSoon() {
        if case .yes = reading { reading = .yes(flushesAtEnd: true) } else { flushNow() }
    }

    // MARK: What is to be done

    private func noteStage() {
        timeouts.enter(machine.stage, exchange: machine.number, at: .now())
    }

    /// Does all that is to be done now. Whatever that leads to at once is done by the outermost call, in its order.
    private func advance() {
        guard !isAdvancing else { return }
        isAdvancing = true
        defer { isAdvancing = false }
        var hasForwarded = false
        while let action = machine.next() {
            noteStage()
            if case .forward = action { hasForwarded = true }
            perform(action)
        }
        noteStage()
        // What was passed on counts for the application only at the end of a read.
        if hasForwarded, case .no = reading { context?.fireChannelReadComplete() }
    }

    private func perform(_ action: ConnectionStateMachine.Action) {
        guard let context else { return }
        switch action {
        case .forward(let part): context.fireChannelRead(Self.wrapInboundOut(part))
        case .respondDirectly(let head):
            loopState.responder.respond(to: head, DirectExchange(connection: self, number: machine.number))
        case .endInput(.closed): context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        case .endInput(.failed(let fault)): context.fireErrorCaught(fault)
        case .refuse(let fault, let framing):
            endResponse()
            var (response, body) = refusals(fault)
            response.headerFields[.contentLength] = String(body.readableBytes)
            response.headerFields[.date] = loopState.date.text
            context.write(Self.wrapOutboundOut(.head(HTTPResponseHead(response, framing))), promise: nil)
            if framing.hasBody { context.write(Self.wrapOutboundOut(.body(.byteBuffer(body))), promise: nil) }
        case .read: context.read()
        case .closeOutput:
            flushNow()
            let closed = context.eventLoop.makePromise(of: Void.self)
            closed.futureResult.assumeIsolated().whenComplete { [self] _ in
                machine.completeOutput()
                advance()
            }
            context.close(mode: .output, promise: closed)
            context.read()
        case .close: context.close(promise: nil)
        case .cut:
            endResponse()
            edge.cut()
        }
    }

    /// To be called every now and then.
    func check(at now: NIODeadline) {
        guard let context else { return }
        if machine.isUnready { timeouts.excuse(at: now) }
        let buffered = (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
        switch timeouts.verdict(at: now, buffered: buffered) {
        case .fine: response?.check()
        case .refuse: machine.refuse(.tooSlow)
        case .close: machine.end(isCut: false)
        case .cut: machine.end(isCut: true)
        }
        advance()
    }

    private func endResponse() {
        response?.end()
        response = nil
    }
}

// MARK: Direct answers

extension HTTP1Connection {
    func isCurrent(_ number: Int) -> Bool { machine.isCurrent(number) }

    func isPlain(_ number: Int) -> Bool { machine.isCurrent(number) && machine.isPlain }

    func encode(_ head: HTTPResponseHead) -> ByteBuffer {
        bytes.capture { context?.write(Self.wrapOutboundOut(.head(head)), promise: nil) }
    }

    func beginDirect(_ head: HTTPResponseHead, _ number: Int) {
        guard isCurrent(number),
            let framing = machine.beginResponse(by: .direct, status: Int(head.status.code), hasLength: true)
        else { return }
        var head = head
        framing.describe(in: &head.headers)
        context?.write(Self.wrapOutboundOut(.head(head)), promise: nil)
    }

    func beginDirect(_ encoded: ByteBuffer, status: Int, _ number: Int) {
        guard isCurrent(number), machine.beginResponse(by: .direct, status: status, hasLength: true) != nil else {
            return
        }
        bytes.write(.byteBuffer(encoded), nil)
    }

    func writeDirect(_ data: IOData, _ promise: EventLoopPromise<Void>?, _ number: Int) {
        guard isCurrent(number) else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        switch machine.writeBody(by: .direct) {
        case .write: bytes.write(data, promise)
        case .drop: promise?.succeed()
        case .fail: promise?.fail(ChannelError.ioOnClosedChannel)
        }
    }

    func flushDirect(_ number: Int) {
        if isCurrent(number) { flushSoon() }
    }

    func goOn(as response: any DirectResponse, _ number: Int) {
        if isCurrent(number) { self.response = response }
    }

    func finishDirect(_ number: Int) {
        guard isCurrent(number), machine.endResponse(by: .direct) != nil else { return }
        response = nil
        flushSoon()
        noteStage()
        advance()
    }

    func cutDirect(_ number: Int) {
        guard isCurrent(number) else { return }
        machine.end(isCut: true)
        advance()
    }
}

/// Says on the pipeline that somebody is about to read the request's body.
struct ReadyForBody: Sendable {}
