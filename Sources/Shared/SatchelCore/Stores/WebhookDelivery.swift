/// A call to a webhook that is due.
public struct WebhookDelivery: Hashable, Sendable {
    /// The message's id, the same at each attempt.
    public var id: String
    public var tenant: TenantID
    public var type: CallType
    public var content: CallContent
    /// What a message tells of.
    public var subject: String?
    public var url: String
    /// The URL's scheme, host and port, which tell receivers apart.
    public var origin: String
    /// 1 for the first.
    public var attempt: Int
    /// When it was made: when its job came to its end.
    public var createdAt: Instant
    /// After this no attempt is made.
    public var giveUpAt: Instant?
    /// Of the submission, for the call's own header.
    public var traceparent: String?
    /// Of the attempts before.
    public var answers: [CallAnswer]

    public init(
        id: String, tenant: TenantID, type: CallType, content: CallContent, subject: String? = nil, url: String,
        origin: String, attempt: Int, createdAt: Instant, giveUpAt: Instant? = nil, traceparent: String? = nil,
        answers: [CallAnswer] = []
    ) {
        self.id = id
        self.tenant = tenant
        self.type = type
        self.content = content
        self.subject = subject
        self.url = url
        self.origin = origin
        self.attempt = attempt
        self.createdAt = createdAt
        self.giveUpAt = giveUpAt
        self.traceparent = traceparent
        self.answers = answers
    }

    public var receiver: WebhookReceiver { WebhookReceiver(tenant: tenant, origin: origin) }
}

/// What became of a call to a webhook.
public enum WebhookOutcome: Hashable, Sendable {
    /// The receiver answered 2xx.
    case delivered
    /// Another attempt is due after this.
    case again(after: Duration, reason: String)
    /// No more attempts.
    case failed(reason: String)
    /// No more attempts: the receiver answered 410. It wants no more of what the call tells of.
    case gone

    /// Why it isn't delivered, for the record; nil where it is.
    public var reason: String? {
        switch self {
        case .delivered: nil
        case .again(_, let reason), .failed(let reason): reason
        case .gone: "the receiver asked for no more calls (410 Gone)"
        }
    }
}

/// A call, and what became of it.
public struct WebhookResult: Hashable, Sendable {
    public var callback: WebhookDelivery
    public var outcome: WebhookOutcome
    /// Nil where nobody was called.
    public var answer: CallAnswer?

    public init(_ outcome: WebhookOutcome, of callback: WebhookDelivery, _ answer: CallAnswer? = nil) {
        self.callback = callback
        self.outcome = outcome
        self.answer = answer
    }

    /// What is kept of the call's attempts then; nil where nothing has come to it.
    public var answers: [CallAnswer]? {
        answer.map { (callback.answers + [$0]).suffix(CallAnswer.kept) }
    }
}

/// Calls to make now.
public struct WebhookBatch: Hashable, Sendable {
    public var calls: [WebhookDelivery]
    /// Until it is worth asking again, where no call comes to its end before; nil where nothing is to be called.
    public var next: Duration?
    /// For ``WebhookPlaces/turn``.
    public var turn: WebhookReceiver?

    public init(calls: [WebhookDelivery] = [], next: Duration? = nil, turn: WebhookReceiver? = nil) {
        self.calls = calls
        self.next = next
        self.turn = turn
    }
}
