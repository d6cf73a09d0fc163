/// What a call tells its receiver. Newer programs may know more than this one.
public struct CallType: Hashable, Sendable, RawRepresentable, CaseIterable {
    public var rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// A job came to its end: its callback.
    public static let jobFinished = CallType(rawValue: "job.finished")
    /// A firing: its payload, ready to be sent.
    public static let notificationFired = CallType(rawValue: "notification.fired")
    /// A firing that came to nothing.
    public static let notificationFailed = CallType(rawValue: "notification.failed")
    /// A response, which is the app's.
    public static let notificationResponse = CallType(rawValue: "notification.response")
    /// Media of a notification that failed before it fires.
    public static let notificationMediaFailed = CallType(rawValue: "notification.media_failed")
    /// An instant that passed while nobody was there.
    public static let notificationMissed = CallType(rawValue: "notification.missed")

    /// All bytes of an upload are there.
    public static let uploadCompleted = CallType(rawValue: "upload.completed")
    /// An upload that came to nothing.
    public static let uploadExpired = CallType(rawValue: "upload.expired")

    /// Those that this program makes.
    public static let allCases: [CallType] = [
        .jobFinished, .notificationFired, .notificationFailed, .notificationMissed, .notificationMediaFailed,
        .notificationResponse, .uploadCompleted, .uploadExpired,
    ]
}

/// What is sent with a call.
public enum CallContent: Hashable, Sendable {
    /// A job, as it was when its call was first taken; nil before that.
    case job(JobID, body: TokenTemplate? = nil)
    /// A message, as it was made.
    case message(TokenTemplate)
}

/// A message to a receiver, to be enqueued in the transaction that makes what it tells of.
public struct OutgoingCall: Hashable, Sendable {
    /// The `webhook-id`, the same at each attempt: a UUID of version 7 in lower case, as calls are listed by it.
    public var id: String
    public var tenant: TenantID
    public var type: CallType
    /// What it tells of, by which it can be called off.
    public var subject: String?
    public var url: String
    public var body: TokenTemplate
    /// After this no attempt is made; nil for the lifetime of the ``WebhookSchedule``.
    public var giveUpAt: Instant?
    public var traceparent: String?
    /// Whether its body is kept once it was delivered; else the call goes then.
    public var isKept: Bool

    public init(
        id: String, tenant: TenantID, type: CallType, subject: String?, url: String, body: TokenTemplate,
        giveUpAt: Instant? = nil, traceparent: String? = nil, isKept: Bool = true
    ) {
        self.id = id
        self.tenant = tenant
        self.type = type
        self.subject = subject
        self.url = url
        self.body = body
        self.giveUpAt = giveUpAt
        self.traceparent = traceparent
        self.isKept = isKept
    }
}
