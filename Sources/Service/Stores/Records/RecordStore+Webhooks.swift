public import SatchelCore
internal import FoundationEssentials
internal import Postgres

extension RecordStore {
    /// Records what became of calls, and takes webhooks that are due as far as there are places for them, in one
    /// transaction: what was due first comes first, or, where not all of it can be called at once, those of the tenant with
    /// the fewest calls underway. A call that is taken belongs to this node until its result is recorded, or the node is dead. The
    /// access that a job opened starts anew when its call is taken.
    ///
    /// - Parameter underway: The ids of the calls that this node has. It may have more without knowing, if an answer was lost;
    ///   these become due again. Nil where that isn't known.
    public func webhooks(
        after results: [WebhookResult], within places: WebhookPlaces, besides underway: Set<String>?
    ) async throws(AttachmentError) -> WebhookBatch {
        try await node.live()
        let rescue = node.mayRescue(in: RecordTransaction.callRescue)
        do throws(AttachmentError) {
            if results.isEmpty {
                // Reads first, so that frequent looks do not wear out the disk.
                let (isDue, next) = try await read { work in
                    let due = try work.run(RecordTransaction.webhooksDue, [.time(work.now), 1])
                    let mayBeLost = try rescue != nil && work.hasOtherCalls(besides: underway)
                    return (mayBeLost || !due.isEmpty, try work.nextWebhook())
                }
                guard isDue, places.free > 0 else { return WebhookBatch(next: next, turn: places.turn) }
            }
            return try await write { work in
                for result in results { try work.record(result) }
                try work.freeLostCalls(within: rescue, besides: underway)
                return try work.takeWebhooks(within: places)
            }
        } catch {
            if rescue != nil { node.failedToRescue(in: RecordTransaction.callRescue) }
            throw error
        }
    }

    /// Keeps the body of a job's call, so that every attempt sends the same.
    ///
    /// - Returns: The body that is kept, which may be an earlier one; nil if this node does not have the call any more.
    public func keep(
        _ body: TokenTemplate, of call: WebhookDelivery
    ) async throws(AttachmentError) -> TokenTemplate? {
        try await write { [node] work in
            // A node may have taken the call twice, if it did not hear of the first time.
            let row = try work.run(
                """
                UPDATE calls SET body = coalesce(body, $3) WHERE id = $1 AND tenant = $2 AND node = $4 RETURNING body
                """, [.text(call.id), .raw(call.tenant), .bytes(Array(body.stored)), .uuid(node.id)]
            ).first
            return try row?.optionalBytes("body").map { TokenTemplate(stored: Data($0)) }
        }
    }

    /// Has `tell` called after each commit of this process that made a webhook due; it must not block. Only the latest
    /// is called.
    public func whenWebhooksCome(_ tell: @escaping @Sendable () -> Void) {
        notifier.listen(tell)
        // Their calls are due again.
        node.whenNodesLeave(tell)
    }

    /// Has a finished job's webhook called again, with the same message id; false where there is none.
    public func replayWebhook(of job: JobID, tenant: TenantID) async throws(AttachmentError) -> Bool {
        try await replay(
            """
            FROM jobs WHERE jobs.tenant = $1 AND jobs.id = $2 AND jobs.finished_at IS NOT NULL AND calls.job = jobs.key
                AND calls.generation = jobs.generation
            """, [.raw(tenant), .raw(job)])
    }

    /// Has a call made again, with the same message id, and no other end than the schedule's; false where the tenant has
    /// none, or it was called off.
    public func replayCall(_ id: String, of tenant: TenantID) async throws(AttachmentError) -> Bool {
        try await replay("WHERE tenant = $1 AND id = $2 AND state <> 'cancelled'", [.raw(tenant), .text(id)])
    }

    /// Makes a call due again. A job is then told as it is by then.
    ///
    /// - Parameter call: What finds the call.
    private func replay(_ call: String, _ values: [SQLValue]) async throws(AttachmentError) -> Bool {
        try await write { work in
            let changed = try work.run(
                """
                UPDATE calls SET state = 'pending', attempt = 0, due_at = $3, node = NULL, finished_at = NULL, reason = NULL,
                    give_up_at = NULL, body = CASE WHEN calls.job IS NULL THEN body END \(call)
                """, values + [.time(work.now)]
            ).changes
            if changed > 0 { work.ringsBell = true }
            return changed > 0
        }
    }

    public func call(_ id: String, of tenant: TenantID) async throws(AttachmentError) -> CallRecord? {
        try await read { work in
            try work.run(
                "SELECT \(RecordTransaction.callColumns) FROM calls WHERE id = $1 AND tenant = $2",
                [.text(id), .raw(tenant)]
            ).first.map { try CallRecord($0) }
        }
    }

