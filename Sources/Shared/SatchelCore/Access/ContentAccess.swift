/// How content is delivered.
public enum DeliveryMode: String, Hashable, Sendable, Codable, CaseIterable {
    /// For one reader: never cached by others, ends at once when it is taken back.
    case `private`
    /// For broadcasts: caches may keep it up to the link's end, so taking it back is as fast as the cache.
    case shared
}

/// What a lease or a link opens right now.
public struct ContentAccess: Hashable, Sendable {
    /// The lease's or link's id.
    public var id: String
    public var tenant: TenantID
    public var attachment: AttachmentID
    public var role: RenditionRole
    public var rendition: Rendition
    public var blob: BlobName
    public var delivery: DeliveryMode
    /// No read starts afterwards.
    public var expiresAt: Instant
    /// Until then, as it was looked at.
    public var remaining: Duration

    /// - Parameter now: The store's time.
    public init(
        id: String, tenant: TenantID, attachment: AttachmentID, role: RenditionRole, rendition: Rendition,
        blob: BlobName, delivery: DeliveryMode, expiresAt: Instant, at now: Instant
    ) {
        self.id = id
        self.tenant = tenant
        self.attachment = attachment
        self.role = role
        self.rendition = rendition
        self.blob = blob
        self.delivery = delivery
        self.expiresAt = expiresAt
        remaining = expiresAt - now
    }
}

/// The access that a job opened to one of its attachments when it delivered: what its answer has URLs from.
public struct OpenedAccess: Hashable, Sendable {
    public var attachment: AttachmentID
    /// The lease's or link's id.
    public var id: String
    public var kind: TokenKind
    public var expiresAt: Instant
    public var token: AccessToken

    public init(attachment: AttachmentID, id: String, kind: TokenKind, expiresAt: Instant, token: AccessToken) {
        self.attachment = attachment
        self.id = id
        self.kind = kind
        self.expiresAt = expiresAt
        self.token = token
    }
}
