import SatchelCore
import Hummingbird
import Stores

/// A call as the API shows it, without what it sends.
struct CallBody: Encodable {
    var id: String
    var type: String
    /// The job, or what a message tells of.
    @Nullable var subject: String?
    var url: String
    var state: WebhookReport.State
    var attempts: Int
    @Nullable var nextAt: Instant?
    @Nullable var reason: String?
    var answers: [CallAnswer]
    var createdAt: Instant
    @Nullable var finishedAt: Instant?

    init(_ record: CallRecord) {
        id = record.id
        type = record.type.rawValue
        subject =
            switch record.content {
            case .job(let job, _): job.rawValue
            case .message: record.subject
            }
        url = record.url
        state = record.report.state
        attempts = record.report.attempts
        nextAt = record.report.nextAt
        reason = record.report.reason
        answers = record.answers
        createdAt = record.createdAt
        finishedAt = record.finishedAt
    }
}

/// Outgoing calls: what is due, failing or given up, and having it called again.
struct CallRoutes: Sendable {
    let service: Service

    func add(to table: RouteTable) {
        table.on(.listCalls) { request, context in try await list(request, of: context.tenant) }
        table.on(.call) { _, context in try await .json(CallBody(record(context))) }
        table.on(.replayCall) { _, context in
            let call = try await record(context)
            if case .message(let body) = call.content {
                let live = try await service.records.tokens(body.tokens, of: call.tenant)
                let keys = try await service.records.keys(at: body.keys, live)
                guard live.count == body.tokens.count, keys.count == body.keys.count else {
                    throw Problem(
                        .conflict, "tokens_ended",
                        "Links in this message have expired or were revoked. Create the event again, for example by firing the notification."
                    )
                }
            }
            guard try await service.records.replayCall(call.id, of: call.tenant) else {
                throw Problem(
                    .conflict, "call_cancelled",
                    "This call was cancelled, because the event it reports no longer applies.")
            }
            return try .json(CallBody(try await record(context)), .accepted)
        }
    }

    private func record(_ context: ServiceContext) async throws -> CallRecord {
        guard let record = try await service.records.call(context.parameter("id"), of: context.tenant) else {
            throw Problem.notFound
        }
        return record
    }

    private struct Listing: Encodable {
        var calls: [CallBody]
        @Nullable var next: String?
    }

    private func list(_ request: Request, of tenant: TenantID) async throws -> Response {
        var filter = CallFilter()
        let query = try ListParameters(request, filters: ["state", "type"]) { query in
            filter.state = query.choice("state", WebhookReport.State.self)
            filter.type = query.choice("type", CallType.self)
        }
        let page = try await service.records.calls(
            of: tenant, where: filter, after: query.cursor, limit: query.limit)
        return try .json(Listing(calls: page.elements.map(CallBody.init), next: page.next.map(ListParameters.cursor)))
    }
}
