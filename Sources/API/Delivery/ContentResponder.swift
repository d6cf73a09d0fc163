import Attachments
import HTTPServer
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1

/// Answers requests for content on one event loop: small ones in one write, others from the file to the socket piece by
/// piece.
final class ContentResponder: DirectResponder {
    /// A body of at most so many bytes is read and sent together with its head.
    private static let whole = 64 << 10
    /// Bytes that are handed to the socket at once: few enough to stop within a moment.
    private static let piece: Int64 = 512 << 10
    /// The same where they have to pass through memory.
    private static let encryptedPiece: Int64 = 128 << 10
    /// The same where a store has to be asked for them: few enough requests.
    private static let streamedPiece: Int64 = 1 << 20
    /// Pieces that wait for the socket, so that it never waits for us.
    private static let ahead = 2

    private struct Sending {
        var content: OpenContent
        /// Tells it from what was sent before.
        let number: Int
        var next: Int64
        let end: Int64
        var ahead = 0
        var isBeingRead = false
        var isBeingChecked = false
    }

    private let loopState: EventLoopState
    /// Set while the connection is open.
    var connection: ConnectionHandler?
    private var sending: Sending?
    private var answers = 0

    init(loopState: EventLoopState) {
        self.loopState = loopState
    }

    func tick(at now: NIODeadline) -> Bool {
        contents.tidy(at: now)
        tally.publish()
        return !contents.isEmpty
    }

    /// Answers now, or as soon as it is known what the path opens.
    func respond(to head: HTTPRequestHead, _ exchange: DirectExchange) {
        let path = head.uri.utf8.firstIndex(of: UInt8(ascii: "?")).map { String(head.uri[..<$0]) } ?? head.uri
        if let entry = contents.entry(path) { return answer(head, with: entry, exchange) }
        contents.open(path) { [self] result in
            guard exchange.isCurrent else { return }
            switch result {
            case .success(let entry?): answer(head, with: entry, exchange)
            case .success(nil): answer(head, with: .notFound, exchange)
            case .failure(let error): answer(head, with: Problem(describing: error), exchange)
            }
        }
    }

    private func answer(_ head: HTTPRequestHead, with problem: Problem, _ exchange: DirectExchange) {
        var headers = HTTPHeaders(problem.response.headers.map { ($0.name.rawName, $0.value) })
        let body = problem.body
        headers.replaceOrAdd(name: "Content-Length", value: "\(body.count)")
        headers.add(name: "Date", value: date.text)
        let isHead = head.method == .HEAD
        tally.count(status: problem.status.code, isHead: isHead, bytes: isHead ? 0 : Int64(body.count))
        exchange.begin(
            HTTPResponseHead(
                version: .http1_1, status: HTTPResponseStatus(statusCode: problem.status.code), headers: headers))
        exchange.write(.byteBuffer(ByteBuffer(bytes: body)))
        exchange.finish()
    }

    private func answer(_ head: HTTPRequestHead, with entry: ContentCache.Entry, _ exchange: DirectExchange) {
        let content = entry.content
        let request = ContentRequest(head)
        var bytes: ByteBuffer
        let body: Range<Int64>?
        var status = 200
        if request == ContentRequest(), let plain = plainHead(of: entry) {
            bytes = plain
            body = content.body.redirect == nil ? 0..<content.access.rendition.bytes : nil
        } else {
            let answer = self.answer(request, content)
            bytes = self.head(of: answer)
            body = answer.body
            status = answer.status
        }
        loopState.tally.count(status: status, isHead: request.isHead, bytes: Int64(body?.count ?? 0))
        ResponseHead.writeConnection(head, closing: connection.closesAfterContent(), into: &bytes)
        bytes.writeStaticString("\r\n")
        guard let body, !body.isEmpty else {
            connection.sendContent(bytes)
            return connection.finishContent()
        }
        if let file = content.body.file, body.count <= Self.whole {
            bytes.reserveCapacity(minimumWritableBytes: body.count)
            guard file.read(body, into: &bytes) else { return connection.cut() }
            connection.sendContent(bytes)
            return connection.finishContent()
        }
        connection.sendContent(bytes)
        answers += 1
        sending = Sending(content: content, number: answers, next: body.lowerBound, end: body.upperBound)
        sendMore()
    }

    private func answer(_ request: ContentRequest, _ content: OpenContent) -> ContentAnswer {
        ContentAnswer(
            to: request, for: content.access, remaining: .nanoseconds((content.expires - .now()).nanoseconds),
            redirect: content.body.redirect)
    }

    /// As it is written, made anew each second.
    private func plainHead(of entry: ContentCache.Entry, _ exchange: DirectExchange) -> ByteBuffer {
        _ = date.text
        if let plain = entry.plainHead, plain.second == date.second { return plain.bytes }
        let bytes = exchange.encode(head(of: answer(ContentRequest(), entry.content)))
        entry.plainHead = (date.second, bytes)
        return bytes
    }

