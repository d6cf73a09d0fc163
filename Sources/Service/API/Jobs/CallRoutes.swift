import SatchelCore
import Hummingbird
import Stores

extension CallRecord {
    /// A call as the API shows it, without what it sends. Its subject is the job, or what a message tells of.
    var shown: JSONFields {
        let subject = if case .job(let job, _) = content { job.rawValue } else { self.subject }
        return [
            "id": id, "type": type.rawValue, "subject": subject, "url": url, "state": report.state,
            "attempts": report.attempts, "nextAt": report.nextAt, "reason": report.reason, "answers": answers,
            "createdAt": createdAt, "finishedAt": finishedAt,
        ]
    }
}

/// Outgoing calls: what is due, failing or given up, and having it called again.
struct CallRoutes: Sendable {
    let service: Service

    func add(to table: RouteTable) {
        table.list(.listCalls, as: "calls", by: ["state", "type"]) { query in
            CallFilter(
                state: query.choice("state", WebhookReport.State.self), type: query.choice("type", CallType.self))
        } page: { filter, context, part in
            try await service.records.calls(
                of: context.tenant, where: filter, after: part.cursor, limit: part.limit)
        } body: {
            $0.shown
        }
        table.on(.call) { _, context in try await .json(record(context).shown) }
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
            return try .json(try await record(context).shown, .accepted)
        }
    }

    private func record(_ context: ServiceContext) async throws -> CallRecord {
        guard let record = try await service.records.call(context.parameter("id"), of: context.tenant) else {
            throw Problem.notFound
        }
        return record
    }

}
