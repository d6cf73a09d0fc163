import SatchelCore
import HTTPTypes
import Hummingbird
import NIOCore
import Stores

/// A rendition for whoever is signed in, by the cookie alone: no lease is begun, nothing is counted or held.
struct ConsoleMedia: Sendable {
    /// Bytes that are read at once.
    private static let piece: Int64 = 256 << 10

    let visit: ConsoleVisit

    init(_ visit: ConsoleVisit) {
        self.visit = visit
    }

    func response() async throws -> Response {
        let id = AttachmentID(rawValue: try visit.parameter("attachment"))
        let tenant = visit.session.tenant
        guard visit.api.may(.attachment), let role = RenditionRole(rawValue: try visit.parameter("rendition")),
            let record = try await visit.service.records.attachment(id, of: tenant),
            let rendition = record.renditions[role],
            let blob = try await visit.service.records.blob(of: role, of: id, tenant: tenant)
        else { throw Problem.notFound }
        let access = ContentAccess(
            id: "", tenant: tenant, attachment: id, role: role, rendition: rendition, blob: blob, delivery: .private,
            expiresAt: visit.session.endsAt, at: visit.now)
        let answer = ContentAnswer(
            to: ContentRequest(visit.request), for: access, remaining: access.remaining, redirect: nil)
        var headers: HTTPFields = [:]
        for field in answer.fields {
            if let name = HTTPField.Name(field.name) { headers[name] = field.value }
        }
        // For the console's own pages.
        headers[.crossOriginResourcePolicy] = "same-origin"
        let status = HTTPResponse.Status(code: answer.status)
        guard let range = answer.body else { return Response(status: status, headers: headers) }
        let (blobs, credentials) = (visit.service.store.blobs, visit.context.credentials)
        let body = ResponseBody(contentLength: range.count) { writer in
            var next = range.lowerBound
            while next < range.upperBound {
                try await credentials?.check()
                let bytes = try await blobs.read(next..<min(next + Self.piece, range.upperBound), of: blob)
                guard !bytes.isEmpty else { throw AttachmentError.notInStore(what: "The rendition") }
                try await writer.write(ByteBuffer(bytes: bytes))
                next += Int64(bytes.count)
            }
            try await writer.finish(nil)
        }
        return Response(status: status, headers: headers, body: body)
    }
}

extension ContentRequest {
    fileprivate init(_ request: Request) {
        self.init()
        range = request.headers[.range]
        ifRange = request.headers[.ifRange]
        ifMatch = request.headers[.ifMatch]
        ifNoneMatch = request.headers[.ifNoneMatch]
    }
}
