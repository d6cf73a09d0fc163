import SatchelCore
internal import Stores
import FoundationEssentials
import HTTPTypes
import Hummingbird
import NIOCore

/// Categories, and what apps take from them.
struct CategoryRoutes: Sendable {
    let service: Service

    func add(to table: RouteTable) {
        table.on(.listCategories) { request, context in try await list(request, of: context.tenant) }
        table.on(.putCategory) { request, context in try await put(request, context) }
        table.on(.category) { _, context in
            guard let category = try await service.records.category(context.parameter("id"), of: context.tenant) else {
                throw Problem.notFound
            }
            return try .json(category)
        }
        // The same answer whether it was there or not.
        table.on(.deleteCategory) { _, context in
            _ = try await service.records.deleteCategory(id(context), of: context.tenant)
            return Response(status: .noContent)
        }
    }

    private func id(_ context: ServiceContext) throws(Problem) -> String {
        let id = try context.parameter("id")
        guard id.isClientID else { throw .invalid("id", "Must be \(String.clientIDs).") }
        return id
    }

    private func put(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let id = try id(context)
        let body = try await IncomingBody.json(of: request, limit: CategoryReader.bodyLimit)
        let reader = CategoryReader(profiles: service.profiles.map(\.name), webhooks: service.webhooks)
        let category = try reader.category(body.readableBytesView, id: id)
        let isNew = try await service.records.putCategory(category, of: context.tenant)
        return try .json(category, isNew ? .created : .ok, headers: [.location: "/v1/categories/\(id)"])
    }

    private func list(_ request: Request, of tenant: TenantID) async throws -> Response {
        let form = try request.parameters(["as"]) { $0.choice("as", CategoryExport.self) }
        let categories = try await service.records.categories(of: tenant)
        guard let form else { return try .json(["categories": categories]) }
        return Response(
            status: .ok, headers: [.contentType: form.mediaType, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: try form.text(categories))))
    }
}
