import SatchelCore
import Hummingbird
import Synchronization

/// What answers each endpoint to whoever was let in, over HTTP or from a page of the console.
final class EndpointAnswers: Sendable {
    private let handlers = Mutex<[Endpoint: RouteTable.Handler]>([:])
    private let health: ServiceHealth
    private let role: NodeRole

    init(_ service: Service) {
        health = service.health
        role = service.settings.role
    }

    func add(_ endpoint: Endpoint, _ handler: @escaping RouteTable.Handler) {
        handlers.withLock { $0[endpoint] = handler }
    }

    /// - Throws: Where nobody is answered now, whoever asks.
    func admit(_ endpoint: Endpoint) throws(Problem) {
        guard role.takesRequests || endpoint.isOperational else { throw .onlyWorks }
        // What was accepted is carried out, here or by another.
        if endpoint.startsWork, health.isDraining { throw .draining }
    }

    /// What it answers, without asking who that is.
    func answer(_ endpoint: Endpoint, _ request: Request, _ context: ServiceContext) async throws -> Response {
        try admit(endpoint)
        guard let handler = handlers.withLock({ $0[endpoint] }) else { throw Problem.notFound }
        return try await AuditActor.$current.withValue(context.actor) {
            try await context.credentials.answering { try await handler(request, context) }
        }
    }
}
