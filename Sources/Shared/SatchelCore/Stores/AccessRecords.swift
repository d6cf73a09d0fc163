/// On whose authority access is given, looked at and taken back.
public enum AccessScope: Hashable, Sendable {
    /// A tenant: over all that it owns.
    case owner(TenantID)
    /// Whoever bears a grant's token: over the grant, and what was derived from it.
    case bearer(AccessToken)
}

/// Who may read what: grants, leases and links, and the tokens that stand for them.
///
/// Whatever is not in a scope isn't there: the answers don't tell a foreign thing from none.
public protocol AccessRecords: Sendable {
    /// A new grant; nil where the scope has no such attachment, or it has no such rendition.
    ///
    /// A bearer's is derived from the grant: never wider in renditions, time or leases, at most
    /// ``AccessLimits/deepestGrant`` times.
    ///
    /// - Parameters:
    ///   - attachment: Nil for the bearer's own.
    ///   - renditions: Nil for all.
    ///   - leaseLimit: Live leases at most; nil for as many as the grant that it is derived from, or one.
    func grant(
        on attachment: AttachmentID?, in scope: AccessScope, renditions: [RenditionRole]?, for duration: Duration,
        leaseLimit: Int?
    ) async throws(AttachmentError) -> (AccessEntry, AccessToken)?

    /// Starts access; nil where the scope has no such attachment, or it has no such rendition.
    ///
    /// - Throws: `quota_exceeded` at the limit of live leases of the grant, of one that it was derived from, or of the
    ///   tenant.
    func startLease(
        on attachment: AttachmentID?, in scope: AccessScope, renditions: [RenditionRole]?, for duration: Duration,
        within quotas: Quotas
    ) async throws(AttachmentError) -> (AccessEntry, AccessToken)?

    /// A reusable link, for one reader or for a broadcast; nil where the tenant has no such attachment.
    func link(
        to attachment: AttachmentID, of tenant: TenantID, renditions: [RenditionRole]?, for duration: Duration,
        delivery: DeliveryMode
    ) async throws(AttachmentError) -> (AccessEntry, AccessToken)?

    /// A live or ended grant.
    func grant(_ id: String, in scope: AccessScope) async throws(AttachmentError) -> AccessEntry?

    /// What a grant token stands for right now; nil where it opens nothing.
    func grant(of token: AccessToken) async throws(AttachmentError) -> AccessEntry?

    /// A live or ended lease.
    func lease(_ id: String, in scope: AccessScope) async throws(AttachmentError) -> AccessEntry?

    /// Moves the end of a live lease to `duration` from now, within its grant; nil where it isn't live.
    func renewLease(
        _ id: String, in scope: AccessScope, for duration: Duration
    ) async throws(AttachmentError) -> AccessEntry?

    /// Stops a lease, or revokes a link or a grant with all that was derived from it. Idempotent: false where the scope
    /// has nothing of that id.
    func revoke(_ id: String, in scope: AccessScope) async throws(AttachmentError) -> Bool

    /// What a lease or link token opens right now; nil for a malformed, unknown, expired, stopped or revoked one, at the
    /// same cost.
    func open(_ token: AccessToken, role: RenditionRole) async throws(AttachmentError) -> ContentAccess?

    /// The tokens of those of these grants, leases, links and tickets that live, by their ids, made again for their owner; nothing
    /// secret is stored.
    func tokens(_ ids: Set<String>, of tenant: TenantID) async throws(AttachmentError) -> [String: AccessToken]

    /// The access that a job started when it delivered and that still lives, with tokens made again.
    func access(openedBy job: JobID, of tenant: TenantID) async throws(AttachmentError) -> [OpenedAccess]

    /// The ids of a tenant's grants, leases and links that live and begin so, the newest first.
    func liveAccess(
        of tenant: TenantID, startingWith prefix: String, limit: Int
    ) async throws(AttachmentError) -> [String]

    /// Changes with everything that takes access back, in whatever process, before the call that did it returns. What
    /// was opened at the same count is still open, up to its expiry. Nil where nobody counts: then each look has to ask.
    var revocations: UInt64? { get }

    /// Those of these leases and links that were not taken back, each with its end, which may be sooner than it was; one
    /// that ran out is among them.
    func stillOpen(_ ids: Set<String>) async throws(AttachmentError) -> [String: Instant]
}

/// How long and how often access may be given.
public enum AccessLimits {
    /// No grant, lease or link lasts longer: 30 days.
    public static let longest: Duration = .seconds(30 * 86_400)
    /// A grant, where nothing else is asked: 1 hour.
    public static let grant: Duration = .seconds(3600)
    /// A lease, where nothing else is asked: 5 minutes.
    public static let lease: Duration = .seconds(300)
    /// A link, where nothing else is asked: 24 hours.
    public static let link: Duration = .seconds(86_400)
    /// Grants may be derived from grants this often; a count over all that was derived stays cheap.
    public static let deepestGrant = 8
}

extension AccessRecords {
    /// The token of a live grant, lease or link, made again for its owner.
    public func token(_ id: String, of tenant: TenantID) async throws(AttachmentError) -> AccessToken? {
        try await tokens([id], of: tenant)[id]
    }

    /// Starts access that no quota bounds.
    public func startLease(
        on attachment: AttachmentID? = nil, in scope: AccessScope, renditions: [RenditionRole]?,
        for duration: Duration
    ) async throws(AttachmentError) -> (AccessEntry, AccessToken)? {
        try await startLease(on: attachment, in: scope, renditions: renditions, for: duration, within: Quotas())
    }

    /// A link for one reader.
    public func link(
        to attachment: AttachmentID, of tenant: TenantID, renditions: [RenditionRole]?, for duration: Duration
    ) async throws(AttachmentError) -> (AccessEntry, AccessToken)? {
        try await link(to: attachment, of: tenant, renditions: renditions, for: duration, delivery: .private)
    }
}
