import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import TestSupport
import Testing

@testable import HTTPServer

/// What happens on a connection in which order, decided without one.
@Suite(.timeLimit(.minutes(10))) struct ConnectionStateMachineTests {
    static func makeMachine() -> ConnectionStateMachine {
        ConnectionStateMachine(isSecure: false) { $0.uri.hasPrefix("/direct") }
    }

    static func head(
        _ uri: String, _ method: HTTPMethod = .GET, version: HTTPVersion = .http1_1,
        _ headers: [(String, String)] = []
    ) -> HTTPServerRequestPart {
        .head(
            HTTPRequestHead(
                version: version, method: method, uri: uri, headers: HTTPHeaders([("Host", "x")] + headers)))
    }

    /// What it has done after this part, in words.
    private static func receive(
        _ parts: HTTPServerRequestPart..., by machine: inout ConnectionStateMachine
    ) -> [String] {
        parts.flatMap { part in
            machine.receiveBytes()
            return (machine.receive(part).map { [word($0)] } ?? []) + actions(of: &machine)
        }
    }

    private static func actions(of machine: inout ConnectionStateMachine) -> [String] {
        var words: [String] = []
        while let action = machine.next() { words.append(word(action)) }
        return words
    }

    private static func word(_ action: ConnectionStateMachine.Action) -> String {
        switch action {
        case .forward(.head(let request)): "forward \(request.path ?? "")"
        case .forward(.body): "forward body"
        case .forward(.end): "forward end"
        case .respondDirectly(let head): "respond \(head.uri)"
        case .endInput(.closed): "end input"
        case .endInput(.failed(let fault)): "fail input: \(fault)"
        case .refuse(let fault, _): "refuse \(fault)"
        case .read: "read"
        case .closeOutput: "close output"
        case .close: "close"
        case .cut: "cut"
        }
    }

    private static func answer(_ machine: inout ConnectionStateMachine) -> [String] {
        #expect(machine.beginResponse(by: .application, status: 200, hasLength: true) != nil)
        #expect(machine.endResponse(by: .application) != nil)
        return actions(of: &machine)
    }

    private static func mayRead(_ machine: inout ConnectionStateMachine) -> Bool { machine.requestRead() }

    private static func asksForBody(_ machine: inout ConnectionStateMachine) -> Bool { machine.requestBody() }

    @Test func `a request that comes before the last one is answered waits, and the socket with it`() {
        var machine = Self.makeMachine()
        let first = Self.receive(Self.head("/a"), .end(nil), Self.head("/b"), .end(nil), by: &machine)
        #expect(first == ["forward /a", "forward end"])
        #expect(!Self.mayRead(&machine))
        #expect(Self.answer(&machine) == ["forward /b", "forward end", "read"])
        #expect(Self.answer(&machine).isEmpty)
        #expect(Self.mayRead(&machine))
    }

    @Test func `after an early answer a short rest of the body is read, and a long one ends the connection`() {
        for (length, goesOn) in [("65536", true), ("65537", false), (nil, false)] {
            var machine = Self.makeMachine()
            let framing = length.map { ("Content-Length", $0) } ?? ("Transfer-Encoding", "chunked")
            _ = Self.receive(Self.head("/a", .POST, [framing]), by: &machine)
            let response = machine.beginResponse(by: .application, status: 401, hasLength: true)
            #expect(response?.closes == !goesOn)
            _ = machine.endResponse(by: .application)
            if goesOn {
                #expect(Self.actions(of: &machine).isEmpty)
                #expect(Self.receive(.body(ByteBuffer()), .end(nil), by: &machine) == ["forward body", "forward end"])
                #expect(Self.receive(Self.head("/b"), by: &machine) == ["forward /b"])
            } else {
                #expect(Self.actions(of: &machine) == ["fail input: bodyIncomplete", "close output"])
                #expect(Self.receive(.body(ByteBuffer()), .end(nil), Self.head("/b"), by: &machine).isEmpty)
            }
        }
    }

    @Test func `a body that is announced with a question is asked for once, and not after an answer`() {
        let head = Self.head("/a", .POST, [("Content-Length", "5"), ("Expect", "100-continue")])
        var machine = Self.makeMachine()
        _ = Self.receive(head, by: &machine)
        _ = machine.requestRead()
        #expect(machine.isUnready)
        #expect(Self.asksForBody(&machine))
        #expect(!Self.asksForBody(&machine))
        #expect(!machine.isUnready)
        machine = Self.makeMachine()
        _ = Self.receive(head, by: &machine)
        #expect(machine.beginResponse(by: .application, status: 401, hasLength: true)?.closes == true)
        #expect(!Self.asksForBody(&machine))
    }

    @Test func `HEAD, 204 and 304 have no body, HTTP 1.0 no chunks`() {
        let cases: [(HTTPMethod, HTTPVersion, Int, ResponseFraming.Body, Bool, Bool)] = [
            (.GET, .http1_1, 200, .chunks, true, false), (.HEAD, .http1_1, 200, .chunks, false, false),
            (.GET, .http1_1, 204, .none, false, false), (.GET, .http1_1, 304, .none, false, false),
            (.GET, .http1_0, 200, .untilClose, true, true),
        ]
        for (method, version, status, body, hasBody, closes) in cases {
            var machine = Self.makeMachine()
            let keep = version == .http1_0 ? [("Connection", "keep-alive")] : []
            _ = Self.receive(Self.head("/a", method, version: version, keep), .end(nil), by: &machine)
            let framing = machine.beginResponse(by: .application, status: status, hasLength: false)
            #expect(framing?.body == body && framing?.hasBody == hasBody && framing?.closes == closes)
            #expect(machine.writeBody(by: .application) == (hasBody ? .write : .drop))
        }
    }

    @Test func `a server that stops lets the request under way be the last, and idle connections end at once`() {
        var idle = Self.makeMachine()
        idle.drain()
        #expect(Self.actions(of: &idle) == ["end input", "close output"])
        // Some bytes of a head have come: the request is still answered.
        var begun = Self.makeMachine()
        begun.receiveBytes()
        begun.drain()
        #expect(Self.actions(of: &begun).isEmpty)
        #expect(Self.receive(Self.head("/a"), .end(nil), by: &begun) == ["forward /a", "forward end"])
        #expect(begun.beginResponse(by: .application, status: 200, hasLength: true)?.closes == true)
        _ = begun.endResponse(by: .application)
        #expect(Self.actions(of: &begun) == ["end input", "close output"])
    }

    @Test func `who closes its side still gets its answers, and then the connection ends`() {
        for path in ["/a", "/direct"] {
            let answerer: ConnectionStateMachine.Answerer = path == "/a" ? .application : .direct
            var machine = Self.makeMachine()
            _ = Self.receive(Self.head(path), .end(nil), by: &machine)
            machine.finishClient()
            #expect(Self.actions(of: &machine) == (path == "/a" ? ["end input"] : []))
            #expect(machine.beginResponse(by: answerer, status: 200, hasLength: true) != nil)
            #expect(machine.endResponse(by: answerer) != nil)
            #expect(Self.actions(of: &machine) == (path == "/a" ? ["close output"] : ["end input", "close output"]))
            machine.completeOutput()
            #expect(Self.actions(of: &machine) == ["close"])
        }
    }

    @Test func `what is malformed is refused once what came before is answered, or at once within a request`() {
        var machine = Self.makeMachine()
        _ = Self.receive(Self.head("/a"), .end(nil), by: &machine)
        machine.receive(.notHTTP)
        #expect(Self.actions(of: &machine).isEmpty)
        #expect(Self.answer(&machine) == ["refuse notHTTP", "end input", "close output"])
        machine = Self.makeMachine()
        _ = Self.receive(Self.head("/a", .POST, [("Content-Length", "5")]), by: &machine)
        machine.receive(.notHTTP)
        #expect(Self.actions(of: &machine) == ["fail input: bodyIncomplete", "refuse notHTTP", "close output"])
        // An answer that has begun can't be taken back.
        machine = Self.makeMachine()
        _ = Self.receive(Self.head("/a", .POST, [("Content-Length", "5")]), by: &machine)
        _ = machine.beginResponse(by: .application, status: 200, hasLength: true)
        machine.receive(.notHTTP)
        #expect(Self.actions(of: &machine) == ["fail input: bodyIncomplete", "cut"])
    }

    @Test func `whatever happens in whatever order, nothing forbidden is done, and it ends closed`() {
        var endings: Set<String> = []
        for seed in 0..<4000 {
            var generator = SeededGenerator(seed: UInt64(seed))
            var run = RandomConnection()
            for _ in 0..<Int.random(in: 1...80, using: &generator) { run.step(using: &generator) }
            endings.insert(run.end())
        }
        #expect(endings == ["close", "cut"])
    }
}

