/// The records of attachments, and the profiles they are made by.
struct AttachmentRoutes: Sendable {
    let service: Service

    func add(to table: RouteTable) {
    }
}
