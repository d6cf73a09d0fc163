public import SatchelCore
internal import Postgres

extension RecordStore {
    /// Adds a notification, or puts it in the place of the one of its id: see ``NotificationDecision/put(_:existing:open:at:)``.
    /// What its firings need is left alone by retention from now on.
    ///
    /// - Parameter limit: Pending ones of the tenant, at most; nil for any number.
    /// - Throws: `quota_exceeded` over the limit.
    public func put(
        _ new: NewNotification, limit: Int?
    ) async throws(AttachmentError) -> Result<NotificationAnswer, TriggerError> {
        try await write { [keys] work in
            let existing = try work.lockNotification(new.id, of: new.tenant)
            let open = try work.firings(of: existing?.key, isOpen: true)
            let (answer, changes) = NotificationDecision.put(
                new, existing: existing?.record, open: open, at: work.now)
            if !changes.isEmpty, case .date? = new.submission.trigger, let at = new.next?.at, at <= work.now {
                return .failure(.passed(at: at))
            }
            if let limit, !changes.isEmpty, existing?.record.state != .pending {
                try QuotaSubject.pendingNotifications.admit(try work.pendingNotifications(of: new.tenant), of: limit)
            }
            try work.apply(changes)
            if !changes.isEmpty { try work.keep(new.sources, of: new, keys) }
            if !changes.isEmpty, let at = new.next?.at, at < work.now + Self.soon { work.wakes.insert(.due) }
            return .success(answer)
        }
    }

    /// As often whoever fires looks without being told.
    private static let soon: Duration = .seconds(1)

    public func notification(
        _ id: NotificationID, of tenant: TenantID
    ) async throws(AttachmentError) -> NotificationRecord? {
        try await read { work in try work.notification(id, of: tenant)?.record }
    }

