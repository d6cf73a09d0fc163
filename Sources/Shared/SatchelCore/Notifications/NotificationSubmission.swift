/// Names a notification within its tenant: the client's choice, or a generated UUIDv7.
public struct NotificationID: Hashable, Sendable, RawRepresentable, Codable {
    public var rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// A new one, unlike every other: a UUIDv7 in lower case.
    public static func generate() -> NotificationID {
        NotificationID(rawValue: JobID.generate().rawValue)
    }
}

/// A notification as it was asked for: what Apple calls a notification request.
public struct NotificationSubmission: Hashable, Sendable, Codable {
    /// A medium of its own, beside those that its payload names by URL.
    public struct Medium: Hashable, Sendable, Codable {
        public var identifier: String
        /// One that was prepared before; nil: it is prepared by the notification's job, under the same identifier.
        public var attachment: AttachmentID?

        public init(identifier: String, attachment: AttachmentID?) {
            self.identifier = identifier
            self.attachment = attachment
        }
    }

    /// JSON, as it came.
    public var payload: String
    public var format: PayloadFormat
    /// Of a payload for APNs.
    public var pushType: PushType
    /// Seconds that links live, from the firing on.
    public var expiresIn: Double
    public var delivery: DeliveryMode
    /// The profile's name; nil for the one of the category, else `notification`.
    public var profile: String?
    public var onFailure: FailureMode
    /// Seconds that a firing waits for its media.
    public var deadline: Double
    public var media: [Medium]
    /// Nil: it fires at once.
    public var trigger: Trigger?
    /// Seconds after its instant within which it still fires.
    public var lateLimit: Double
    /// Who is told of each firing; nil where the sender reads the list.
    public var handover: String?
    public var metadata: [String: String]
    /// As the payload names it: in `aps.category`, or what its format has in that place.
    public var category: String?
    /// Where the submission stands in a trace: W3C Trace Context.
    public var traceparent: String?
    /// Seconds before each firing at which its media are prepared anew; nil where they are once, at acceptance, for all.
    public var lead: Double?

    public init(
        payload: String, format: PayloadFormat = .apns, pushType: PushType, expiresIn: Double, delivery: DeliveryMode,
        profile: String?,
        onFailure: FailureMode, deadline: Double, media: [Medium], trigger: Trigger?, lateLimit: Double,
        handover: String?, metadata: [String: String], category: String?, traceparent: String?,
        lead: Double? = nil
    ) {
        self.payload = payload
        self.format = format
        self.pushType = pushType
        self.expiresIn = expiresIn
        self.delivery = delivery
        self.profile = profile
        self.onFailure = onFailure
        self.deadline = deadline
        self.media = media
        self.trigger = trigger
        self.lateLimit = lateLimit
        self.handover = handover
        self.metadata = metadata
        self.category = category
        self.traceparent = traceparent
        self.lead = lead
    }
}
