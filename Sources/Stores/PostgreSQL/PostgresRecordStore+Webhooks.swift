public import Attachments
internal import Postgres

extension PostgresRecordStore {
    public func webhooks(
        after results: [WebhookResult], within places: WebhookPlaces, for duration: Duration
    ) async throws(AttachmentError) -> WebhookBatch {
        if results.isEmpty {
            // A look first: who asks again and again must not wear out the disk.
            let (isDue, next) = try await read { work in
                let due = try await work.run(PostgresWork.webhooksDue, [.int(work.now.milliseconds), 1])
                return (!due.isEmpty, try await work.nextWebhook())
            }
            guard isDue, places.free > 0 else { return WebhookBatch(next: next, turn: places.turn) }
        }
        return try await write { work in
            for result in results { try await work.record(result.outcome, of: result.callback) }
            return try await work.takeWebhooks(within: places, for: duration)
        }
    }

    public func whenWebhooksCome(_ tell: @escaping @Sendable () -> Void) {
        bell.listen(tell)
    }

    public func replayWebhook(of job: JobID, tenant: TenantID) async throws(AttachmentError) -> Bool {
        try await write { work in
            let changed = try await work.run(
                """
                UPDATE callbacks SET state = 'pending', attempt = 0, due_at = $3, underway = false, finished_at = NULL,
                    reason = NULL
                FROM jobs
                WHERE jobs.tenant = $1 AND jobs.id = $2 AND jobs.finished_at IS NOT NULL AND callbacks.job = jobs.key
                    AND callbacks.generation = jobs.generation
                """, [.text(tenant.rawValue), .text(job.rawValue), .int(work.now.milliseconds)]
            ).changes
            if changed > 0 { work.ringsBell = true }
            return changed > 0
        }
    }
}

extension PostgresWork {
    /// Not locked: a look, or what ``take(_:within:for:)`` locks then.
    fileprivate static let webhooksDue = """
        SELECT id, tenant, receiver FROM callbacks WHERE state = 'pending' AND due_at <= $1 ORDER BY due_at LIMIT $2
        """
    /// Receivers that are looked at in one transaction, where not all that is due can be called at once.
    private static let receiversAtOnce = 64

    /// Before who has something pending is looked at again.
    private static let pause: Duration = .milliseconds(20)

    private struct Call {
        var id: String
        var receiver: WebhookReceiver

        init(_ row: PostgresRow) throws {
            id = try row.text("id")
            receiver = try WebhookReceiver(row)
        }
    }

    /// Until the next webhook becomes due that isn't yet; nil where there is none.
    fileprivate func nextWebhook() async throws -> Duration? {
        let row = try await run(
            "SELECT due_at FROM callbacks WHERE state = 'pending' AND due_at > $1 ORDER BY due_at LIMIT 1",
            [.int(now.milliseconds)]
        ).first
        return try row.map { try $0.instant("due_at") - now }
    }

    fileprivate func record(_ outcome: WebhookOutcome, of callback: WebhookDelivery) async throws {
        let call: [PostgresValue] = [.text(callback.id), .text(callback.tenant.rawValue)]
        switch outcome {
        case .delivered:
            // Whoever was told was told, even if somebody else has it in hand by now.
            try await run(
                """
                UPDATE callbacks SET state = 'delivered', underway = false, finished_at = $3, reason = NULL
                WHERE id = $1 AND tenant = $2 AND state = 'pending'
                """, call + [.int(now.milliseconds)])
        case .again(let delay, let reason):
            try await run(
                """
                UPDATE callbacks SET due_at = $4, underway = false, reason = $5
                WHERE id = $1 AND tenant = $2 AND state = 'pending' AND attempt = $3
                """, call + [.int(callback.attempt), .int((now + delay).milliseconds), .text(reason)])
        case .failed(let reason):
            try await run(
                """
                UPDATE callbacks SET state = 'failed', underway = false, finished_at = $4, reason = $5
                WHERE id = $1 AND tenant = $2 AND state = 'pending' AND attempt = $3
                """, call + [.int(callback.attempt), .int(now.milliseconds), .text(reason)])
        }
    }

