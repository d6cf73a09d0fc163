/// Decides about notifications, from what a store has of them: the same for every store. Nothing here reads or writes.
public enum NotificationDecision {
    /// - Parameters:
    ///   - existing: The one of this id.
    ///   - open: Its firings that aren't handed over yet.
    public static func put(
        _ new: NewNotification, existing: NotificationRecord?, open: [FiringRecord], at now: Instant
    ) -> (NotificationAnswer, [NotificationChange]) {
        if let existing, existing.bodyDigest == new.bodyDigest, existing.state != .cancelled {
            return (.unchanged(existing), [])
        }
        var record = NotificationRecord(
            id: new.id, tenant: new.tenant, generation: (existing?.generation ?? 0) + 1, bodyDigest: new.bodyDigest,
            submission: new.submission, job: new.job, attachments: new.attachments, next: new.next, rules: new.rules,
            createdAt: existing?.createdAt ?? now, acceptedAt: new.acceptedAt)
        record.media = MediaDecision.beginning(of: new, after: existing)
        record.attachments += record.media.ready.values
        guard let existing else { return (.created(record), [.save(record, over: nil)]) }
        record.revision = existing.revision + 1
        record.fired = existing.fired
        record.counts = existing.counts
        record.shownAt = existing.shownAt
        return (
            .replaced(record),
            supersede(open) + [.forgetSources(record.id, of: record.tenant), .save(record, over: existing)]
        )
    }

    /// What is under way comes to nothing: it waits for media or for another attempt. One that began may still arrive.
    private static func supersede(_ open: [FiringRecord]) -> [NotificationChange] {
        open.flatMap { firing -> [NotificationChange] in
            var firing = firing
            firing.state = .removed
            firing.error = ErrorReport(.superseded)
            return [
                .cancelCalls(firing.id, of: firing.tenant), .close(firing.opens, of: firing.tenant),
                .saveFiring(firing),
            ]
        }
    }

    /// - Parameters:
    ///   - open: Its firings that aren't handed over yet.
    ///   - ended: The other firings that are still in the list.
    public static func remove(
        _ read: NotificationRecord, from list: NotificationRemoval, open: [FiringRecord], ended: [FiringRecord],
        at now: Instant
    ) -> [NotificationChange] {
        var record = read
        record.revision += 1
        var changes: [NotificationChange] = []
        if list != .delivered {
            changes += supersede(open) + [.forgetSources(record.id, of: record.tenant)]
            record.state = .cancelled
            record.next = nil
            record.finishedAt = record.finishedAt ?? now
        }
        if list != .pending {
            // Those that have a payload, also while it is being handed over.
            let shown = ended + (list == .delivered ? open.filter { $0.payload != nil } : [])
            for firing in shown where firing.state != .removed {
                var firing = firing
                firing.state = .removed
                changes += [
                    .cancelCalls(firing.id, of: firing.tenant), .close(firing.opens, of: firing.tenant),
                    .saveFiring(firing),
                ]
            }
            record.shownAt = nil
            changes.append(.closePreviews(record.id, of: record.tenant))
        }
        return changes + [.save(record, over: read)]
    }

    /// - Returns: Nil where the request is out of date.
    public static func fire(
        _ request: FiringRequest, _ read: NotificationRecord, at now: Instant
    ) -> DecidedFiring? {
        guard read.state != .cancelled else { return nil }
        var record = read
        record.revision += 1
        let preparesEach = record.submission.lead != nil
        var job = preparesEach ? request.id.job : record.job
        var ready = preparesEach ? [:] : record.media.ready
        var effects: [NotificationChange] = []
        record.fired += 1
        let handover: String?
        let occurrence: Instant
        var coalesced = 0
        var isMissed = false
        var key: String?
        let isManual: Bool
        switch request.cause {
        case .due(let expected, let decision, let rules):
            guard record.state == .pending, record.next == expected else { return nil }
            occurrence = decision.occurrence.at
            (isMissed, coalesced, isManual) = (decision.isMissed, decision.coalesced, false)
            handover = record.submission.handover
            record.position = decision.occurrence.position
            record.next = decision.next
            record.rules = rules
            if decision.next == nil {
                record.state = .done
                record.finishedAt = now
            }
            if preparesEach {
                (job, ready) = (record.job ?? job, record.media.ready)
                record.job = nil
                record.media = MediaDecision.progress(for: decision.next, of: record.submission)
            } else if decision.next == nil, record.media.lookAt != nil {
                effects.append(.forgetSources(record.id, of: record.tenant))
            }
        case .manual(let idempotencyKey, let hasHandover):
            (occurrence, key, isManual) = (now, idempotencyKey, true)
            handover = hasHandover ? record.submission.handover : nil
        }
        var firing = FiringRecord(
            id: request.id, tenant: record.tenant, notification: record.id, generation: record.generation,
            number: record.fired, scheduledAt: occurrence, isManual: isManual, idempotencyKey: key,
            coalesced: coalesced, handover: handover,
            waitsUntil: now + .seconds(fraction: record.submission.deadline), createdAt: now)
        (firing.job, firing.ready) = (job, ready)
        guard isMissed else { return DecidedFiring(firing, of: record, from: read, effects: effects) }
        firing.state = .missed
        record.counts.missed += 1
        if preparesEach { record.attachments = record.preparedBefore }
        effects += request.missedCall.map { [.call($0)] } ?? []
        return DecidedFiring(firing, of: record, from: read, effects: effects, isListed: true)
    }

