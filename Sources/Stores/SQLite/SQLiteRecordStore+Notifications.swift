public import Attachments
internal import GRDB

extension SQLiteRecordStore {
    public func put(_ new: NewNotification, limit: Int?) async throws(AttachmentError) -> NotificationAnswer {
        try await write { database, now in
            let existing = try database.notification(new.id, of: new.tenant)
            let open = try existing.map { try database.firings(of: $0.key, isOpen: true) } ?? []
            let (answer, changes) = NotificationDecision.put(new, existing: existing?.record, open: open, at: now)
            if let limit, !changes.isEmpty, existing?.record.state != .pending {
                guard try database.pendingNotifications(of: new.tenant) < limit else {
                    throw AttachmentError.quotaExceeded(what: "pending notifications")
                }
            }
            try database.apply(changes, at: now)
            return answer
        }
    }

    public func notification(
        _ id: NotificationID, of tenant: TenantID
    ) async throws(AttachmentError) -> NotificationRecord? {
        try await read { database, _ in try database.notification(id, of: tenant)?.record }
    }

    public func notifications(
        of tenant: TenantID, in list: NotificationList, category: String?, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<NotificationRecord> {
        let place = NotificationPlace(cursor)
        return try await read { database, _ in
            let rows = try database.rows(
                list == .pending ? Database.pendingNotifications : Database.shownNotifications,
                [
                    tenant.rawValue, place?.at ?? (list == .pending ? .min : .max), place?.key ?? .min, category,
                    category, limit + 1,
                ])
            return try Page(
                rows.map { try (NotificationPlace(at: $0["at"], key: $0["key"]), $0.notification()) }, limit)
        }
    }

    public func remove(
        _ id: NotificationID, of tenant: TenantID, from list: NotificationRemoval
    ) async throws(AttachmentError) -> Bool {
        try await write { database, now in
            guard let found = try database.notification(id, of: tenant) else { return false }
            let changes = NotificationDecision.remove(
                found.record, from: list, open: try database.firings(of: found.key, isOpen: true),
                ended: try database.firings(of: found.key, isOpen: false), at: now)
            try database.apply(changes, at: now)
            return true
        }
    }

    public func dueNotifications(limit: Int) async throws(AttachmentError) -> DueNotifications {
        try await read { [clock] database, _ in
            let now = clock()
            let next = try database.number(
                "SELECT min(next_at) FROM notifications WHERE next_at > ?", [now.milliseconds])
            return DueNotifications(
                at: now,
                elements: try database.rows(
                    "SELECT record FROM notifications WHERE next_at <= ? ORDER BY next_at LIMIT ?",
                    [now.milliseconds, limit]
                ).map { try $0.notification() },
                next: next.map { Instant(milliseconds: $0) - now })
        }
    }

    public func notifications(
        notBy rules: TimeZoneRulesVersion, limit: Int
    ) async throws(AttachmentError) -> [NotificationRecord] {
        try await read { database, _ in
            try database.rows(
                """
                SELECT record FROM notifications
                WHERE next_at IS NOT NULL AND rules IS NOT NULL AND (rules < ? OR rules > ?) LIMIT ?
                """, [rules.rawValue, rules.rawValue, limit]
            ).map { try $0.notification() }
        }
    }

    public func reschedule(
        _ notification: NotificationRecord, next: Occurrence, rules: TimeZoneRulesVersion
    ) async throws(AttachmentError) {
        try await write { database, now in
            guard let found = try database.notification(notification.id, of: notification.tenant) else { return }
            try database.apply(
                NotificationDecision.reschedule(notification, found.record, next: next, rules: rules), at: now)
        }
    }

    public func fire(_ requests: [FiringRequest]) async throws(AttachmentError) -> [Firing?] {
        try await write { database, now in
            try requests.map { request in
                guard let found = try database.notification(request.notification, of: request.tenant) else {
                    return nil
                }
                var earlier: FiringRecord?
                if case .manual(let key?, _) = request.cause { earlier = try database.firing(by: key, of: found.key) }
                let decision = NotificationDecision.fire(request, found.record, earlier: earlier, at: now)
                guard let (firing, changes) = decision else { return nil }
                try database.apply(changes, at: now)
                let record = try database.notification(request.notification, of: request.tenant)?.record
                return Firing(firing, of: record ?? found.record)
            }
        }
    }

    public func waitingFirings(since instant: Instant, limit: Int) async throws(AttachmentError) -> [Firing] {
        try await read { database, _ in
            try database.rows(
                """
                SELECT firings.record, notifications.record AS notification FROM firings
                    JOIN notifications ON notifications.key = firings.notification
                WHERE firings.waits_until < ? ORDER BY firings.waits_until LIMIT ?
                """, [instant.milliseconds, limit]
            ).map { row in
                Firing(
                    try row.firing(), of: try Column.value(NotificationRecord.self, from: row["notification"]))
            }
        }
    }

    public func complete(_ firings: [FiringCompletion]) async throws(AttachmentError) {
        try await write { database, now in
            for completion in firings {
                guard let found = try database.notification(completion.notification, of: completion.tenant),
                    let firing = try database.firing(completion.firing)
                else { continue }
                try database.apply(NotificationDecision.complete(completion, firing, of: found.record), at: now)
            }
        }
    }

    public func firing(
        _ number: Int, of notification: NotificationID, tenant: TenantID
    ) async throws(AttachmentError) -> FiringRecord? {
        try await read { database, _ in
            guard let found = try database.notification(notification, of: tenant) else { return nil }
            return try database.row(
                "SELECT record FROM firings WHERE notification = ? AND number = ?", [found.key, number])?.firing()
        }
    }

    public func firings(
        of notification: NotificationID, tenant: TenantID, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<FiringRecord> {
        try await read { database, _ in
            guard let found = try database.notification(notification, of: tenant) else {
                return Page(elements: [], next: nil)
            }
            let rows = try database.rows(
                "SELECT number, record FROM firings WHERE notification = ? AND number < ? ORDER BY number DESC LIMIT ?",
                [found.key, cursor.flatMap { Int64($0) } ?? .max, limit + 1])
            return try Page(rows.map { try (NotificationPlace(at: 0, key: $0["number"]), $0.firing()) }, limit) {
                "\($0.key)"
            }
        }
    }

    public func firings(
        of tenant: TenantID, after place: Int64, limit: Int
    ) async throws(AttachmentError) -> [FiringRecord] {
        try await read { database, _ in
            try database.rows(
                "SELECT record FROM firings WHERE tenant = ? AND place > ? ORDER BY place LIMIT ?",
                [tenant.rawValue, place, limit]
            ).map { try $0.firing() }
        }
    }
}

extension Database {
    /// The row of a notification.
    struct FoundNotification {
        var key: Int64
        var record: NotificationRecord
    }

    // Category and limit come last; a category that is null takes all.
    static let pendingNotifications = """
        SELECT coalesce(next_at, 9223372036854775807) AS at, key, record FROM notifications
        WHERE tenant = ? AND state = 'pending' AND (coalesce(next_at, 9223372036854775807), key) > (?, ?)
            AND (? IS NULL OR category = ?)
        ORDER BY coalesce(next_at, 9223372036854775807), key LIMIT ?
        """
    static let shownNotifications = """
        SELECT shown_at AS at, key, record FROM notifications
        WHERE tenant = ?1 AND shown_at IS NOT NULL AND (shown_at < ?2 OR (shown_at = ?2 AND key > ?3))
            AND (?4 IS NULL OR category = ?5)
        ORDER BY shown_at DESC, key LIMIT ?6
        """

    func notification(_ id: NotificationID, of tenant: TenantID) throws -> FoundNotification? {
        try row(
            "SELECT key, record FROM notifications WHERE tenant = ? AND id = ?", [tenant.rawValue, id.rawValue]
        ).map { FoundNotification(key: $0["key"], record: try $0.notification()) }
    }

    fileprivate func pendingNotifications(of tenant: TenantID) throws -> Int {
        Int(
            try number("SELECT pending_notifications FROM tenants WHERE tenant = ?", [tenant.rawValue]) ?? 0)
    }

    /// Those that aren't handed over yet, or the others that are still in the list.
    fileprivate func firings(of notification: Int64, isOpen: Bool) throws -> [FiringRecord] {
        try rows(
            isOpen
                ? "SELECT record FROM firings WHERE notification = ? AND state = 'pending'"
                : "SELECT record FROM firings WHERE notification = ? AND state IN ('delivered', 'failed', 'missed')",
            [notification]
        ).map { try $0.firing() }
    }

    fileprivate func firing(by idempotencyKey: String, of notification: Int64) throws -> FiringRecord? {
        try row(
            "SELECT record FROM firings WHERE notification = ? AND idempotency_key = ?", [notification, idempotencyKey]
        )?.firing()
    }

    fileprivate func firing(_ id: FiringID) throws -> FiringRecord? {
        try row("SELECT record FROM firings WHERE id = ?", [id.rawValue])?.firing()
    }

    /// A firing's handover came to its end.
    func settleFiring(_ id: FiringID, _ end: NotificationDecision.HandoverEnd, at now: Instant) throws {
        guard let firing = try firing(id), let found = try notification(firing.notification, of: firing.tenant) else {
            return
        }
        try apply(NotificationDecision.settle(end, of: firing, of: found.record, at: now), at: now)
    }

    fileprivate func apply(_ changes: [NotificationChange], at now: Instant) throws {
        for change in changes {
            switch change {
            case .save(let record): try save(record)
            case .saveFiring(let firing): try save(firing)
            case .list(let firing): try list(firing)
            case .open(let link): try begin(link)
            case .openTicket(let ticket): try insert(ticket)
            case .close(let ids, let tenant): try close(ids, of: tenant, at: now)
            case .closePreviews(let notification, let tenant):
                try closePreviews(of: notification, tenant: tenant, at: now)
            case .call(let call): try enqueue(call, at: now)
            case .cancelCalls(let firing, let tenant):
                try cancelCalls(of: firing.rawValue, tenant: tenant, reason: NotificationChange.calledOff, at: now)
            }
        }
    }

    private func save(_ record: NotificationRecord) throws {
        let columns: StatementArguments = [
            record.generation, record.state.rawValue, record.submission.category, record.next?.at.milliseconds,
            record.rules?.rawValue, record.shownAt?.milliseconds, record.finishedAt?.milliseconds,
            try Column.text(record),
            record.tenant.rawValue, record.id.rawValue,
        ]
        let before = try notification(record.id, of: record.tenant)
        if before == nil {
            try run(
                """
                INSERT INTO notifications (generation, state, category, next_at, rules, shown_at, finished_at, record,
                    tenant, id)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """, columns)
        } else {
            try run(
                """
                UPDATE notifications SET generation = ?, state = ?, category = ?, next_at = ?, rules = ?, shown_at = ?,
                    finished_at = ?, record = ?
                WHERE tenant = ? AND id = ?
                """, columns)
        }
        let pinned = record.pinned
        guard before?.record.pinned ?? [] != pinned, let key = try notification(record.id, of: record.tenant)?.key
        else { return }
        try run("DELETE FROM notification_media WHERE notification = ?", [key])
        for attachment in pinned {
            try run(
                "INSERT OR IGNORE INTO notification_media VALUES (?, ?, ?)",
                [key, record.tenant.rawValue, attachment.rawValue])
        }
    }

    private func save(_ firing: FiringRecord) throws {
        let state = firing.state.rawValue
        let waitsUntil = firing.isWaiting ? firing.waitsUntil.milliseconds : nil
        let isThere = try number("SELECT 1 FROM firings WHERE id = ?", [firing.id.rawValue]) != nil
        if isThere {
            try run(
                "UPDATE firings SET state = ?, waits_until = ?, record = ? WHERE id = ?",
                [state, waitsUntil, try Column.text(firing), firing.id.rawValue])
        } else {
            try run(
                """
                INSERT INTO firings (id, tenant, notification, generation, number, state, scheduled_at, is_manual,
                    idempotency_key, waits_until, created_at, record)
                SELECT ?, tenant, key, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM notifications WHERE tenant = ? AND id = ?
                """,
                [
                    firing.id.rawValue, firing.generation, firing.number, state, firing.scheduledAt.milliseconds,
                    firing.isManual, firing.idempotencyKey, waitsUntil, firing.createdAt.milliseconds,
                    try Column.text(firing), firing.tenant.rawValue, firing.notification.rawValue,
                ])
        }
    }

    private func list(_ id: FiringID) throws {
        guard var firing = try firing(id) else { return }
        firing.place = try number(
            """
            INSERT INTO tenants (tenant, last_place) VALUES (?, 1)
            ON CONFLICT (tenant) DO UPDATE SET last_place = last_place + 1 RETURNING last_place
            """, [firing.tenant.rawValue])
        try run(
            "UPDATE firings SET place = ?, record = ? WHERE id = ?",
            [firing.place, try Column.text(firing), id.rawValue])
    }
}

extension Row {
    fileprivate func notification() throws -> NotificationRecord {
        try Column.value(NotificationRecord.self, from: self["record"])
    }

    fileprivate func firing() throws -> FiringRecord {
        try Column.value(FiringRecord.self, from: self["record"])
    }
}
