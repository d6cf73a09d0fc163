public import SatchelCore
internal import GRDB

extension SQLiteRecordStore {
    public func newTokens(_ kind: TokenKind, _ count: Int) throws(AttachmentError) -> [NewToken] {
        try keys.newTokens(kind, count)
    }

    public func ticket(of token: AccessToken, _ kind: Ticket.Kind) async throws(AttachmentError) -> Ticket? {
        try await read { [keys] database, now in
            try keys.entry(of: token, [kind.token], at: now) { try database.ticket($0) }
        }
    }

    public func open(_ tickets: [Ticket], _ links: [AccessEntry]) async throws(AttachmentError) -> Bool {
        try await write { database, _ in
            for ticket in tickets {
                guard try database.notification(ticket.notification, of: ticket.tenant) != nil else { return false }
            }
            for link in links { try database.begin(link) }
            for ticket in tickets { try database.insert(ticket) }
            return true
        }
    }

    public func endPreview(_ id: String, of tenant: TenantID) async throws(AttachmentError) -> Bool {
        try await write { database, now in
            guard let ticket = try database.ticket(id), ticket.tenant == tenant, ticket.kind == .preview else {
                return false
            }
            if ticket.isLive(at: now) { try database.note(AuditNote(.revoked, .ticket, id, of: tenant), at: now) }
            try database.close([id], of: tenant, at: now)
            return true
        }
    }

    public func take(
        _ response: NotificationResponse, by ticket: Ticket
    ) async throws(AttachmentError) -> Result<ResponseTaking, ResponseRefusal>? {
        try await write { database, now in
            guard try database.ticket(ticket.id)?.isLive(at: now) ?? false else { return nil }
            let known = try database.response(response.id, by: ticket)
            let session = try database.session((known?.response ?? response).session, by: ticket)
            let taken: (taking: ResponseTaking, change: ResponseDecision.Change?)
            do throws(ResponseRefusal) {
                taken = try ResponseDecision.take(response, by: ticket, known: known, session: session, at: now)
            } catch {
                return .failure(error)
            }
            if let change = taken.change {
                try database.save(change.session, response.session, by: ticket)
                try database.insert(change.record)
            }
            return .success(taken.taking)
        }
    }

    public func settle(
        _ response: NotificationResponse, by ticket: Ticket, _ settlement: ResponseSettlement
    ) async throws(AttachmentError) -> ResponseRecord? {
        try await write { database, now in
            guard let known = try database.response(response.id, by: ticket),
                let session = try database.session(known.response.session, by: ticket)
            else { return nil }
            let (record, change) = ResponseDecision.settle(known, session, by: settlement)
            if let change {
                try database.save(change.session, known.response.session, by: ticket)
                try database.run(
                    "UPDATE responses SET record = ? WHERE ticket = ? AND id = ?",
                    [try Column.text(record), ticket.id, record.response.id])
                if let call = settlement.call { try database.enqueue(call, at: now) }
            }
            return record
        }
    }

    public func responses(
        of tenant: TenantID, to notification: NotificationID?, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<ResponseRecord> {
        let place = cursor.flatMap { Int64($0) } ?? 0
        return try await read { database, _ in
            let rows: [Row]
            if let notification {
                guard let found = try database.notification(notification, of: tenant) else {
                    return Page(elements: [], next: nil)
                }
                rows = try database.rows(
                    "SELECT place, record FROM responses WHERE notification = ? AND place > ? ORDER BY place LIMIT ?",
                    [found.key, place, limit + 1])
            } else {
                rows = try database.rows(
                    "SELECT place, record FROM responses WHERE tenant = ? AND place > ? ORDER BY place LIMIT ?",
                    [tenant.rawValue, place, limit + 1])
            }
            return try Page(rows.map { try (NotificationPlace(at: 0, key: $0["place"]), $0.response()) }, limit) {
                "\($0.key)"
            }
        }
    }

    public func responseCount(
        of notification: NotificationID, firing: Int, tenant: TenantID
    ) async throws(AttachmentError) -> Int {
        try await read { database, _ in
            let count = try database.number(
                """
                SELECT count(*) FROM responses
                WHERE notification = (SELECT key FROM notifications WHERE tenant = ? AND id = ?) AND firing = ?
                    AND NOT is_preview
                """, [tenant.rawValue, notification.rawValue, firing])
            return Int(count ?? 0)
        }
    }
}

extension Database {
    func ticket(_ id: String) throws -> Ticket? {
        try row("SELECT record, ended_at FROM tickets WHERE id = ?", [id])?.ticket()
    }

