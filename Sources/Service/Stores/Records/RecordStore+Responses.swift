public import SatchelCore
internal import Postgres

/// What was found of a ticket, and when.
struct TicketAnswer: Sendable {
    var ticket: Ticket?
    var now: Instant
}

extension RecordStore {
    /// Fresh tokens, made with the current key; they open nothing until what they stand for is recorded.
    public func newTokens(_ kind: TokenKind, _ count: Int) throws(AttachmentError) -> [NewToken] {
        try keys.newTokens(kind, count)
    }

    /// What a ticket's token stands for right now; nil for a malformed, unknown, expired or ended one, at the same cost.
    public func ticket(of token: AccessToken, _ kind: Ticket.Kind) async throws(AttachmentError) -> Ticket? {
        // Asked for like what a link opens: all that come while the last question is under way ask together.
        let found = try await together(TokenFormat.id(in: token), tickets) { [engine] ids in
            try await Self.look(ids, in: engine)
        }
        return keys.entry(found.ticket, of: token, [kind.token], at: found.now)
    }

    private static func look(_ ids: [String], in engine: any RecordEngine) async throws -> [TicketAnswer] {
        try await engine.look { now in
            Statement(
                """
                SELECT coalesce($2::bigint, \(engine.clock("$2"))) AS now, tickets.record, tickets.ended_at
                FROM unnest($1::text[]) WITH ORDINALITY AS looks (look, place) LEFT JOIN tickets ON tickets.id = looks.look
                ORDER BY looks.place
                """, [.texts(ids), .time(now)])
        } _: { rows in
            guard rows.count == ids.count else { throw PostgresError.unexpectedColumn("looks") }
            return try rows.map { row in
                let isThere = try row.optionalText("record") != nil
                return TicketAnswer(ticket: isThere ? try? row.ticket() : nil, now: try row.instant("now"))
            }
        }
    }

    /// Begins tickets and links in one transaction. A link to what was deleted meanwhile doesn't begin.
    ///
    /// - Returns: False where a ticket's notification is gone; then nothing begins.
    public func open(_ tickets: [Ticket], _ links: [AccessEntry]) async throws(AttachmentError) -> Bool {
        try await write { work in
            // Done again after an answer that was lost, they are there already.
            if work.mayHaveCommitted, let first = tickets.first, try work.ticket(first.id) != nil {
                return true
            }
            for ticket in tickets {
                let notification = try work.run(
                    "SELECT 1 FROM notifications WHERE tenant = $1 AND id = $2 FOR KEY SHARE",
                    [.raw(ticket.tenant), .raw(ticket.notification)])
                guard !notification.isEmpty else { return false }
            }
            _ = try work.send(work.openable(links).map(work.insertion) + tickets.map(work.insertion))
            return true
        }
    }

    /// Ends a preview with all that it opens. Idempotent: false where the tenant has none of that id.
    public func endPreview(_ id: String, of tenant: TenantID) async throws(AttachmentError) -> Bool {
        try await write { work in
            guard let ticket = try work.ticket(id), ticket.tenant == tenant, ticket.kind == .preview else {
                return false
            }
            if ticket.isLive(at: work.now) { work.note(AuditNote(.revoked, .ticket, id, of: tenant)) }
            try work.close([id], of: tenant)
            return true
        }
    }