    /// - Parameter decided: The firing of a transaction before, or one that this transaction makes.
    /// - Returns: Nil where it doesn't wait any more: taken back, or completed by another.
    public static func complete(_ completion: FiringCompletion, _ decided: DecidedFiring) -> DecidedFiring? {
        guard decided.firing.isWaiting else { return nil }
        var (firing, record) = (decided.firing, decided.notification)
        var effects = decided.effects
        // From now on its links hold what was prepared for it alone.
        if record.submission.lead != nil, record.job == nil { record.attachments = record.preparedBefore }
        firing.firedAt = completion.at
        switch completion.outcome {
        case .finished(let finished):
            firing.payload = finished.payload
            firing.media = finished.media
            firing.ticket = finished.ticket?.id
            firing.dropped = finished.dropped
            record.shownAt = completion.at
            effects += finished.links.map { .open($0) }
            if let ticket = finished.ticket { effects.append(.openTicket(ticket)) }
            if let call = finished.call {
                effects.append(.call(call))
            } else {
                firing.state = .delivered
                record.counts.delivered += 1
            }
        case .failed(let error, let call):
            firing.state = .failed
            firing.error = error
            record.counts.failed += 1
            if let call { effects.append(.call(call)) }
        }
        return DecidedFiring(firing, of: record, from: decided.read, effects: effects, isListed: true)
    }

    /// How the handover of a firing ended.
    public enum HandoverEnd: Hashable, Sendable {
        case delivered
        case failed(reason: String)
        /// The receiver wants no more of it (410).
        case gone
    }

    public static func settle(
        _ end: HandoverEnd, of firing: FiringRecord, of read: NotificationRecord, at now: Instant
    ) -> [NotificationChange] {
        guard firing.state == .pending, firing.payload != nil else { return [] }
        var (firing, record) = (firing, read)
        record.revision += 1
        switch end {
        case .delivered:
            firing.state = .delivered
            record.counts.delivered += 1
        case .failed(let reason):
            firing.state = .failed
            firing.error = ErrorReport(.handoverFailed(reason: reason))
            record.counts.failed += 1
        case .gone:
            firing.state = .failed
            firing.error = ErrorReport(.handoverFailed(reason: "the receiver answered 410"))
            record.counts.failed += 1
            if record.state == .pending, firing.generation == record.generation {
                record.state = .cancelled
                record.next = nil
                record.finishedAt = now
                record.error = firing.error
                return [
                    .forgetSources(record.id, of: record.tenant), .save(record, over: read), .saveFiring(firing),
                ]
            }
        }
        return [.save(record, over: read), .saveFiring(firing)]
    }

    /// The next instant by other zone rules; nothing where the record was changed meanwhile.
    ///
    /// - Parameter read: The record by which `next` was computed.
    public static func reschedule(
        _ read: NotificationRecord, _ found: NotificationRecord, next: Occurrence, rules: TimeZoneRulesVersion
    ) -> [NotificationChange] {
        guard found.generation == read.generation, found.state == .pending, found.next == read.next else {
            return []
        }
        var record = found
        record.revision += 1
        record.next = next
        record.rules = rules
        // What has begun serves as well.
        if record.submission.lead != nil, record.job == nil {
            record.media = MediaDecision.progress(for: next, of: record.submission)
        }
        return [.save(record, over: found)]
    }
}
