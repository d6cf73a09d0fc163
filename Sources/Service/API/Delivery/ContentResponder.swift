import SatchelCore
import CoreMetrics
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

    private let contents: ContentCache
    private let date = DateText()
    private let role: NodeRole
    private let origins: OriginPolicy
    private var tally: ContentTally

    init(loop: any EventLoop, service: Service) {
        tally = ContentTally(service.metrics)
        role = service.settings.role
        origins = OriginPolicy(origins: service.settings.contentOrigins)
        contents = ContentCache(loop: loop, opener: ContentOpener(service: service))
    }

    func answers(_ head: HTTPRequestHead) -> Bool {
        (head.method == .GET || head.method == .HEAD) && head.uri.hasPrefix("/c/")
    }

    func tick(at now: NIODeadline) -> Bool {
        contents.tidy(at: now)
        tally.publish()
        return !contents.isEmpty
    }

    /// Answers now, or as soon as it is known what the path opens.
    func respond(to head: HTTPRequestHead, _ exchange: DirectExchange) {
        guard role.takesRequests else { return answer(head, with: .onlyWorks, exchange) }
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
        var request = ContentRequest(head)
        // Where all are answered the same, it doesn't matter who asks.
        if !origins.tellsApart { request.origin = nil }
        if request == ContentRequest(), exchange.isPlain, content.body.url == nil {
            let body = content.body.redirect == nil ? 0..<content.access.rendition.bytes : nil
            tally.count(status: 200, isHead: false, bytes: Int64(body?.count ?? 0))
            return send(plainHead(of: entry, exchange), body, of: content, exchange) {
                exchange.begin($0, status: 200)
            }
        }
        let answer = answer(request, content)
        tally.count(status: answer.status, isHead: request.isHead, bytes: Int64(answer.body?.count ?? 0))
        exchange.begin(self.head(of: answer, for: request.origin))
        send(ByteBuffer(), answer.body, of: content, exchange) { exchange.write(.byteBuffer($0)) }
    }

    /// Sends the body after `bytes`.
    ///
    /// - Parameter begin: Takes these bytes, with as much of the body as goes with them.
    private func send(
        _ bytes: ByteBuffer, _ body: Range<Int64>?, of content: OpenContent, _ exchange: DirectExchange,
        begin: (ByteBuffer) -> Void
    ) {
        guard let body, !body.isEmpty else {
            begin(bytes)
            return exchange.finish()
        }
        guard let file = content.body.file, body.count <= Self.whole else {
            begin(bytes)
            let stream = ContentStream(content, body, by: contents, exchange)
            exchange.goOn(as: stream)
            return stream.sendMore()
        }
        var bytes = bytes
        bytes.reserveCapacity(minimumWritableBytes: body.count)
        guard file.read(body, into: &bytes) else { return exchange.cut() }
        begin(bytes)
        exchange.finish()
    }

    private func answer(_ request: ContentRequest, _ content: OpenContent) -> ContentAnswer {
        ContentAnswer(
            to: request, for: content.access, remaining: .nanoseconds((content.expires - .now()).nanoseconds),
            redirect: content.body.redirect, url: content.body.url)
    }

    /// As it is written, made anew each second.
    private func plainHead(of entry: ContentCache.Entry, _ exchange: DirectExchange) -> ByteBuffer {
        _ = date.text
        if let plain = entry.plainHead, plain.second == date.second { return plain.bytes }
        let bytes = exchange.encode(head(of: answer(ContentRequest(), entry.content), for: nil))
        entry.plainHead = (date.second, bytes)
        return bytes
    }

    private func head(of answer: ContentAnswer, for origin: String?) -> HTTPResponseHead {
        var headers = HTTPHeaders(answer.fields.map { ($0.name, $0.value) })
        for field in origins.fields(for: origin, exposing: ["Accept-Ranges", "Content-Range", "ETag"]) {
            headers.replaceOrAdd(name: field.name.rawName, value: field.value)
        }
        if let length = answer.length { headers.add(name: "Content-Length", value: "\(length)") }
        headers.add(name: "Date", value: date.text)
        return HTTPResponseHead(
            version: .http1_1, status: HTTPResponseStatus(statusCode: answer.status), headers: headers)
    }
}

extension ContentRequest {
    init(_ head: HTTPRequestHead) {
        self.init()
        isHead = head.method == .HEAD
        for (name, value) in head.headers {
            switch name.utf8.count {
            case 6 where name.lowercased() == "origin": Self.add(value, to: &origin)
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

/// Counts answers to requests for content on one event loop; published to the metrics every now and then, because they are
/// shared by all loops.
struct ContentTally {
    private struct Kind: Hashable {
        var status: Int
        var isHead: Bool
    }

    private let metrics: MetricsRegistry
    private var answers: [Kind: Int64] = [:]
    private var bytes: Int64 = 0

    init(_ metrics: MetricsRegistry) {
        self.metrics = metrics
    }

    /// - Parameter bytes: Of the answer's body.
    mutating func count(status: Int, isHead: Bool, bytes: Int64) {
        answers[Kind(status: status, isHead: isHead), default: 0] += 1
        self.bytes += bytes
    }

    mutating func publish() {
        guard !answers.isEmpty else { return }
        let route = ("route", Endpoint.content.path)
        for (kind, count) in answers {
            metrics.makeCounter(
                label: "satchel_http_requests_total",
                dimensions: [route, ("method", kind.isHead ? "HEAD" : "GET"), ("status", "\(kind.status)")]
            ).increment(by: count)
        }
        metrics.makeCounter(label: "satchel_http_response_bytes_total", dimensions: [route]).increment(by: bytes)
        answers.removeAll(keepingCapacity: true)
        bytes = 0
    }
}
