/// How far the media of a notification are: of one whose media are prepared anew for each firing, for the one that comes next.
public struct MediaProgress: Hashable, Sendable, Codable {
    /// When something is to be done about them; nil where nothing is.
    @Nullable public var lookAt: Instant?
    /// Whether that has to wait for the end of the notification's job.
    public var awaitsJob = false
    /// Jobs that were made for what failed in the ones before.
    public var retries = 0
    /// What the jobs before the present one delivered, by identifier.
    public var ready: [String: AttachmentID] = [:]
    /// Whether the receiver was told of what failed.
    public var isTold = false
    /// The job that was made at acceptance; another body with the same one has the same media.
    @Nullable public var first: JobID?
}

extension NotificationRecord {
    /// When something is to be done about its media; nil where nothing is.
    public var mediaDueAt: Instant? { state == .pending ? media.lookAt : nil }

    /// The job whose end has to come first.
    public var awaitedJob: JobID? { mediaDueAt != nil && media.awaitsJob ? job : nil }

    /// Media that were prepared before it was submitted.
    public var preparedBefore: [AttachmentID] { submission.media.compactMap(\.attachment) }
}

extension FiringID {
    /// The job of a firing for which nothing was prepared ahead.
    public var job: JobID { JobID(rawValue: "firing-\(rawValue)") }
}

/// A medium that isn't there, as the receiver is told before the firing.
public struct MediaFailure: Hashable, Sendable {
    public var identifier: String
    public var error: ErrorReport
    /// Whether it is still being tried again.
    public var isRetried: Bool
}

/// What was done about the media of a notification, for its record.
public struct MediaStep: Hashable, Sendable {
    public var media: MediaProgress
    public var job: JobID?
    /// What its firings need.
    public var attachments: [AttachmentID]
    /// What they are made of isn't needed any more.
    public var forgetsSources = false
    /// Tells the receiver what failed; nil where nobody is told.
    public var call: OutgoingCall?

    /// As it is.
    public init(of record: NotificationRecord) {
        media = record.media
        job = record.job
        attachments = record.attachments
    }
}
