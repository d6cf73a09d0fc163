public import Attachments
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
        return try await write { database, now in
            for result in results { try database.record(result.outcome, of: result.callback, at: now) }
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
                SELECT callbacks.id FROM jobs
                    JOIN callbacks ON callbacks.job = jobs.key AND callbacks.generation = jobs.generation
                WHERE jobs.tenant = ? AND jobs.id = ? AND jobs.finished_at IS NOT NULL
                """, [tenant.rawValue, job.rawValue]
            ).first
            guard let id else { return false }
            try database.run(
                """
                UPDATE callbacks SET state = 'pending', attempt = 0, due_at = ?, underway = 0, finished_at = NULL,
                    reason = NULL
                WHERE id = ?
                """, [now.milliseconds, id])
            WebhookBell.current?.pull()
            return true
        }
    }
}

extension Database {
    static let webhooksDue = """
        SELECT * FROM callbacks WHERE state = 'pending' AND due_at <= ? ORDER BY due_at LIMIT ?
        """
    static let webhooksDueTo = """
        SELECT * FROM callbacks WHERE state = 'pending' AND tenant = ? AND receiver = ? AND due_at <= ?
        ORDER BY due_at LIMIT ?
        """
    // Two questions, for one with (tenant, receiver) > (?, ?) would read all that waits for the receiver before.
    static let nextReceiverOfTenant = """
        SELECT tenant, receiver FROM callbacks WHERE state = 'pending' AND tenant = ? AND receiver > ?
        ORDER BY receiver LIMIT 1
        """
    static let receiverOfNextTenant = """
        SELECT tenant, receiver FROM callbacks WHERE state = 'pending' AND tenant > ?
        ORDER BY tenant, receiver LIMIT 1
        """
    static let nextWebhook = """
        SELECT due_at FROM callbacks WHERE state = 'pending' AND due_at > ? ORDER BY due_at LIMIT 1
        """
    /// Receivers that are looked at in one transaction, where not all that is due can be called at once.
    private static let receiversAtOnce = 64

    /// Before who has something pending is looked at again.
    private static let pause: Duration = .milliseconds(20)

    /// Until the next webhook becomes due that isn't yet; nil where there is none.
    fileprivate func nextWebhook(after now: Instant) throws -> Duration? {
        try number(Self.nextWebhook, [now.milliseconds]).map { Instant(milliseconds: $0) - now }
    }

    fileprivate func record(_ outcome: WebhookOutcome, of callback: WebhookDelivery, at now: Instant) throws {
        switch outcome {
        case .delivered:
            // Whoever was told was told, even if somebody else has it in hand by now.
            try run(
                """
                UPDATE callbacks SET state = 'delivered', underway = 0, finished_at = ?, reason = NULL
                WHERE id = ? AND tenant = ? AND state = 'pending'
                """, [now.milliseconds, callback.id, callback.tenant.rawValue])
        case .again(let delay, let reason):
            try run(
                """
                UPDATE callbacks SET due_at = ?, underway = 0, reason = ?
                WHERE id = ? AND tenant = ? AND state = 'pending' AND attempt = ?
                """,
                [(now + delay).milliseconds, reason, callback.id, callback.tenant.rawValue, callback.attempt])
        case .failed(let reason):
            try run(
                """
                UPDATE callbacks SET state = 'failed', underway = 0, finished_at = ?, reason = ?
                WHERE id = ? AND tenant = ? AND state = 'pending' AND attempt = ?
                """,
                [now.milliseconds, reason, callback.id, callback.tenant.rawValue, callback.attempt])
        }
    }

    fileprivate func takeWebhooks(
        within places: WebhookPlaces, for duration: Duration, at now: Instant
    ) throws -> WebhookBatch {
        var places = places
        let free = places.free
        let due = free > 0 ? try rows(Self.webhooksDue, [now.milliseconds, free + 1]) : []
        var taken: [Row] = []
        var turn = places.turn
        var next = try nextWebhook(after: now)
        if due.count <= free {
            for row in due where places.mayBegin(WebhookReceiver(row)) {
                places.begin(WebhookReceiver(row))
                taken.append(row)
            }
        } else {
            // Who has the most waiting would be all that is seen of it.
            let (receivers, last) = try waitingReceivers(after: turn)
            let able = receivers.filter(places.mayBegin)
            var waiting: [WebhookReceiver: [Row]] = [:]
            for receiver in able {
                waiting[receiver] = try rows(
                    Self.webhooksDueTo,
                    [receiver.tenant.rawValue, receiver.origin, now.milliseconds, max(free * 2 / able.count, 4)])
            }
            taken = places.begin(waiting)
            turn = last
            // There is more, of these or of others. Where nobody may begin, the end of a call is waited for.
            if !taken.isEmpty || last != nil { next = Self.pause }
        }
        let calls = try taken.map { row in
            let id: String = row["id"]
            try run(
                "UPDATE callbacks SET attempt = attempt + 1, due_at = ?, underway = 1 WHERE id = ?",
                [(now + duration).milliseconds, id])
            return WebhookDelivery(
                id: id, tenant: TenantID(rawValue: row["tenant"]), job: try jobID(key: row["job"]), url: row["url"],
                origin: row["receiver"], attempt: (row["attempt"] as Int) + 1,
                createdAt: Instant(milliseconds: row["created_at"]), traceparent: row["traceparent"])
        }
        return WebhookBatch(calls: calls, next: next, turn: turn)
    }

    /// Who has something pending, from the one after `turn` on, round to the first; not more than are looked at at once.
    ///
    /// - Returns: Them, and the last where there are more.
    private func waitingReceivers(
        after turn: WebhookReceiver?
    ) throws -> (receivers: [WebhookReceiver], last: WebhookReceiver?) {
        var receivers: [WebhookReceiver] = []
        var seen: Set<WebhookReceiver> = []
        var at = turn
        while receivers.count < Self.receiversAtOnce {
            let (tenant, origin) = (at?.tenant.rawValue ?? "", at?.origin ?? "")
            let next =
                try row(Self.nextReceiverOfTenant, [tenant, origin]) ?? row(Self.receiverOfNextTenant, [tenant])
            guard let receiver = next.map({ WebhookReceiver($0) }) else {
                if at == nil { return (receivers, nil) }
                at = nil
                // Begun at the first, all were seen.
                if turn == nil { return (receivers, nil) }
                continue
            }
            guard seen.insert(receiver).inserted else { return (receivers, nil) }
            receivers.append(receiver)
            at = receiver
        }
        return (receivers, at)
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
            "SELECT state, attempt, due_at, underway, reason FROM callbacks WHERE job = ? AND generation = ?",
            [key, job["generation"] as Int])
        guard let row else { return nil }
        let isPending = row["state"] == "pending"
        let isUnderway = row["underway"] == 1
        return WebhookReport(
            state: isPending ? .waiting : try row.choice("state"), attempts: row["attempt"],
            nextAt: isPending && !isUnderway ? row.instant("due_at") : nil, reason: row["reason"])
    }

    /// Has a job's sender told that it came to its end, which is recorded in the same transaction.
    func enqueueWebhook(_ submission: JobSubmission, of job: Row, at now: Instant) throws {
        guard let url = submission.callback else { return }
        try run(
            """
            INSERT INTO callbacks (id, tenant, job, generation, url, traceparent, created_at, due_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                UUID.version7(at: now).uuidString.lowercased(), job["tenant"] as String, job["key"] as Int64,
                job["generation"] as Int, url, submission.traceparent, now.milliseconds, now.milliseconds,
            ])
        WebhookBell.current?.pull()
    }
}

extension WebhookReceiver {
    /// Of a row of `callbacks`.
    fileprivate init(_ row: Row) {
        self.init(tenant: TenantID(rawValue: row["tenant"]), origin: row["receiver"])
    }
}
