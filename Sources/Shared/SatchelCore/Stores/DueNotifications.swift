/// Notifications that are to fire.
public struct DueNotifications: Hashable, Sendable {
    /// What the clock says by which they are due.
    public var now: Instant
    public var elements: [NotificationRecord]
    /// The time until the next one becomes due; nil if there is none.
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
