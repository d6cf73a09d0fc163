import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// Where a connection stands: which request is being answered and by whom, what waits behind it, and how it ends.
///
/// A value without input or output. ``HTTP1Connection`` tells it what happens, and carries out what ``next()`` says until
/// that says nothing more.
struct ConnectionStateMachine {
    /// What is to be done.
    enum Action {
        /// Pass this part of a request on to the application.
        case forward(HTTPRequestPart)
        /// Have this request answered on the event loop.
        case respondDirectly(HTTPRequestHead)
        /// Tell the application that nothing more comes.
        case endInput(InputEnd)
        /// Answer in the application's place.
        case refuse(RequestFault, ResponseFraming)
        /// Let the socket read.
        case read
        /// Send what was written and close our side. What the client still sends is read and thrown away, so that it can
        /// read what it was sent: closed at once, with bytes of the client's unread, the kernel would reset the connection
        /// and the answer with it.
        case closeOutput
        case close
        /// Reset, so that nothing that the kernel still holds is delivered.
        case cut
    }

    /// How the application's input ends.
    enum InputEnd: Hashable {
        case closed
        /// In the middle of a request.
        case failed(ConnectionFault)
    }

    /// Who answers a request.
    enum Answerer: Hashable {
        case application
        /// A ``DirectResponder``.
        case direct
    }

    /// What a write of the answer's body comes to.
    enum BodyWrite: Hashable {
        case write
        /// The response has no body, whatever whoever answers thinks.
        case drop
        /// Nobody waits for it.
        case fail
    }

    /// What a wish of the application's to close comes to.
    enum Closing: Hashable {
        /// It is over when the connection is.
        case awaited
        case done
        case passedOn
    }

    /// A body of at most so many bytes is read to its end after an early answer, so that the connection can go on.
    static let readableRest: Int64 = 64 << 10

    /// A request, and its answer. It is over when both are complete.
    private struct Exchange {
        enum Request {
            /// The client waits to be told that its body is wanted.
            case awaitsContinue
            case incomplete
            case complete
        }

        enum Response {
            case awaited
            case begun(ResponseFraming)
            case complete
        }

        let answerer: Answerer
        /// Of the body, in bytes; nil where that isn't said.
        let length: Int64?
        let isHead: Bool
        let isHTTP1_1: Bool
        var closes: Bool
        var request: Request
        var response = Response.awaited

        var requestIsComplete: Bool { if case .complete = request { true } else { false } }
        var responseIsAwaited: Bool { if case .awaited = response { true } else { false } }

        /// Whether the connection can't go on after an answer that begins now: a short rest of the body is read, a long
        /// one isn't.
        var leavesRestUnread: Bool {
            switch request {
            case .complete: false
            case .awaitsContinue: true
            case .incomplete: length.map { $0 > ConnectionStateMachine.readableRest } ?? true
            }
        }
    }

    private enum State {
        /// Nothing has come yet.
        case opening
        /// Between two requests.
        case idle
        /// Some bytes of a head have come.
        case head
        case exchange(Exchange)
        case refusing(RequestFault, ResponseFraming)
        case lingering(Output)
        /// To be closed at once.
        case ending(isCut: Bool)
        case closed
    }

    /// Our side of the connection at its end.
    private enum Output {
        case open
        case closing
        case closed
    }

    private enum ApplicationInput {
        case open
        case ending(InputEnd)
        case ended
    }

    private enum Reading {
        /// The application has enough to do with what came before.
        case paused
        /// It would take more, but the next request has come and waits.
        case held
        case allowed
    }

    private enum Arrival {
        case part(HTTPServerRequestPart)
        case fault(RequestFault)
    }

    private let isSecure: Bool
    private let answersDirectly: (HTTPRequestHead) -> Bool
    private var state = State.opening
    private var arrivals = CircularBuffer<Arrival>()
    private var applicationInput = ApplicationInput.open
    private var reading = Reading.paused
    private var clientHasFinished = false
    private var isDraining = false
    /// Tells exchanges apart for whoever answers later.
    private(set) var number = 0

