/// Following a job as it goes on, by server-sent events.
struct EventRoutes: Sendable {
    let service: Service

    func add(to table: RouteTable) {
    }
}
