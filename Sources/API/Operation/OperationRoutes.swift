/// Health and metrics.
struct OperationRoutes: Sendable {
    let service: Service

    func add(to table: RouteTable) {
    }
}