    /// - Parameter answersDirectly: Which requests a ``DirectResponder`` answers; all others are the application's.
    init(isSecure: Bool, answersDirectly: @escaping (HTTPRequestHead) -> Bool) {
        self.isSecure = isSecure
        self.answersDirectly = answersDirectly
    }

    // MARK: Looks

    var stage: ConnectionTimeouts.Stage {
        switch state {
        case .opening: .opening
        case .idle: .idle
        case .head: .head
        case .exchange(let exchange): exchange.requestIsComplete ? .answering : .body
        case .refusing, .lingering, .ending, .closed: .lingering
        }
    }

    /// Whether it is no fault of the client's that nothing comes.
    var isUnready: Bool {
        if case .exchange(let exchange) = state, case .awaitsContinue = exchange.request { return true }
        if case .allowed = reading { return false }
        return true
    }

    /// Whether this is the exchange under way, and is answered directly.
    func isCurrent(_ number: Int) -> Bool {
        guard number == self.number, case .exchange(let exchange) = state, exchange.answerer == .direct else {
            return false
        }
        return true
    }

    /// Whether a direct answer that begins now is the plainest: to HTTP/1.1, with a body, on a connection that goes on.
    var isPlain: Bool {
        guard case .exchange(let exchange) = state else { return false }
        return exchange.isHTTP1_1 && !exchange.isHead && !exchange.closes && !exchange.leavesRestUnread
    }

    // MARK: What comes in

    /// Bytes came, of whatever.
    mutating func receiveBytes() {
        switch state {
        case .opening, .idle: state = .head
        default: break
        }
    }

    /// A part of a request came. It is carried out at once, or waits until what came before is answered.
    mutating func receive(_ part: HTTPServerRequestPart) -> Action? {
        guard isTaking else { return nil }
        if arrivals.isEmpty, canTake(part) { return take(part) }
        arrivals.append(.part(part))
        return nil
    }

    /// What came can't be understood.
    mutating func receive(_ fault: RequestFault) {
        if case .exchange(let exchange) = state, !exchange.requestIsComplete { return refuse(fault) }
        guard isTaking else { return }
        arrivals.append(.fault(fault))
    }

    /// The client closed its side.
    mutating func finishClient() {
        clientHasFinished = true
    }

    /// The application would take more: whether the socket may read.
    mutating func requestRead() -> Bool {
        guard arrivals.isEmpty else {
            reading = .held
            return false
        }
        reading = .allowed
        return true
    }

    mutating func completeRead() {
        if case .allowed = reading { reading = .paused }
    }

    /// The server is about to stop: a request that is under way is the last.
    mutating func drain() {
        isDraining = true
        switch state {
        case .opening, .idle: linger()
        default: break
        }
    }

    /// The connection failed.
    mutating func fail() { end(isCut: false) }

    /// The connection is no more.
    mutating func becomeInactive() {
        failInput(.bodyIncomplete)
        arrivals.removeAll()
        state = .closed
    }

    /// Our side is closed, or can't be.
    mutating func completeOutput() {
        if case .lingering(.closing) = state { state = .lingering(.closed) }
    }

    // MARK: What goes out

    /// Whether an informational response may be written: to whoever knows them, before the answer begins.
    func mayInform() -> Bool {
        guard case .exchange(let exchange) = state else { return false }
        return exchange.answerer == .application && exchange.responseIsAwaited && exchange.isHTTP1_1
    }

    /// The client, which asked whether its body is wanted, is to be told so: whether it still waits for that.
    mutating func requestBody() -> Bool {
        guard case .exchange(var exchange) = state, case .awaitsContinue = exchange.request,
            exchange.responseIsAwaited
        else { return false }
        exchange.request = .incomplete
        state = .exchange(exchange)
        return true
    }

