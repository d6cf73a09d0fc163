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

/// The calls that are to be made: those that tell a job's sender of its end, and messages. Stores enqueue them in the
/// transactions that make what they tell of.
public protocol WebhookQueue: Sendable {
    /// Records what became of calls, and takes webhooks that are due as far as there are places for them, in one
    /// transaction: what was due first comes first, or, where not all of it can be called at once, whoever has the fewest
    /// calls underway. A call that is taken belongs to this node until its result is recorded, or the node is dead. The
    /// access that a job opened starts anew when its call is taken.
    ///
    /// - Parameter underway: The ids of the calls that this node has. It may have more without knowing, if an answer was lost;
    ///   these become due again. Nil where that isn't known.
    func webhooks(
        after results: [WebhookResult], within places: WebhookPlaces, besides underway: Set<String>?
    ) async throws(AttachmentError) -> WebhookBatch

    /// Keeps the body of a job's call, so that every attempt sends the same.
    ///
    /// - Returns: The body that is kept, which may be an earlier one; nil if this node does not have the call any more.
    func keep(_ body: TokenTemplate, of call: WebhookDelivery) async throws(AttachmentError) -> TokenTemplate?

    /// Has `tell` called after each commit of this process that made a webhook due; it must not block. The last one who
    /// asks is told.
    func whenWebhooksCome(_ tell: @escaping @Sendable () -> Void)

    /// Has a finished job's webhook called again, with the same message id; false where there is none.
    func replayWebhook(of job: JobID, tenant: TenantID) async throws(AttachmentError) -> Bool

    /// Has a call made again, with the same message id, and no other end than the schedule's; false where the tenant has
    /// none, or it was called off.
    func replayCall(_ id: String, of tenant: TenantID) async throws(AttachmentError) -> Bool

    func call(_ id: String, of tenant: TenantID) async throws(AttachmentError) -> CallRecord?

    /// Newest first, by their ids.
    func calls(
        of tenant: TenantID, where filter: CallFilter, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<CallRecord>
}
