import SatchelCore
import CoreMetrics
import FoundationEssentials
import HTTPTypes
import Hummingbird
import Logging

/// Gives each request an id and a place in a trace, counts and times it, and logs it where that is wanted: by its
/// route's template, never its path, which may hold a token.
struct RequestObservation: RouterMiddleware {
    let metrics: MetricsRegistry
    let isLogging: Bool

    @concurrent func handle(
        _ request: Request, context: ServiceContext,
        next: @concurrent (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        let start = ContinuousClock.now
        var context = context
        context.trace = TraceContext(continuing: request.headers[.traceparent])
        context.requestID = Self.requestID(of: request)
        context.logger[metadataKey: "request_id"] = "\(context.requestID)"
        context.logger[metadataKey: "trace_id"] = "\(context.trace.trace)"
        let underway = metrics.makeMeter(label: "satchel_http_requests_underway", dimensions: [])
        underway.increment(by: 1)
        defer { underway.decrement(by: 1) }
        var response = try await next(request, context)
        response.headers[.requestID] = context.requestID
        let seconds = (ContinuousClock.now - start).inSeconds
        count(request, context, response, seconds)
        return response
    }

    private func count(_ request: Request, _ context: ServiceContext, _ response: Response, _ seconds: Double) {
        let known =
            Endpoint.all.contains { $0.path == context.endpointPath }
            || context.endpointPath.map(ConsoleRoutes.paths.contains) ?? false
        let route = known ? context.endpointPath ?? "none" : "none"
        let method = Self.methods.contains(request.method) ? request.method.rawValue : "other"
        metrics.makeCounter(
            label: "satchel_http_requests_total",
            dimensions: [("route", route), ("method", method), ("status", "\(response.status.code)")]
        ).increment(by: 1)
        metrics.makeTimer(label: "satchel_http_request_seconds", dimensions: [("route", route)])
            .recordNanoseconds(Int64(seconds * 1e9))
        if let bytes = response.body.contentLength, request.method != .head {
            metrics.makeCounter(label: "satchel_http_response_bytes_total", dimensions: [("route", route)])
                .increment(by: Int64(bytes))
        }
        guard isLogging else { return }
        var metadata: Logger.Metadata = [
            "route": "\(route)", "method": "\(method)", "status": .stringConvertible(response.status.code),
            "seconds": .stringConvertible(seconds),
        ]
        if let bytes = response.body.contentLength { metadata["bytes"] = .stringConvertible(bytes) }
        context.logger.info("request", metadata: metadata)
    }

    private static let methods: Set<HTTPRequest.Method> = [.get, .head, .post, .put, .delete, .patch, .options, .trace]

    /// The client's, where it is of a harmless kind, else a new one.
    private static func requestID(of request: Request) -> String {
        if let id = request.headers[.requestID], (1...64).contains(id.utf8.count),
            id.utf8.allSatisfy({
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0
                    || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".")
                    || $0 == UInt8(ascii: "_")
            })
        {
            return id
        }
        return UUID().uuidString.lowercased()
    }
}

extension HTTPField.Name {
    static let requestID: Self = "X-Request-Id"
    static let traceparent: Self = "traceparent"
}
