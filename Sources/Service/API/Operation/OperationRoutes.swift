import SatchelCore
import Hummingbird
import NIOCore

/// Health and metrics.
struct OperationRoutes: Sendable {
    let service: Service

    func add(to table: RouteTable) {
        table.on(.alive) { _, _ in
            // Asks nothing, so that it answers however busy the rest is.
            Self.text("ok\n", type: "text/plain; charset=utf-8")
        }
        table.on(.ready) { [service] _, _ in
            let report = await service.health.report()
            return try .json(report, report.ready ? .ok : .serviceUnavailable)
        }
        table.on(.metrics) { [service] _, _ in
            Self.text(
                await ServiceMetrics(service: service).text(), type: "text/plain; version=0.0.4; charset=utf-8")
        }
    }

    private static func text(_ text: String, type: String) -> Response {
        Response(
            status: .ok, headers: [.contentType: type, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}
