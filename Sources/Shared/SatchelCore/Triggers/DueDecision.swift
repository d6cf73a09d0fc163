/// What becomes of an occurrence whose time has come: see ``Trigger/due(_:accepted:now:lateLimit:in:)``.
public struct DueDecision: Hashable, Sendable {
    /// The one that fires or was missed: of several that passed, the latest.
    public var occurrence: Occurrence
    /// How long ago that was.
    public var late: Duration
    /// Whether that is too long: it isn't handed over.
    public var isMissed: Bool
    /// How many others passed, and count as one with it.
    public var coalesced: Int
    /// What to wait for then; nil where nothing is left.
    public var next: Occurrence?

    public init(occurrence: Occurrence, late: Duration, isMissed: Bool, coalesced: Int, next: Occurrence?) {
        self.occurrence = occurrence
        self.late = late
        self.isMissed = isMissed
        self.coalesced = coalesced
        self.next = next
    }
}
