public import SatchelCore
internal import FoundationEssentials
internal import GRDB

extension SQLiteRecordStore {
    public func webhooks(
        after results: [WebhookResult], within places: WebhookPlaces, for duration: Duration
    ) async throws(AttachmentError) -> WebhookBatch {
        if results.isEmpty {
            // A look first: who asks again and again must not wear out the disk.
            let (isDue, next) = try await read { database, now in
                (
                    try !database.rows(Database.webhooksDue, [now.milliseconds, 1]).isEmpty,
                    try database.nextWebhook(after: now)
                )
            }
            guard isDue, places.free > 0 else { return WebhookBatch(next: next, turn: places.turn) }
        }
        // What records of firings become is decided and written out beside the writer, whom all wait for.
        let ends = try await read { database, now in try HandoverEnds(results, database, at: now) }
        let answers = try results.map { result throws(AttachmentError) in try result.answers?.column }
        return try await write { database, now in
            for (result, answers) in zip(results, answers) { try database.record(result, answers, ends, at: now) }
            return try database.takeWebhooks(within: places, for: duration, at: now)
        }
    }

    public func whenWebhooksCome(_ tell: @escaping @Sendable () -> Void) {
        commits.webhooks.listen(tell)
    }

    public func replayWebhook(of job: JobID, tenant: TenantID) async throws(AttachmentError) -> Bool {
        try await write { database, now in
            let id = try database.texts(
                """
                SELECT calls.id FROM jobs
                    JOIN calls ON calls.job = jobs.key AND calls.generation = jobs.generation
                WHERE jobs.tenant = ? AND jobs.id = ? AND jobs.finished_at IS NOT NULL
                """, [tenant.rawValue, job.rawValue]
            ).first
            guard let id else { return false }
            return try database.replay(id, of: tenant, at: now)
        }
    }

    public func replayCall(_ id: String, of tenant: TenantID) async throws(AttachmentError) -> Bool {
        try await write { database, now in try database.replay(id, of: tenant, at: now) }
    }

    public func call(_ id: String, of tenant: TenantID) async throws(AttachmentError) -> CallRecord? {
        try await read { database, _ in
            try database.row("SELECT * FROM calls WHERE id = ? AND tenant = ?", [id, tenant.rawValue])
                .map(database.callRecord)
        }
    }

    public func calls(
        of tenant: TenantID, where filter: CallFilter, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<CallRecord> {
        try await read { database, _ in
            let limit = min(max(limit, 1), Self.longestPage)
            let rows = try filter.states.flatMap { state in
                let (sql, arguments) = Database.calls(
                    of: tenant, in: state, type: filter.type, after: cursor, limit: limit)
                return try database.rows(sql, arguments)
            }
            return try CallRecord.page(rows.map(database.callRecord), limit: limit)
        }
    }
}

extension Database {
    static let webhooksDue = """
        SELECT id, tenant, receiver FROM calls WHERE state = 'pending' AND due_at <= ? ORDER BY due_at LIMIT ?
        """
    static let webhooksDueTo = """
        SELECT id, tenant, receiver FROM calls WHERE state = 'pending' AND tenant = ? AND receiver = ? AND due_at <= ?
        ORDER BY due_at LIMIT ?
        """
    // Two questions, for one with (tenant, receiver) > (?, ?) would read all that waits for the receiver before.
    static let nextReceiverOfTenant = """
        SELECT tenant, receiver FROM calls WHERE state = 'pending' AND tenant = ? AND receiver > ?
        ORDER BY receiver LIMIT 1
        """
    static let receiverOfNextTenant = """
        SELECT tenant, receiver FROM calls WHERE state = 'pending' AND tenant > ?
        ORDER BY tenant, receiver LIMIT 1
        """
    static let nextWebhook = """
        SELECT due_at FROM calls WHERE state = 'pending' AND due_at > ? ORDER BY due_at LIMIT 1
        """
    /// Receivers that are looked at in one transaction, where not all that is due can be called at once.
    private static let receiversAtOnce = 64

    /// Before who has something pending is looked at again.
    private static let pause: Duration = .milliseconds(20)

    /// Until the next webhook becomes due that isn't yet; nil where there is none.
    fileprivate func nextWebhook(after now: Instant) throws -> Duration? {
        try number(Self.nextWebhook, [now.milliseconds]).map { Instant(milliseconds: $0) - now }
    }

