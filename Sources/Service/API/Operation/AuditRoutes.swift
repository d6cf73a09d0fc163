import SatchelCore
import Hummingbird

/// What was done about a tenant's access, and by whom.
struct AuditRoutes: Sendable {
    let service: Service

    func add(to table: RouteTable) {
        table.list(.listAudit, as: "audit", by: ["action", "actor", "since"]) { query in
            AuditFilter(
                action: query.choice("action", AuditEntry.Action.self),
                actor: query.string("actor", bytes: 1...64).map(AuditActorFilter.init), since: query.instant("since"))
        } page: { filter, context, part in
            try await service.records.audit(
                of: context.tenant, where: filter, after: part.cursor, limit: part.limit)
        } body: {
            $0
        }
    }
}
