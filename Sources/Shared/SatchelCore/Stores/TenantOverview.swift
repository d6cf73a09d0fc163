/// What of a tenant an operator looks at first.
public struct TenantOverview: Hashable, Sendable {
    /// The highest count of what can be many; if it is reached, there may be more.
    public static let most = 10_000
    /// How far back it looks, and how far ahead: an hour.
    public static let span: Duration = .seconds(3600)

    /// The store's time.
    public var at: Instant
    /// The tallies of the minutes that began within ``span``.
    public var tallies: [Tally.Key: Tally] = [:]
    public var usage = TenantUsage()
    /// The links that live.
    public var links = 0
    /// The grants that live.
    public var grants = 0
    /// Notifications that fire within ``span``.
    public var dueNotifications = 0
    /// Calls that are tried again.
    public var failingCalls = 0
    /// Calls that were given up, and are still kept.
    public var failedCalls = 0

    public init(at: Instant) { self.at = at }
}