    /// The calls of a state, newest first.
    static func calls(
        of tenant: TenantID, in state: WebhookReport.State, type: CallType?, after cursor: String?, limit: Int
    ) -> (sql: String, arguments: StatementArguments) {
        var conditions = "tenant = ? AND state = ?"
        var arguments: StatementArguments = [tenant.rawValue, state.column]
        if let type {
            conditions += " AND type = ?"
            arguments += [type.rawValue]
        }
        if let cursor {
            conditions += " AND id < ?"
            arguments += [cursor]
        }
        return ("SELECT * FROM calls WHERE \(conditions) ORDER BY id DESC LIMIT ?", arguments + [limit])
    }

    /// - Parameter answers: As the table has them; nil to leave them as they are.
    fileprivate func record(
        _ result: WebhookResult, _ answers: String?, _ ends: HandoverEnds, at now: Instant
    ) throws {
        let call = result.callback
        var changes = "underway = 0, reason = ?, answers = coalesce(?, answers)"
        var arguments: StatementArguments = [result.outcome.reason, answers]
        if case .again(let delay, _) = result.outcome {
            changes += ", due_at = ?"
            arguments += [(now + delay).milliseconds]
        } else {
            changes += ", state = ?, finished_at = ?"
            arguments += [
                (result.outcome == .delivered ? WebhookReport.State.delivered : .failed).column, now.milliseconds,
            ]
        }
        var conditions = "id = ? AND tenant = ? AND state = 'pending'"
        arguments += [call.id, call.tenant.rawValue]
        // Whoever was told was told, even if somebody else has it in hand by now.
        if result.outcome != .delivered {
            conditions += " AND attempt = ?"
            arguments += [call.attempt]
        }
        try run("UPDATE calls SET \(changes) WHERE \(conditions)", arguments)
        guard changesCount > 0 else { return }
        if result.outcome == .delivered { try run("DELETE FROM calls WHERE id = ? AND NOT is_kept", [call.id]) }
        guard let (firing, end) = call.settles(result.outcome) else { return }
        try settleFiring(firing, end, ends, at: now)
    }

    fileprivate func takeWebhooks(
        within places: WebhookPlaces, for duration: Duration, at now: Instant
    ) throws -> WebhookBatch {
        var places = places
        let free = places.free
        let due = free > 0 ? try rows(Self.webhooksDue, [now.milliseconds, free + 1]).map(DueCall.init) : []
        var taken: [DueCall] = []
        var turn = places.turn
        var next = try nextWebhook(after: now)
        if due.count <= free {
            for call in due where places.mayBegin(call.receiver) {
                places.begin(call.receiver)
                taken.append(call)
            }
        } else {
            // Who has the most waiting would be all that is seen of it.
            let round = try waitingReceivers(after: turn)
            let able = round.receivers.filter(places.mayBegin)
            var waiting: [WebhookReceiver: [DueCall]] = [:]
            for receiver in able {
                waiting[receiver] = try rows(
                    Self.webhooksDueTo,
                    [receiver.tenant.rawValue, receiver.origin, now.milliseconds, max(free * 2 / able.count, 4)]
                ).map(DueCall.init)
            }
            taken = places.begin(waiting)
            turn = round.last
            // There is more, of these or of others. Where nobody may begin, the end of a call is waited for.
            if !taken.isEmpty || round.last != nil { next = Self.pause }
        }
        let calls = try taken.compactMap { call in
            try run(
                "UPDATE calls SET attempt = attempt + 1, due_at = ?, underway = 1 WHERE id = ?",
                [(now + duration).milliseconds, call.id])
            return try row("SELECT * FROM calls WHERE id = ?", [call.id]).map(delivery)
        }
        return WebhookBatch(calls: calls, next: next, turn: turn)
    }

    /// Who has something pending, from the one after `turn` on; not more than are looked at at once.
    private func waitingReceivers(after turn: WebhookReceiver?) throws -> WebhookReceiverRound {
        var round = WebhookReceiverRound(after: turn, limit: Self.receiversAtOnce)
        while true {
            let (tenant, origin) = (round.last?.tenant.rawValue ?? "", round.last?.origin ?? "")
            let next =
                try row(Self.nextReceiverOfTenant, [tenant, origin]) ?? row(Self.receiverOfNextTenant, [tenant])
            guard round.add(next.map { WebhookReceiver($0) }) else { return round }
        }
    }

    /// How far the webhook of a row of `jobs` is; nil where the job has none, or was called long ago.
    func webhookReport(of job: Row) throws -> WebhookReport? {
        let key: Int64 = job["key"]
        if (job["finished_at"] as Int64?) == nil {
            let isWanted = try number(
                "SELECT 1 FROM jobs WHERE key = ? AND json_extract(submission, '$.callback') IS NOT NULL", [key])
            return isWanted == nil ? nil : WebhookReport(state: .waiting)
        }
        let row = try row(
            "SELECT state, attempt, due_at, underway, reason FROM calls WHERE job = ? AND generation = ?",
            [key, job["generation"] as Int])
        return try row.map { try WebhookReport(call: $0) }
    }

