/// A token that opens one thing but content: who has it may respond to a notification, or see a preview. Derived and taken
/// back like links.
public struct Ticket: Hashable, Sendable, Codable {
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        case respond
        case preview

        public var token: TokenKind {
            switch self {
            case .respond: .respond
            case .preview: .preview
            }
        }
    }

    /// What it opens.
    public enum Content: Hashable, Sendable, Codable {
        case responses(ResponseContext)
        case preview(SavedPreview)
    }

    public var id: String
    public var tenant: TenantID
    public var notification: NotificationID
    /// The number of the firing that it is about; nil: of what a firing would be.
    @Nullable public var firing: Int?
    public var content: Content
    /// The key that its token is derived with.
    public var kid: String
    public var createdAt: Instant
    public var expiresAt: Instant
    @Nullable public var endedAt: Instant?

    /// - Parameter token: Made for it.
    public init(
        _ token: NewToken, tenant: TenantID, notification: NotificationID, firing: Int?, content: Content,
        createdAt: Instant, expiresAt: Instant
    ) {
        id = token.id
        self.tenant = tenant
        self.notification = notification
        self.firing = firing
        self.content = content
        kid = token.kid
        self.createdAt = createdAt
        self.expiresAt = expiresAt
    }

    public var kind: Kind {
        switch content {
        case .responses: .respond
        case .preview: .preview
        }
    }

    public func isLive(at now: Instant) -> Bool {
        endedAt == nil && expiresAt > now
    }

    /// What ends with it: ids of links and tickets.
    public var closes: [String] {
        switch content {
        case .responses: []
        case .preview(let preview): preview.links + [preview.respond].compactMap(\.self)
        }
    }
}

/// What responses by a ticket are about, as it was when the payload was made.
public struct ResponseContext: Hashable, Sendable, Codable {
    public var category: Category
    public var generation: Int
    /// The notification's.
    public var metadata: [String: String]
    /// Whether nobody's phone is meant: then nothing is forwarded.
    public var isPreview: Bool

    public init(category: Category, generation: Int, metadata: [String: String], isPreview: Bool) {
        self.category = category
        self.generation = generation
        self.metadata = metadata
        self.isPreview = isPreview
    }
}

/// A notification as a preview shows it: as it was when the preview was asked for.
public struct SavedPreview: Hashable, Sendable, Codable {
    /// With the preview's own links and ticket.
    public var payload: TokenTemplate
    public var format: PayloadFormat
    public var pushType: PushType
    @Nullable public var category: Category?
    public var media: [FiringMedium]
    /// Parts that were left out for size.
    public var dropped: [String]
    /// When the links of a firing end, or would.
    @Nullable public var linksEnd: Instant?
    /// The id of the ticket for its responses; nil where it takes none.
    @Nullable public var respond: String?

    public init(
        payload: TokenTemplate, format: PayloadFormat = .apns, pushType: PushType, category: Category?,
        media: [FiringMedium], dropped: [String],
        linksEnd: Instant?, respond: String?
    ) {
        self.payload = payload
        self.format = format
        self.pushType = pushType
        self.category = category
        self.media = media
        self.dropped = dropped
        self.linksEnd = linksEnd
        self.respond = respond
    }

    /// The ids of its links.
    public var links: [String] { media.compactMap(\.link) }
}
