public import SatchelCore
internal import HashTreeCollections

extension MemoryRecordStore {
    public func newTokens(_ kind: TokenKind, _ count: Int) throws(AttachmentError) -> [NewToken] {
        try tokens.newTokens(kind, count)
    }

    public func ticket(of token: AccessToken, _ kind: Ticket.Kind) async throws(AttachmentError) -> Ticket? {
        read { [tokens] tables, now in tokens.entry(of: token, [kind.token], at: now) { tables.tickets[$0] } }
    }

    public func open(_ tickets: [Ticket], _ links: [AccessEntry]) async throws(AttachmentError) -> Bool {
        try await write { tables, _ in
            guard tickets.allSatisfy({ tables.hasNotification(of: $0) }) else { return false }
            for link in links { tables.begin(link) }
            for ticket in tickets { tables.tickets[ticket.id] = ticket }
            return true
        }
    }

    public func endPreview(_ id: String, of tenant: TenantID) async throws(AttachmentError) -> Bool {
        try await write { tables, now in
            guard let ticket = tables.tickets[id], ticket.tenant == tenant, ticket.kind == .preview else {
                return false
            }
            if ticket.isLive(at: now) { tables.note(AuditNote(.revoked, .ticket, id, of: tenant), at: now) }
            tables.close([id], of: tenant, at: now)
            return true
        }
    }

    public func take(
        _ response: NotificationResponse, by ticket: Ticket
    ) async throws(AttachmentError) -> Result<ResponseTaking, ResponseRefusal>? {
        try await write { tables, now in
            guard tables.tickets[ticket.id]?.isLive(at: now) ?? false else { return nil }
            let known = tables.responses[.init(ticket: ticket.id, id: response.id)]?.record
            let session = tables.sessions[.init(ticket: ticket.id, id: (known?.response ?? response).session)]
            do throws(ResponseRefusal) {
                let (taking, change) = try ResponseDecision.take(
                    response, by: ticket, known: known, session: session, at: now)
                if let change { tables.apply(change) }
                return .success(taking)
            } catch {
                return .failure(error)
            }
        }
    }

    public func settle(
        _ response: NotificationResponse, by ticket: Ticket, _ settlement: ResponseSettlement
    ) async throws(AttachmentError) -> ResponseRecord? {
        try await write { tables, now in
            guard let known = tables.responses[.init(ticket: ticket.id, id: response.id)]?.record,
                let session = tables.sessions[.init(ticket: ticket.id, id: known.response.session)]
            else { return nil }
            let (record, change) = ResponseDecision.settle(known, session, by: settlement)
            if let change {
                tables.apply(change)
                if let call = settlement.call { tables.enqueue(call, at: now) }
            }
            return record
        }
    }

    public func responses(
        of tenant: TenantID, to notification: NotificationID?, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<ResponseRecord> {
        read { tables, _ in
            let after = cursor.flatMap { Int64($0) } ?? 0
            let found = tables.responses.values.filter { response in
                response.key > after && response.record.tenant == tenant
                    && notification.map { $0 == response.record.notification } ?? true
            }.sorted { $0.key < $1.key }.prefix(limit + 1)
            return Page(found.map { (NotificationPlace(at: 0, key: $0.key), $0.record) }, limit) { "\($0.key)" }
        }
    }

    public func responseCount(
        of notification: NotificationID, firing: Int, tenant: TenantID
    ) async throws(AttachmentError) -> Int {
        read { tables, _ in
            tables.responses.values.count { response in
                let record = response.record
                return record.tenant == tenant && record.notification == notification && record.firing == firing
                    && !record.isPreview
            }
        }
    }
}

extension MemoryTables {
    /// Of a ticket, which nothing is found without.
    struct ByTicket: Hashable, Sendable {
        var ticket: String
        var id: String
    }

    struct Response: Sendable {
        /// Orders them.
        var key: Int64
        var record: ResponseRecord
    }

    fileprivate func hasNotification(of ticket: Ticket) -> Bool {
        notifications[Owned(tenant: ticket.tenant, id: ticket.notification)] != nil
    }

    /// Begins a link, but to what was deleted meanwhile.
    mutating func begin(_ link: AccessEntry) {
        if attachments[Owned(tenant: link.tenant, id: link.attachment)] != nil { put(link) }
    }

    /// Ends links and tickets, with what ends with these.
    mutating func close(_ ids: [String], of tenant: TenantID, at now: Instant) {
        for id in ids {
            if access[id]?.tenant == tenant {
                end(id, at: now)
            } else if let ticket = tickets[id], ticket.tenant == tenant, ticket.endedAt == nil {
                tickets[id]?.endedAt = now
                takesAccessBack = true
                close(ticket.closes, of: tenant, at: now)
            }
        }
    }

    mutating func closePreviews(of notification: NotificationID, tenant: TenantID, at now: Instant) {
        let previews = tickets.values.filter {
            $0.kind == .preview && $0.notification == notification && $0.tenant == tenant
        }
        close(previews.map(\.id), of: tenant, at: now)
    }

    fileprivate mutating func apply(_ change: ResponseDecision.Change) {
        let place = ByTicket(ticket: change.record.ticket, id: change.record.response.id)
        responses[place] = Response(key: responses[place]?.key ?? nextKey(), record: change.record)
        sessions[ByTicket(ticket: change.record.ticket, id: change.record.response.session)] = change.session
    }

    /// Forgets what came by tickets of a notification that is forgotten.
    mutating func forgetResponses(to notification: NotificationID, of tenant: TenantID) {
        for (id, ticket) in tickets where ticket.tenant == tenant && ticket.notification == notification {
            forget(ticket: id)
        }
        for (place, response) in responses
        where response.record.tenant == tenant && response.record.notification == notification {
            responses[place] = nil
        }
    }

    private mutating func forget(ticket id: String) {
        if tickets.removeValue(forKey: id)?.endedAt == nil { takesAccessBack = true }
        for place in sessions.keys where place.ticket == id { sessions[place] = nil }
    }

    /// What nobody needs to know any more, at most `limit` of each kind.
    ///
    /// - Returns: Whether that was all.
    mutating func forgetResponses(limit: Int, at now: Instant) -> Bool {
        let end = now - NotificationRetention.finished
        let old = responses.filter { $0.value.record.receivedAt <= end }.keys.prefix(limit)
        for place in old { responses[place] = nil }
        let over = tickets.values.filter { $0.expiresAt + NotificationRetention.ticket <= now }.map(\.id).prefix(limit)
        for id in over { forget(ticket: id) }
        return max(old.count, over.count) < limit
    }
}