    /// An answer begins.
    ///
    /// - Parameters:
    ///   - hasLength: Whether it says how long its body is.
    ///   - wantsClose: Whether it says that the connection ends with it.
    /// - Returns: How it is to be framed; nil where nobody waits for it.
    mutating func beginResponse(
        by answerer: Answerer, status: Int, hasLength: Bool, wantsClose: Bool = false
    ) -> ResponseFraming? {
        guard case .exchange(var exchange) = state, exchange.answerer == answerer, exchange.responseIsAwaited else {
            return nil
        }
        let framing = ResponseFraming(
            status: status, hasLength: hasLength, toHead: exchange.isHead, isHTTP1_1: exchange.isHTTP1_1,
            closes: exchange.closes || wantsClose || exchange.leavesRestUnread)
        exchange.closes = framing.closes
        exchange.response = .begun(framing)
        state = .exchange(exchange)
        return framing
    }

    func writeBody(by answerer: Answerer) -> BodyWrite {
        guard case .exchange(let exchange) = state, exchange.answerer == answerer,
            case .begun(let framing) = exchange.response
        else { return .fail }
        return framing.hasBody ? .write : .drop
    }

    /// - Returns: How the answer was framed; nil where there was none to end.
    mutating func endResponse(by answerer: Answerer) -> ResponseFraming? {
        guard case .exchange(var exchange) = state, exchange.answerer == answerer,
            case .begun(let framing) = exchange.response
        else { return nil }
        exchange.response = .complete
        finishIfComplete(exchange)
        return framing
    }

    // MARK: Ends

    /// Answers in the application's place, and ends the connection. An answer that has begun is cut.
    mutating func refuse(_ fault: RequestFault) {
        var isHead = false
        switch state {
        case .refusing, .lingering, .ending, .closed: return
        case .opening, .idle, .head: break
        case .exchange(let exchange):
            guard exchange.responseIsAwaited else { return end(isCut: true) }
            failInput(fault == .tooSlow ? .bodyTooSlow : .bodyIncomplete)
            isHead = exchange.isHead
        }
        arrivals.removeAll()
        state = .refusing(fault, .refusal(toHead: isHead))
    }

    /// Whoever answers is done with the connection, or gives up.
    mutating func close(_ mode: CloseMode) -> Closing {
        switch (mode, state) {
        case (.output, .opening), (.output, .idle), (.output, .head):
            linger()
            return .done
        case (.output, _): return .done
        // The client may still be reading: the end comes with its own, or with the time.
        case (.all, .refusing), (.all, .lingering): return .awaited
        case (.all, .exchange(let exchange)) where !exchange.responseIsAwaited:
            // Cut short by whoever gives the answer: nobody may take the part for the whole.
            end(isCut: true)
            return .awaited
        case (.all, .opening), (.all, .idle), (.all, .head), (.all, .exchange):
            end(isCut: false)
            return .awaited
        case (.all, .ending): return .awaited
        case (.all, .closed), (.input, _): return .passedOn
        }
    }

    /// Ends it at once.
    mutating func end(isCut: Bool) {
        if case .closed = state { return }
        failInput(.bodyIncomplete)
        arrivals.removeAll()
        state = .ending(isCut: isCut)
    }

    private mutating func linger() {
        arrivals.removeAll()
        endInput(.closed)
        state = .lingering(.open)
    }

    private mutating func endInput(_ end: InputEnd) {
        if case .open = applicationInput { applicationInput = .ending(end) }
    }

    /// Whoever waits for the rest of a body learns that it won't come.
    private mutating func failInput(_ fault: ConnectionFault) {
        guard case .exchange(let exchange) = state, exchange.answerer == .application, !exchange.requestIsComplete
        else {
            return
        }
        endInput(.failed(fault))
    }

