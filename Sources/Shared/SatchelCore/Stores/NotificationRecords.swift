/// Notifications that are to fire.
public struct DueNotifications: Hashable, Sendable {
    /// What the clock says by which they are due.
    public var now: Instant
    public var elements: [NotificationRecord]
    /// Until the next one becomes due that isn't yet; nil where there is none.
    public var next: Duration?

    public init(at now: Instant, elements: [NotificationRecord] = [], next: Duration? = nil) {
        self.now = now
        self.elements = elements
        self.next = next
    }
}

/// What a notification is known by among those of all tenants.
public struct NotificationName: Hashable, Sendable {
    public var tenant: TenantID
    public var id: NotificationID

    public init(tenant: TenantID, id: NotificationID) {
        self.tenant = tenant
        self.id = id
    }

    public init(_ record: NotificationRecord) {
        self.init(tenant: record.tenant, id: record.id)
    }
}

/// A notification as it was read in a revision; nil where it wasn't.
public typealias KnownNotifications = @Sendable (_ name: NotificationName, _ revision: Int) -> NotificationRecord?

/// Notifications and their firings. What changes is decided by ``NotificationDecision``, the same for every store, and
/// written in one transaction that has what it was decided from locked, or finds it unchanged: ``carryOut(_:)``.
///
/// A tenant's things are found by that tenant alone.
public protocol NotificationRecords: Sendable {
    /// Adds a notification, or puts it in the place of the one of its id: see ``NotificationDecision/put(_:existing:open:at:)``.
    /// What its firings need is left alone by retention from now on.
    ///
    /// - Parameter limit: Pending ones of the tenant, at most; nil for any number.
    /// - Throws: `quota_exceeded` over the limit.
    func put(
        _ notification: NewNotification, limit: Int?
    ) async throws(AttachmentError) -> Result<NotificationAnswer, TriggerError>

    func notification(_ id: NotificationID, of tenant: TenantID) async throws(AttachmentError) -> NotificationRecord?

    /// - Parameter category: Only those of this category; nil for all.
    func notifications(
        of tenant: TenantID, in list: NotificationList, category: String?, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<NotificationRecord>

    /// Removes a notification from a list, or from both. On return nothing of it fires any more, and what it gave out
    /// opens nothing.
    ///
    /// - Returns: Whether there is such a notification.
    func remove(
        _ id: NotificationID, of tenant: TenantID, from list: NotificationRemoval
    ) async throws(AttachmentError) -> Bool

    /// Notifications of all tenants whose next instant has come, soonest first: by the clock itself, not by the latest instant
    /// of the records, which orders these and stays ahead of a clock that was set back.
    ///
    /// Where several processes work (``NodeCounting/join(as:)``) each finds its own share, and of another's what that one has left
    /// for a while: as a rule each is found by one.
    ///
    /// - Parameters:
    ///   - others: Are left out.
    ///   - known: A notification in this revision, where it was read before; it isn't read again.
    func dueNotifications(
        limit: Int, besides others: Set<NotificationName>, known: @escaping KnownNotifications
    ) async throws(AttachmentError) -> DueNotifications

    /// Notifications of all tenants whose next instant comes within a time, soonest first. Where several processes work each
    /// finds its own share, and begins from the start when that has become another.
    ///
    /// - Parameter cursor: Where a part before ended; nil for the first one.
    /// - Returns: One part, and where it ends also if nothing follows yet; nil for both where it is empty.
    func upcomingNotifications(
        within time: Duration, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<NotificationRecord>

    /// Pending notifications of all tenants whose next instant was made by other zone rules than these.
    func notifications(
        notBy rules: TimeZoneRulesVersion, limit: Int
    ) async throws(AttachmentError) -> [NotificationRecord]

    /// What payloads are made of, read at one instant.
    ///
    /// - Returns: For each tenant that was named.
    func materials(
        _ names: [TenantID: FiringMaterials.Names]
    ) async throws(AttachmentError) -> [TenantID: FiringMaterials]

    /// Moves the next instant of a notification, where it is still as it was read.
    func reschedule(
        _ notification: NotificationRecord, next: Occurrence, rules: TimeZoneRulesVersion
    ) async throws(AttachmentError)

    /// Makes firings, and the next instant of each, in one transaction. Each was decided on by who read its notification:
    /// one that was changed meanwhile stays as it is, and keeps no other from firing.
    ///
    /// - Returns: In their order, whether each was made.
    func carryOut(_ firings: [DecidedFiring]) async throws(AttachmentError) -> [Bool]

    /// The firing that was asked for by hand under this key.
    func firing(
        by idempotencyKey: String, of notification: NotificationID, tenant: TenantID
    ) async throws(AttachmentError) -> FiringRecord?

    /// Firings of all tenants whose payload is still to be made although their time for it was over before `instant`:
    /// whoever began them is gone.
    func waitingFirings(since instant: Instant, limit: Int) async throws(AttachmentError) -> [Firing]

    /// Completes a firing that waits; one that doesn't wait any more stays as it is.
    func complete(_ firing: FiringCompletion) async throws(AttachmentError)

    func firing(
        _ number: Int, of notification: NotificationID, tenant: TenantID
    ) async throws(AttachmentError) -> FiringRecord?

    /// The latest first.
    func firings(
        of notification: NotificationID, tenant: TenantID, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<FiringRecord>

    /// A tenant's list: those that have a payload, failed or were missed, in the order of commits. ``FiringRecord/place``
    /// is where the next part starts.
    func firings(
        of tenant: TenantID, after place: Int64, limit: Int
    ) async throws(AttachmentError) -> [FiringRecord]
}

/// A firing, with the notification as it is then.
public struct Firing: Hashable, Sendable {
    public var record: FiringRecord
    public var notification: NotificationRecord

    public init(_ record: FiringRecord, of notification: NotificationRecord) {
        self.record = record
        self.notification = notification
    }

    public init(_ decided: DecidedFiring) {
        self.init(decided.firing, of: decided.notification)
    }
}
