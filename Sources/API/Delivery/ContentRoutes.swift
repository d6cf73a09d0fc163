/// The bytes of renditions.
struct ContentRoutes: Sendable {
    let service: Service

    func add(to table: RouteTable) {
    }
}
