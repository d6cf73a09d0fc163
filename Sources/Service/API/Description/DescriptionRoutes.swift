import HTTPTypes
import Hummingbird
import NIOCore

/// The API's own description.
struct DescriptionRoutes: Sendable {
    let service: Service

    /// In memory once somebody asks for it.
    private static let document = ByteBuffer(bytes: OpenAPIDocument.bytes)

    func add(to table: RouteTable) {
        table.on(.description) { _, _ in
            Response(
                status: .ok, headers: [.contentType: "application/json", .cacheControl: "no-cache"],
                body: ResponseBody(byteBuffer: Self.document))
        }
        table.on(.documentation) { _, _ in
            let headers: HTTPFields = [
                .contentType: "text/html; charset=utf-8", .cacheControl: "no-cache",
                .contentSecurityPolicy: DocumentationStyle.contentSecurityPolicy,
                .xContentTypeOptions: "nosniff", "Referrer-Policy": "no-referrer",
            ]
            return Response(
                status: .ok, headers: headers,
                body: ResponseBody(byteBuffer: ByteBuffer(string: DocumentationPage.current)))
        }
    }
}