    private mutating func finishIfComplete(_ exchange: Exchange) {
        state = .exchange(exchange)
        guard case .complete = exchange.response, exchange.requestIsComplete || exchange.closes else { return }
        if exchange.closes || isDraining {
            failInput(.bodyIncomplete)
            linger()
        } else {
            state = .idle
        }
    }

    // MARK: What is to be done

    /// What is to be done next; nil where that depends on others.
    mutating func next() -> Action? {
        while true {
            noteClientEnd()
            if case .ending(let end) = applicationInput {
                applicationInput = .ended
                return .endInput(end)
            }
            switch state {
            case .refusing(let fault, let framing):
                linger()
                return .refuse(fault, framing)
            case .lingering(.open):
                state = .lingering(.closing)
                return .closeOutput
            case .lingering(.closed) where clientHasFinished:
                state = .closed
                return .close
            case .ending(let isCut):
                state = .closed
                return isCut ? .cut : .close
            case .lingering, .closed: return nil
            case .opening, .idle, .head, .exchange:
                switch arrivals.first {
                case .part(let part):
                    guard canTake(part) else { return nil }
                    arrivals.removeFirst()
                    if let action = take(part) { return action }
                case .fault(let fault):
                    if case .exchange = state { return nil }
                    refuse(fault)
                case nil:
                    guard case .held = reading else { return nil }
                    reading = .allowed
                    return .read
                }
            }
        }
    }

    /// The client's end counts once nothing of what it sent waits any more.
    private mutating func noteClientEnd() {
        guard clientHasFinished, arrivals.isEmpty else { return }
        switch state {
        case .opening, .idle, .head: linger()
        // Who answers directly needs not know. The application may be done with the connection.
        case .exchange(let exchange) where exchange.answerer == .application && exchange.requestIsComplete:
            endInput(.closed)
        default: break
        }
    }

    /// Whether requests are still taken.
    private var isTaking: Bool {
        switch state {
        case .opening, .idle, .head, .exchange: true
        case .refusing, .lingering, .ending, .closed: false
        }
    }

    /// Who sends the next request before this one is answered waits.
    private func canTake(_ part: HTTPServerRequestPart) -> Bool {
        guard case .head = part, case .exchange = state else { return true }
        return false
    }

    private mutating func take(_ part: HTTPServerRequestPart) -> Action? {
        if case .head(let head) = part { return begin(head) }
        guard case .exchange(var exchange) = state else { return nil }
        switch part {
        case .head: return nil
        case .body(let buffer):
            exchange.request = .incomplete
            state = .exchange(exchange)
            return exchange.answerer == .application ? .forward(.body(buffer)) : nil
        case .end(let trailers):
            exchange.request = .complete
            finishIfComplete(exchange)
            guard exchange.answerer == .application else { return nil }
            return .forward(.end(trailers.map { HTTPFields($0, splitCookie: false) }))
        }
    }

    private mutating func begin(_ head: HTTPRequestHead) -> Action? {
        let framing = RequestFraming(head)
        var head = head
        if let target = framing.originForm { head.uri = target }
        number += 1
        let isDirect = framing.fault == nil && answersDirectly(head)
        let request = isDirect ? nil : try? HTTPRequest(head, secure: isSecure, splitCookie: false)
        if let fault = framing.fault ?? (isDirect || request != nil ? nil : .invalidRequestLine) {
            arrivals.removeAll()
            state = .refusing(fault, .refusal(toHead: head.method == .HEAD))
            return nil
        }
        state = .exchange(
            Exchange(
                answerer: isDirect ? .direct : .application, length: framing.length, isHead: head.method == .HEAD,
                isHTTP1_1: head.version == .http1_1,
                // After a request for another protocol NIO's decoder takes nothing more.
                closes: !head.isKeepAlive || framing.wantsUpgrade || isDraining,
                request: framing.awaitsContinue ? .awaitsContinue : .incomplete))
        return request.map { .forward(.head($0)) } ?? .respondDirectly(head)
    }
}
