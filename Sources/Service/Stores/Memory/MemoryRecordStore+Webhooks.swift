public import SatchelCore
internal import HashTreeCollections

extension MemoryRecordStore {
    public func webhooks(
        after results: [WebhookResult], within places: WebhookPlaces, for duration: Duration
    ) async throws(AttachmentError) -> WebhookBatch {
        try await write { tables, now in
            for result in results { tables.record(result, at: now) }
            return tables.take(within: places, for: duration, at: now)
        }
    }

    public func whenWebhooksCome(_ tell: @escaping @Sendable () -> Void) {
        shared.notifier.listen(tell)
    }

    public func replayWebhook(of job: JobID, tenant: TenantID) async throws(AttachmentError) -> Bool {
        try await write { tables, now in
            guard let job = tables.job(job, of: tenant), job.finishedAt != nil, let call = tables.call(of: job)
            else { return false }
            return tables.replay(call.id, of: tenant, at: now)
        }
    }

    public func replayCall(_ id: String, of tenant: TenantID) async throws(AttachmentError) -> Bool {
        try await write { tables, now in tables.replay(id, of: tenant, at: now) }
    }

    public func call(_ id: String, of tenant: TenantID) async throws(AttachmentError) -> CallRecord? {
        read { tables, _ in
            tables.calls[id].flatMap { $0.tenant == tenant ? tables.record($0) : nil }
        }
    }

    public func calls(
        of tenant: TenantID, where filter: CallFilter, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<CallRecord> {
        read { tables, _ in
            let calls = tables.calls.values.filter { call in
                call.tenant == tenant && filter.states.contains(call.state)
                    && (filter.type.map { $0 == call.type } ?? true) && (cursor.map { call.id < $0 } ?? true)
            }
            return CallRecord.page(calls.map(tables.record), limit: max(limit, 1))
        }
    }
}

extension MemoryTables {
    /// Has a message sent, of which the same transaction records what it tells of.
    mutating func enqueue(_ call: OutgoingCall, at now: Instant) {
        calls[call.id] = Call(
            id: call.id, tenant: call.tenant, type: call.type, content: .message(call.body), subject: call.subject,
            url: call.url, traceparent: call.traceparent, createdAt: now, giveUpAt: call.giveUpAt, dueAt: now,
            isKept: call.isKept)
        hasNewCall = true
    }

    /// Calls off what is still to be told of a subject. An attempt that is underway may still arrive.
    mutating func cancelCalls(of subject: String, tenant: TenantID, reason: String, at now: Instant) {
        for var call in calls.values where call.tenant == tenant && call.subject == subject && call.state == .waiting {
            call.state = .cancelled
            call.isUnderway = false
            call.finishedAt = now
            call.reason = reason
            calls[call.id] = call
        }
    }

    fileprivate mutating func replay(_ id: String, of tenant: TenantID, at now: Instant) -> Bool {
        guard var call = calls[id], call.tenant == tenant, call.state != .cancelled else { return false }
        call.state = .waiting
        call.attempt = 0
        call.dueAt = now
        call.giveUpAt = nil
        call.isUnderway = false
        call.finishedAt = nil
        call.reason = nil
        calls[id] = call
        hasNewCall = true
        return true
    }

    private func content(of call: Call) -> CallContent {
        switch call.content {
        case .job(let key, _): .job(jobs[key]?.id ?? JobID(rawValue: ""))
        case .message(let body): .message(body)
        }
    }

    fileprivate func record(_ call: Call) -> CallRecord {
        CallRecord(
            id: call.id, tenant: call.tenant, type: call.type, content: content(of: call), subject: call.subject,
            url: call.url, report: call.report, answers: call.answers, createdAt: call.createdAt,
            finishedAt: call.finishedAt)
    }

    fileprivate mutating func record(_ result: WebhookResult, at now: Instant) {
        let (outcome, callback) = (result.outcome, result.callback)
        guard var call = calls[callback.id], call.tenant == callback.tenant, call.state == .waiting else { return }
        // Whoever was told was told, even if somebody else has it in hand by now.
        guard outcome == .delivered || call.attempt == callback.attempt else { return }
        call.isUnderway = false
        call.reason = outcome.reason
        call.answers = result.answers ?? call.answers
        if case .again(let delay, _) = outcome {
            call.dueAt = now + delay
        } else {
            call.state = outcome == .delivered ? .delivered : .failed
            call.finishedAt = now
        }
        calls[call.id] = outcome == .delivered && !call.isKept ? nil : call
        if let (firing, end) = callback.settles(outcome) { settleFiring(firing, end, at: now) }
    }

    /// All of them are seen here, so that there is no turn.
    fileprivate mutating func take(
        within given: WebhookPlaces, for duration: Duration, at now: Instant
    ) -> WebhookBatch {
        var places = given
        let waiting = calls.values.filter { $0.state == .waiting }.sorted { $0.place < $1.place }
        let due = waiting.filter { $0.dueAt <= now }
        var taken: [Call] = []
        if due.count <= places.free {
            for call in due where places.mayBegin(call.receiver) {
                places.begin(call.receiver)
                taken.append(call)
            }
        } else {
            taken = places.begin(Dictionary(grouping: due, by: \.receiver))
        }
        let calls = taken.map { call in
            var begun = call
            begun.attempt += 1
            begun.dueAt = now + duration
            begun.isUnderway = true
            self.calls[call.id] = begun
            return WebhookDelivery(
                id: call.id, tenant: call.tenant, type: call.type, content: content(of: call), subject: call.subject,
                url: call.url, origin: call.receiver.origin, attempt: begun.attempt, createdAt: call.createdAt,
                giveUpAt: call.giveUpAt, traceparent: call.traceparent, answers: call.answers)
        }
        return WebhookBatch(
            calls: calls, next: waiting.first { $0.dueAt > now }.map { $0.dueAt - now }, turn: nil)
    }
}
