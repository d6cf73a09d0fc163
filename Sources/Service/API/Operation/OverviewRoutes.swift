import SatchelCore
import HTTPTypes
import Hummingbird
import Jobs
import Stores

/// What an operator looks at first and what is done about it, and what was done by whom.
struct OverviewRoutes: Sendable {
    /// Jobs that one request looks at: some seconds of work.
    private static let retriedAtOnce = 1000
    let service: Service

    func add(to table: RouteTable) {
        table.on(.overview) { _, context in try .json(try await overview(for: context)) }
        table.on(.failures) { request, context in
            let (code, since) = try request.parameters(["code", "since"]) { query in
                (query.choice("code", ErrorCode.self), query.instant("since"))
            }
            let groups = try await service.records.failures(of: context.tenant, with: code, since: since)
            return try .json(["groups": groups.map(\.shown)])
        }
        table.on(.retryJobs) { request, context in try await retry(request, of: context.tenant) }
        table.list(.attachmentAccess, as: "access") { _ in
        } page: { _, context, part in
            let id = AttachmentID(rawValue: try context.parameter("id"))
            guard try await service.records.attachment(id, of: context.tenant) != nil else { throw Problem.notFound }
            return try await service.records.access(
                to: id, of: context.tenant, after: part.cursor, limit: part.limit)
        } body: {
            $0.shown
        }
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

    /// The tenant's figures, and for an administrator those of the service.
    private func overview(for context: ServiceContext) async throws -> JSONFields {
        let overview = try await service.records.overview(of: context.tenant)
        let figures = overview.shown(within: service.settings.tenantQuotas[try context.tenant])
        if case .key(let key) = context.identity, key.may(.admin) {
            return figures + ["service": try await service.figures]
        }
        return figures + ["service": JSONFields?.none]
    }

    private func retry(_ request: Request, of tenant: TenantID) async throws -> Response {
        let wanted = try await request.fields(["code", "since", "cursor", "limit"]) { fields in
            if fields.value("code") == nil {
                fields.addError("code", "Required: the error code of the jobs to retry.")
            }
            return (
                code: fields.choice("code", ErrorCode.self), since: fields.instant("since"),
                cursor: ListParameters.cursor(fields),
                limit: fields.integer("limit", in: 1...Self.retriedAtOnce) ?? Self.retriedAtOnce
            )
        }
        guard let code = wanted.code else { throw Problem.notFound }
        let counts = try await service.records.retryAll(
            failedWith: code, since: wanted.since, of: tenant, after: wanted.cursor, limit: wanted.limit
        ) { record in service.jobs.retried(record) }
        let answer: JSONFields = [
            "accepted": counts.accepted, "forgotten": counts.forgotten,
            "next": counts.next.map(ListParameters.cursor),
        ]
        return try .json(answer, .accepted)
    }
}

extension AccessEntry {
    /// A grant, a lease or a link as its owner sees it: nothing of it opens anything.
    fileprivate var shown: JSONFields {
        [
            "id": id, "kind": kind.rawValue, "parentId": parent, "renditions": renditions,
            "leaseLimit": leaseLimit, "delivery": delivery, "byJob": isByJob, "createdAt": createdAt,
            "expiresAt": expiresAt, "endedAt": endedAt,
        ]
    }
}
