import HTTPTypes
import Hummingbird
import NIOCore

/// The API's own description.
struct DescriptionRoutes: Sendable {
    let service: Service

    func add(to table: RouteTable) {
        let document = ByteBuffer(bytes: OpenAPIDocument.bytes)
        table.on(.description) { _, _ in
            Response(
                status: .ok, headers: [.contentType: "application/json", .cacheControl: "no-cache"],
                body: ResponseBody(byteBuffer: document))
        }
        table.on(.documentation) { _, _ in
            let headers: HTTPFields = [
                .contentType: "text/html; charset=utf-8", .cacheControl: "no-cache",
                .contentSecurityPolicy: DocumentationStyle.contentSecurityPolicy,
                .xContentTypeOptions: "nosniff", .referrerPolicy: "no-referrer",
            ]
            return Response(
                status: .ok, headers: headers,
                body: ResponseBody(byteBuffer: ByteBuffer(string: DocumentationPage.current)))
        }
    }
}
