/// A call as it stands in the store.
public struct CallRecord: Hashable, Sendable {
    public var id: String
    public var tenant: TenantID
    public var type: CallType
    public var content: CallContent
    /// What a message tells of.
    public var subject: String?
    public var url: String
    public var report: WebhookReport
    /// Of the last attempts, in their order.
    public var answers: [CallAnswer]
    public var createdAt: Instant
    public var finishedAt: Instant?

    public init(
        id: String, tenant: TenantID, type: CallType, content: CallContent, subject: String?, url: String,
        report: WebhookReport, answers: [CallAnswer] = [], createdAt: Instant, finishedAt: Instant?
    ) {
        self.id = id
        self.tenant = tenant
        self.type = type
        self.content = content
        self.subject = subject
        self.url = url
        self.report = report
        self.answers = answers
        self.createdAt = createdAt
        self.finishedAt = finishedAt
    }
}

/// What a list of calls is narrowed to.
public struct CallFilter: Hashable, Sendable {
    public var state: WebhookReport.State?
    public var type: CallType?

    public init(state: WebhookReport.State? = nil, type: CallType? = nil) {
        self.state = state
        self.type = type
    }

    /// The states that pass. A store lists the calls of each by an index, and puts the lists together.
    public var states: [WebhookReport.State] { state.map { [$0] } ?? WebhookReport.State.allCases }
}
