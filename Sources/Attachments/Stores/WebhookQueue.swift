/// A call to a job's webhook that is due.
public struct WebhookDelivery: Hashable, Sendable {
    /// The message's id, the same at each attempt.
    public var id: String
    public var tenant: TenantID
    public var job: JobID
    public var url: String
    /// The URL's scheme, host and port, which tell receivers apart.
    public var origin: String
    /// 1 for the first.
    public var attempt: Int
    /// When the job came to its end.
    public var createdAt: Instant
    /// Of the submission, for the call's own header.
    public var traceparent: String?

    public init(
        id: String, tenant: TenantID, job: JobID, url: String, origin: String, attempt: Int, createdAt: Instant,
        traceparent: String? = nil
    ) {
        self.id = id
        self.tenant = tenant
        self.job = job
        self.url = url
        self.origin = origin
        self.attempt = attempt
        self.createdAt = createdAt
        self.traceparent = traceparent
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
}

/// A call, and what became of it.
public struct WebhookResult: Hashable, Sendable {
    public var callback: WebhookDelivery
    public var outcome: WebhookOutcome

    public init(_ outcome: WebhookOutcome, of callback: WebhookDelivery) {
        self.callback = callback
        self.outcome = outcome
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

/// The calls that tell a job's sender of its end.
public protocol WebhookQueue: Sendable {
    /// Records what became of calls, and takes webhooks that are due as far as there are places for them, in one
    /// transaction: what was due first comes first, or, where not all of it can be called at once, whoever has the fewest
    /// calls underway. Nobody else gets what is taken for `duration`.
    func webhooks(
        after results: [WebhookResult], within places: WebhookPlaces, for duration: Duration
    ) async throws(AttachmentError) -> WebhookBatch

    /// Has `tell` called after each commit of this process that made a webhook due; it must not block. The last one who
    /// asks is told.
    func whenWebhooksCome(_ tell: @escaping @Sendable () -> Void)

    /// Has a finished job's webhook called again, with the same message id; false where there is none.
    func replayWebhook(of job: JobID, tenant: TenantID) async throws(AttachmentError) -> Bool
}
