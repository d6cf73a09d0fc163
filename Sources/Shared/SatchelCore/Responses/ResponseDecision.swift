/// Decides about responses, from what a store has of them: the same for every store. Nothing here reads or writes.
public enum ResponseDecision {
    /// What a store writes.
    public struct Change: Hashable, Sendable {
        public var record: ResponseRecord
        /// Of the response's ticket and session.
        public var session: ResponseSession
    }

    /// - Parameters:
    ///   - known: The response of this id by this ticket.
    ///   - session: That of the known response, else the response's; nil where the notification was just opened.
    /// - Returns: What is written; nil: nothing.
    public static func take(
        _ response: NotificationResponse, by ticket: Ticket, known: ResponseRecord?, session: ResponseSession?,
        at now: Instant
    ) throws(ResponseRefusal) -> (ResponseTaking, Change?) {
        guard case .responses(let context) = ticket.content else {
            throw .unknownAction(response.action.name, current: [])
        }
        var session = session ?? ResponseSession(of: context.category)
        if let known {
            // Whoever asked the handler is gone, or still waits.
            return (known.answer == nil ? .undecided(session) : .decided(known), nil)
        }
        try session.take(response, of: context.category)
        let record = ResponseRecord(response, by: ticket, context, at: now)
        return (.undecided(session), Change(record: record, session: session))
    }

    /// - Returns: The response as it is then, and what is written; nothing where it was decided meanwhile.
    public static func settle(
        _ record: ResponseRecord, _ session: ResponseSession, by settlement: ResponseSettlement
    ) -> (ResponseRecord, Change?) {
        guard record.answer == nil else { return (record, nil) }
        var (record, session) = (record, session)
        record.answer = session.settle(record.response, by: settlement.answer)
        record.reason = settlement.reason
        record.call = settlement.call?.id
        return (record, Change(record: record, session: session))
    }
}

/// What becomes of a response that came in.
public enum ResponseTaking: Hashable, Sendable {
    /// It came before, and this is what was said to it.
    case decided(ResponseRecord)
    /// It was recorded, in this session; somebody has to decide.
    case undecided(ResponseSession)
}

/// How a response was decided.
public struct ResponseSettlement: Hashable, Sendable {
    /// Nil where nobody was asked, or nobody answered.
    public var answer: HandlerAnswer?
    /// Why no handler decided, as a clause; nil where none was to.
    public var reason: String?
    /// Tells the app's back end.
    public var call: OutgoingCall?

    public init(answer: HandlerAnswer?, reason: String? = nil, call: OutgoingCall? = nil) {
        self.answer = answer
        self.reason = reason
        self.call = call
    }

    public var then: ResponseOption { answer?.then ?? .forward }
}
