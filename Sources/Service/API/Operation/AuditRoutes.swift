import SatchelCore
import Hummingbird

/// What was done about a tenant's access, and by whom.
struct AuditRoutes: Sendable {
    let service: Service

    func add(to table: RouteTable) {
        table.on(.listAudit) { request, context in
            var filter = AuditFilter()
            let query = try ListParameters(request, filters: ["action", "actor", "since"]) { query in
                filter.action = query.choice("action", AuditEntry.Action.self)
                filter.actor = query.string("actor", bytes: 1...64).map(AuditActorFilter.init)
                filter.since = query.instant("since")
            }
            let page = try await service.records.audit(
                of: context.tenant, where: filter, after: query.cursor, limit: query.limit)
            return try .json(Listing(audit: page.elements, next: page.next.map(ListParameters.cursor)))
        }
    }

    private struct Listing: Encodable {
        var audit: [AuditEntry]
        @Nullable var next: String?
    }
}
