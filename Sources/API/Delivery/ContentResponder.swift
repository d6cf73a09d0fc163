import Attachments
import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOHTTP1

/// Answers requests for content on one connection: small ones in one write, others from the file to the socket piece by
/// piece, so that each piece can be the last when access is taken back.
final class ContentResponder {
    /// A body of at most so many bytes is read and sent together with its head.
    private static let whole = 64 << 10
    /// Bytes that are handed to the socket at once: few enough to stop within a moment.
    private static let piece: Int64 = 512 << 10
    /// The same where they have to pass through memory.
    private static let encryptedPiece: Int64 = 128 << 10
    /// Pieces that wait for the socket, so that it never waits for us.
    private static let ahead = 2

    private struct Sending {
        var content: OpenContent
        let file: BlobFile
        var next: Int64
        let end: Int64
        var ahead = 0
        var isBeingChecked = false
    }

    private let loopState: EventLoopState
    /// Set while the connection is open.
    var connection: ConnectionHandler?
    private var sending: Sending?

    init(loopState: EventLoopState) {
        self.loopState = loopState
    }

    private var cache: ContentCache { loopState.contents }

    /// Answers now, or as soon as it is known what the path opens.
    func answer(_ head: HTTPRequestHead) {
        guard let connection else { return }
        let path = head.uri.firstIndex(of: "?").map { String(head.uri[..<$0]) } ?? head.uri
        if let entry = cache.entry(path) { return answer(head, with: entry) }
        let number = connection.number
        cache.open(path) { [self] result in
            guard self.connection?.number == number, self.connection?.isAnswering == true else { return }
            switch result {
            case .success(let entry?): answer(head, with: entry)
            case .success(nil): answer(head, with: .notFound)
            case .failure(let error): answer(head, with: Problem(describing: error))
            }
        }
    }

    private func answer(_ head: HTTPRequestHead, with problem: Problem) {
        guard let connection else { return }
        var response = problem.response.head
        let body = problem.body
        response.headerFields[.contentLength] = String(body.count)
        response.headerFields[.date] = loopState.date.text
        var bytes = ByteBuffer()
        _ = ResponseHead.write(response, to: head, closing: connection.closesAfterContent(), into: &bytes)
        if head.method != .HEAD { bytes.writeBytes(body) }
        loopState.tally.count(
            status: response.status.code, isHead: head.method == .HEAD,
            bytes: head.method == .HEAD ? 0 : Int64(body.count))
        connection.sendContent(bytes)
        connection.finishContent()
    }

    private func answer(_ head: HTTPRequestHead, with entry: ContentCache.Entry) {
        guard let connection else { return }
        let content = entry.content
        let request = ContentRequest(head)
        var bytes: ByteBuffer
        let body: Range<Int64>?
        var status = 200
        if request == ContentRequest(), let plain = plainHead(of: entry) {
            bytes = plain
            body = content.file == nil ? nil : 0..<content.access.rendition.bytes
        } else {
            let answer = self.answer(request, content)
            bytes = self.head(of: answer)
            body = answer.body
            status = answer.status
        }
        loopState.tally.count(status: status, isHead: request.isHead, bytes: Int64(body?.count ?? 0))
        ResponseHead.writeConnection(head, closing: connection.closesAfterContent(), into: &bytes)
        bytes.writeStaticString("\r\n")
        guard let body, let file = content.file, !body.isEmpty else {
            connection.sendContent(bytes)
            return connection.finishContent()
        }
        if body.count <= Self.whole {
            bytes.reserveCapacity(minimumWritableBytes: body.count)
            guard file.read(body, into: &bytes) else { return connection.cut() }
            connection.sendContent(bytes)
            return connection.finishContent()
        }
        connection.sendContent(bytes)
        sending = Sending(content: content, file: file, next: body.lowerBound, end: body.upperBound)
        sendMore()
    }

    private func answer(_ request: ContentRequest, _ content: OpenContent) -> ContentAnswer {
        ContentAnswer(
            to: request, for: content.access, remaining: .nanoseconds((content.expires - .now()).nanoseconds),
            accelPrefix: cache.accelPrefix)
    }

    private func plainHead(of entry: ContentCache.Entry) -> ByteBuffer? {
        let date = loopState.date
        _ = date.text
        if let plain = entry.plainHead, plain.second == date.second { return plain.bytes }
        let bytes = head(of: answer(ContentRequest(), entry.content))
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
            if connection.isSecure {
                var bytes = ByteBuffer()
                guard now.file.read(now.next..<end, into: &bytes) else { return connection.cut() }
                data = .byteBuffer(bytes)
            } else {
                data = .fileRegion(
                    FileRegion(fileHandle: now.file.handle, readerIndex: Int(now.next), endIndex: Int(end)))
            }
            now.next = end
            now.ahead += 1
            sending = now
            let written = loop.makePromise(of: Void.self)
            // Holds the file until the socket has taken the piece.
            written.futureResult.assumeIsolated().whenComplete { [self, file = now.file] result in
                sent(of: file, result)
            }
            connection.sendContent(data, written)
        }
        if sending != nil { connection.flushContent() }
    }

    private func sent(of file: BlobFile, _ result: Result<Void, any Error>) {
        guard let connection, sending?.file === file else { return }
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
        guard revocations != now.content.revocations else { return }
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
