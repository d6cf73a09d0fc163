/// What a token is for; the raw value is its prefix.
public enum TokenKind: String, Hashable, Sendable, Codable, CaseIterable {
    /// An API key: stored hashed, shown once.
    case apiKey = "satk_"
    case grant = "satg_"
    case lease = "satl_"
    case link = "satn_"
    /// A ticket to respond to a notification.
    case respond = "satr_"
    /// A ticket to see a preview.
    case preview = "satp_"
    /// A ticket to upload.
    case upload = "satu_"
}

/// A bearer token as text. Prints as its first 8 characters; the whole is ``secretText``.
public struct AccessToken: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The whole token. For the one it was made for, never for a log.
    public let secretText: String

    public init(secretText: String) {
        self.secretText = secretText
    }

    /// Characters of a token that may be shown: enough to tell tokens apart, and no secret.
    static let shownLength = 8

    public var description: String { secretText.prefix(Self.shownLength) + "…" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A right to start leases and to derive narrower grants.
public struct GrantRecord: Hashable, Sendable, Codable {
    public var id: String
    public var tenant: TenantID
    public var attachment: AttachmentID
    /// The grant it was derived from.
    @Nullable public var parent: String?
    /// Nil: all renditions.
    @Nullable public var renditions: [RenditionRole]?
    /// Live leases at most.
    public var leaseLimit: Int
    public var createdAt: Instant
    public var expiresAt: Instant
    @Nullable public var revokedAt: Instant?
}

/// One started access; it holds the bytes against retention while it lives.
public struct LeaseRecord: Hashable, Sendable, Codable {
    public var id: String
    public var tenant: TenantID
    public var attachment: AttachmentID
    @Nullable public var grant: String?
    @Nullable public var renditions: [RenditionRole]?
    public var startedAt: Instant
    public var expiresAt: Instant
    @Nullable public var stoppedAt: Instant?
}

/// A lease's little sister for payloads: reusable, uncounted, pins nothing.
public struct LinkRecord: Hashable, Sendable, Codable {
    public var id: String
    public var tenant: TenantID
    public var attachment: AttachmentID
    @Nullable public var renditions: [RenditionRole]?
    public var createdAt: Instant
    public var expiresAt: Instant
    @Nullable public var revokedAt: Instant?
}
