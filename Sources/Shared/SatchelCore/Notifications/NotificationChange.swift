/// What a decision about notifications changes in a store; all changes of one decision are one transaction.
public enum NotificationChange: Hashable, Sendable {
    /// Put in the place of the one that was decided from, which is of the revision before; nil: added.
    case save(NotificationRecord, over: NotificationRecord?)
    /// Put in the place of the one of this id, or added.
    case saveFiring(FiringRecord)
    /// The firing, which is saved in the same transaction, goes to the end of its tenant's list. Where several write at once,
    /// always by the last statement, so that nobody who reads the list passes one that is committed later.
    case list(FiringID, of: TenantID)
    /// Access begins: the links of a payload.
    case open(AccessEntry)
    /// A ticket begins: a payload's, for responses.
    case openTicket(Ticket)
    /// Links and tickets end, with what ends with these.
    case close([String], of: TenantID)
    /// All previews of a notification end.
    case closePreviews(NotificationID, of: TenantID)
    /// Somebody is to be told.
    case call(OutgoingCall)
    /// Nobody is to be told any more: the calls of this firing that aren't through.
    case cancelCalls(FiringID, of: TenantID)
    /// What its media are made of isn't needed any more.
    case forgetSources(NotificationID, of: TenantID)

    /// Why, as a record says it.
    public static let calledOff = "the notification was changed or removed"
}

extension WebhookDelivery {
    /// The firing that this call hands over, where it came to its end.
    public func settles(_ outcome: WebhookOutcome) -> (FiringID, NotificationDecision.HandoverEnd)? {
        guard type == .notificationFired, let subject else { return nil }
        let firing = FiringID(rawValue: subject)
        return switch outcome {
        case .delivered: (firing, .delivered)
        case .failed(let reason): (firing, .failed(reason: reason))
        case .gone: (firing, .gone)
        case .again: nil
        }
    }
}

/// A notification that is to be put into a store.
public struct NewNotification: Hashable, Sendable {
    public var id: NotificationID
    public var tenant: TenantID
    public var bodyDigest: String
    public var submission: NotificationSubmission
    public var job: JobID?
    public var attachments: [AttachmentID]
    public var next: Occurrence?
    public var rules: TimeZoneRulesVersion?
    /// When it was accepted, by the store's clock: what ``next`` was counted from.
    public var acceptedAt: Instant
    /// What is made of URLs, as a job of which others are made: for what is prepared or tried again later. Nil where nothing
    /// is. A store keeps the headers for origins sealed.
    public var sources: JobSubmission?

    public init(
        id: NotificationID, tenant: TenantID, bodyDigest: String, submission: NotificationSubmission, job: JobID?,
        attachments: [AttachmentID], next: Occurrence?, rules: TimeZoneRulesVersion?, acceptedAt: Instant,
        sources: JobSubmission? = nil
    ) {
        self.id = id
        self.tenant = tenant
        self.bodyDigest = bodyDigest
        self.submission = submission
        self.job = job
        self.attachments = attachments
        self.next = next
        self.rules = rules
        self.acceptedAt = acceptedAt
        self.sources = sources
    }
}

/// What became of a notification that was put.
public enum NotificationAnswer: Hashable, Sendable {
    case created(NotificationRecord)
    /// Another body took the place of the one before.
    case replaced(NotificationRecord)
    /// The same body is there.
    case unchanged(NotificationRecord)

    public var record: NotificationRecord {
        switch self {
        case .created(let record), .replaced(let record), .unchanged(let record): record
        }
    }
}

/// That a notification is to fire.
public struct FiringRequest: Hashable, Sendable {
    public enum Cause: Hashable, Sendable {
        /// The trigger's instant came: `expected` is the record's next, else nothing is done.
        case due(expected: Occurrence, DueDecision, rules: TimeZoneRulesVersion?)
        /// Somebody asked for it, beside the schedule.
        case manual(idempotencyKey: String?, hasHandover: Bool)
    }

    public var id: FiringID
    public var cause: Cause
    /// Tells the receiver that it was missed.
    public var missedCall: OutgoingCall?

    public init(id: FiringID = .generate(), cause: Cause, missedCall: OutgoingCall? = nil) {
        self.id = id
        self.cause = cause
        self.missedCall = missedCall
    }
}

/// What a firing that waited comes to.
public struct FiringCompletion: Hashable, Sendable {
    /// A payload that was made.
    public struct Finished: Hashable, Sendable {
        public var payload: TokenTemplate
        public var links: [AccessEntry]
        /// For responses; nil where it takes none.
        public var ticket: Ticket?
        public var media: [FiringMedium]
        public var dropped: [String]
        /// Tells the receiver; nil where nobody is told.
        public var call: OutgoingCall?

        public init(
            payload: TokenTemplate, links: [AccessEntry], ticket: Ticket? = nil, media: [FiringMedium],
            dropped: [String], call: OutgoingCall?
        ) {
            self.payload = payload
            self.links = links
            self.ticket = ticket
            self.media = media
            self.dropped = dropped
            self.call = call
        }
    }

    public var firing: FiringID
    public var tenant: TenantID
    public var notification: NotificationID
    /// When it was due.
    public var scheduledAt: Instant
    /// By the store's clock.
    public var at: Instant
    public var outcome: Outcome

    public enum Outcome: Hashable, Sendable {
        case finished(Finished)
        /// - Parameter call: Tells the receiver; nil where nobody is told.
        case failed(ErrorReport, call: OutgoingCall?)
    }

    public init(_ firing: FiringRecord, at: Instant, _ outcome: Outcome) {
        self.firing = firing.id
        tenant = firing.tenant
        notification = firing.notification
        scheduledAt = firing.scheduledAt
        self.at = at
        self.outcome = outcome
    }
}
