/// Push payloads, enriched.
struct PayloadRoutes: Sendable {
    let service: Service

    func add(to table: RouteTable) {
    }
}