    /// Newest first, by their ids.
    public func calls(
        of tenant: TenantID, where filter: CallFilter, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<CallRecord> {
        try await read { work in
            let limit = Self.pageLength(limit)
            let lists = try work.send(
                filter.states.map { state in
                    var conditions = Conditions(of: tenant)
                    conditions.require("state = $", .text(state.column))
                    if let type = filter.type { conditions.require("type = $", .raw(type)) }
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
    /// The rows are not locked: this is only a look, or ``take(_:)`` locks them later.
    fileprivate static let webhooksDue = """
        SELECT id, tenant, receiver FROM calls
        WHERE state = 'pending' AND node IS NULL AND due_at <= $1 ORDER BY due_at LIMIT $2
        """
    /// What ``StoreNode/mayRescue(in:)`` knows the calls by. No run has this name.
    fileprivate static let callRescue = " calls"

    /// Whether nodes have calls of which this one doesn't know.
    fileprivate func hasOtherCalls(besides underway: Set<String>?) throws -> Bool {
        try !run(
            "SELECT 1 FROM calls WHERE node IS NOT NULL AND (node <> $1 OR $3 AND id <> ALL($2::text[])) LIMIT 1",
            [.uuid(store.node.id), .texts(Array(underway ?? [])), .bool(underway != nil)]
        ).isEmpty
    }

    /// Makes calls due again that no node has in hand: those of dead nodes, and those that this node got without knowing, as
    /// an answer was lost. Their interrupted attempts do not count.
    fileprivate func freeLostCalls(within time: ClosedRange<Instant>?, besides underway: Set<String>?) throws {
        let (own, free) = (SQLValue.uuid(store.node.id), "UPDATE calls SET node = NULL WHERE node")
        var statements: [Statement] = []
        if let time {
            let alive = "\(store.engine.clock("$2")) NOT BETWEEN $2 AND $3 OR \(store.node.lives("calls.node"))"
            statements.append(
                Statement(
                    "\(free) <> $1 AND NOT (\(alive))",
                    [own, .time(time.lowerBound), .time(time.upperBound)]))
        }
        if let underway, time != nil || mayHaveCommitted {
            statements.append(
                Statement("\(free) = $1 AND id <> ALL($2::text[])", [own, .texts(underway.sorted())]))
        }
        _ = try send(statements)
    }

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
            "SELECT due_at FROM calls WHERE state = 'pending' AND node IS NULL AND due_at > $1 ORDER BY due_at LIMIT 1",
            [.time(now)]
        ).first
        return try row.map { try $0.instant("due_at") - now }
    }

    /// What a ``CallRecord`` and a ``WebhookDelivery`` are made of.
    fileprivate static let callColumns = "calls.*, (SELECT id FROM jobs WHERE key = calls.job) AS job_id"

    /// Has a message sent, of which the same transaction records what it tells of.
    func enqueueing(_ call: OutgoingCall) -> Statement {
        ringsBell = true
        return .insert(
            into: "calls",
            [
                "id": .text(call.id), "tenant": .raw(call.tenant), "type": .raw(call.type),
                "subject": .text(call.subject), "url": .text(call.url),
                "receiver": .text(WebhookReceiver.origin(of: call.url)), "body": .bytes(Array(call.body.stored)),
                "give_up_at": .time(call.giveUpAt), "traceparent": .text(call.traceparent),
                "is_kept": .bool(call.isKept), "created_at": .time(now), "due_at": .time(now),
            ])
    }

    /// Calls off what is still to be told of a subject. An attempt that is underway may still arrive.
    func cancelling(callsOf subject: String, tenant: TenantID, reason: String) -> Statement {
        Statement(
            """
            UPDATE calls SET state = 'cancelled', node = NULL, finished_at = $3, reason = $4
            WHERE tenant = $1 AND subject = $2 AND state = 'pending'
            """, [.raw(tenant), .text(subject), .time(now), .text(reason)])
    }

    fileprivate func record(_ result: WebhookResult) throws {
        let (call, outcome) = (result.callback, result.outcome)
        var values: [SQLValue] = [
            .text(call.id), .raw(call.tenant), .text(outcome.reason), .text(try result.answers?.column),
            .int(call.attempt),
        ]
        var conditions = "id = $1 AND tenant = $2 AND state = 'pending'"
        let changes: String
        if case .again(let delay, _) = outcome {
            changes = "due_at = $6"
            values.append(.time(now + delay))
        } else {
            changes = "finished_at = $6, state = \(outcome == .delivered ? "'delivered'" : "'failed'")"
            values.append(.time(now))
        }
        // A receiver that was told was told, even if another node has the call by now.
        if outcome != .delivered {
            conditions += " AND node = $7"
            values.append(.uuid(store.node.id))
        }
        let changed = try send([
            Statement(
                """
                UPDATE calls SET node = NULL, attempt = $5, reason = $3, answers = coalesce($4, answers), \(changes)
                WHERE \(conditions)
                """, values),
            Statement(
                "DELETE FROM calls WHERE id = $1 AND tenant = $2 AND state = 'delivered' AND NOT is_kept",
                Array(values.prefix(2))),
        ])[0].changes
        guard changed > 0, let (firing, end) = call.settles(outcome) else { return }
        try settleFiring(firing, end)
    }

    fileprivate func takeWebhooks(within places: WebhookPlaces) throws -> WebhookBatch {
        var places = places
        let free = places.free
        var due: [Call] = []
        if free > 0 {
            due = try run(Self.webhooksDue, [.time(now), .int(free + 1)]).map { try Call($0) }
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
                    WHERE state = 'pending' AND node IS NULL AND tenant = $1 AND receiver = $2 AND due_at <= $3
                    ORDER BY due_at LIMIT $4
                    """,
                    [.raw(receiver.tenant), .text(receiver.origin), .time(now), .int(max(free * 2 / able.count, 4))]
                ).map { try Call($0) }
            }
            taken = places.begin(waiting)
            turn = round.last
            // There is more, of these or of others. Where nobody may begin, the end of a call is waited for.
            if !taken.isEmpty || round.last != nil { next = Self.pause }
        }
        return WebhookBatch(calls: try take(taken.map(\.id)), next: next, turn: turn)
    }

    /// Takes calls, but for those that somebody else took a moment before.
    private func take(_ ids: [String]) throws -> [WebhookDelivery] {
        guard !ids.isEmpty else { return [] }
        let rows = try run(
            """
            SELECT \(Self.callColumns), line.place FROM unnest($1::text[]) WITH ORDINALITY AS line (id, place)
                JOIN calls ON calls.id = line.id
            WHERE calls.state = 'pending' AND calls.node IS NULL AND calls.due_at <= $2
            ORDER BY line.place FOR UPDATE OF calls SKIP LOCKED
            """, [.texts(ids), .time(now)])
        let taken = SQLValue.texts(try rows.map { try $0.text("id") })
        _ = try send([
            Statement("UPDATE calls SET node = $2 WHERE id = ANY($1::text[])", [taken, .uuid(store.node.id)]),
            // The receiver has the access of a job for its whole time, at each attempt.
            Statement(
                """
                UPDATE access SET created_at = $2, expires_at = $2 + (access.expires_at - access.created_at)
                FROM calls JOIN attachments ON attachments.job = calls.job AND attachments.generation = calls.generation
                WHERE calls.id = ANY($1::text[]) AND access.tenant = attachments.tenant
                    AND access.attachment = attachments.id AND by_job AND ended_at IS NULL
                """, [taken, .time(now)]),
        ])
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
            let last = [SQLValue.text(round.last?.tenant.rawValue ?? ""), .text(round.last?.origin ?? "")]
            // If pairs were compared, SQLite would pass over all calls to the last receiver.
            let found = try send(
                [("tenant = $1 AND receiver > $2", last), ("tenant > $1", [last[0]])].map { place, values in
                    Statement(
                        """
                        SELECT tenant, receiver FROM calls WHERE state = 'pending' AND node IS NULL AND \(place)
                        ORDER BY tenant, receiver LIMIT 1
                        """, values)
                })
            let row = found[0].first ?? found[1].first
            guard round.add(try row.map({ try WebhookReceiver($0) })) else { return round }
        }
    }
}

extension CallContent {
    /// Of a row of `calls`, with its job's id.
    fileprivate init(_ row: RecordRow) throws {
        let body = try row.optionalBytes("body").map { TokenTemplate(stored: Data($0)) }
        if let job = try row.optionalText("job_id") {
            self = .job(JobID(rawValue: job), body: body)
        } else {
            self = .message(body ?? TokenTemplate(stored: Data()))
        }
    }
}

extension WebhookDelivery {
    fileprivate init(_ row: RecordRow) throws {
        self.init(
            id: try row.text("id"), tenant: try row.value("tenant"),
            type: try row.value("type"), content: try CallContent(row),
            subject: try row.optionalText("subject"), url: try row.text("url"), origin: try row.text("receiver"),
            attempt: try row.int("attempt"), createdAt: try row.instant("created_at"),
            giveUpAt: try row.optionalInstant("give_up_at"), traceparent: try row.optionalText("traceparent"),
            answers: try [CallAnswer](column: row.optionalText("answers")))
    }
}

extension CallRecord {
    fileprivate init(_ row: RecordRow) throws {
        self.init(
            id: try row.text("id"), tenant: try row.value("tenant"),
            type: try row.value("type"), content: try CallContent(row),
            subject: try row.optionalText("subject"), url: try row.text("url"),
            report: WebhookReport(
                state: try .init(column: row.text("state")), attempts: try row.int("attempt"),
                dueAt: try row.instant("due_at"), isUnderway: try row.optionalText("node") != nil,
                reason: try row.optionalText("reason")),
            answers: try [CallAnswer](column: row.optionalText("answers")), createdAt: try row.instant("created_at"),
            finishedAt: try row.optionalInstant("finished_at"))
    }
}

extension WebhookReceiver {
    /// Of a row of `calls`.
    fileprivate init(_ row: RecordRow) throws {
        self.init(tenant: try row.value("tenant"), origin: try row.text("receiver"))
    }

    /// The origin of a URL: its scheme, host and port.
    static func origin(of url: String) -> String {
        guard let start = url.firstRange(of: "://")?.upperBound else { return "" }
        return url[..<(url[start...].firstIndex { "/?#".contains($0) } ?? url.endIndex)].lowercased()
    }
}