    /// Without the connection's own headers and the empty line.
    private func head(of answer: ContentAnswer) -> ByteBuffer {
        var bytes = ByteBuffer()
        let status = HTTPResponse.Status(code: answer.status)
        bytes.writeString("HTTP/1.1 \(answer.status) \(status.reasonPhrase)\r\n")
        for field in answer.fields { bytes.writeString("\(field.name): \(field.value)\r\n") }
        if let length = answer.length { bytes.writeString("Content-Length: \(length)\r\n") }
        bytes.writeString("Date: \(loopState.date.text)\r\n")
        return bytes
    }

    private func sendMore() {
        guard let connection, let loop = connection.loop else { return }
        while var now = sending, now.ahead < Self.ahead, now.next < now.end {
            let end = min(now.next + (connection.isSecure ? Self.encryptedPiece : Self.piece), now.end)
            let data: IOData
            guard let file = now.content.body.file else { return readMore(from: loop) }
            if connection.isSecure {
                var bytes = ByteBuffer()
                guard file.read(now.next..<end, into: &bytes) else { return connection.cut() }
                data = .byteBuffer(bytes)
            } else {
                data = .fileRegion(
                    FileRegion(fileHandle: file.handle, readerIndex: Int(now.next), endIndex: Int(end)))
            }
            now.next = end
            now.ahead += 1
            sending = now
            send(data, of: now, to: connection, on: loop)
        }
        if sending != nil { connection.flushContent() }
    }

    private func send(_ data: IOData, of now: Sending, to connection: ConnectionHandler, on loop: any EventLoop) {
        let written = loop.makePromise(of: Void.self)
        // Holds the file until the socket has taken the piece.
        written.futureResult.assumeIsolated().whenComplete { [self] result in
            sent(of: now, result)
        }
        connection.sendContent(data, written)
    }

    /// Reads the next piece, unless one is being read, and sends it: there are never more than the socket is about to take.
    private func readMore(from loop: any EventLoop) {
        guard var now = sending, !now.isBeingRead, let stream = now.content.body.stream else { return }
        let bytes = now.next..<min(now.next + Self.streamedPiece, now.end)
        now.isBeingRead = true
        sending = now
        let box = NIOLoopBound(self, eventLoop: loop)
        Task { [number = now.number] in
            let piece = await stream.read(bytes)
            loop.execute { box.value.read(piece, to: bytes.upperBound, of: number) }
        }
    }

    private func read(_ piece: ByteBuffer?, to end: Int64, of number: Int) {
        guard let connection, let loop = connection.loop, var now = sending, now.number == number else { return }
        guard let piece else { return connection.cut() }
        now.isBeingRead = false
        now.next = end
        now.ahead += 1
        sending = now
        send(.byteBuffer(piece), of: now, to: connection, on: loop)
        connection.flushContent()
        sendMore()
    }

    private func sent(of piece: Sending, _ result: Result<Void, any Error>) {
        guard let connection, sending?.number == piece.number else { return }
        guard case .success = result else { return connection.cut() }
        sending?.ahead -= 1
        guard let now = sending else { return }
        if now.next < now.end {
            // By way of the loop, so that one client who reads fast keeps no other waiting.
            connection.loop?.assumeIsolated().execute { [self] in sendMore() }
        } else if now.ahead == 0 {
            sending = nil
            connection.finishContent()
        }
    }

    /// Stops what is being sent where its access was taken back.
    func check() {
        guard let now = sending, !now.isBeingChecked, let connection else { return }
        let revocations = cache.revocations
        guard revocations == nil || revocations != now.content.revocations else { return }
        sending?.isBeingChecked = true
        let number = connection.number
        cache.check(now.content) { [self] may in
            guard self.connection?.number == number, sending != nil else { return }
            sending?.isBeingChecked = false
            switch may {
            case true?: sending?.content.revocations = revocations
            case false?: connection.cut()
            case nil: break
            }
        }
    }

    /// Nothing more is sent.
    func end() {
        sending = nil
    }
}

extension ContentRequest {
    init(_ head: HTTPRequestHead) {
        self.init()
        isHead = head.method == .HEAD
        for (name, value) in head.headers {
            switch name.utf8.count {
            case 5 where name.lowercased() == "range": Self.add(value, to: &range)
            case 8 where name.lowercased() == "if-range": Self.add(value, to: &ifRange)
            case 8 where name.lowercased() == "if-match": Self.add(value, to: &ifMatch)
            case 13 where name.lowercased() == "if-none-match": Self.add(value, to: &ifNoneMatch)
            default: break
            }
        }
    }

    /// Several headers of one name are one list.
    private static func add(_ value: String, to list: inout String?) {
        list = list.map { $0 + ", " + value } ?? value
    }
}
