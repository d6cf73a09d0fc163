public import SatchelCore
internal import FoundationEssentials
internal import Postgres

extension SQLRecordStore {
    public func webhooks(
        after results: [WebhookResult], within places: WebhookPlaces, for duration: Duration
    ) async throws(AttachmentError) -> WebhookBatch {
        if results.isEmpty {
            // A look first: who asks again and again must not wear out the disk.
            let (isDue, next) = try await read { work in
                let due = try work.run(RecordTransaction.webhooksDue, [.int(work.now.milliseconds), 1])
                return (!due.isEmpty, try work.nextWebhook())
            }
            guard isDue, places.free > 0 else { return WebhookBatch(next: next, turn: places.turn) }
        }
        return try await write { work in
            for result in results { try work.record(result) }
            return try work.takeWebhooks(within: places, for: duration)
        }
    }

    public func whenWebhooksCome(_ tell: @escaping @Sendable () -> Void) {
        notifier.listen(tell)
    }

    public func replayWebhook(of job: JobID, tenant: TenantID) async throws(AttachmentError) -> Bool {
        try await write { work in
            let changed = try work.run(
                """
                UPDATE calls SET \(RecordTransaction.replayed) FROM jobs
                WHERE jobs.tenant = $1 AND jobs.id = $2 AND jobs.finished_at IS NOT NULL AND calls.job = jobs.key
                    AND calls.generation = jobs.generation
                """, [.text(tenant.rawValue), .text(job.rawValue), .int(work.now.milliseconds)]
            ).changes
            if changed > 0 { work.ringsBell = true }
            return changed > 0
        }
    }

    public func replayCall(_ id: String, of tenant: TenantID) async throws(AttachmentError) -> Bool {
        try await write { work in
            let changed = try work.run(
                "UPDATE calls SET \(RecordTransaction.replayed) WHERE tenant = $1 AND id = $2 AND state <> 'cancelled'",
                [.text(tenant.rawValue), .text(id), .int(work.now.milliseconds)]
            ).changes
            if changed > 0 { work.ringsBell = true }
            return changed > 0
        }
    }

    public func call(_ id: String, of tenant: TenantID) async throws(AttachmentError) -> CallRecord? {
        try await read { work in
            try work.run(
                "SELECT \(RecordTransaction.callColumns) FROM calls WHERE id = $1 AND tenant = $2",
                [.text(id), .text(tenant.rawValue)]
            ).first.map { try CallRecord($0) }
        }
    }

    public func calls(
        of tenant: TenantID, where filter: CallFilter, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<CallRecord> {
        try await read { work in
            let limit = min(max(limit, 1), Self.longestPage)
            let lists = try work.send(
                filter.states.map { state in
                    var conditions = Conditions(of: tenant)
                    conditions.require("state = $", .text(state.column))
                    if let type = filter.type { conditions.require("type = $", .text(type.rawValue)) }
                    if let cursor { conditions.require("id < $", .text(cursor)) }
                    return Statement(
                        """
                        SELECT \(RecordTransaction.callColumns) FROM calls WHERE \(conditions.sql) ORDER BY id DESC LIMIT \(limit)
                        """, conditions.values)
                })
            return CallRecord.page(try lists.flatMap { try $0.map { try CallRecord($0) } }, limit: limit)
        }
    }
}

extension RecordTransaction {
    /// Not locked: a look, or what ``take(_:within:for:)`` locks then.
    fileprivate static let webhooksDue = """
        SELECT id, tenant, receiver FROM calls WHERE state = 'pending' AND due_at <= $1 ORDER BY due_at LIMIT $2
        """
    /// Receivers that are looked at in one transaction, where not all that is due can be called at once.
    private static let receiversAtOnce = 64

    /// Before who has something pending is looked at again.
    private static let pause: Duration = .milliseconds(20)

    private struct Call {
        var id: String
        var receiver: WebhookReceiver

        init(_ row: RecordRow) throws {
            id = try row.text("id")
            receiver = try WebhookReceiver(row)
        }
    }

    /// Until the next webhook becomes due that isn't yet; nil where there is none.
    fileprivate func nextWebhook() throws -> Duration? {
        let row = try run(
            "SELECT due_at FROM calls WHERE state = 'pending' AND due_at > $1 ORDER BY due_at LIMIT 1",
            [.int(now.milliseconds)]
        ).first
        return try row.map { try $0.instant("due_at") - now }
    }