    fileprivate func takeWebhooks(within places: WebhookPlaces, for duration: Duration) async throws -> WebhookBatch {
        var places = places
        let free = places.free
        var due: [Call] = []
        if free > 0 {
            due = try await run(Self.webhooksDue, [.int(now.milliseconds), .int(free + 1)]).map { try Call($0) }
        }
        var taken: [Call] = []
        var turn = places.turn
        var next = try await nextWebhook()
        if due.count <= free {
            for call in due where places.mayBegin(call.receiver) {
                places.begin(call.receiver)
                taken.append(call)
            }
        } else {
            // Who has the most waiting would be all that is seen of it.
            let (receivers, last) = try await waitingReceivers(after: turn)
            let able = receivers.filter(places.mayBegin)
            var waiting: [WebhookReceiver: [Call]] = [:]
            for receiver in able {
                waiting[receiver] = try await run(
                    """
                    SELECT id, tenant, receiver FROM callbacks
                    WHERE state = 'pending' AND tenant = $1 AND receiver = $2 AND due_at <= $3 ORDER BY due_at LIMIT $4
                    """,
                    [
                        .text(receiver.tenant.rawValue), .text(receiver.origin), .int(now.milliseconds),
                        .int(max(free * 2 / able.count, 4)),
                    ]
                ).map { try Call($0) }
            }
            taken = places.begin(waiting)
            turn = last
            // There is more, of these or of others. Where nobody may begin, the end of a call is waited for.
            if !taken.isEmpty || last != nil { next = Self.pause }
        }
        return WebhookBatch(calls: try await take(taken.map(\.id), for: duration), next: next, turn: turn)
    }

    /// Takes calls, but for those that somebody else took a moment before.
    private func take(_ ids: [String], for duration: Duration) async throws -> [WebhookDelivery] {
        guard !ids.isEmpty else { return [] }
        let rows = try await run(
            """
            WITH wanted AS MATERIALIZED (
                SELECT callbacks.id, line.place FROM unnest($1::text[]) WITH ORDINALITY AS line (id, place)
                    JOIN callbacks ON callbacks.id = line.id
                WHERE callbacks.state = 'pending' AND callbacks.due_at <= $2 FOR UPDATE OF callbacks SKIP LOCKED)
            UPDATE callbacks SET attempt = callbacks.attempt + 1, due_at = $3, underway = true
            FROM wanted JOIN callbacks AS before ON before.id = wanted.id JOIN jobs ON jobs.key = before.job
            WHERE callbacks.id = wanted.id
            RETURNING callbacks.id, callbacks.tenant, jobs.id AS job_id, callbacks.url, callbacks.receiver,
                callbacks.attempt, callbacks.created_at, callbacks.traceparent, wanted.place
            """, [.texts(ids), .int(now.milliseconds), .int((now + duration).milliseconds)])
        return try rows.map { (try $0.int("place"), $0) }.sorted { $0.0 < $1.0 }.map { _, row in
            WebhookDelivery(
                id: try row.text("id"), tenant: TenantID(rawValue: try row.text("tenant")),
                job: JobID(rawValue: try row.text("job_id")), url: try row.text("url"),
                origin: try row.text("receiver"), attempt: try row.int("attempt"),
                createdAt: try row.instant("created_at"), traceparent: try row.optionalText("traceparent"))
        }
    }

    /// Who has something pending, from the one after `turn` on, round to the first; not more than are looked at at once.
    ///
    /// - Returns: Them, and the last where there are more.
    private func waitingReceivers(
        after turn: WebhookReceiver?
    ) async throws -> (receivers: [WebhookReceiver], last: WebhookReceiver?) {
        var receivers: [WebhookReceiver] = []
        var seen: Set<WebhookReceiver> = []
        var at = turn
        while receivers.count < Self.receiversAtOnce {
            let row = try await run(
                """
                SELECT tenant, receiver FROM callbacks
                WHERE state = 'pending' AND (tenant, receiver) > ($1::text COLLATE "C", $2::text COLLATE "C")
                ORDER BY tenant, receiver LIMIT 1
                """, [.text(at?.tenant.rawValue ?? ""), .text(at?.origin ?? "")]
            ).first
            guard let receiver = try row.map({ try WebhookReceiver($0) }) else {
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
}

extension WebhookReceiver {
    /// Of a row of `callbacks`.
    fileprivate init(_ row: PostgresRow) throws {
        self.init(tenant: TenantID(rawValue: try row.text("tenant")), origin: try row.text("receiver"))
    }
}
