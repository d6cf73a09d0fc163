/// One time that a trigger is met.
public struct Occurrence: Hashable, Sendable, Codable {
    public var at: Instant
    /// The same in the trigger's zone, as RFC 3339 writes it with its offset; nil for one that knows no zone.
    @Nullable public var local: String?
    /// What was done at a change of clocks; nil where there was nothing to do.
    @Nullable public var note: String?
    /// What the next one is sought after.
    public var position: TriggerPosition

    public init(at: Instant, local: String?, note: String?, position: TriggerPosition) {
        self.at = at
        self.local = local
        self.note = note
        self.position = position
    }

    /// This one, as computed by new rules of its zone; where it was at another instant by the old ones, it says so.
    public func moved(from earlier: Instant) -> Occurrence {
        guard earlier != at else { return self }
        let words = "The rules of the time zone changed. Under the old rules this was at \(earlier)."
        var moved = self
        moved.note = note.map { "\($0) \(words)" } ?? words
        return moved
    }

    /// RFC 3339's text of a local time; an offset's seconds, which no zone has had since 1972, are added where there are some.
    static func text(_ local: LocalTime, milliseconds: Int = 0, offset: Int) -> String {
        let size = abs(offset)
        let seconds = size % 60 == 0 ? "" : ":\((size % 60).padded)"
        let digits = String(1000 + milliseconds).dropFirst()
        return "\(local)\(milliseconds == 0 ? "" : ".\(digits)")\(offset < 0 ? "-" : "+")"
            + "\((size / 3600).padded):\((size / 60 % 60).padded)\(seconds)"
    }
}
