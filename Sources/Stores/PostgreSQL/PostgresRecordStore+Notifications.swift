public import Attachments
internal import Postgres

extension PostgresRecordStore {
    public func put(_ new: NewNotification, limit: Int?) async throws(AttachmentError) -> NotificationAnswer {
        try await write { work in
            let existing = try await work.lockNotification(new.id, of: new.tenant)
            let open = try await work.firings(of: existing?.key, isOpen: true)
            let (answer, changes) = NotificationDecision.put(
                new, existing: existing?.record, open: open, at: work.now)
            if let limit, !changes.isEmpty, existing?.record.state != .pending {
                guard try await work.pendingNotifications(of: new.tenant, upTo: limit) < limit else {
                    throw AttachmentError.quotaExceeded(what: "pending notifications")
                }
            }
            try await work.apply(changes)
            return answer
        }
    }

    public func notification(
        _ id: NotificationID, of tenant: TenantID
    ) async throws(AttachmentError) -> NotificationRecord? {
        try await read { work in try await work.notification(id, of: tenant)?.record }
    }

    public func notifications(
        of tenant: TenantID, in list: NotificationList, category: String?, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<NotificationRecord> {
        let place = NotificationPlace(cursor)
        return try await read { work in
            let rows = try await work.run(
                list == .pending ? PostgresWork.pendingNotifications : PostgresWork.shownNotifications,
                [
                    .text(tenant.rawValue), .int(place?.at ?? (list == .pending ? .min : .max)),
                    .int(place?.key ?? .min), .text(category), .int(limit + 1),
                ])
            return try Page(
                rows.map { row in
                    (NotificationPlace(at: try row.int64("at"), key: try row.int64("key")), try row.notification())
                }, limit)
        }
    }

    public func remove(
        _ id: NotificationID, of tenant: TenantID, from list: NotificationRemoval
    ) async throws(AttachmentError) -> Bool {
        try await write { work in
            guard let found = try await work.lockNotification(id, of: tenant) else { return false }
            let changes = NotificationDecision.remove(
                found.record, from: list, open: try await work.firings(of: found.key, isOpen: true),
                ended: try await work.firings(of: found.key, isOpen: false), at: work.now)
            try await work.apply(changes)
            return true
        }
    }

    public func dueNotifications(limit: Int) async throws(AttachmentError) -> DueNotifications {
        try await read { work in
            let next = try await work.run(
                "SELECT min(next_at) AS at FROM notifications WHERE next_at > $1", [.int(work.now.milliseconds)]
            ).first?.optionalInstant("at")
            let rows = try await work.run(
                "SELECT record FROM notifications WHERE next_at <= $1 ORDER BY next_at LIMIT $2",
                [.int(work.now.milliseconds), .int(limit)])
            return DueNotifications(
                at: work.now, elements: try rows.map { try $0.notification() }, next: next.map { $0 - work.now })
        }
    }

    public func notifications(
        notBy rules: TimeZoneRulesVersion, limit: Int
    ) async throws(AttachmentError) -> [NotificationRecord] {
        try await read { work in
            try await work.run(
                """
                SELECT record FROM notifications
                WHERE next_at IS NOT NULL AND rules IS NOT NULL AND (rules < $1 OR rules > $1) LIMIT $2
                """, [.text(rules.rawValue), .int(limit)]
            ).map { try $0.notification() }
        }
    }

    public func reschedule(
        _ notification: NotificationRecord, next: Occurrence, rules: TimeZoneRulesVersion
    ) async throws(AttachmentError) {
        try await write { work in
            let found = try await work.lockNotification(notification.id, of: notification.tenant)
            guard let found else { return }
            try await work.apply(
                NotificationDecision.reschedule(notification, found.record, next: next, rules: rules))
        }
    }

    public func fire(_ requests: [FiringRequest]) async throws(AttachmentError) -> [Firing?] {
        try await write { work in
            // All of them in one order, so that two who fire the same don't wait for each other in a circle.
            try await work.lockNotifications(requests.map { ($0.notification, $0.tenant) })
            var made: [Firing?] = []
            for request in requests {
                made.append(try await work.fire(request))
            }
            return made
        }
    }

    public func waitingFirings(since instant: Instant, limit: Int) async throws(AttachmentError) -> [Firing] {
        try await read { work in
            try await work.run(
                """
                SELECT firings.record, notifications.record AS notification FROM firings
                    JOIN notifications ON notifications.key = firings.notification
                WHERE firings.waits_until < $1 ORDER BY firings.waits_until LIMIT $2
                """, [.int(instant.milliseconds), .int(limit)]
            ).map { row in
                Firing(
                    try row.firing(),
                    of: try Column.value(NotificationRecord.self, from: try row.text("notification")))
            }
        }
    }

    public func complete(_ firings: [FiringCompletion]) async throws(AttachmentError) {
        try await write { work in
            try await work.lockNotifications(firings.map { ($0.notification, $0.tenant) })
            var last: [NotificationChange] = []
            for completion in firings {
                let found = try await work.notification(completion.notification, of: completion.tenant)
                guard let found, let firing = try await work.firing(completion.firing) else { continue }
                let changes = NotificationDecision.complete(completion, firing, of: found.record)
                try await work.apply(changes.filter { !$0.isListing })
                last += changes.filter(\.isListing)
            }
            // The tenants' lists are what many want: last, and in one order.
            try await work.apply(last)
        }
    }

    public func firing(
        _ number: Int, of notification: NotificationID, tenant: TenantID
    ) async throws(AttachmentError) -> FiringRecord? {
        try await read { work in
            guard let found = try await work.notification(notification, of: tenant) else { return nil }
            return try await work.run(
                "SELECT record FROM firings WHERE notification = $1 AND number = $2", [.int(found.key), .int(number)]
            ).first?.firing()
        }
    }

    public func firings(
        of notification: NotificationID, tenant: TenantID, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<FiringRecord> {
        try await read { work in
            guard let found = try await work.notification(notification, of: tenant) else {
                return Page(elements: [], next: nil)
            }
            let rows = try await work.run(
                """
                SELECT number, record FROM firings WHERE notification = $1 AND number < $2
                ORDER BY number DESC LIMIT $3
                """, [.int(found.key), .int(cursor.flatMap { Int64($0) } ?? Int64(Int32.max)), .int(limit + 1)])
            return try Page(
                rows.map { (NotificationPlace(at: 0, key: try $0.int64("number")), try $0.firing()) }, limit
            ) { "\($0.key)" }
        }
    }

    public func firings(
        of tenant: TenantID, after place: Int64, limit: Int
    ) async throws(AttachmentError) -> [FiringRecord] {
        try await read { work in
            try await work.run(
                "SELECT record FROM firings WHERE tenant = $1 AND place > $2 ORDER BY place LIMIT $3",
                [.text(tenant.rawValue), .int(place), .int(limit)]
            ).map { try $0.firing() }
        }
    }
}

extension NotificationChange {
    fileprivate var isListing: Bool {
        if case .list = self { true } else { false }
    }
}

extension PostgresWork {
    /// The row of a notification.
    struct FoundNotification {
        var key: Int64
        var record: NotificationRecord
    }

    // A category that is null takes all.
    fileprivate static let pendingNotifications = """
        SELECT coalesce(next_at, 9223372036854775807) AS at, key, record FROM notifications
        WHERE tenant = $1 AND state = 'pending' AND (coalesce(next_at, 9223372036854775807), key) > ($2, $3)
            AND ($4::text IS NULL OR category = $4)
        ORDER BY coalesce(next_at, 9223372036854775807), key LIMIT $5
        """
    fileprivate static let shownNotifications = """
        SELECT shown_at AS at, key, record FROM notifications
        WHERE tenant = $1 AND shown_at IS NOT NULL AND (shown_at < $2 OR (shown_at = $2 AND key > $3))
            AND ($4::text IS NULL OR category = $4)
        ORDER BY shown_at DESC, key LIMIT $5
        """

    func notification(_ id: NotificationID, of tenant: TenantID) async throws -> FoundNotification? {
        try await found("SELECT key, record FROM notifications WHERE tenant = $1 AND id = $2", id, tenant)
    }

    fileprivate func lockNotification(_ id: NotificationID, of tenant: TenantID) async throws -> FoundNotification? {
        try await found("SELECT key, record FROM notifications WHERE tenant = $1 AND id = $2 FOR UPDATE", id, tenant)
    }

    private func found(_ sql: String, _ id: NotificationID, _ tenant: TenantID) async throws -> FoundNotification? {
        try await run(sql, [.text(tenant.rawValue), .text(id.rawValue)]).first.map { row in
            FoundNotification(key: try row.int64("key"), record: try row.notification())
        }
    }

    fileprivate func lockNotifications(_ names: [(NotificationID, TenantID)]) async throws {
        try await run(
            """
            SELECT 1 FROM notifications JOIN unnest($1::text[], $2::text[]) AS named (id, tenant)
                ON notifications.tenant = named.tenant AND notifications.id = named.id
            ORDER BY notifications.key FOR UPDATE OF notifications
            """, [.texts(names.map(\.0.rawValue)), .texts(names.map(\.1.rawValue))])
    }

    /// Pending ones, counted up to a number.
    fileprivate func pendingNotifications(of tenant: TenantID, upTo limit: Int) async throws -> Int {
        try await run(
            """
            SELECT count(*) AS n FROM (
                SELECT 1 FROM notifications WHERE tenant = $1 AND state = 'pending' LIMIT $2) AS pending
            """, [.text(tenant.rawValue), .int(limit)]
        ).first?.int("n") ?? 0
    }

    /// Those that aren't handed over yet, or the others that are still in the list.
    fileprivate func firings(of notification: Int64?, isOpen: Bool) async throws -> [FiringRecord] {
        guard let notification else { return [] }
        let states = isOpen ? "state = 'pending'" : "state IN ('delivered', 'failed', 'missed')"
        return try await run(
            "SELECT record FROM firings WHERE notification = $1 AND \(states)", [.int(notification)]
        ).map { try $0.firing() }
    }

    fileprivate func firing(_ id: FiringID) async throws -> FiringRecord? {
        try await run("SELECT record FROM firings WHERE id = $1", [.uuid(id.rawValue)]).first?.firing()
    }

    fileprivate func fire(_ request: FiringRequest) async throws -> Firing? {
        guard let found = try await notification(request.notification, of: request.tenant) else { return nil }
        var earlier: FiringRecord?
        if case .manual(let key?, _) = request.cause {
            earlier = try await run(
                "SELECT record FROM firings WHERE notification = $1 AND idempotency_key = $2",
                [.int(found.key), .text(key)]
            ).first?.firing()
        }
        // Done again after an answer that was lost, it is there already.
        if transaction.mayHaveCommitted, let made = try await firing(request.id) { earlier = made }
        let decision = NotificationDecision.fire(request, found.record, earlier: earlier, at: now)
        guard let (firing, changes) = decision else { return nil }
        try await apply(changes)
        return Firing(
            firing, of: try await notification(request.notification, of: request.tenant)?.record ?? found.record)
    }

    /// A firing's handover came to its end.
    func settleFiring(_ id: FiringID, _ end: NotificationDecision.HandoverEnd) async throws {
        guard let known = try await firing(id),
            let found = try await lockNotification(known.notification, of: known.tenant),
            let firing = try await firing(id)
        else { return }
        try await apply(NotificationDecision.settle(end, of: firing, of: found.record, at: now))
    }

    fileprivate func apply(_ changes: [NotificationChange]) async throws {
        for change in changes {
            switch change {
            case .save(let record): try await save(record)
            case .saveFiring(let firing): try await save(firing)
            case .list(let firing): try await list(firing)
            case .open(let link): try await begin(link)
            case .openTicket(let ticket): _ = try await transaction.send([insertion(of: ticket)])
            case .close(let ids, let tenant): try await close(ids, of: tenant)
            case .closePreviews(let notification, let tenant):
                try await closePreviews(of: notification, tenant: tenant)
            case .call(let call): try await enqueue(call)
            case .cancelCalls(let firing, let tenant):
                try await cancelCalls(of: firing.rawValue, tenant: tenant, reason: NotificationChange.calledOff)
            }
        }
    }

    private func save(_ record: NotificationRecord) async throws {
        let row = try await run(
            """
            INSERT INTO notifications (tenant, id, generation, state, category, next_at, rules, shown_at, finished_at, record)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
            ON CONFLICT (tenant, id) DO UPDATE SET generation = excluded.generation, state = excluded.state,
                category = excluded.category, next_at = excluded.next_at, rules = excluded.rules,
                shown_at = excluded.shown_at, finished_at = excluded.finished_at, record = excluded.record
            WHERE notifications.generation <= excluded.generation
            RETURNING key
            """,
            [
                .text(record.tenant.rawValue), .text(record.id.rawValue), .int(record.generation),
                .text(record.state.rawValue), .text(record.submission.category),
                .int(record.next?.at.milliseconds), .text(record.rules?.rawValue), .int(record.shownAt?.milliseconds),
                .int(record.finishedAt?.milliseconds), .text(try Column.text(record)),
            ]
        ).first
        // Somebody added one of this id a moment before.
        guard let key = try row?.int64("key") else { throw Overtaken() }
        try await run(
            """
            WITH gone AS (
                DELETE FROM notification_media WHERE notification = $1 AND NOT attachment = ANY($3::uuid[]))
            INSERT INTO notification_media (notification, tenant, attachment) SELECT $1, $2, unnest($3::uuid[])
            ON CONFLICT DO NOTHING
            """, [.int(key), .text(record.tenant.rawValue), .uuids(record.pinned.map(\.rawValue))])
    }

    private func save(_ firing: FiringRecord) async throws {
        try await run(
            """
            INSERT INTO firings (id, tenant, notification, generation, number, state, scheduled_at, is_manual,
                idempotency_key, waits_until, created_at, record)
            SELECT $1, tenant, key, $4, $5, $6, $7, $8, $9, $10, $11, $12 FROM notifications WHERE tenant = $2 AND id = $3
            ON CONFLICT (id) DO UPDATE SET state = excluded.state, waits_until = excluded.waits_until,
                record = excluded.record
            """,
            [
                .uuid(firing.id.rawValue), .text(firing.tenant.rawValue), .text(firing.notification.rawValue),
                .int(firing.generation), .int(firing.number), .text(firing.state.rawValue),
                .int(firing.scheduledAt.milliseconds), .bool(firing.isManual), .text(firing.idempotencyKey),
                .int(firing.isWaiting ? firing.waitsUntil.milliseconds : nil), .int(firing.createdAt.milliseconds),
                .text(try Column.text(firing)),
            ])
    }

    private func list(_ id: FiringID) async throws {
        guard var firing = try await firing(id) else { return }
        let row = try await run(
            """
            INSERT INTO tenants (tenant, last_place) VALUES ($1, 1)
            ON CONFLICT (tenant) DO UPDATE SET last_place = tenants.last_place + 1 RETURNING last_place
            """, [.text(firing.tenant.rawValue)]
        ).first
        firing.place = try row?.int64("last_place")
        try await run(
            "UPDATE firings SET place = $2, record = $3 WHERE id = $1",
            [.uuid(id.rawValue), .int(firing.place), .text(try Column.text(firing))])
    }
}

extension PostgresRow {
    fileprivate func notification() throws -> NotificationRecord {
        try Column.value(NotificationRecord.self, from: try text("record"))
    }

    fileprivate func firing() throws -> FiringRecord {
        try Column.value(FiringRecord.self, from: try text("record"))
    }
}
