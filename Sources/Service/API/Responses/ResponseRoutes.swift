import SatchelCore
internal import Stores
import Hummingbird
import Payloads

/// Responses to notifications: by whoever has a ticket, and the list of them.
struct ResponseRoutes: Sendable {
    let service: Service

    func add(to table: RouteTable) {
        table.on(.respond) { request, context in
            do {
                return try await .json(respond(request, context), headers: .anyOrigin)
            } catch {
                var problem = Problem(describing: error)
                problem.headers.append(contentsOf: HTTPFields.anyOrigin)
                throw problem
            }
        }
        // What a page of another origin asks before.
        table.on(.respondPreflight) { _, _ in .preflight(.post) }
        table.on(.listResponses) { request, context in try await list(request, of: context.tenant) }
    }

    private func respond(_ request: Request, _ context: ServiceContext) async throws -> ResponseAnswer {
        let token = AccessToken(secretText: try context.parameter("ticket"))
        guard let ticket = try await service.records.ticket(of: token, .respond) else { throw Problem.notFound }
        let body = try await IncomingBody.json(of: request, limit: ResponseReader.bodyLimit)
        let response = try ResponseReader.response(body.readableBytesView)
        return try await service.responses.answer(response, by: ticket)
    }

    private func list(_ request: Request, of tenant: TenantID) async throws -> Response {
        let (notification, part) = try ListParameters.read(request, ["notification"]) { query in
            query.string("notification", bytes: 0...256).map(NotificationID.init)
        }
        let page = try await service.records.responses(
            of: tenant, to: notification, after: part.cursor, limit: part.limit)
        var documents: [JSONValue] = []
        for record in page.elements { documents.append(try await service.document(of: record)) }
        return .page("responses", documents, next: page.next)
    }
}
