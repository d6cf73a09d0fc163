import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// One client's connection: takes its requests one after the other, has each answered (content by ``ContentResponder``,
/// everything else by the application behind it), and ends what is malformed, too slow or no longer wanted.
///
/// Above it are NIO's decoder and the socket, behind it the application's asynchronous channel. Responses are encoded
/// here, so that those of content can go out as they lie in the file.
final class ConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = IOData

    /// A request, and its answer.
    struct Exchange {
        enum Answerer {
            case application
            case content
            case nobody
        }

        let head: HTTPRequestHead
        var answerer: Answerer
        var length: Int64?
        var awaitsContinue = false
        var requestIsComplete = false
        var answerHasBegun = false
        var answerIsComplete = false
        var closes: Bool
        var framing = ResponseHead.Framing.none
    }

    private enum Arrival {
        case part(HTTPServerRequestPart)
        case refusal(Problem)
    }

    /// A body of at most so many bytes is read to its end after an early answer, so that the connection can go on.
    private static let readableRest: Int64 = 64 << 10
    /// Pieces of a body up to this size are copied together with what is before them.
    private static let copied = 16 << 10

    let limits: ConnectionLimits
    let isSecure: Bool
    private let loopState: EventLoopState
    private let content: ContentResponder
    private let grace: Duration
    private var context: ChannelHandlerContext?
    /// Nearest to the socket: what is closed from here is closed without ceremony.
    private let edge: ConnectionEdge

    private var pace: ConnectionTimeouts
    private var exchange: Exchange?
    /// Tells exchanges apart for whoever answers later.
    private(set) var number = 0
    private var waiting = CircularBuffer<Arrival>()
    private var outgoing = ByteBuffer()
    private var readIsWanted = false
    /// The socket was told to read. It isn't while the application has enough to do with what came before.
    private var readIsUnderWay = false
    private var isReading = false
    private var flushIsWanted = false
    private var isAdvancing = false
    private var inputIsClosed = false
    private var inputEndIsToldOf = false
    private var outputIsClosed = false
    private var isLingering = false
    private var isStopping = false

    init(loopState: EventLoopState, edge: ConnectionEdge, limits: ConnectionLimits, isSecure: Bool, grace: Duration) {
        self.loopState = loopState
        self.edge = edge
        self.limits = limits
        self.isSecure = isSecure
        self.grace = grace
        content = ContentResponder(loopState: loopState)
        pace = ConnectionTimeouts(limits, at: .now())
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        content.connection = self
        loopState.add(self)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        loopState.remove(self)
        content.end()
        content.connection = nil
        self.context = nil
    }

    // MARK: What comes in

    /// Bytes came, of whatever.
    func received(_ bytes: Int) {
        pace.received(bytes, at: .now())
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        isReading = true
        guard !isLingering else { return }
        arrive(.part(Self.unwrapInboundIn(data)))
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        readIsUnderWay = false
        if flushIsWanted { flushNow() }
        context.fireChannelReadComplete()
        if isLingering { context.read() }
    }

    func read(context: ChannelHandlerContext) {
        // Who sends the next request before this one is answered waits.
        guard waiting.isEmpty else {
            readIsWanted = true
            return
        }
        readIsWanted = false
        readIsUnderWay = true
        context.read()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? HTTPParserError else {
            endBody(with: .bodyIncomplete)
            context.close(promise: nil)
            return
        }
        guard !isLingering else { return }
        let problem: Problem =
            error == .headerOverflow
            ? .headersTooLarge : .malformed("What was sent is no HTTP/1.1 request. Check what sends it.")
        if let exchange, !exchange.requestIsComplete {
            refuse(problem)
        } else {
            arrive(.refusal(problem))
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ChannelEvent.inputClosed:
            inputIsClosed = true
            pace.closedInput(at: .now())
            if isLingering { closeIfOver() } else { tellOfInputEnd() }
        case is ChannelShouldQuiesceEvent:
            isStopping = true
            pace.endBy(.now() + TimeAmount(grace))
            if exchange == nil, pace.stage != .head, !isLingering { linger() }
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        endBody(with: .bodyIncomplete)
        content.end()
        context.fireChannelInactive()
    }

    private func arrive(_ arrival: Arrival) {
        if waiting.isEmpty, !hasToWait(arrival) { take(arrival) } else { waiting.append(arrival) }
    }

    private func hasToWait(_ arrival: Arrival) -> Bool {
        switch arrival {
        case .part(.head), .refusal: exchange != nil
        case .part: false
        }
    }

    private func take(_ arrival: Arrival) {
        switch arrival {
        case .refusal(let problem): refuse(problem)
        case .part(.head(let head)): begin(head)
        case .part(.body(let buffer)):
            exchange?.awaitsContinue = false
            if exchange?.answerer == .application { context?.fireChannelRead(wrapInboundOut(.body(buffer))) }
        case .part(.end(let trailers)):
            guard exchange != nil else { return }
            exchange?.requestIsComplete = true
            exchange?.awaitsContinue = false
            pace.readEnd(at: .now())
            if exchange?.answerer == .application {
                context?.fireChannelRead(wrapInboundOut(.end(trailers.map { HTTPFields($0, splitCookie: false) })))
            }
            finishIfDone()
        }
    }

    private func begin(_ head: HTTPRequestHead) {
        var head = head
        head.uri = RequestFraming.originForm(head.uri)
        pace.readHead(at: .now())
        number += 1
        var new = Exchange(head: head, answerer: .nobody, closes: !head.isKeepAlive || isStopping)
        new.length = RequestFraming.length(of: head)
        // After a request for another protocol NIO's decoder takes nothing more.
        if head.headers.contains(name: "upgrade") { new.closes = true }
        exchange = new
        if let problem = RequestFraming.refusal(of: head) { return refuse(problem) }
        switch RequestFraming.expectation(of: head) {
        case .none: break
        case .continue: exchange?.awaitsContinue = true
        case .unknown:
            return refuse(Problem(.expectationFailed, "unknown_expectation", "'Expect' may only say '100-continue'."))
        }
        if head.method == .GET || head.method == .HEAD, head.uri.hasPrefix("/c/") {
            exchange?.answerer = .content
            content.answer(head)
            return
        }
        guard let request = try? HTTPRequest(head, secure: isSecure, splitCookie: false) else {
            return refuse(.malformed("The request line can't be understood."))
        }
        exchange?.answerer = .application
        context?.fireChannelRead(wrapInboundOut(.head(request)))
    }

    /// Whoever waits for the rest of a body learns that it won't come.
    private func endBody(with fault: ConnectionFault) {
        guard let exchange, exchange.answerer == .application, !exchange.requestIsComplete, !inputEndIsToldOf else {
            return
        }
        inputEndIsToldOf = true
        context?.fireErrorCaught(fault)
    }

    private func tellOfInputEnd() {
        guard waiting.isEmpty, !inputEndIsToldOf, exchange?.requestIsComplete ?? true else { return }
        // The application, which knows nothing of the request, would end the connection.
        guard exchange?.answerer != .content else { return }
        inputEndIsToldOf = true
        context?.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        if exchange == nil, !isLingering { linger() }
    }

    // MARK: What goes out

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard let exchange, exchange.answerer == .application, !exchange.answerIsComplete, !isLingering else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(let response): writeHead(response)
        case .body(let buffer): writeBody(buffer)
        case .end:
            if exchange.framing == .chunks { outgoing.writeStaticString("0\r\n\r\n") }
            send(promise)
            flushSoon()
            finishAnswer()
            return
        }
        if promise != nil { send(promise) }
    }

    func flush(context: ChannelHandlerContext) {
        flushNow()
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard event is ReadyForBody else { return context.triggerUserOutboundEvent(event, promise: promise) }
        if exchange?.awaitsContinue == true, exchange?.answerHasBegun == false {
            exchange?.awaitsContinue = false
            outgoing.writeStaticString("HTTP/1.1 100 Continue\r\n\r\n")
            flushNow()
            pace.excuse(at: .now())
        }
        promise?.succeed()
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        switch mode {
        case .all where isLingering:
            // The client may still be reading: the end comes with its own, or with the time.
            context.channel.closeFuture.cascade(to: promise)
        case .output:
            // The application is done with the connection.
            if exchange == nil, !isLingering { linger() }
            promise?.succeed()
        case .all where exchange?.answerHasBegun == true:
            // Cut short by whoever gives the answer: nobody may take the part for the whole.
            context.channel.closeFuture.cascade(to: promise)
            cut()
        case .all, .input: context.close(mode: mode, promise: promise)
        }
    }

    private func writeHead(_ response: HTTPResponse) {
        guard var exchange else { return }
        guard response.status.kind != .informational else {
            _ = ResponseHead.write(response, to: exchange.head, closing: false, into: &outgoing)
            return
        }
        exchange.answerHasBegun = true
        leaveRestUnread(&exchange)
        if response.headerFields[.connection]?.lowercased() == "close" { exchange.closes = true }
        exchange.framing = ResponseHead.write(response, to: exchange.head, closing: exchange.closes, into: &outgoing)
        if exchange.framing == .close { exchange.closes = true }
        self.exchange = exchange
    }

    /// An answer before the end of the request: a short rest is read, a long one ends the connection.
    private func leaveRestUnread(_ exchange: inout Exchange) {
        guard !exchange.requestIsComplete else { return }
        let isShort = exchange.length.map { $0 <= Self.readableRest } ?? false
        if exchange.awaitsContinue || !isShort { exchange.closes = true }
    }

    private func writeBody(_ buffer: ByteBuffer) {
        guard let exchange, buffer.readableBytes > 0, exchange.head.method != .HEAD, exchange.framing != .none else {
            return
        }
        if exchange.framing == .chunks {
            outgoing.writeString(String(buffer.readableBytes, radix: 16))
            outgoing.writeStaticString("\r\n")
        }
        if buffer.readableBytes <= Self.copied {
            outgoing.writeImmutableBuffer(buffer)
        } else {
            send(nil)
            sendNow(.byteBuffer(buffer), nil)
        }
        if exchange.framing == .chunks { outgoing.writeStaticString("\r\n") }
    }

    /// Hands what has gathered to the socket.
    private func send(_ promise: EventLoopPromise<Void>?) {
        guard outgoing.readableBytes > 0 || promise != nil else { return }
        let buffer = outgoing
        outgoing = ByteBuffer()
        sendNow(.byteBuffer(buffer), promise)
    }

    private func sendNow(_ data: IOData, _ promise: EventLoopPromise<Void>?) {
        guard let context else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        pace.wrote(data.readableBytes, at: .now())
        context.write(wrapOutboundOut(data), promise: promise)
    }

    private func flushNow() {
        send(nil)
        flushIsWanted = false
        context?.flush()
    }

    /// At the end of what is being read, where something is.
    private func flushSoon() {
        if isReading { flushIsWanted = true } else { flushNow() }
    }

    // MARK: Content

    /// The request's answer begins: a head, with as much of the body as is at hand.
    func sendContent(_ bytes: ByteBuffer) {
        exchange?.answerHasBegun = true
        sendNow(.byteBuffer(bytes), nil)
    }

    func sendContent(_ data: IOData, _ promise: EventLoopPromise<Void>) {
        sendNow(data, promise)
    }

    func flushContent() { flushSoon() }

    func finishContent() {
        flushSoon()
        finishAnswer()
    }

    /// Whether the connection ends with this answer.
    func closesAfterContent() -> Bool {
        guard var exchange else { return true }
        // The decoder brings the end of a request without a body along with its head.
        if exchange.length != 0 { leaveRestUnread(&exchange) }
        self.exchange = exchange
        return exchange.closes
    }

    /// Whether the request that was last begun still waits for its answer.
    var isAnswering: Bool { exchange.map { !$0.answerHasBegun } ?? false }

    var loop: (any EventLoop)? { context?.eventLoop }

    // MARK: Ends

    private func finishAnswer() {
        exchange?.answerIsComplete = true
        finishIfDone()
    }

    private func finishIfDone() {
        guard let exchange, exchange.answerIsComplete, exchange.requestIsComplete || exchange.closes else { return }
        if exchange.closes || isStopping {
            if !exchange.requestIsComplete { endBody(with: .bodyIncomplete) }
            self.exchange = nil
            linger()
            return
        }
        self.exchange = nil
        pace.finishedAnswer(at: .now())
        advance()
    }

    private func advance() {
        guard !isAdvancing else { return }
        isAdvancing = true
        defer { isAdvancing = false }
        guard !waiting.isEmpty || inputIsClosed || readIsWanted else { return }
        while !isLingering, let next = waiting.first, !hasToWait(next) {
            waiting.removeFirst()
            take(next)
        }
        // What was passed on counts for the application only at the end of a read.
        if !isReading { context?.fireChannelReadComplete() }
        guard !isLingering, waiting.isEmpty else { return }
        if inputIsClosed { tellOfInputEnd() }
        if readIsWanted {
            readIsWanted = false
            readIsUnderWay = true
            context?.read()
        }
    }

    /// Answers in the application's place and ends the connection.
    private func refuse(_ problem: Problem) {
        guard !(exchange?.answerHasBegun ?? false) else { return cut() }
        endBody(with: problem.status == .requestTimeout ? .bodyTooSlow : .bodyIncomplete)
        var response = problem.response.head
        let body = ByteBuffer(bytes: problem.body)
        response.headerFields[.contentLength] = String(body.readableBytes)
        response.headerFields[.date] = loopState.date.text
        let head =
            exchange?.head ?? HTTPRequestHead(version: .http1_1, method: .GET, uri: "", headers: HTTPHeaders())
        exchange = nil
        number += 1
        content.end()
        _ = ResponseHead.write(response, to: head, closing: true, into: &outgoing)
        if head.method != .HEAD { outgoing.writeImmutableBuffer(body) }
        linger()
    }

    /// Ends our side and gives the client a moment to read what it was sent: closed at once, with bytes of the client's
    /// unread, the kernel would reset the connection and the answer with it.
    private func linger() {
        guard !isLingering, let context else { return }
        isLingering = true
        waiting.removeAll()
        pace.linger(at: .now())
        flushNow()
        if !inputEndIsToldOf {
            inputEndIsToldOf = true
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
        let closed = context.eventLoop.makePromise(of: Void.self)
        closed.futureResult.assumeIsolated().whenComplete { [self] _ in
            outputIsClosed = true
            closeIfOver()
        }
        context.close(mode: .output, promise: closed)
        context.read()
    }

    private func closeIfOver() {
        if inputIsClosed, outputIsClosed { context?.close(promise: nil) }
    }

    /// Ends the connection with whatever the kernel still holds for it.
    func cut() {
        content.end()
        edge.cut()
    }

    /// To be called every now and then.
    func check(at now: NIODeadline) {
        guard let context else { return }
        if exchange?.awaitsContinue == true || !readIsUnderWay { pace.excuse(at: now) }
        let buffered = (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
        switch pace.verdict(at: now, buffered: buffered) {
        case .fine: content.check()
        case .refuse: refuse(.tooSlow)
        case .close: context.close(promise: nil)
        case .cut: cut()
        }
    }
}

/// Says on the pipeline that somebody is about to read the request's body.
struct ReadyForBody: Sendable {}
