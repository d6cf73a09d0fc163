import SatchelCore
import HTTPTypes
import Hummingbird
import Logging

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