    /// - Parameter category: Only those of this category; nil for all.
    public func notifications(
        of tenant: TenantID, in list: NotificationList, category: String?, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<NotificationRecord> {
        let start = ListPlace(cursor) ?? list.start
        return try await read { work in
            var end: ListPlace?
            if category != nil {
                let seen = list.rows(of: tenant, after: start, limit: longestSearch)
                end = try work.run("\(seen.sql) LIMIT 1 OFFSET \(longestSearch - 1)", seen.values)
                    .first.map(ListPlace.init)
            }
            let page = list.rows(of: tenant, category: category, after: start, upTo: end, limit: limit + 1)
            let rows = try work.run("\(page.sql) LIMIT \(limit + 1)", page.values)
            return try Page(rows.map { (try ListPlace($0).cursor, try $0.json("record")) }, limit, to: end?.cursor)
        }
    }

    /// Removes a notification from a list, or from both. On return nothing of it fires any more, and what it gave out
    /// opens nothing.
    ///
    /// - Returns: Whether there is such a notification.
    public func remove(
        _ id: NotificationID, of tenant: TenantID, from list: NotificationRemoval
    ) async throws(AttachmentError) -> Bool {
        try await write { work in
            guard let found = try work.lockNotification(id, of: tenant) else { return false }
            let changes = NotificationDecision.remove(
                found.record, from: list, open: try work.firings(of: found.key, isOpen: true),
                ended: try work.firings(of: found.key, isOpen: false), at: work.now)
            try work.apply(changes)
            return true
        }
    }

    /// Notifications of all tenants that are due, soonest first: by the clock itself, not by the latest instant
    /// of the records, which orders these and stays ahead of a clock that was set back.
    ///
    /// Where several processes work (``RecordStore/join(as:)``) each finds its own share, and of another's what that one has left
    /// for a while: as a rule each is found by one.
    ///
    /// - Parameters:
    ///   - others: Are left out.
    ///   - known: A notification in this revision, where it was read before; it isn't read again.
    public func dueNotifications(
        limit: Int, besides others: Set<NotificationName>, known: @escaping KnownNotifications
    ) async throws(AttachmentError) -> DueNotifications {
        try await read { work in
            let time = engine.machineTime ?? work.now
            let now = SQLValue.time(time)
            let rows = try work.send([
                Statement("SELECT min(next_at) AS at FROM notifications WHERE next_at > $1", [now]),
                Statement(
                    RecordTransaction.dueNotifications,
                    [
                        now, .int(limit), .bytes(node.share.share.bits), .int(node.firingPatience.wholeMilliseconds),
                        .raws(others.map(\.tenant)), .raws(others.map(\.id)),
                    ]),
            ])
            let next = try rows[0].first?.optionalInstant("at")
            return DueNotifications(
                at: time,
                elements: try rows[1].map { row in
                    let name = NotificationName(
                        tenant: try row.value("tenant"),
                        id: try row.value("id"))
                    return try known(name, row.int("revision")) ?? row.json("record")
                }, next: next.map { $0 - time })
        }
    }

    /// Notifications of all tenants that are due within a time, soonest first. Where several processes work each
    /// finds its own share, and begins from the start when that has become another.
    ///
    /// - Parameter cursor: Where a part before ended; nil for the first one.
    /// - Returns: One part, and where it ends also if nothing follows yet; nil for both where it is empty.
    public func upcomingNotifications(
        within span: Duration, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<NotificationRecord> {
        try await read { work in
            let time = engine.machineTime ?? work.now
            let (share, number) = node.share
            let known = cursor?.split(separator: "/").map(String.init) ?? []
            // Of a share that isn't this one, the rest of this one may lie before.
            let isOfShare = known.count == 2 && known[1] == "\(number)"
            let start = (isOfShare ? ListPlace(known[0]) : nil) ?? ListPlace(at: .min, key: .min)
            let rows = try work.run(
                """
                SELECT next_at, key, record FROM notifications
                WHERE next_at > $1 AND next_at <= $2 AND (next_at, key) > ($3, $4)
                    AND \(RecordTransaction.isOwn("notifications.key", in: "$6"))
                ORDER BY next_at, key LIMIT $5
                """,
                [.time(time), .time(time + span), .int(start.at), .int(start.key), .int(limit), .bytes(share.bits)])
            let end = try rows.last.map { ListPlace(at: try $0.int64("next_at"), key: try $0.int64("key")) }
            return Page(elements: try rows.map { try $0.json("record") }, next: end.map { "\($0.cursor)/\(number)" })
        }
    }

    /// Pending notifications of all tenants that got their next instant by other zone rules than these.
    public func notifications(
        notBy rules: TimeZoneRulesVersion, limit: Int
    ) async throws(AttachmentError) -> [NotificationRecord] {
        try await read { work in
            try work.run(
                """
                SELECT record FROM notifications
                WHERE next_at IS NOT NULL AND rules IS NOT NULL AND (rules < $1 OR rules > $1) LIMIT $2
                """, [.raw(rules), .int(limit)]
            ).map { try $0.json("record") }
        }
    }

    /// What payloads are made of, read at one instant.
    ///
    /// - Returns: For each tenant that was named.
    public func materials(
        _ names: [TenantID: FiringMaterials.Names]
    ) async throws(AttachmentError) -> [TenantID: FiringMaterials] {
        guard names.values.contains(where: { !$0.isEmpty }) else { return names.mapValues { _ in FiringMaterials() } }
        return try await read { work in
            var found: [TenantID: FiringMaterials] = [:]
            for (tenant, names) in names {
                var materials = FiringMaterials()
                for job in try work.jobRecords(names.jobs, of: tenant) { materials.jobs[job.id] = job }
                for attachment in try work.attachmentRecords(names.attachments, of: tenant) {
                    materials.attachments[attachment.id] = attachment
                }
                materials.categories = try work.categories(names.categories, of: tenant)
                found[tenant] = materials
            }
            return found
        }
    }

    /// Moves the next instant of a notification, where it is still as it was read.
    public func reschedule(
        _ notification: NotificationRecord, next: Occurrence, rules: TimeZoneRulesVersion
    ) async throws(AttachmentError) {
        try await write { work in
            let found = try work.lockNotification(notification.id, of: notification.tenant)
            guard let found else { return }
            try work.apply(
                NotificationDecision.reschedule(notification, found.record, next: next, rules: rules))
        }
    }

    /// Makes firings, and the next instant of each, in one transaction. Each was decided for one reading of its
    /// notification. A notification that was changed meanwhile stays as it is, and keeps no other from firing.
    ///
    /// - Returns: In their order, whether each was made.
    public func carryOut(_ firings: [DecidedFiring]) async throws(AttachmentError) -> [Bool] {
        try await write { work in
            // Done again after an answer that was lost, they are there already.
            if work.mayHaveCommitted {
                let made = try work.run(
                    "SELECT id FROM firings WHERE id = ANY($1::uuid[])", [.uuids(firings.map(\.firing.id.rawValue))]
                ).map { FiringID(rawValue: try $0.text("id")) }
                if !made.isEmpty { return firings.map { made.contains($0.firing.id) } }
            }
            var current = try work.lockCurrent(firings.map(\.read))
            let isMade = firings.map { current.remove(NotificationName($0.read)) != nil }
            try work.apply(zip(firings, isMade).flatMap { $1 ? $0.changes : [] })
            return isMade
        }
    }

    /// The firing that was asked for by hand under this key.
    public func firing(
        by idempotencyKey: String, of notification: NotificationID, tenant: TenantID
    ) async throws(AttachmentError) -> FiringRecord? {
        try await read { work in
            try work.run(
                """
                SELECT firings.place, firings.record FROM notifications
                    JOIN firings ON firings.notification = notifications.key AND firings.idempotency_key = $3
                WHERE notifications.tenant = $1 AND notifications.id = $2
                """, [.raw(tenant), .raw(notification), .text(idempotencyKey)]
            ).first?.firing()
        }
    }

    /// Firings of all tenants that still lack a payload although their time for it was over before `instant`:
    /// the process that began them is gone.
    public func waitingFirings(since instant: Instant, limit: Int) async throws(AttachmentError) -> [Firing] {
        try await read { work in
            try work.run(
                """
                SELECT firings.place, firings.record, notifications.record AS notification FROM firings
                    JOIN notifications ON notifications.key = firings.notification
                WHERE firings.waits_until < $1 ORDER BY firings.waits_until LIMIT $2
                """, [.time(instant), .int(limit)]
            ).map { row in Firing(try row.firing(), of: try row.json("notification")) }
        }
    }

    /// Completes a firing that waits; one that doesn't wait any more stays as it is.
    public func complete(_ completion: FiringCompletion) async throws(AttachmentError) {
        try await write { work in
            guard let found = try work.lockNotification(completion.notification, of: completion.tenant),
                let firing = try work.firing(completion.firing),
                let decided = NotificationDecision.complete(completion, DecidedFiring(firing, of: found.record))
            else { return }
            try work.apply(decided.changes)
        }
    }

    public func firing(
        _ number: Int, of notification: NotificationID, tenant: TenantID
    ) async throws(AttachmentError) -> FiringRecord? {
        try await read { work in
            guard let found = try work.notification(notification, of: tenant) else { return nil }
            return try work.firings("notification = $1 AND number = $2", .int(found.key), .int(number)).first
        }
    }

    /// The latest first.
    public func firings(
        of notification: NotificationID, tenant: TenantID, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<FiringRecord> {
        try await read { work in
            guard let found = try work.notification(notification, of: tenant) else {
                return Page(elements: [], next: nil)
            }
            let rows = try work.run(
                """
                SELECT number, place, record FROM firings WHERE notification = $1 AND number < $2
                ORDER BY number DESC LIMIT $3
                """, [.int(found.key), .int(cursor.flatMap { Int64($0) } ?? Int64(Int32.max)), .int(limit + 1)])
            return try Page(rows.map { (try $0.text("number"), try $0.firing()) }, limit)
        }
    }

    /// A tenant's list: those that have a payload, failed or were missed, in the order of commits. ``FiringRecord/place``
    /// is where the next part starts.
    public func firings(
        of tenant: TenantID, after place: Int64, limit: Int
    ) async throws(AttachmentError) -> [FiringRecord] {
        try await read { work in
            try work.firings(
                "tenant = $1 AND place > $2 ORDER BY place LIMIT $3", .raw(tenant), .int(place), .int(limit))
        }
    }
}

extension RecordTransaction {
    /// Whether a notification is in a share, as ``FiringShare`` has it; all are where that is NULL.
    static func isOwn(_ key: String, in share: String) -> String {
        "(\(share)::bytea IS NULL OR get_bit(\(share)::bytea, \(key) & \(FiringShare.parts - 1)) = 1)"
    }

    /// The same for those that aren't.
    static func isOthers(_ key: String, in share: String) -> String {
        "\(share)::bytea IS NOT NULL AND get_bit(\(share)::bytea, \(key) & \(FiringShare.parts - 1)) = 0"
    }

    /// Finds notifications whose instant in a column has come: the share's own; in what is left of the limit, others' that are overdue,
    /// from the latest on, because the node of a share begins with the soonest.
    ///
    /// - Parameters:
    ///   - column: The column with the instant. `$1` is now, and `$4` how long other nodes wait.
    ///   - limit: `$2`, and the share is `$3`.
    static func due(_ column: String, _ columns: String, from rows: String = "notifications", where condition: String)
        -> String
    {
        """
        WITH own AS MATERIALIZED (
            SELECT \(column) AS at, \(columns) FROM \(rows)
            WHERE \(column) <= $1 AND \(isOwn("notifications.key", in: "$3")) AND \(condition)
            ORDER BY \(column) LIMIT $2),
        others AS MATERIALIZED (
            SELECT \(column) AS at, \(columns) FROM \(rows)
            WHERE \(column) <= $1 - $4::bigint AND \(isOthers("notifications.key", in: "$3")) AND \(condition)
            ORDER BY \(column) DESC LIMIT greatest(0, $2 - (SELECT count(*) FROM own)))
        SELECT * FROM own UNION ALL SELECT * FROM others ORDER BY at
        """
    }

    fileprivate static let dueNotifications = due(
        "next_at", "tenant, id, revision, record",
        where: "(tenant, id) NOT IN (SELECT * FROM unnest($5::text[], $6::text[]))")

    /// The row of a notification.
    struct FoundNotification {
        var key: Int64
        var record: NotificationRecord
    }

    func notification(_ id: NotificationID, of tenant: TenantID) throws -> FoundNotification? {
        try found("SELECT key, record FROM notifications WHERE tenant = $1 AND id = $2", id, tenant)
    }

    func lockNotification(_ id: NotificationID, of tenant: TenantID) throws -> FoundNotification? {
        try found("SELECT key, record FROM notifications WHERE tenant = $1 AND id = $2 FOR UPDATE", id, tenant)
    }

    private func found(_ sql: String, _ id: NotificationID, _ tenant: TenantID) throws -> FoundNotification? {
        try run(sql, [.raw(tenant), .raw(id)]).first.map { row in
            FoundNotification(key: try row.int64("key"), record: try row.json("record"))
        }
    }

    /// Locks those that are still as they were read; all in one order, so that two who fire the same don't wait for each
    /// other in a circle.
    fileprivate func lockCurrent(_ read: [NotificationRecord]) throws -> Set<NotificationName> {
        let rows = try run(
            """
            SELECT notifications.tenant, notifications.id FROM notifications
                JOIN unnest($1::text[], $2::text[], $3::int[]) AS read (tenant, id, revision)
                ON notifications.tenant = read.tenant AND notifications.id = read.id
                    AND notifications.revision = read.revision
            ORDER BY notifications.key FOR UPDATE OF notifications
            """, [.raws(read.map(\.tenant)), .raws(read.map(\.id)), .ints(read.map { Int64($0.revision) })])
        return Set(
            try rows.map { row in
                NotificationName(
                    tenant: try row.value("tenant"), id: try row.value("id")
                )
            })
    }

    /// Pending ones: of each node what it counted.
    fileprivate func pendingNotifications(of tenant: TenantID) throws -> Int {
        try run(
            "SELECT coalesce(sum(count), 0)::bigint AS n FROM pending_notifications WHERE tenant = $1",
            [.raw(tenant)]
        ).first?.int("n") ?? 0
    }

    /// Those that aren't handed over yet, or the others that are still in the list.
    fileprivate func firings(of notification: Int64?, isOpen: Bool) throws -> [FiringRecord] {
        guard let notification else { return [] }
        let states = isOpen ? "state = 'pending'" : "state IN ('delivered', 'failed', 'missed')"
        return try firings("notification = $1 AND \(states)", .int(notification))
    }

    fileprivate func firings(_ condition: String, _ values: SQLValue...) throws -> [FiringRecord] {
        try run("SELECT place, record FROM firings WHERE \(condition)", values).map { try $0.firing() }
    }

    fileprivate func firing(_ id: FiringID) throws -> FiringRecord? {
        try firings("id = $1", .uuid(id.rawValue)).first
    }

    /// A firing's handover came to its end.
    func settleFiring(_ id: FiringID, _ end: NotificationDecision.HandoverEnd) throws {
        guard let known = try firing(id),
            let found = try lockNotification(known.notification, of: known.tenant),
            let firing = try firing(id)
        else { return }
        try apply(NotificationDecision.settle(end, of: firing, of: found.record, at: now))
    }

    /// All in one round trip, but for what ends access. What many want comes last, and in one order: the tenants' lists and
    /// counts.
    func apply(_ changes: [NotificationChange]) throws {
        let links = changes.compactMap { change -> AccessEntry? in
            if case .open(let link) = change { link } else { nil }
        }
        let openable = Set(try openable(links).map(\.id))
        var statements: [Statement] = []
        /// Which of the statements save a notification.
        var saves: [Int] = []
        var listed: [TenantID: [FiringID]] = [:]
        var pending: [TenantID: Int] = [:]
        for change in changes {
            switch change {
            case .save(let record, let before):
                saves.append(statements.count)
                statements.append(try saving(record))
                if before?.pinned ?? [] != record.pinned { statements += pinning(record) }
                pending[record.tenant, default: 0] +=
                    (record.state == .pending ? 1 : 0) - (before?.state == .pending ? 1 : 0)
            case .saveFiring(let firing): statements.append(try saving(firing))
            case .list(let firing, let tenant): listed[tenant, default: []].append(firing)
            case .open(let link): if openable.contains(link.id) { statements.append(try insertion(of: link)) }
            case .openTicket(let ticket): statements.append(try insertion(of: ticket))
            case .close(let ids, let tenant): try close(ids, of: tenant)
            case .closePreviews(let notification, let tenant):
                try closePreviews(of: notification, tenant: tenant)
            case .call(let call): statements.append(enqueueing(call))
            case .cancelCalls(let firing, let tenant):
                statements.append(
                    cancelling(callsOf: firing.rawValue, tenant: tenant, reason: NotificationChange.calledOff))
            case .forgetSources(let notification, let tenant):
                statements.append(forgetting(sourcesOf: notification, tenant))
            }
        }
        for (tenant, firings) in listed.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            statements += listing(firings, of: tenant)
        }
        for (tenant, change) in pending.sorted(by: { $0.key.rawValue < $1.key.rawValue }) where change != 0 {
            statements.append(counting(change, of: tenant))
        }
        guard !statements.isEmpty else { return }
        let rows = try send(statements)
        // Somebody added one of this id a moment before.
        guard saves.allSatisfy({ rows[$0].changes == 1 }) else { throw TransactionConflict() }
    }

    /// Links that open something: what was deleted meanwhile isn't opened by anything.
    func openable(_ links: [AccessEntry]) throws -> [AccessEntry] {
        guard !links.isEmpty else { return [] }
        let rows = try run(
            """
            SELECT link.id, string_agg(renditions.role, ' ') AS roles
            FROM unnest($1::text[], $2::text[], $3::uuid[]) AS link (id, tenant, attachment)
                JOIN renditions ON renditions.tenant = link.tenant AND renditions.attachment = link.attachment
            GROUP BY link.id
            """, [.texts(links.map(\.id)), .raws(links.map(\.tenant)), .uuids(links.map(\.attachment.rawValue))])
        var roles: [String: Set<String>] = [:]
        for row in rows {
            roles[try row.text("id")] = Set(try row.text("roles").split(separator: " ").map(String.init))
        }
        return links.filter { link in
            guard let there = roles[link.id] else { return false }
            return link.renditions.map { !$0.isEmpty && $0.allSatisfy { there.contains($0.rawValue) } } ?? true
        }
    }

    private func saving(_ record: NotificationRecord) throws -> Statement {
        .upsert(
            into: "notifications", by: ["tenant", "id"],
            [
                "tenant": .raw(record.tenant), "id": .raw(record.id), "revision": .int(record.revision),
                "generation": .int(record.generation), "state": .raw(record.state),
                "category": .text(record.submission.category), "next_at": .time(record.next?.at),
                "rules": .raw(record.rules), "shown_at": .time(record.shownAt),
                "finished_at": .time(record.finishedAt), "media_at": .time(record.mediaDueAt),
                "media_job": .raw(record.awaitedJob), "record": try .json(record),
            ], if: "notifications.revision = excluded.revision - 1")
    }

    /// Has retention leave alone what a notification needs, and that alone.
    private func pinning(_ record: NotificationRecord) -> [Statement] {
        let values: [SQLValue] = [.raw(record.tenant), .raw(record.id), .uuids(record.pinned.map(\.rawValue))]
        return [
            Statement(
                """
                DELETE FROM notification_media
                WHERE notification = (SELECT key FROM notifications WHERE tenant = $1 AND id = $2)
                    AND NOT attachment = ANY($3::uuid[])
                """, values),
            Statement(
                """
                INSERT INTO notification_media (notification, tenant, attachment)
                SELECT notifications.key, notifications.tenant, pinned.attachment
                FROM notifications, unnest($3::uuid[]) AS pinned (attachment)
                WHERE notifications.tenant = $1 AND notifications.id = $2
                ON CONFLICT DO NOTHING
                """, values),
        ]
    }

    private func saving(_ firing: FiringRecord) throws -> Statement {
        .insert(
            into: "firings",
            [
                "id": .raw(firing.id), "generation": .int(firing.generation), "number": .int(firing.number),
                "state": .raw(firing.state), "scheduled_at": .time(firing.scheduledAt),
                "is_manual": .bool(firing.isManual), "idempotency_key": .text(firing.idempotencyKey),
                "waits_until": .time(firing.isWaiting ? firing.waitsUntil : nil),
                "created_at": .time(firing.createdAt), "record": try .json(firing),
            ], Self.ofNotification, from: "notifications WHERE tenant = $ AND id = $",
            [.raw(firing.tenant), .raw(firing.notification)],
            """
            ON CONFLICT (id) DO UPDATE SET state = excluded.state, waits_until = excluded.waits_until,
                record = excluded.record
            """)
    }

    /// The columns of what belongs to a notification that tell so.
    static let ofNotification: Columns<String> = ["tenant": "tenant", "notification": "key"]

    /// Puts firings at the end of their tenant's list, in their order. The row of its last place stays locked until the
    /// commit.
    private func listing(_ firings: [FiringID], of tenant: TenantID) -> [Statement] {
        [
            Statement(SeededFault.takingPlaces, [.raw(tenant), .int(firings.count)]),
            Statement(
                """
                UPDATE firings SET place = \(SeededFault.firstPlace) + listed.ordinal
                FROM unnest($2::uuid[]) WITH ORDINALITY AS listed (id, ordinal)
                WHERE firings.id = listed.id
                """, [.raw(tenant), .uuids(firings.map(\.rawValue)), .int(firings.count)]),
        ]
    }

    private func counting(_ change: Int, of tenant: TenantID) -> Statement {
        .add(
            to: "pending_notifications", at: ["tenant": .raw(tenant), "slot": .int(store.node.slot)],
            [("count", .int(change))])
    }
}

extension RecordRow {
    fileprivate func firing() throws -> FiringRecord {
        var firing: FiringRecord = try json("record")
        // Given last, after the record was written.
        firing.place = try optionalInt("place")
        return firing
    }
}

extension ListPlace {
    fileprivate init(_ row: RecordRow) throws {
        self.init(at: try row.int64("at"), key: try row.int64("key"))
    }
}