    /// What makes a call due again, at `$3`.
    fileprivate static let replayed = """
        state = 'pending', attempt = 0, due_at = $3, underway = false, finished_at = NULL, reason = NULL,
        give_up_at = NULL
        """

    /// What a ``CallRecord`` and a ``WebhookDelivery`` are made of.
    fileprivate static let callColumns = "calls.*, (SELECT id FROM jobs WHERE key = calls.job) AS job_id"

    /// Has a message sent, of which the same transaction records what it tells of.
    func enqueueing(_ call: OutgoingCall) -> Statement {
        ringsBell = true
        return Statement(
            """
            INSERT INTO calls (id, tenant, type, subject, url, receiver, body, give_up_at, traceparent, is_kept, created_at,
                due_at)
            VALUES ($1, $2, $3, $4, $5, $11, $6, $7, $8, $9, $10, $10)
            """,
            [
                .text(call.id), .text(call.tenant.rawValue), .text(call.type.rawValue), .text(call.subject),
                .text(call.url), .bytes(Array(call.body.stored)), .int(call.giveUpAt?.milliseconds),
                .text(call.traceparent), .bool(call.isKept), .int(now.milliseconds),
                .text(WebhookReceiver.origin(of: call.url)),
            ])
    }

    /// Calls off what is still to be told of a subject. An attempt that is underway may still arrive.
    func cancelling(callsOf subject: String, tenant: TenantID, reason: String) -> Statement {
        Statement(
            """
            UPDATE calls SET state = 'cancelled', underway = false, finished_at = $3, reason = $4
            WHERE tenant = $1 AND subject = $2 AND state = 'pending'
            """, [.text(tenant.rawValue), .text(subject), .int(now.milliseconds), .text(reason)])
    }

    fileprivate func record(_ result: WebhookResult) throws {
        let (call, outcome) = (result.callback, result.outcome)
        var values: [SQLValue] = [
            .text(call.id), .text(call.tenant.rawValue), .text(outcome.reason), .text(try result.answers?.column),
        ]
        var conditions = "id = $1 AND tenant = $2 AND state = 'pending'"
        let changes: String
        if case .again(let delay, _) = outcome {
            changes = "due_at = $5"
            values.append(.int((now + delay).milliseconds))
        } else {
            changes = "finished_at = $5, state = \(outcome == .delivered ? "'delivered'" : "'failed'")"
            values.append(.int(now.milliseconds))
        }
        // Whoever was told was told, even if somebody else has it in hand by now.
        if outcome != .delivered {
            conditions += " AND attempt = $6"
            values.append(.int(call.attempt))
        }
        let changed = try send([
            Statement(
                """
                UPDATE calls SET underway = false, reason = $3, answers = coalesce($4, answers), \(changes)
                WHERE \(conditions)
                """, values),
            Statement(
                "DELETE FROM calls WHERE id = $1 AND tenant = $2 AND state = 'delivered' AND NOT is_kept",
                Array(values.prefix(2))),
        ])[0].changes
        guard changed > 0, let (firing, end) = call.settles(outcome) else { return }
        try settleFiring(firing, end)
    }

    fileprivate func takeWebhooks(within places: WebhookPlaces, for duration: Duration) throws -> WebhookBatch {
        var places = places
        let free = places.free
        var due: [Call] = []
        if free > 0 {
            due = try run(Self.webhooksDue, [.int(now.milliseconds), .int(free + 1)]).map { try Call($0) }
        }
        var taken: [Call] = []
        var turn = places.turn
        var next = try nextWebhook()
        if due.count <= free {
            for call in due where places.mayBegin(call.receiver) {
                places.begin(call.receiver)
                taken.append(call)
            }
        } else {
            // Who has the most waiting would be all that is seen of it.
            let round = try waitingReceivers(after: turn)
            let able = round.receivers.filter(places.mayBegin)
            var waiting: [WebhookReceiver: [Call]] = [:]
            for receiver in able {
                waiting[receiver] = try run(
                    """
                    SELECT id, tenant, receiver FROM calls
                    WHERE state = 'pending' AND tenant = $1 AND receiver = $2 AND due_at <= $3 ORDER BY due_at LIMIT $4
                    """,
                    [
                        .text(receiver.tenant.rawValue), .text(receiver.origin), .int(now.milliseconds),
                        .int(max(free * 2 / able.count, 4)),
                    ]
                ).map { try Call($0) }
            }
            taken = places.begin(waiting)
            turn = round.last
            // There is more, of these or of others. Where nobody may begin, the end of a call is waited for.
            if !taken.isEmpty || round.last != nil { next = Self.pause }
        }
        return WebhookBatch(calls: try take(taken.map(\.id), for: duration), next: next, turn: turn)
    }

