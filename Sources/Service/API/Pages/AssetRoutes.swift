import HTTPTypes
import Hummingbird
import NIOCore

/// What pages need beside themselves.
struct AssetRoutes: Sendable {
    func add(to table: RouteTable) {
        table.on(.asset) { _, context in try Self.response(context) }
    }

    static func response(_ context: ServiceContext) throws -> Response {
        guard let asset = Asset.at(try context.parameter("name")) else { throw Problem.notFound }
        var headers = HTTPFields.anyOrigin
        headers[.contentType] = asset.mediaType
        headers[.cacheControl] = "public, max-age=31536000, immutable"
        headers[.xContentTypeOptions] = "nosniff"
        return Response(
            status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: asset.bytes)))
    }
}
