/// A grant, a lease or a link as it is recorded.
public struct AccessEntry: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// A right to start leases and to derive narrower grants.
        case grant
        /// A started access. It holds the bytes against retention while it lives.
        case lease
        /// A payload's access. It is reusable and uncounted, and holds nothing.
        case link

        public var token: TokenKind {
            switch self {
            case .grant: .grant
            case .lease: .lease
            case .link: .link
            }
        }
    }

    public var id: String
    public var kind: Kind
    public var tenant: TenantID
    public var attachment: AttachmentID
    /// The grant that it was derived from.
    public var parent: String?
    /// Nil: all.
    public var renditions: [RenditionRole]?
    /// Of a grant: live leases at most.
    public var leaseLimit: Int?
    /// The key that its token is derived with.
    public var kid: String
    public var createdAt: Instant
    public var expiresAt: Instant
    public var endedAt: Instant?
    public var delivery: DeliveryMode
    /// Started by its job when that delivered.
    public var isByJob: Bool

    public init(
        id: String, kind: Kind, tenant: TenantID, attachment: AttachmentID, parent: String? = nil,
        renditions: [RenditionRole]? = nil, leaseLimit: Int? = nil, kid: String, createdAt: Instant,
        expiresAt: Instant, endedAt: Instant? = nil, delivery: DeliveryMode = .private, isByJob: Bool = false
    ) {
        self.id = id
        self.kind = kind
        self.tenant = tenant
        self.attachment = attachment
        self.parent = parent
        self.renditions = renditions
        self.leaseLimit = leaseLimit
        self.kid = kid
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.endedAt = endedAt
        self.delivery = delivery
        self.isByJob = isByJob
    }

    public func isLive(at now: Instant) -> Bool {
        endedAt == nil && expiresAt > now
    }

    /// Whether this opens a rendition.
    public func opens(_ role: RenditionRole) -> Bool {
        renditions?.contains(role) ?? true
    }
}

/// What new access is derived from: an attachment for its owner, or a grant for its bearer.
public enum AccessOrigin: Hashable, Sendable {
    case attachment(AttachmentID, of: TenantID)
    case grant(AccessEntry)

    public var tenant: TenantID {
        switch self {
        case .attachment(_, let tenant): tenant
        case .grant(let grant): grant.tenant
        }
    }

    public var attachment: AttachmentID {
        switch self {
        case .attachment(let attachment, _): attachment
        case .grant(let grant): grant.attachment
        }
    }

    /// New access to what is wanted (nil: to all); nil where none of that may be had. It is never wider than the grant
    /// that it is derived from: in renditions, in time, in leases.
    ///
    /// - Parameters:
    ///   - id: Of the new access.
    ///   - key: That its token is derived with.
    ///   - leaseLimit: Of a new grant; nil for as many as the grant that it is derived from, or one.
    public func derive(
        _ kind: AccessEntry.Kind, id: String, key: String, to wanted: [RenditionRole]?, for duration: Duration,
        leaseLimit: Int? = nil, delivery: DeliveryMode = .private, at now: Instant
    ) -> AccessEntry? {
        var entry = AccessEntry(
            id: id, kind: kind, tenant: tenant, attachment: attachment, renditions: wanted, kid: key, createdAt: now,
            expiresAt: AccessLimits.end(of: duration, from: now), delivery: delivery)
        if kind == .grant { entry.leaseLimit = max(leaseLimit ?? 1, 1) }
        guard case .grant(let grant) = self else { return entry }
        if let covered = grant.renditions {
            entry.renditions = wanted?.filter(covered.contains) ?? covered
            if entry.renditions == [] { return nil }
        }
        if kind == .grant {
            let most = grant.leaseLimit ?? 1
            entry.leaseLimit = min(max(leaseLimit ?? most, 1), most)
        }
        entry.parent = grant.id
        entry.expiresAt = min(entry.expiresAt, grant.expiresAt)
        return entry
    }
}

extension AccessLimits {
    /// When access ends that begins now.
    ///
    /// - Parameter grant: That it was derived from.
    public static func end(of duration: Duration, from now: Instant, within grant: AccessEntry? = nil) -> Instant {
        let end = now + min(max(duration, .zero), longest)
        return grant.map { min(end, $0.expiresAt) } ?? end
    }
}
