/// Leases and grants.
struct AccessRoutes: Sendable {
    let service: Service

    func add(to table: RouteTable) {
    }
}
