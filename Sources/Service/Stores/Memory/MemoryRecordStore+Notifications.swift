public import SatchelCore
internal import HashTreeCollections

extension MemoryRecordStore {
    public func put(_ new: NewNotification, limit: Int?) async throws(AttachmentError) -> NotificationAnswer {
        try await write { tables, now in
            let existing = tables.notification(new.id, of: new.tenant)
            let open = existing.map { tables.firings(of: $0, [.pending]) } ?? []
            let (answer, changes) = NotificationDecision.put(new, existing: existing, open: open, at: now)
            if let limit, !changes.isEmpty, existing?.state != .pending {
                let pending = tables.notifications.values.count { $0.tenant == new.tenant && $0.state == .pending }
                guard pending < limit else { throw AttachmentError.quotaExceeded(what: "pending notifications") }
            }
            tables.apply(changes, at: now)
            if !changes.isEmpty { tables.notificationSources[.init(tenant: new.tenant, id: new.id)] = new.sources }
            return answer
        }
    }

    public func notification(
        _ id: NotificationID, of tenant: TenantID
    ) async throws(AttachmentError) -> NotificationRecord? {
        read { tables, _ in tables.notification(id, of: tenant) }
    }

    public func notifications(
        of tenant: TenantID, in list: NotificationList, category: String?, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<NotificationRecord> {
        read { tables, _ in
            let place = NotificationPlace(cursor)
            let listed = tables.notifications.values.filter { record in
                record.tenant == tenant && (category == nil || record.submission.category == category)
            }.compactMap { record -> (NotificationPlace, NotificationRecord)? in
                let owned = MemoryTables.Owned(tenant: tenant, id: record.id)
                let key = tables.notificationKeys[owned] ?? 0
                switch list {
                case .pending:
                    guard record.state == .pending else { return nil }
                    return (NotificationPlace(at: record.next?.at.milliseconds ?? .max, key: key), record)
                case .delivered:
                    // The latest first, as by what counts down.
                    return record.shownAt.map { (NotificationPlace(at: -$0.milliseconds, key: -key), record) }
                }
            }.filter { element in place.map { ($0.at, $0.key) < (element.0.at, element.0.key) } ?? true }
                .sorted { ($0.0.at, $0.0.key) < ($1.0.at, $1.0.key) }
            return Page(Array(listed.prefix(limit + 1)), limit)
        }
    }

    public func remove(
        _ id: NotificationID, of tenant: TenantID, from list: NotificationRemoval
    ) async throws(AttachmentError) -> Bool {
        try await write { tables, now in
            guard let record = tables.notification(id, of: tenant) else { return false }
            let changes = NotificationDecision.remove(
                record, from: list, open: tables.firings(of: record, [.pending]),
                ended: tables.firings(of: record, [.delivered, .failed, .missed]), at: now)
            tables.apply(changes, at: now)
            return true
        }
    }

    public func dueNotifications(
        limit: Int, besides others: Set<NotificationName>, known: @escaping KnownNotifications
    ) async throws(AttachmentError) -> DueNotifications {
        read { tables, _ in
            let now = clock()
            let scheduled = tables.scheduled
            return DueNotifications(
                at: now,
                elements: scheduled.prefix { $0.at <= now }.lazy.map(\.record)
                    .filter { !others.contains(NotificationName($0)) }.prefix(limit)
                    .map { known(NotificationName($0), $0.revision) ?? $0 },
                next: scheduled.first { $0.at > now }.map { $0.at - now })
        }
    }

    public func upcomingNotifications(
        within time: Duration, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<NotificationRecord> {
        read { tables, _ in
            let now = clock()
            let start = NotificationPlace(cursor)
            let part = tables.scheduled.filter { element in
                element.at > now && element.at <= now + time
                    && (start.map { ($0.at, $0.key) < (element.place.at, element.place.key) } ?? true)
            }.prefix(limit)
            return Page(elements: part.map(\.record), next: part.last?.place.cursor)
        }
    }

    public func notifications(
        notBy rules: TimeZoneRulesVersion, limit: Int
    ) async throws(AttachmentError) -> [NotificationRecord] {
        read { tables, _ in
            Array(
                tables.notifications.values.filter { $0.next != nil && $0.rules.map { $0 != rules } ?? false }
                    .prefix(limit))
        }
    }

    public func materials(
        _ names: [TenantID: FiringMaterials.Names]
    ) async throws(AttachmentError) -> [TenantID: FiringMaterials] {
        read { tables, _ in
            var found: [TenantID: FiringMaterials] = [:]
            for (tenant, names) in names {
                var materials = FiringMaterials()
                for id in names.jobs { materials.jobs[id] = tables.job(id, of: tenant).map(tables.record) }
                for id in names.attachments {
                    materials.attachments[id] = tables.attachments[.init(tenant: tenant, id: id)]?.record
                }
                for id in names.categories { materials.categories[id] = tables.categories[tenant]?[id] }
                found[tenant] = materials
            }
            return found
        }
    }

    public func reschedule(
        _ notification: NotificationRecord, next: Occurrence, rules: TimeZoneRulesVersion
    ) async throws(AttachmentError) {
        try await write { tables, now in
            guard let record = tables.notification(notification.id, of: notification.tenant) else { return }
            tables.apply(NotificationDecision.reschedule(notification, record, next: next, rules: rules), at: now)
        }
    }

    public func carryOut(_ firings: [DecidedFiring]) async throws(AttachmentError) -> [Bool] {
        try await write { tables, now in
            firings.map { firing in
                guard tables.notification(firing.read.id, of: firing.read.tenant) == firing.read else { return false }
                tables.apply(firing.changes, at: now)
                return true
            }
        }
    }

    public func firing(
        by idempotencyKey: String, of notification: NotificationID, tenant: TenantID
    ) async throws(AttachmentError) -> FiringRecord? {
        read { tables, _ in
            tables.notification(notification, of: tenant).flatMap { record in
                tables.firings(of: record, FiringRecord.State.allCases).first { $0.idempotencyKey == idempotencyKey }
            }
        }
    }

    public func waitingFirings(since instant: Instant, limit: Int) async throws(AttachmentError) -> [Firing] {
        read { tables, _ in
            tables.firings.values.filter { $0.isWaiting && $0.waitsUntil < instant }
                .sorted { $0.waitsUntil < $1.waitsUntil }.prefix(limit).compactMap { firing in
                    tables.notification(firing.notification, of: firing.tenant).map { Firing(firing, of: $0) }
                }
        }
    }

    public func complete(_ completion: FiringCompletion) async throws(AttachmentError) {
        try await write { tables, now in
            guard let record = tables.notification(completion.notification, of: completion.tenant),
                let firing = tables.firings[completion.firing],
                let decided = NotificationDecision.complete(completion, DecidedFiring(firing, of: record))
            else { return }
            tables.apply(decided.changes, at: now)
        }
    }

    public func firing(
        _ number: Int, of notification: NotificationID, tenant: TenantID
    ) async throws(AttachmentError) -> FiringRecord? {
        read { tables, _ in
            tables.notification(notification, of: tenant).flatMap { record in
                tables.firings(of: record, FiringRecord.State.allCases).first { $0.number == number }
            }
        }
    }

    public func firings(
        of notification: NotificationID, tenant: TenantID, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<FiringRecord> {
        read { tables, _ in
            guard let record = tables.notification(notification, of: tenant) else {
                return Page(elements: [], next: nil)
            }
            let before = cursor.flatMap { Int($0) } ?? .max
            let found = tables.firings(of: record, FiringRecord.State.allCases).filter { $0.number < before }
                .sorted { $0.number > $1.number }.prefix(limit + 1)
            return Page(found.map { (NotificationPlace(at: 0, key: Int64($0.number)), $0) }, limit) { "\($0.key)" }
        }
    }

    public func firings(
        of tenant: TenantID, after place: Int64, limit: Int
    ) async throws(AttachmentError) -> [FiringRecord] {
        read { tables, _ in
            tables.firings.values.filter { $0.tenant == tenant && $0.place.map { $0 > place } ?? false }
                .sorted { ($0.place ?? 0) < ($1.place ?? 0) }.prefix(limit).map(\.self)
        }
    }
}

extension MemoryTables {
    func notification(_ id: NotificationID, of tenant: TenantID) -> NotificationRecord? {
        notifications[Owned(tenant: tenant, id: id)]
    }

    /// Those that are to fire at an instant, the soonest first.
    fileprivate var scheduled: [(at: Instant, place: NotificationPlace, record: NotificationRecord)] {
        notifications.compactMap { owned, record in
            record.next.map { next in
                (
                    next.at, NotificationPlace(at: next.at.milliseconds, key: notificationKeys[owned] ?? 0), record
                )
            }
        }.sorted { ($0.place.at, $0.place.key) < ($1.place.at, $1.place.key) }
    }

    fileprivate func firings(of record: NotificationRecord, _ states: [FiringRecord.State]) -> [FiringRecord] {
        firings.values.filter {
            $0.tenant == record.tenant && $0.notification == record.id && states.contains($0.state)
        }
    }

    /// Whether a notification that is to fire needs it.
    func isPinned(_ attachment: AttachmentID, of tenant: TenantID) -> Bool {
        notifications.values.contains { $0.tenant == tenant && $0.pinned.contains(attachment) }
    }

    /// A firing's handover came to its end.
    mutating func settleFiring(_ id: FiringID, _ end: NotificationDecision.HandoverEnd, at now: Instant) {
        guard let firing = firings[id], let record = notification(firing.notification, of: firing.tenant) else {
            return
        }
        apply(NotificationDecision.settle(end, of: firing, of: record, at: now), at: now)
    }

    /// What nobody needs to know any more, at most `limit` of each kind.
    ///
    /// - Returns: Whether that was all.
    mutating func forgetNotifications(limit: Int, at now: Instant) -> Bool {
        let end = now - NotificationRetention.finished
        let old = firings.values.filter { $0.createdAt <= end && $0.state != .pending }.prefix(limit)
        for firing in old { firings[firing.id] = nil }
        let finished = notifications.values.filter { $0.finishedAt.map { $0 <= end } ?? false }.prefix(limit)
        for record in finished {
            for firing in firings(of: record, FiringRecord.State.allCases) { firings[firing.id] = nil }
            forgetResponses(to: record.id, of: record.tenant)
            notifications[Owned(tenant: record.tenant, id: record.id)] = nil
            notificationKeys[Owned(tenant: record.tenant, id: record.id)] = nil
            notificationSources[Owned(tenant: record.tenant, id: record.id)] = nil
        }
        return max(old.count, finished.count) < limit
    }

    mutating func apply(_ changes: [NotificationChange], at now: Instant) {
        for change in changes {
            switch change {
            case .save(let record, _):
                let place = Owned(tenant: record.tenant, id: record.id)
                notifications[place] = record
                if notificationKeys[place] == nil { notificationKeys[place] = nextKey() }
            case .saveFiring(let firing): firings[firing.id] = firing
            case .list(let id, let tenant):
                let place = (lastPlaces[tenant] ?? 0) + 1
                lastPlaces[tenant] = place
                firings[id]?.place = place
            case .open(let link):
                begin(link)
            case .openTicket(let ticket): tickets[ticket.id] = ticket
            case .close(let ids, let tenant): close(ids, of: tenant, at: now)
            case .closePreviews(let notification, let tenant):
                closePreviews(of: notification, tenant: tenant, at: now)
            case .call(let call): enqueue(call, at: now)
            case .cancelCalls(let firing, let tenant):
                cancelCalls(of: firing.rawValue, tenant: tenant, reason: NotificationChange.calledOff, at: now)
            case .forgetSources(let notification, let tenant):
                notificationSources[Owned(tenant: tenant, id: notification)] = nil
            }
        }
    }
}