    /// Has a job's sender told that it came to its end, which is recorded in the same transaction.
    func enqueueWebhook(_ submission: JobSubmission, of job: Row, at now: Instant) throws {
        guard let url = submission.callback else { return }
        try run(
            """
            INSERT INTO calls (id, tenant, type, job, generation, url, traceparent, created_at, due_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                UUID.version7(at: now).uuidString.lowercased(), job["tenant"] as String,
                CallType.jobFinished.rawValue, job["key"] as Int64, job["generation"] as Int, url,
                submission.traceparent, now.milliseconds, now.milliseconds,
            ])
        WebhookNotifier.current?.markDue()
    }

    /// Has a message sent, of which the same transaction records what it tells of.
    func enqueue(_ call: OutgoingCall, at now: Instant) throws {
        try run(
            """
            INSERT INTO calls (id, tenant, type, subject, url, body, give_up_at, traceparent, is_kept, created_at, due_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                call.id, call.tenant.rawValue, call.type.rawValue, call.subject, call.url, call.body.stored,
                call.giveUpAt?.milliseconds, call.traceparent, call.isKept, now.milliseconds, now.milliseconds,
            ])
        WebhookNotifier.current?.markDue()
    }

    /// Calls off what is still to be told of a subject. An attempt that is underway may still arrive.
    func cancelCalls(of subject: String, tenant: TenantID, reason: String, at now: Instant) throws {
        try run(
            """
            UPDATE calls SET state = 'cancelled', underway = 0, finished_at = ?, reason = ?
            WHERE tenant = ? AND subject = ? AND state = 'pending'
            """, [now.milliseconds, reason, tenant.rawValue, subject])
    }

    fileprivate func replay(_ id: String, of tenant: TenantID, at now: Instant) throws -> Bool {
        try run(
            """
            UPDATE calls SET state = 'pending', attempt = 0, due_at = ?, underway = 0, finished_at = NULL, reason = NULL,
                give_up_at = NULL
            WHERE id = ? AND tenant = ? AND state <> 'cancelled'
            """, [now.milliseconds, id, tenant.rawValue])
        guard changesCount > 0 else { return false }
        WebhookNotifier.current?.markDue()
        return true
    }

    private func content(ofCall row: Row) throws -> CallContent {
        if let body = row["body"] as Data? { return .message(TokenTemplate(stored: body)) }
        return .job(try jobID(key: row["job"]))
    }

    private func delivery(_ row: Row) throws -> WebhookDelivery {
        WebhookDelivery(
            id: row["id"], tenant: TenantID(rawValue: row["tenant"]), type: CallType(rawValue: row["type"]),
            content: try content(ofCall: row), subject: row["subject"], url: row["url"], origin: row["receiver"],
            attempt: row["attempt"], createdAt: Instant(milliseconds: row["created_at"]),
            giveUpAt: row.instant("give_up_at"), traceparent: row["traceparent"],
            answers: try [CallAnswer](column: row["answers"]))
    }

    fileprivate func callRecord(_ row: Row) throws -> CallRecord {
        CallRecord(
            id: row["id"], tenant: TenantID(rawValue: row["tenant"]), type: CallType(rawValue: row["type"]),
            content: try content(ofCall: row), subject: row["subject"], url: row["url"],
            report: try WebhookReport(call: row), answers: try [CallAnswer](column: row["answers"]),
            createdAt: Instant(milliseconds: row["created_at"]),
            finishedAt: row.instant("finished_at"))
    }
}

/// What it takes to decide which calls are made.
private struct DueCall {
    var id: String
    var receiver: WebhookReceiver

    init(_ row: Row) {
        id = row["id"]
        receiver = WebhookReceiver(row)
    }
}

extension WebhookReceiver {
    /// Of a row of `calls`.
    fileprivate init(_ row: Row) {
        self.init(tenant: TenantID(rawValue: row["tenant"]), origin: row["receiver"])
    }
}

extension WebhookReport {
    /// Of a row of `calls`.
    fileprivate init(call row: Row) throws {
        self.init(
            state: try State(column: row["state"]), attempts: row["attempt"],
            dueAt: Instant(milliseconds: row["due_at"]), isUnderway: row["underway"], reason: row["reason"])
    }
}
