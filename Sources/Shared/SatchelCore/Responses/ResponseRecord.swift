/// A response as it stands in the store.
public struct ResponseRecord: Hashable, Sendable, Codable {
    public var tenant: TenantID
    public var notification: NotificationID
    /// Nil: to what a firing would be.
    @Nullable public var firing: Int?
    public var generation: Int
    /// The id of the ticket by which it came.
    public var ticket: String
    /// Without text and data where its category keeps none.
    public var response: NotificationResponse
    /// Whether nobody's phone is meant.
    public var isPreview: Bool
    public var receivedAt: Instant
    /// Nil while its handler is asked.
    @Nullable public var answer: ResponseAnswer?
    /// Why no handler decided, as a clause; nil where none was to.
    @Nullable public var reason: String?
    /// The id of the call that forwards it.
    @Nullable public var call: String?

    public init(_ response: NotificationResponse, by ticket: Ticket, _ context: ResponseContext, at now: Instant) {
        tenant = ticket.tenant
        notification = ticket.notification
        firing = ticket.firing
        generation = context.generation
        self.ticket = ticket.id
        self.response = response
        if context.category.responses?.recordText == false {
            self.response.text = nil
            self.response.data = nil
        }
        isPreview = context.isPreview
        receivedAt = now
    }
}
