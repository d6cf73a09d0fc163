/// Names a firing among all tenants': a UUIDv7, which is also its message's id.
public struct FiringID: Hashable, Sendable, RawRepresentable, Codable {
    public var rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// A new one, unlike every other: a UUIDv7 in lower case.
    public static func generate() -> FiringID {
        FiringID(rawValue: JobID.generate().rawValue)
    }
}

/// One time that a trigger was met: one finished payload, handed over once.
public struct FiringRecord: Hashable, Sendable, Codable {
    public enum State: String, Hashable, Sendable, Codable, CaseIterable {
        /// It waits for its media or for its handover.
        case pending
        /// The receiver took it; where nobody is told, it can be read.
        case delivered
        case failed
        /// Its instant passed while nobody ran, by more than its late limit.
        case missed
        /// Taken back: its links have ended.
        case removed
    }

    public var id: FiringID
    public var tenant: TenantID
    public var notification: NotificationID
    public var generation: Int
    /// From 1, over all generations.
    public var number: Int
    public var state: State
    /// The trigger's instant; of one by hand, when that was asked for.
    public var scheduledAt: Instant
    /// Whether it was fired by hand, beside its schedule.
    public var isManual: Bool
    /// Of the call that asked for it.
    @Nullable public var idempotencyKey: String?
    /// Instants before this one that passed meanwhile and aren't fired by themselves.
    public var coalesced: Int
    /// Whom to tell; nil where the sender reads it.
    @Nullable public var handover: String?
    /// Prepares its media; nil where it has none.
    @Nullable public var job: JobID?
    /// What was prepared of them before, by identifier.
    public var ready: [String: AttachmentID] = [:]
    /// When it stops waiting for its media.
    public var waitsUntil: Instant
    /// When its payload was made.
    @Nullable public var firedAt: Instant?
    /// As it was made, each token's id in the token's place.
    @Nullable public var payload: TokenTemplate?
    public var media: [FiringMedium]
    /// The id of its ticket for responses.
    @Nullable public var ticket: String?
    /// Parts of the payload that were left out for size, each `kind` or `kind of identifier`.
    public var dropped: [String]
    /// In the tenant's list; nil before it has a payload, failed or was missed.
    @Nullable public var place: Int64?
    public var createdAt: Instant
    @Nullable public var error: ErrorReport?

    public init(
        id: FiringID = .generate(), tenant: TenantID, notification: NotificationID, generation: Int, number: Int,
        scheduledAt: Instant, isManual: Bool, idempotencyKey: String?, coalesced: Int, handover: String?,
        waitsUntil: Instant, createdAt: Instant
    ) {
        self.id = id
        self.tenant = tenant
        self.notification = notification
        self.generation = generation
        self.number = number
        state = .pending
        self.scheduledAt = scheduledAt
        self.isManual = isManual
        self.idempotencyKey = idempotencyKey
        self.coalesced = coalesced
        self.handover = handover
        self.waitsUntil = waitsUntil
        media = []
        dropped = []
        self.createdAt = createdAt
    }

    /// What its payload opens: ids of links and tickets.
    public var opens: [String] { media.compactMap(\.link) + [ticket].compactMap(\.self) }

    /// Why media aren't in the payload.
    public var failed: [FiringMedium.Failure] { media.compactMap(\.failure) }

    /// Whether its payload is still to be made.
    public var isWaiting: Bool { state == .pending && payload == nil }

    /// Seconds from its instant until its payload was made.
    public var late: Double? { firedAt.map { max(0, ($0 - scheduledAt).inSeconds) } }
}
