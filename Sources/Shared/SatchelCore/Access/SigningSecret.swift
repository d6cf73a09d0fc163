/// A secret that a tenant's webhooks are signed with, and how long that is so.
public struct SigningSecret: Hashable, Sendable {
    /// Says nothing of the secret.
    public var id: String
    public var secret: WebhookSecret
    public var createdAt: Instant
    /// Nil where nobody has said.
    public var endsAt: Instant?

    public init(id: String, secret: WebhookSecret, createdAt: Instant, endsAt: Instant?) {
        self.id = id
        self.secret = secret
        self.createdAt = createdAt
        self.endsAt = endsAt
    }
}
