/// A notification as it stands in the store.
public struct NotificationRecord: Hashable, Sendable, Codable {
    public enum State: String, Hashable, Sendable, Codable, CaseIterable {
        /// Something is still to fire, or may be fired by hand.
        case pending
        /// Its trigger fires no more.
        case done
        /// It was taken back.
        case cancelled
    }

    /// Firings that came to an end.
    public struct Counts: Hashable, Sendable, Codable {
        public var delivered = 0
        public var failed = 0
        public var missed = 0
    }

    public var id: NotificationID
    public var tenant: TenantID
    /// Counts every change, from 1: what was decided from one revision changes nothing of a later one.
    public var revision = 1
    /// Counts up when another body is submitted under the same id.
    public var generation: Int
    /// Tells one body from another.
    public var bodyDigest: String
    public var state: State = .pending
    public var submission: NotificationSubmission
    /// Prepares its media, or prepared the last of them; nil where it has none of its own, and where nothing has been begun for
    /// the firing that comes next.
    @Nullable public var job: JobID?
    public var media = MediaProgress()
    /// What its firings need, and retention leaves alone while it is pending.
    public var attachments: [AttachmentID]
    /// When its trigger is met next; nil where it isn't any more, or only by hand.
    @Nullable public var next: Occurrence?
    /// Of the zone rules by which ``next`` was made.
    @Nullable public var rules: TimeZoneRulesVersion?
    /// Of the last occurrence that fired or was missed: what the next one is sought after.
    @Nullable public var position: TriggerPosition?
    /// Firings so far: the last one's number.
    public var fired = 0
    public var counts = Counts()
    /// When the latest firing was made that is still in the list of delivered ones; nil where none is.
    @Nullable public var shownAt: Instant?
    public var createdAt: Instant
    /// When this generation was: what an interval counts from.
    public var acceptedAt: Instant
    @Nullable public var finishedAt: Instant?
    @Nullable public var error: ErrorReport?
}

/// A finished notification, its firings and their responses are kept for 30 days.
public enum NotificationRetention {
    public static let finished: Duration = .seconds(30 * 86_400)
    /// A ticket and its sessions are kept for so long after it expired: what came in by it may be with its handler.
    public static let ticket: Duration = .seconds(3600)
}

/// Which notifications a list has; one that repeats may be in both, as on iOS.
public enum NotificationList: String, Hashable, Sendable, CaseIterable {
    /// Something is still to fire: soonest first, those that are fired by hand last.
    case pending
    /// Fired and not removed: latest first.
    case delivered
}

/// From which list a notification is removed.
public enum NotificationRemoval: String, Hashable, Sendable, CaseIterable {
    /// It fires no more.
    case pending
    /// Its firings' links end.
    case delivered
    case all
}

extension NotificationRecord {
    /// What retention leaves alone.
    public var pinned: [AttachmentID] { state == .pending ? attachments : [] }
}