    /// Records a response, or finds the one of its id: see ``ResponseDecision/take(_:by:known:session:at:)``.
    ///
    /// - Returns: Nil where the ticket has ended since it was looked at.
    public func take(
        _ response: NotificationResponse, by ticket: Ticket
    ) async throws(AttachmentError) -> Result<ResponseTaking, ResponseRefusal>? {
        // Of two that open a session, or bring the same response, at once, the second finds out as it writes, and is done again.
        try await write { work in
            let found = try work.send([
                // The notification can't go any more, so that nothing waits for it behind the lock of the tenant's list.
                Statement(
                    """
                    SELECT 1 FROM tickets JOIN notifications ON notifications.key = tickets.notification
                    WHERE tickets.id = $1 AND ended_at IS NULL AND expires_at > $2 FOR KEY SHARE OF notifications
                    """, [.text(ticket.id), .time(work.now)]),
                work.lockingSession(response.session, by: ticket), work.reading(response.id, by: ticket),
            ])
            guard !found[0].isEmpty else { return nil }
            let known: ResponseRecord? = try found[2].first?.json("record")
            var session: ResponseSession? = try found[1].first?.json("record")
            if let other = known?.response.session, other != response.session {
                let rows = try work.send([work.lockingSession(other, by: ticket)])
                session = try rows[0].first?.json("record")
            }
            let taken: (taking: ResponseTaking, change: ResponseDecision.Change?)
            do throws(ResponseRefusal) {
                taken = try ResponseDecision.take(response, by: ticket, known: known, session: session, at: work.now)
            } catch {
                return .failure(error)
            }
            if let change = taken.change {
                _ = try work.send(
                    [
                        try work.saving(change.session, response.session, by: ticket, isNew: session == nil)
                    ] + work.listing(change.record))
            }
            return .success(taken.taking)
        }
    }

    /// Records what a response came to, with the call that tells of it. The second call changes nothing.
    ///
    /// - Returns: The response as it is then; nil where it or its ticket is gone.
    public func settle(
        _ response: NotificationResponse, by ticket: Ticket, _ settlement: ResponseSettlement
    ) async throws(AttachmentError) -> ResponseRecord? {
        try await write { work in
            let found = try work.send([
                Statement(
                    """
                    SELECT response_sessions.record FROM responses JOIN response_sessions
                        ON response_sessions.ticket = responses.ticket AND response_sessions.id = responses.session
                    WHERE responses.ticket = $1 AND responses.id = $2 FOR UPDATE OF response_sessions
                    """, [.text(ticket.id), .uuid(response.id)]),
                work.reading(response.id, by: ticket),
            ])
            guard let session: ResponseSession = try found[0].first?.json("record"),
                let known: ResponseRecord = try found[1].first?.json("record")
            else { return nil }
            let (record, change) = ResponseDecision.settle(known, session, by: settlement)
            if let change {
                _ = try work.send([
                    try work.saving(change.session, known.response.session, by: ticket, isNew: false),
                    Statement(
                        "UPDATE responses SET record = $3 WHERE ticket = $1 AND id = $2",
                        [.text(ticket.id), .uuid(response.id), try .json(record)]),
                ])
                if let call = settlement.call { _ = try work.send([work.enqueueing(call)]) }
            }
            return record
        }
    }

    /// A tenant's responses, in the order in which they came in.
    ///
    /// - Parameter notification: Only those to this one; nil for all.
    public func responses(
        of tenant: TenantID, to notification: NotificationID?, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<ResponseRecord> {
        let place = cursor.flatMap { Int64($0) } ?? 0
        return try await read { work in
            var conditions = "tenant = $1"
            var values: [SQLValue] = [.raw(tenant), .int(place), .int(limit + 1)]
            if let notification {
                conditions = "notification = (SELECT key FROM notifications WHERE tenant = $1 AND id = $4)"
                values.append(.raw(notification))
            }
            let rows = try work.run(
                "SELECT place, record FROM responses WHERE \(conditions) AND place > $2 ORDER BY place LIMIT $3", values
            )
            return try Page(rows.map { (try $0.text("place"), try $0.json("record")) }, limit)
        }
    }

    /// How many responses a firing got, but for those to previews of it.
    public func responseCount(
        of notification: NotificationID, firing: Int, tenant: TenantID
    ) async throws(AttachmentError) -> Int {
        try await read { work in
            try work.run(
                """
                SELECT count(*) AS n FROM responses
                WHERE notification = (SELECT key FROM notifications WHERE tenant = $1 AND id = $2) AND firing = $3
                    AND NOT is_preview
                """, [.raw(tenant), .raw(notification), .int(firing)]
            ).first?.int("n") ?? 0
        }
    }
}

extension RecordTransaction {
    func ticket(_ id: String) throws -> Ticket? {
        try run("SELECT record, ended_at FROM tickets WHERE id = $1", [.text(id)]).first?.ticket()
    }

