import SatchelCore
import HTTPTypes
import Hummingbird
import Logging
import Synchronization

/// Connects endpoints with what answers them. Whoever may not use an endpoint gets no further than here.
struct RouteTable {
    typealias Handler = @Sendable (Request, ServiceContext) async throws -> Response

    private let router: Router<ServiceContext>
    private let authentication: Authentication
    private let answers: EndpointAnswers
    private let intake: AdmissionController

    init(_ router: Router<ServiceContext>, _ answers: EndpointAnswers, _ service: Service) {
        self.router = router
        authentication = Authentication(service)
        self.answers = answers
        intake = service.intake
    }

    func on(_ endpoint: Endpoint, _ handler: @escaping Handler) {
        answers.add(endpoint, handler)
        router.on(RouterPath(endpoint.path), method: endpoint.method) {
            [authentication, answers, intake] request, context in
            try answers.admit(endpoint)
            var context = context
            context.identity = try await authentication.identity(for: endpoint, request)
            context.credentials = authentication.credentials(for: endpoint, of: context.identity, request)
            var response = try await answers.answer(endpoint, request, context)
            if endpoint.startsWork { response.headers.append(contentsOf: try intake.rateFields(of: context.tenant)) }
            return response
        }
    }

    /// Answers every other method of the known paths with 405 and what there is.
    func refuseOtherMethods() {
        let known: [HTTPRequest.Method] =
            [.get, .head, .post, .put, .delete, .patch, .options, .trace]
            + [HTTPRequest.Method("QUERY")].compactMap(\.self)
        for (path, endpoints) in Dictionary(grouping: Endpoint.all, by: \.path) {
            let allowed = endpoints.map(\.method.rawValue).sorted().joined(separator: ", ")
            for method in known where !endpoints.contains(where: { $0.method == method }) {
                router.on(RouterPath(path), method: method) { _, _ -> Response in
                    throw Problem(
                        .methodNotAllowed, "method_not_allowed",
                        "Method not allowed here. Use \(allowed.replacing(", ", with: " or ")).",
                        headers: [.allow: allowed])
                }
            }
        }
    }
}

/// Answers every error as a problem.
struct ProblemMiddleware: RouterMiddleware {
    @concurrent func handle(
        _ request: Request, context: ServiceContext,
        next: @concurrent (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch {
            let problem = Problem(describing: error)
            if problem.status.kind == .serverError {
                context.logger.error(
                    "request failed", metadata: ["error": "\(error)", "route": "\(context.endpointPath ?? "-")"])
            }
            return problem.response
        }
    }
}

/// The handler of each endpoint, for authenticated requests over HTTP or from a page of the console.
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

    /// - Throws: If the endpoint answers no requests now.
    func admit(_ endpoint: Endpoint) throws(Problem) {
        guard role.takesRequests || endpoint.isOperational else { throw .onlyWorks }
        // What was accepted is carried out, here or by another.
        if endpoint.startsWork, health.isDraining { throw .draining }
    }

    /// The handler itself, without authentication.
    func answer(_ endpoint: Endpoint, _ request: Request, _ context: ServiceContext) async throws -> Response {
        try admit(endpoint)
        guard let handler = handlers.withLock({ $0[endpoint] }) else { throw Problem.notFound }
        return try await AuditActor.$current.withValue(context.actor) {
            try await context.credentials.answering { try await handler(request, context) }
        }
    }
}
