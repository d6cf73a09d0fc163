/// What was done about somebody's access, as it is kept for whoever asks later. It is written in the transaction of what it
/// tells, and never changed.
public struct AuditEntry: Hashable, Sendable, Codable {
    public enum Action: String, Hashable, Sendable, Codable, CaseIterable {
        case made
        case revoked
        case rotated
        case deleted
        case signedIn = "signed_in"
    }

    public struct Subject: Hashable, Sendable, Codable {
        public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
            case grant
            case lease
            case link
            case ticket
            case key
            case secret
            case attachment
            case session
        }

        public var kind: Kind
        /// Opens nothing.
        public var id: String

        public init(_ kind: Kind, _ id: String) {
            self.kind = kind
            self.id = id
        }
    }

    /// The store's, in the order of what happened.
    public var id: String
    public var at: Instant
    public var action: Action
    public var subject: Subject
    /// That it opens.
    @Nullable public var attachment: AttachmentID?
    public var actor: AuditActor
    /// A clause for people.
    @Nullable public var detail: String?

    public init(
        id: String, at: Instant, action: Action, subject: Subject, attachment: AttachmentID?, actor: AuditActor,
        detail: String?
    ) {
        self.id = id
        self.at = at
        self.action = action
        self.subject = subject
        self.attachment = attachment
        self.actor = actor
        self.detail = detail
    }

    /// How long entries are kept, where nothing else is said.
    public static let keep: Duration = .seconds(400 * 86_400)
}

/// What an audit list is narrowed to: all must hold.
public struct AuditFilter: Hashable, Sendable {
    public var action: AuditEntry.Action?
    public var actor: AuditActorFilter?
    public var since: Instant?

    public init(action: AuditEntry.Action? = nil, actor: AuditActorFilter? = nil, since: Instant? = nil) {
        self.action = action
        self.actor = actor
        self.since = since
    }
}

/// Whose doings are looked for: all of a kind, or those of one key or grant.
public enum AuditActorFilter: Hashable, Sendable {
    case kind(AuditActor.Kind)
    case id(String)

    /// The name of a kind, or an id.
    public init(_ text: String) {
        self = AuditActor.Kind(rawValue: text).map { .kind($0) } ?? .id(text)
    }
}
