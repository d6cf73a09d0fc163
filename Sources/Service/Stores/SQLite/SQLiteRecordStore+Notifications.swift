public import SatchelCore
internal import GRDB

extension SQLiteRecordStore {
    public func put(_ new: NewNotification, limit: Int?) async throws(AttachmentError) -> NotificationAnswer {
        try await write { [keys] database, now in
            let existing = try database.notification(new.id, of: new.tenant)
            let open = try existing.map { try database.firings(of: $0.key, isOpen: true) } ?? []
            let (answer, changes) = NotificationDecision.put(new, existing: existing?.record, open: open, at: now)
            if let limit, !changes.isEmpty, existing?.record.state != .pending {
                guard try database.pendingNotifications(of: new.tenant) < limit else {
                    throw AttachmentError.quotaExceeded(what: "pending notifications")
                }
            }
            try database.apply(changes, at: now)
            if !changes.isEmpty { try database.keep(new.sources, of: new, keys) }
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
        let start = NotificationPlace(cursor) ?? list.start
        return try await read { [longestSearch] database, _ in
            let rows = category == nil ? limit + 1 : longestSearch
            let places = try database.places(in: list, of: tenant, after: start, limit: rows)
            var elements: [(NotificationPlace, NotificationRecord)] = []
            for place in places where elements.count <= limit {
                let row = try database.row(
                    "SELECT record FROM notifications WHERE key = ?1 AND (?2 IS NULL OR category = ?2)",
                    [place.key, category])
                if let row { elements.append((place, try row.notification())) }
            }
            return Page(elements, limit, to: places.count == rows ? places.last : nil)
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

    public func dueNotifications(
        limit: Int, besides others: Set<NotificationName>, known: @escaping KnownNotifications
    ) async throws(AttachmentError) -> DueNotifications {
        try await read { [clock] database, _ in
            let now = clock()
            let next = try database.number(
                "SELECT min(next_at) FROM notifications WHERE next_at > ?", [now.milliseconds])
            // Those that are left out are as many rows more; only of unknown others the record is read.
            let due = try database.rows(
                "SELECT key, tenant, id, revision FROM notifications WHERE next_at <= ? ORDER BY next_at LIMIT ?",
                [now.milliseconds, limit + others.count]
            ).map { row in
                (
                    name: NotificationName(
                        tenant: TenantID(rawValue: row["tenant"]), id: NotificationID(rawValue: row["id"])), row
                )
            }
            return DueNotifications(
                at: now,
                elements: try due.filter { !others.contains($0.name) }.prefix(limit).compactMap { name, row in
                    try known(name, row["revision"])
                        ?? database.row("SELECT record FROM notifications WHERE key = ?", [row["key"]])?.notification()
                },
                next: next.map { Instant(milliseconds: $0) - now })
        }
    }

    public func upcomingNotifications(
        within time: Duration, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<NotificationRecord> {
        try await read { [clock] database, _ in
            let now = clock()
            let (first, last) = (now.milliseconds + 1, (now + time).milliseconds)
            let start = NotificationPlace(cursor) ?? NotificationPlace(at: first, key: .min)
            // In two steps, as ``places(in:of:after:limit:)``.
            var rows = try database.rows(
                "SELECT next_at, key, record FROM notifications WHERE next_at = ? AND key > ? ORDER BY key LIMIT ?",
                [(first...last).contains(start.at) ? start.at : nil, start.key, limit])
            rows += try database.rows(
                """
                SELECT next_at, key, record FROM notifications
                WHERE next_at > ? AND next_at <= ? ORDER BY next_at, key LIMIT ?
                """, [max(start.at, first - 1), last, limit - rows.count])
            let end = rows.last.map { NotificationPlace(at: $0["next_at"], key: $0["key"]) }
            return Page(elements: try rows.map { try $0.notification() }, next: end?.cursor)
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

    public func materials(
        _ names: [TenantID: FiringMaterials.Names]
    ) async throws(AttachmentError) -> [TenantID: FiringMaterials] {
        guard names.values.contains(where: { !$0.isEmpty }) else { return names.mapValues { _ in FiringMaterials() } }
        return try await read { database, _ in
            var found: [TenantID: FiringMaterials] = [:]
            for (tenant, names) in names {
                var materials = FiringMaterials()
                for id in names.jobs { materials.jobs[id] = try database.jobRecord(id, of: tenant) }
                for id in names.attachments {
                    materials.attachments[id] = try database.attachmentRecord(id, of: tenant)
                }
                for id in names.categories { materials.categories[id] = try database.category(id, of: tenant) }
                found[tenant] = materials
            }
            return found
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

    public func carryOut(_ firings: [DecidedFiring]) async throws(AttachmentError) -> [Bool] {
        let changes: [[WrittenChange]]
        do {
            changes = try firings.map { try $0.changes.map(WrittenChange.init) }
        } catch {
            throw AttachmentError(storing: error)
        }
        return try await write { database, now in
            var current: Set<Int64> = []
            let isMade = try firings.map { firing in
                try database.key(of: firing.read).map { current.insert($0).inserted } ?? false
            }
            try database.apply(zip(changes, isMade).flatMap { $1 ? $0 : [] }, at: now)
            return isMade
        }
    }

    public func firing(
        by idempotencyKey: String, of notification: NotificationID, tenant: TenantID
    ) async throws(AttachmentError) -> FiringRecord? {
        try await read { database, _ in
            try database.row(
                """
                SELECT firings.place, firings.record FROM notifications
                    JOIN firings ON firings.notification = notifications.key AND firings.idempotency_key = ?
                WHERE notifications.tenant = ? AND notifications.id = ?
                """, [idempotencyKey, tenant.rawValue, notification.rawValue])?.firing()
        }
    }

    public func waitingFirings(since instant: Instant, limit: Int) async throws(AttachmentError) -> [Firing] {
        try await read { database, _ in
            try database.rows(
                """
                SELECT firings.place, firings.record, notifications.record AS notification FROM firings
                    JOIN notifications ON notifications.key = firings.notification
                WHERE firings.waits_until < ? ORDER BY firings.waits_until LIMIT ?
                """, [instant.milliseconds, limit]
            ).map { row in
                Firing(
                    try row.firing(), of: try Column.value(NotificationRecord.self, from: row["notification"]))
            }
        }
    }

    public func complete(_ completion: FiringCompletion) async throws(AttachmentError) {
        try await write { database, now in
            guard let found = try database.notification(completion.notification, of: completion.tenant),
                let firing = try database.firing(completion.firing),
                let decided = NotificationDecision.complete(completion, DecidedFiring(firing, of: found.record))
            else { return }
            try database.apply(decided.changes, at: now)
        }
    }

    public func firing(
        _ number: Int, of notification: NotificationID, tenant: TenantID
    ) async throws(AttachmentError) -> FiringRecord? {
        try await read { database, _ in
            guard let found = try database.notification(notification, of: tenant) else { return nil }
            return try database.row(
                "SELECT place, record FROM firings WHERE notification = ? AND number = ?", [found.key, number])?
                .firing()
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
                """
                SELECT number, place, record FROM firings WHERE notification = ? AND number < ?
                ORDER BY number DESC LIMIT ?
                """,
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
                "SELECT place, record FROM firings WHERE tenant = ? AND place > ? ORDER BY place LIMIT ?",
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

    /// In two steps, for SQLite looks up the second column of an index only where the first one is given.
    fileprivate func places(
        in list: NotificationList, of tenant: TenantID, after start: NotificationPlace, limit: Int
    ) throws -> [NotificationPlace] {
        let (all, direction) = ("FROM notifications WHERE tenant = ? AND \(list.membership)", list.direction)
        let beside = try rows(
            "SELECT key \(all) AND \(list.at) = ? AND key \(list.after) ? ORDER BY key \(direction) LIMIT ?",
            [tenant.rawValue, start.at, start.key, limit]
        ).map { NotificationPlace(at: start.at, key: $0["key"]) }
        guard beside.count < limit else { return beside }
        let behind = try rows(
            """
            SELECT \(list.at) AS at, key \(all) AND \(list.at) \(list.after) ?
            ORDER BY \(list.at) \(direction), key \(direction) LIMIT ?
            """, [tenant.rawValue, start.at, limit - beside.count]
        ).map { NotificationPlace(at: $0["at"], key: $0["key"]) }
        return beside + behind
    }

    func notification(_ id: NotificationID, of tenant: TenantID) throws -> FoundNotification? {
        try row(
            "SELECT key, record FROM notifications WHERE tenant = ? AND id = ?", [tenant.rawValue, id.rawValue]
        ).map { FoundNotification(key: $0["key"], record: try $0.notification()) }
    }

    /// The key of a notification that is still as it was read.
    func key(of read: NotificationRecord) throws -> Int64? {
        try number(
            "SELECT key FROM notifications WHERE tenant = ? AND id = ? AND revision = ?",
            [read.tenant.rawValue, read.id.rawValue, read.revision])
    }

    fileprivate func pendingNotifications(of tenant: TenantID) throws -> Int {
        Int(
            try number("SELECT pending_notifications FROM tenants WHERE tenant = ?", [tenant.rawValue]) ?? 0)
    }

    /// Those that aren't handed over yet, or the others that are still in the list.
    fileprivate func firings(of notification: Int64, isOpen: Bool) throws -> [FiringRecord] {
        try rows(
            isOpen
                ? "SELECT place, record FROM firings WHERE notification = ? AND state = 'pending'"
                : """
                SELECT place, record FROM firings
                WHERE notification = ? AND state IN ('delivered', 'failed', 'missed')
                """,
            [notification]
        ).map { try $0.firing() }
    }

    func firing(_ id: FiringID) throws -> FiringRecord? {
        try row("SELECT place, record FROM firings WHERE id = ?", [id.rawValue])?.firing()
    }

    /// A firing's handover came to its end.
    func settleFiring(
        _ id: FiringID, _ end: NotificationDecision.HandoverEnd, _ ends: HandoverEnds, at now: Instant
    ) throws {
        if let changes = try ends.changes(of: id, self) { return try apply(changes, at: now) }
        guard let firing = try firing(id), let found = try notification(firing.notification, of: firing.tenant) else {
            return
        }
        try apply(NotificationDecision.settle(end, of: firing, of: found.record, at: now), at: now)
    }

    func apply(_ changes: [NotificationChange], at now: Instant) throws {
        try apply(changes.map(WrittenChange.init), at: now)
    }

    func apply(_ changes: [WrittenChange], at now: Instant) throws {
        let places = try list(changes.map(\.change))
        for written in changes {
            switch written.change {
            case .save(let record, let before): try save(record, as: written.json, over: before)
            case .saveFiring(let firing): try save(firing, as: written.json, at: places[firing.id])
            case .list: break
            case .open(let link): try begin(link)
            case .openTicket(let ticket): try insert(ticket)
            case .close(let ids, let tenant): try close(ids, of: tenant, at: now)
            case .closePreviews(let notification, let tenant):
                try closePreviews(of: notification, tenant: tenant, at: now)
            case .call(let call): try enqueue(call, at: now)
            case .cancelCalls(let firing, let tenant):
                try cancelCalls(of: firing.rawValue, tenant: tenant, reason: NotificationChange.calledOff, at: now)
            case .forgetSources(let notification, let tenant): try forgetSources(of: notification, tenant)
            }
        }
    }

    private func save(_ record: NotificationRecord, as json: String?, over before: NotificationRecord?) throws {
        try run(
            """
            INSERT INTO notifications (tenant, id, revision, generation, state, category, next_at, rules, shown_at,
                finished_at, media_at, media_job, record)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (tenant, id) DO UPDATE SET revision = excluded.revision, generation = excluded.generation,
                state = excluded.state, category = excluded.category, next_at = excluded.next_at,
                rules = excluded.rules, shown_at = excluded.shown_at, finished_at = excluded.finished_at,
                media_at = excluded.media_at, media_job = excluded.media_job, record = excluded.record
            WHERE revision = excluded.revision - 1
            """,
            [
                record.tenant.rawValue, record.id.rawValue, record.revision, record.generation, record.state.rawValue,
                record.submission.category, record.next?.at.milliseconds, record.rules?.rawValue,
                record.shownAt?.milliseconds, record.finishedAt?.milliseconds, record.mediaDueAt?.milliseconds,
                record.awaitedJob?.rawValue, json,
            ])
        guard changesCount == 1 else {
            throw DatabaseError(message: "a notification changed concurrently")
        }
        let pinned = record.pinned
        guard before?.pinned ?? [] != pinned, let key = try key(of: record) else { return }
        try run("DELETE FROM notification_media WHERE notification = ?", [key])
        for attachment in pinned {
            try run(
                "INSERT OR IGNORE INTO notification_media VALUES (?, ?, ?)",
                [key, record.tenant.rawValue, attachment.rawValue])
        }
    }

    /// - Parameter place: In its tenant's list; nil where that stays as it is.
    private func save(_ firing: FiringRecord, as json: String?, at place: Int64?) throws {
        try run(
            """
            INSERT INTO firings (id, tenant, notification, generation, number, state, scheduled_at, is_manual,
                idempotency_key, waits_until, created_at, place, record)
            SELECT ?, tenant, key, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM notifications WHERE tenant = ? AND id = ?
            ON CONFLICT (id) DO UPDATE SET state = excluded.state, waits_until = excluded.waits_until,
                place = coalesce(excluded.place, firings.place), record = excluded.record
            """,
            [
                firing.id.rawValue, firing.generation, firing.number, firing.state.rawValue,
                firing.scheduledAt.milliseconds, firing.isManual, firing.idempotencyKey,
                firing.isWaiting ? firing.waitsUntil.milliseconds : nil, firing.createdAt.milliseconds,
                place, json, firing.tenant.rawValue, firing.notification.rawValue,
            ])
    }

    /// Gives firings that are saved in these changes places at the end of their tenants' lists, in their order. As there is
    /// one writer, nobody sees a later one before.
    private func list(_ changes: [NotificationChange]) throws -> [FiringID: Int64] {
        var listed: [TenantID: [FiringID]] = [:]
        for case .list(let firing, let tenant) in changes { listed[tenant, default: []].append(firing) }
        var places: [FiringID: Int64] = [:]
        for (tenant, firings) in listed {
            let last = try number(
                """
                INSERT INTO tenants (tenant, last_place) VALUES (?1, ?2)
                ON CONFLICT (tenant) DO UPDATE SET last_place = last_place + ?2 RETURNING last_place
                """, [tenant.rawValue, firings.count])
            for (place, firing) in zip(((last ?? 0) - Int64(firings.count) + 1)..., firings) {
                places[firing] = place
            }
        }
        return places
    }
}

extension Row {
    fileprivate func notification() throws -> NotificationRecord {
        try Column.value(NotificationRecord.self, from: self["record"])
    }

    fileprivate func firing() throws -> FiringRecord {
        var firing = try Column.value(FiringRecord.self, from: self["record"])
        // Given last, after the record was written.
        firing.place = self["place"]
        return firing
    }
}
