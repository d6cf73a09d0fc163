/// Tickets, what they open, and the responses that come by them. What a response comes to is decided by
/// ``ResponseDecision``, the same for every store, and written in one transaction that has its session locked.
public protocol ResponseRecords: Sendable {
    /// Fresh tokens, made with the current key; they open nothing until what they stand for is recorded.
    func newTokens(_ kind: TokenKind, _ count: Int) throws(AttachmentError) -> [NewToken]

    /// What a ticket's token stands for right now; nil for a malformed, unknown, expired or ended one, at the same cost.
    func ticket(of token: AccessToken, _ kind: Ticket.Kind) async throws(AttachmentError) -> Ticket?

    /// Begins tickets and links in one transaction. A link to what was deleted meanwhile doesn't begin.
    ///
    /// - Returns: False where a ticket's notification is gone; then nothing begins.
    func open(_ tickets: [Ticket], _ links: [AccessEntry]) async throws(AttachmentError) -> Bool

    /// Ends a preview with all that it opens. Idempotent: false where the tenant has none of that id.
    func endPreview(_ id: String, of tenant: TenantID) async throws(AttachmentError) -> Bool

    /// Records a response, or finds the one of its id: see ``ResponseDecision/take(_:by:known:session:at:)``.
    ///
    /// - Returns: Nil where the ticket has ended since it was looked at.
    func take(
        _ response: NotificationResponse, by ticket: Ticket
    ) async throws(AttachmentError) -> Result<ResponseTaking, ResponseRefusal>?

    /// Records what a response came to, with the call that tells of it. Whoever comes second changes nothing.
    ///
    /// - Returns: The response as it is then; nil where it or its ticket is gone.
    func settle(
        _ response: NotificationResponse, by ticket: Ticket, _ settlement: ResponseSettlement
    ) async throws(AttachmentError) -> ResponseRecord?

    /// A tenant's responses, in the order in which they came in.
    ///
    /// - Parameter notification: Only those to this one; nil for all.
    func responses(
        of tenant: TenantID, to notification: NotificationID?, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<ResponseRecord>

    /// How many responses a firing got, but for those to previews of it.
    func responseCount(
        of notification: NotificationID, firing: Int, tenant: TenantID
    ) async throws(AttachmentError) -> Int
}

/// A token that is about to stand for something.
public struct NewToken: Hashable, Sendable {
    public var id: String
    /// Of the key that the token is derived with.
    public var kid: String
    public var token: AccessToken

    public init(id: String, kid: String, token: AccessToken) {
        self.id = id
        self.kid = kid
        self.token = token
    }
}
