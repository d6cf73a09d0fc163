/// The authority by which access is given, looked at and taken back.
public enum AccessScope: Hashable, Sendable {
    /// A tenant: over all that it owns.
    case owner(TenantID)
    /// The bearer of a grant's token: over the grant, and what was derived from it.
    case bearer(AccessToken)
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
