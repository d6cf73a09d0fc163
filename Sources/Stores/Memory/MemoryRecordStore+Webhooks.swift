public import Attachments
internal import HashTreeCollections

extension MemoryRecordStore {
    public func webhooks(
        after results: [WebhookResult], within places: WebhookPlaces, for duration: Duration
    ) async throws(AttachmentError) -> WebhookBatch {
        try await write { tables, now in
            for result in results { tables.record(result.outcome, of: result.callback, at: now) }
            return tables.take(within: places, for: duration, at: now)
        }
    }

    public func whenWebhooksCome(_ tell: @escaping @Sendable () -> Void) {
        shared.bell.listen(tell)
    }

    public func replayWebhook(of job: JobID, tenant: TenantID) async throws(AttachmentError) -> Bool {
        try await write { tables, now in
            guard let job = tables.job(job, of: tenant), job.finishedAt != nil, var call = tables.call(of: job)
            else { return false }
            call.report = .waiting
            call.attempt = 0
            call.dueAt = now
            call.isUnderway = false
            call.finishedAt = nil
            call.reason = nil
            tables.calls[call.id] = call
            tables.hasNewCall = true
            return true
        }
    }
}

extension MemoryTables {
    fileprivate mutating func record(_ outcome: WebhookOutcome, of callback: WebhookDelivery, at now: Instant) {
        guard var call = calls[callback.id], call.tenant == callback.tenant, call.report == .waiting else { return }
        // Whoever was told was told, even if somebody else has it in hand by now.
        guard outcome == .delivered || call.attempt == callback.attempt else { return }
        call.isUnderway = false
        switch outcome {
        case .delivered:
            call.report = .delivered
            call.finishedAt = now
            call.reason = nil
        case .again(let delay, let reason):
            call.dueAt = now + delay
            call.reason = reason
        case .failed(let reason):
            call.report = .failed
            call.finishedAt = now
            call.reason = reason
        }
        calls[call.id] = call
    }

    /// All of them are seen here, so that there is no turn.
    fileprivate mutating func take(
        within given: WebhookPlaces, for duration: Duration, at now: Instant
    ) -> WebhookBatch {
        var places = given
        let waiting = calls.values.filter { $0.report == .waiting }.sorted { $0.place < $1.place }
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
                id: call.id, tenant: call.tenant, job: jobs[call.job]?.id ?? JobID(rawValue: ""), url: call.url,
                origin: call.receiver.origin, attempt: begun.attempt, createdAt: call.createdAt,
                traceparent: call.traceparent)
        }
        return WebhookBatch(
            calls: calls, next: waiting.first { $0.dueAt > now }.map { $0.dueAt - now }, turn: nil)
    }
}