    func insertion(of ticket: Ticket) throws -> Statement {
        .insert(
            into: "tickets",
            [
                "id": .text(ticket.id), "kind": .raw(ticket.kind), "kid": .text(ticket.kid),
                "expires_at": .time(ticket.expiresAt), "record": try .json(ticket),
            ], Self.ofNotification, from: "notifications WHERE tenant = $ AND id = $",
            [.raw(ticket.tenant), .raw(ticket.notification)])
    }

    /// Ends links and tickets, with what ends with these.
    func close(_ ids: [String], of tenant: TenantID) throws {
        guard !ids.isEmpty else { return }
        try close("id = ANY($3::text[])", .texts(ids), of: tenant, links: ids)
    }

    func closePreviews(of notification: NotificationID, tenant: TenantID) throws {
        try close(
            "kind = 'preview' AND notification = (SELECT key FROM notifications WHERE tenant = $1 AND id = $3)",
            .raw(notification), of: tenant, links: [])
    }

    /// - Parameter tickets: Which tickets end, by `$1`, the tenant, and `$3`.
    private func close(
        _ tickets: String, _ value: SQLValue, of tenant: TenantID, links: [String]
    ) throws {
        let now = SQLValue.time(now)
        let ended = try send([
            Statement(
                """
                UPDATE access SET ended_at = $2
                WHERE id = ANY($3::text[]) AND tenant = $1 AND kind = 'link' AND ended_at IS NULL
                """, [.raw(tenant), now, .texts(links)]),
            Statement(
                "UPDATE tickets SET ended_at = $2 WHERE \(tickets) AND tenant = $1 AND ended_at IS NULL RETURNING record, ended_at",
                [.raw(tenant), now, value]),
        ])
        takesBack = takesBack || ended.contains { $0.changes > 0 }
        change(tenant, .link, by: -ended[0].changes)
        let closed = try ended[1].flatMap { try $0.ticket().closes }
        try close(closed, of: tenant)
    }

    fileprivate func lockingSession(_ id: String, by ticket: Ticket) -> Statement {
        Statement(
            "SELECT record FROM response_sessions WHERE ticket = $1 AND id = $2 FOR UPDATE",
            [.text(ticket.id), .uuid(id)])
    }

    fileprivate func saving(
        _ session: ResponseSession, _ id: String, by ticket: Ticket, isNew: Bool
    ) throws -> Statement {
        Statement(
            isNew
                ? "INSERT INTO response_sessions (ticket, id, record) VALUES ($1, $2, $3)"
                : "UPDATE response_sessions SET record = $3 WHERE ticket = $1 AND id = $2",
            [.text(ticket.id), .uuid(id), try .json(session)])
    }

    fileprivate func reading(_ response: String, by ticket: Ticket) -> Statement {
        Statement(
            "SELECT record FROM responses WHERE ticket = $1 AND id = $2", [.text(ticket.id), .uuid(response)])
    }

    /// Adds a response at the end of its tenant's list: always the last statements of a transaction, so that a reader of
    /// the list does not miss one that is committed later.
    fileprivate func listing(_ response: ResponseRecord) throws -> [Statement] {
        [
            .add(to: "tenants", at: ["tenant": .raw(response.tenant)], [("last_response", 1)]),
            .insert(
                into: "responses",
                [
                    "ticket": .text(response.ticket), "id": .uuid(response.response.id),
                    "session": .uuid(response.response.session), "firing": .int(response.firing.map { Int64($0) }),
                    "is_preview": .bool(response.isPreview), "received_at": .time(response.receivedAt),
                    "record": try .json(response),
                ], ["tenant": "notifications.tenant", "place": "last_response", "notification": "key"],
                from: """
                    notifications JOIN tenants ON tenants.tenant = notifications.tenant
                    WHERE notifications.tenant = $ AND notifications.id = $
                    """, [.raw(response.tenant), .raw(response.notification)]),
        ]
    }
}

extension RecordRow {
    func ticket() throws -> Ticket {
        var ticket: Ticket = try json("record")
        ticket.endedAt = try optionalInstant("ended_at")
        return ticket
    }
}