    /// Begins a link, but to what was deleted meanwhile.
    func begin(_ link: AccessEntry) throws {
        if try hasRenditions(link.renditions, link.attachment, of: link.tenant) { try insert(link) }
    }

    func insert(_ ticket: Ticket) throws {
        try run(
            """
            INSERT INTO tickets (id, tenant, notification, kind, kid, expires_at, record)
            SELECT ?, tenant, key, ?, ?, ?, ? FROM notifications WHERE tenant = ? AND id = ?
            """,
            [
                ticket.id, ticket.kind.rawValue, ticket.kid, ticket.expiresAt.milliseconds, try Column.text(ticket),
                ticket.tenant.rawValue, ticket.notification.rawValue,
            ])
    }

    /// Ends links and tickets, with what ends with these.
    func close(_ ids: [String], of tenant: TenantID, at now: Instant) throws {
        for id in ids {
            if let link = try access(id, of: tenant, [.link]) {
                try end(link, at: now)
            } else if let ended = try row(
                """
                UPDATE tickets SET ended_at = ? WHERE id = ? AND tenant = ? AND ended_at IS NULL
                RETURNING record, ended_at
                """, [now.milliseconds, id, tenant.rawValue])
            {
                try close(ended.ticket().closes, of: tenant, at: now)
            }
        }
    }

    func closePreviews(of notification: NotificationID, tenant: TenantID, at now: Instant) throws {
        let previews = try texts(
            """
            SELECT id FROM tickets
            WHERE notification = (SELECT key FROM notifications WHERE tenant = ? AND id = ?) AND kind = 'preview'
                AND ended_at IS NULL
            """, [tenant.rawValue, notification.rawValue])
        try close(previews, of: tenant, at: now)
    }

    fileprivate func response(_ id: String, by ticket: Ticket) throws -> ResponseRecord? {
        try row("SELECT record FROM responses WHERE ticket = ? AND id = ?", [ticket.id, id])?.response()
    }

    fileprivate func session(_ id: String, by ticket: Ticket) throws -> ResponseSession? {
        try row("SELECT record FROM response_sessions WHERE ticket = ? AND id = ?", [ticket.id, id]).map {
            try Column.value(ResponseSession.self, from: $0["record"])
        }
    }

    fileprivate func save(_ session: ResponseSession, _ id: String, by ticket: Ticket) throws {
        try run(
            """
            INSERT INTO response_sessions (ticket, id, record) VALUES (?, ?, ?)
            ON CONFLICT (ticket, id) DO UPDATE SET record = excluded.record
            """, [ticket.id, id, try Column.text(session)])
    }

    /// Adds a response at the end of its tenant's list.
    fileprivate func insert(_ response: ResponseRecord) throws {
        let place = try number(
            """
            INSERT INTO tenants (tenant, last_response) VALUES (?, 1)
            ON CONFLICT (tenant) DO UPDATE SET last_response = last_response + 1 RETURNING last_response
            """, [response.tenant.rawValue])
        try run(
            """
            INSERT INTO responses (tenant, place, notification, ticket, id, session, firing, is_preview, received_at, record)
            SELECT tenant, ?, key, ?, ?, ?, ?, ?, ?, ? FROM notifications WHERE tenant = ? AND id = ?
            """,
            [
                place, response.ticket, response.response.id, response.response.session, response.firing,
                response.isPreview, response.receivedAt.milliseconds, try Column.text(response),
                response.tenant.rawValue, response.notification.rawValue,
            ])
    }
}

extension Row {
    fileprivate func ticket() throws -> Ticket {
        var ticket = try Column.value(Ticket.self, from: self["record"])
        ticket.endedAt = instant("ended_at")
        return ticket
    }

    fileprivate func response() throws -> ResponseRecord {
        try Column.value(ResponseRecord.self, from: self["record"])
    }
}
