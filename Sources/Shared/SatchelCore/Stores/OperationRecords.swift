/// What of a tenant an operator looks at first.
public struct TenantOverview: Hashable, Sendable {
    /// Of what can be many, so many are counted; then there may be more.
    public static let most = 10_000
    /// How far back it looks, and how far ahead: an hour.
    public static let span: Duration = .seconds(3600)

    /// The store's time.
    public var at: Instant
    /// Of the minutes that began within ``span``.
    public var tallies: [Tally.Key: Tally] = [:]
    public var usage = TenantUsage()
    /// That live.
    public var links = 0
    /// That live.
    public var grants = 0
    /// Notifications that fire within ``span``.
    public var dueNotifications = 0
    /// Calls that are tried again.
    public var failingCalls = 0
    /// Calls that were given up, and are still kept.
    public var failedCalls = 0

    public init(at: Instant) {
        self.at = at
    }
}

/// What an operator asks of a tenant; each costs the same however much there is.
public protocol OperationRecords: Sendable {
    func overview(of tenant: TenantID) async throws(AttachmentError) -> TenantOverview

    /// What failed and is still there, by code, the latest first.
    ///
    /// - Parameters:
    ///   - code: Nil for all.
    ///   - since: Failed then or later; nil for any time.
    func failures(
        of tenant: TenantID, with code: ErrorCode?, since: Instant?
    ) async throws(AttachmentError) -> [FailureGroup]

    /// Grants, leases and links of an attachment, those that have ended too until they are swept; by their ids.
    ///
    /// - Parameter cursor: After this.
    func access(
        to attachment: AttachmentID, of tenant: TenantID, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<AccessEntry>
}
