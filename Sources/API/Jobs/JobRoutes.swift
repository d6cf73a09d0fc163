/// Submitting jobs, and looking after them.
struct JobRoutes: Sendable {
    let service: Service

    func add(to table: RouteTable) {
    }
}
