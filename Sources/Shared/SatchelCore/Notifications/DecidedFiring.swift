/// A firing that was decided on, with all that one transaction is to write of it.
public struct DecidedFiring: Hashable, Sendable {
    public var firing: FiringRecord
    /// The notification as the decision leaves it.
    public var notification: NotificationRecord
    /// The notification as it was decided from: a store that has another revision has nothing of this carried out.
    public let read: NotificationRecord
    /// What begins and ends with it: links, calls, and what media are made of.
    let effects: [NotificationChange]
    private let isListed: Bool

    init(
        _ firing: FiringRecord, of notification: NotificationRecord, from read: NotificationRecord,
        effects: [NotificationChange] = [], isListed: Bool = false
    ) {
        self.firing = firing
        self.notification = notification
        self.read = read
        self.effects = effects
        self.isListed = isListed
    }

    /// One that a store has, about to be decided on.
    public init(_ firing: FiringRecord, of read: NotificationRecord) {
        var notification = read
        notification.revision += 1
        self.init(firing, of: notification, from: read)
    }

    public var changes: [NotificationChange] {
        [.save(notification, over: read), .saveFiring(firing)] + effects
            + (isListed ? [.list(firing.id, of: firing.tenant)] : [])
    }
}