/// A client, an application and a direct responder that do anything at any time, and a look at whatever comes of it.
private struct RandomConnection {
    private var machine = ConnectionStateMachineTests.makeMachine()
    /// Requests that were sent, and how many of them were begun here.
    private var sent = 0
    private var begun = 0
    /// Whether the client is within a request.
    private var isSending = false
    private var clientHasFailed = false
    private var clientHasFinished = false
    /// The request under way.
    private var answerer: ConnectionStateMachine.Answerer?
    private var requestIsComplete = true
    private var responseHasBegun = false
    private var responseIsComplete = true
    private var inputEnd: ConnectionStateMachine.InputEnd?
    private var inputHasEnded: Bool { inputEnd != nil }
    /// Whether the application waits for the rest of a body.
    private var isReading = false
    private var ends: [String] = []

    private var isOver: Bool { !ends.isEmpty }

    mutating func step(using generator: inout SeededGenerator) {
        switch Int.random(in: 0..<24, using: &generator) {
        case 0..<7: send(using: &generator)
        case 7: if !isSending || Bool.random(using: &generator) { fault() }
        case 8: finishClient()
        case 9, 10: read()
        case 11: machine.completeRead()
        case 12..<15: begin(using: &generator)
        case 15: write()
        case 16..<20: finish()
        case 20: if machine.requestBody() { #expect(!responseHasBegun && !isOver) }
        case 21: if machine.mayInform() { #expect(answerer == .application && !responseHasBegun && !isOver) }
        case 22: rare(using: &generator)
        default: break
        }
        perform()
    }

    /// Lets everything come to its end, and says how it did.
    mutating func end() -> String {
        machine.finishClient()
        clientHasFinished = true
        perform()
        // Each exchange is answered; a request that never came whole is too slow at some time.
        for _ in 0..<sent + 1 where !isOver {
            if let answerer {
                _ = machine.beginResponse(by: answerer, status: 200, hasLength: true)
                _ = machine.endResponse(by: answerer)
                responseIsComplete = true
            }
            perform()
        }
        machine.refuse(.tooSlow)
        perform()
        machine.completeOutput()
        perform()
        #expect(ends.last == "close" || ends.last == "cut")
        let ending = ends.last ?? ""
        machine.becomeInactive()
        perform()
        // Nobody takes half a body for the whole.
        if isReading { #expect(inputEnd == .failed(.bodyIncomplete) || inputEnd == .failed(.bodyTooSlow)) }
        _ = machine.receive(ConnectionStateMachineTests.head("/late"))
        machine.drain()
        machine.refuse(.tooSlow)
        machine.end(isCut: true)
        #expect(machine.next() == nil)
        return ending
    }

    private mutating func send(using generator: inout SeededGenerator) {
        // A decoder that failed, or that was told of the end, brings nothing more.
        guard !clientHasFailed, !clientHasFinished else { return }
        machine.receiveBytes()
        let part: HTTPServerRequestPart
        if isSending {
            if Bool.random(using: &generator) {
                part = .body(ByteBuffer(string: "abc"))
            } else {
                part = .end(nil)
                isSending = false
            }
        } else {
            let path = ["/application/", "/direct/"].randomElement(using: &generator) ?? ""
            let headers = [
                [], [("Content-Length", "6")], [("Content-Length", "1000000")], [("Transfer-Encoding", "chunked")],
                [("Content-Length", "6"), ("Expect", "100-continue")], [("Connection", "close")],
                [("Content-Length", "x")],
            ].randomElement(using: &generator)
            let method: HTTPMethod = [.GET, .HEAD, .POST].randomElement(using: &generator) ?? .GET
            part = ConnectionStateMachineTests.head("\(path)\(sent)", method, headers ?? [])
            sent += 1
            isSending = true
        }
        if let action = machine.receive(part) { note(action) }
    }

    private mutating func fault() {
        clientHasFailed = true
        machine.receive(.notHTTP)
    }

    private mutating func finishClient() {
        if isSending, !clientHasFailed { fault() }
        clientHasFinished = true
        machine.finishClient()
    }

    private mutating func read() {
        // Nothing is read while a request waits.
        if machine.requestRead(), !isOver, !clientHasFailed { #expect(sent == begun) }
    }

    private mutating func begin(using generator: inout SeededGenerator) {
        let who: ConnectionStateMachine.Answerer = Bool.random(using: &generator) ? .application : .direct
        let status = [200, 204, 304, 500].randomElement(using: &generator) ?? 200
        let framing = machine.beginResponse(
            by: who, status: status, hasLength: Bool.random(using: &generator),
            wantsClose: Int.random(in: 0..<8, using: &generator) == 0)
        // No answer before its request, none to what another answers, and never two.
        #expect((framing != nil) == (who == answerer && !responseHasBegun && !isOver))
        if framing != nil { responseHasBegun = true }
    }

    private func write() {
        for who in [ConnectionStateMachine.Answerer.application, .direct] {
            let isExpected = who == answerer && responseHasBegun && !responseIsComplete && !isOver
            #expect((machine.writeBody(by: who) != .fail) == isExpected)
        }
    }

    private mutating func finish() {
        for who in [ConnectionStateMachine.Answerer.application, .direct] {
            let isExpected = who == answerer && responseHasBegun && !responseIsComplete && !isOver
            let framing = machine.endResponse(by: who)
            #expect((framing != nil) == isExpected)
            guard framing != nil else { continue }
            responseIsComplete = true
            if requestIsComplete { answerer = nil }
            perform()
        }
    }

    private mutating func rare(using generator: inout SeededGenerator) {
        switch Int.random(in: 0..<12, using: &generator) {
        case 0: machine.drain()
        case 1: machine.refuse(.tooSlow)
        case 2: machine.end(isCut: Bool.random(using: &generator))
        case 3: machine.fail()
        case 4: _ = machine.close(.all)
        case 5, 6: _ = machine.close(.output)
        case 7: machine.completeOutput()
        default: break
        }
    }

    private mutating func perform() {
        while let action = machine.next() { note(action) }
    }

    private mutating func note(_ action: ConnectionStateMachine.Action) {
        switch action {
        case .forward(.head(let request)): begin(request.path ?? "", .application)
        case .respondDirectly(let head): begin(head.uri, .direct)
        case .forward(.body):
            #expect(answerer == .application && !requestIsComplete && !inputHasEnded && !isOver)
        case .forward(.end):
            #expect(!requestIsComplete && !inputHasEnded)
            requestIsComplete = true
            isReading = false
            if responseIsComplete { answerer = nil }
        case .endInput(let end):
            #expect(!inputHasEnded)
            if case .failed = end { #expect(!requestIsComplete) }
            inputEnd = end
        case .refuse:
            #expect(!isOver && !(responseHasBegun && !responseIsComplete))
            ends.append("refuse")
        case .read: #expect(!isOver && (sent == begun || clientHasFailed))
        case .closeOutput:
            #expect(ends.isEmpty || ends == ["refuse"])
            ends.append("close output")
        case .close, .cut:
            #expect(!ends.contains("close") && !ends.contains("cut"))
            if case .cut = action { ends.append("cut") } else { ends.append("close") }
        }
    }

    /// Requests begin in the order in which they were sent, each when the one before is over.
    private mutating func begin(_ path: String, _ who: ConnectionStateMachine.Answerer) {
        #expect(path.hasSuffix("/\(begun)"))
        #expect(!isOver && responseIsComplete)
        if who == .application { #expect(!inputHasEnded) }
        begun += 1
        answerer = who
        isReading = who == .application
        requestIsComplete = false
        responseHasBegun = false
        responseIsComplete = false
    }
}
