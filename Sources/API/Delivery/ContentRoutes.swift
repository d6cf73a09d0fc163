import Attachments
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore

/// The bytes of renditions, for requests that come through the router. Those that come as `/c/…` on a connection are
/// answered by ``ContentResponder`` beneath it, from the same decisions.
struct ContentRoutes: Sendable {
    /// Bytes that are read at once.
    static let piece: Int64 = 128 << 10

    let service: Service

    func add(to table: RouteTable) {
        table.on(.content) { request, context in try await answer(request, context) }
        table.on(.contentHead) { request, context in try await answer(request, context) }
    }

    private func answer(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let path = ContentPath(token: try context.parameter("token"), name: try context.parameter("name"))
        let opener = ContentOpener(service: service)
        guard let content = try await opener.open(path) else { throw Problem.notFound }
        let answer = ContentAnswer(
            to: ContentRequest(request), for: content.access,
            remaining: .nanoseconds((content.expires - .now()).nanoseconds), accelPrefix: service.settings.accelPrefix)
        var headers = HTTPFields()
        for field in answer.fields {
            if let name = HTTPField.Name(field.name) { headers[name] = field.value }
        }
        if let length = answer.length { headers[.contentLength] = String(length) }
        var response = Response(status: HTTPResponse.Status(code: answer.status), headers: headers)
        if let body = answer.body, let file = content.file {
            response.body = ResponseBody(contentLength: body.count) { writer in
                try await send(body, of: file, content, opener, to: &writer)
            }
        }
        return response
    }

    @concurrent private func send(
        _ body: Range<Int64>, of file: BlobFile, _ content: OpenContent, _ opener: ContentOpener,
        to writer: inout any ResponseBodyWriter
    ) async throws {
        var content = content
        var next = body.lowerBound
        while next < body.upperBound {
            let revocations = service.records.revocations
            if revocations != content.revocations {
                guard try await opener.mayContinue(content) else { throw ConnectionFault.takenBack }
                content.revocations = revocations
            }
            let end = min(next + Self.piece, body.upperBound)
            var buffer = ByteBuffer()
            guard file.read(next..<end, into: &buffer) else { throw ConnectionFault.takenBack }
            try await writer.write(buffer)
            next = end
        }
        try await writer.finish(nil)
    }
}

extension ContentRequest {
    init(_ request: Request) {
        self.init(
            isHead: request.method == .head, range: request.headers[.range], ifRange: request.headers[.ifRange],
            ifMatch: request.headers[.ifMatch], ifNoneMatch: request.headers[.ifNoneMatch])
    }
}
