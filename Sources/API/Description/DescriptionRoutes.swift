/// The API's own description.
struct DescriptionRoutes: Sendable {
    let service: Service

    func add(to table: RouteTable) {
    }
}