    /// Takes calls, but for those that somebody else took a moment before.
    private func take(_ ids: [String], for duration: Duration) throws -> [WebhookDelivery] {
        guard !ids.isEmpty else { return [] }
        let rows = try run(
            """
            SELECT \(Self.callColumns), line.place FROM unnest($1::text[]) WITH ORDINALITY AS line (id, place)
                JOIN calls ON calls.id = line.id
            WHERE calls.state = 'pending' AND calls.due_at <= $2 ORDER BY line.place FOR UPDATE OF calls SKIP LOCKED
            """, [.texts(ids), .int(now.milliseconds)])
        try run(
            "UPDATE calls SET attempt = attempt + 1, due_at = $2, underway = true WHERE id = ANY($1::text[])",
            [.texts(try rows.map { try $0.text("id") }), .int((now + duration).milliseconds)])
        return try rows.map { row in
            var delivery = try WebhookDelivery(row)
            delivery.attempt += 1
            return delivery
        }
    }

    /// Who has something pending, from the one after `turn` on; not more than are looked at at once.
    private func waitingReceivers(after turn: WebhookReceiver?) throws -> WebhookReceiverRound {
        var round = WebhookReceiverRound(after: turn, limit: Self.receiversAtOnce)
        while true {
            let row = try run(
                """
                SELECT tenant, receiver FROM calls
                WHERE state = 'pending' AND (tenant, receiver) > ($1::text COLLATE "C", $2::text COLLATE "C")
                ORDER BY tenant, receiver LIMIT 1
                """, [.text(round.last?.tenant.rawValue ?? ""), .text(round.last?.origin ?? "")]
            ).first
            guard round.add(try row.map({ try WebhookReceiver($0) })) else { return round }
        }
    }
}

extension CallContent {
    /// Of a row of `calls`, with its job's id.
    fileprivate init(_ row: RecordRow) throws {
        if let body = try row.optionalBytes("body") {
            self = .message(TokenTemplate(stored: Data(body)))
        } else {
            self = .job(JobID(rawValue: try row.text("job_id")))
        }
    }
}

extension WebhookDelivery {
    fileprivate init(_ row: RecordRow) throws {
        self.init(
            id: try row.text("id"), tenant: TenantID(rawValue: try row.text("tenant")),
            type: CallType(rawValue: try row.text("type")), content: try CallContent(row),
            subject: try row.optionalText("subject"), url: try row.text("url"), origin: try row.text("receiver"),
            attempt: try row.int("attempt"), createdAt: try row.instant("created_at"),
            giveUpAt: try row.optionalInstant("give_up_at"), traceparent: try row.optionalText("traceparent"),
            answers: try [CallAnswer](column: row.optionalText("answers")))
    }
}

extension CallRecord {
    fileprivate init(_ row: RecordRow) throws {
        self.init(
            id: try row.text("id"), tenant: TenantID(rawValue: try row.text("tenant")),
            type: CallType(rawValue: try row.text("type")), content: try CallContent(row),
            subject: try row.optionalText("subject"), url: try row.text("url"),
            report: WebhookReport(
                state: try .init(column: row.text("state")), attempts: try row.int("attempt"),
                dueAt: try row.instant("due_at"), isUnderway: try row.bool("underway"),
                reason: try row.optionalText("reason")),
            answers: try [CallAnswer](column: row.optionalText("answers")), createdAt: try row.instant("created_at"),
            finishedAt: try row.optionalInstant("finished_at"))
    }
}

extension WebhookReceiver {
    /// Of a row of `calls`.
    fileprivate init(_ row: RecordRow) throws {
        self.init(tenant: TenantID(rawValue: try row.text("tenant")), origin: try row.text("receiver"))
    }

    /// The origin of a URL: its scheme, host and port.
    static func origin(of url: String) -> String {
        guard let start = url.firstRange(of: "://")?.upperBound else { return "" }
        return url[..<(url[start...].firstIndex { "/?#".contains($0) } ?? url.endIndex)].lowercased()
    }
}
