import SatchelCore
import HTTPTypes
import Hummingbird
import Jobs
import Stores

/// What an operator looks at first, and what is done about it.
struct OverviewRoutes: Sendable {
    /// Jobs that one request looks at: some seconds of work.
    private static let retriedAtOnce = 1000
    /// Bytes of a body.
    private static let bodyLimit: Int64 = 16 << 10

    let service: Service

    func add(to table: RouteTable) {
        table.on(.overview) { _, context in try .json(try await overview(for: context)) }
        table.on(.failures) { request, context in
            let errors = ValidationErrors()
            let query = try Query(request).reader(known: ["code", "since"], errors)
            let code = query.choice("code", ErrorCode.self)
            let since = query.instant("since")
            try errors.check()
            let groups = try await service.records.failures(of: context.tenant, with: code, since: since)
            return try .json(FailureListing(groups: groups.map(FailureBody.init)))
        }
        table.on(.retryJobs) { request, context in try await retry(request, of: context.tenant) }
        table.on(.attachmentAccess) { request, context in
            let id = AttachmentID(rawValue: try context.parameter("id"))
            let query = try ListParameters(request)
            guard try await service.records.attachment(id, of: context.tenant) != nil else { throw Problem.notFound }
            let page = try await service.records.access(
                to: id, of: context.tenant, after: query.cursor, limit: query.limit)
            return try .json(
                AccessListing(
                    access: page.elements.map(AccessBody.init), next: page.next.map(ListParameters.cursor)))
        }
    }

    /// The tenant's figures, and for an administrator those of the service.
    private func overview(for context: ServiceContext) async throws -> OverviewBody {
        let overview = try await service.records.overview(of: context.tenant)
        var body = OverviewBody(overview, within: service.settings.tenantQuotas[try context.tenant])
        if case .key(let key) = context.identity, key.may(.admin) {
            body.service = try await ServiceFigures(of: service)
        }
        return body
    }

    private func retry(_ request: Request, of tenant: TenantID) async throws -> Response {
        let body = try await IncomingBody.json(of: request, limit: Self.bodyLimit)
        let errors = ValidationErrors()
        let fields = try FieldReader(body: body.readableBytesView, known: ["code", "since", "cursor", "limit"], errors)
        let code = fields.choice("code", ErrorCode.self)
        let since = fields.instant("since")
        let cursor = ListParameters.cursor(fields)
        let limit = fields.integer("limit", in: 1...Self.retriedAtOnce) ?? Self.retriedAtOnce
        if fields.value("code") == nil {
            fields.addError("code", "Required: the error code of the jobs to retry.")
        }
        try errors.check()
        guard let code else { throw Problem.notFound }
        let counts = try await service.records.retryAll(
            failedWith: code, since: since, of: tenant, after: cursor, limit: limit
        ) { record in service.jobs.retried(record) }
        return try .json(RetryAnswerBody(counts), .accepted)
    }
}

private struct RetryAnswerBody: Encodable {
    var accepted: Int
    var forgotten: Int
    @Nullable var next: String?

    init(_ counts: RetryCounts) {
        accepted = counts.accepted
        forgotten = counts.forgotten
        next = counts.next.map(ListParameters.cursor)
    }
}

private struct FailureListing: Encodable {
    var groups: [FailureBody]
}

private struct AccessListing: Encodable {
    var access: [AccessBody]
    @Nullable var next: String?
}

/// A grant, a lease or a link as its owner sees it: nothing of it opens anything.
private struct AccessBody: Encodable {
    var id: String
    var kind: String
    /// The grant that it was derived from.
    @Nullable var parentID: String?
    /// Null: all.
    @Nullable var renditions: [RenditionRole]?
    /// Of a grant.
    @Nullable var leaseLimit: Int?
    var delivery: DeliveryMode
    /// Started by its job when that delivered.
    var byJob: Bool
    var createdAt: Instant
    var expiresAt: Instant
    /// Time of the stop or revocation.
    @Nullable var endedAt: Instant?

    init(_ entry: AccessEntry) {
        id = entry.id
        kind = entry.kind.rawValue
        parentID = entry.parent
        renditions = entry.renditions
        leaseLimit = entry.leaseLimit
        delivery = entry.delivery
        byJob = entry.isByJob
        createdAt = entry.createdAt
        expiresAt = entry.expiresAt
        endedAt = entry.endedAt
    }
}
