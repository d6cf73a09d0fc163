/// Behind which match a trigger goes on. What a store keeps of what has fired: the next match is sought after a date and time
/// of the zone's clocks, not after a moment, so that other rules of the zone neither repeat nor lose a day.
public enum TriggerPosition: Hashable, Sendable {
    /// Of a trigger that knows no time zone.
    case instant(Instant)
    /// What the zone's clocks showed, and which time they showed it, from 1.
    case local(LocalTime, pass: Int)
}

extension TriggerPosition: RawRepresentable, Codable {
    /// `2026-11-23T07:30:00.000Z`, `2026-11-23T08:30:00`, or `2026-10-25T02:30:00#2` for the second time.
    public var rawValue: String {
        switch self {
        case .instant(let instant): instant.description
        case .local(let local, let pass): pass == 1 ? local.description : "\(local)#\(pass)"
        }
    }

    public init?(rawValue: String) {
        if let instant = Instant(rawValue) {
            self = .instant(instant)
            return
        }
        let parts = rawValue.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        guard let local = parts.first.flatMap({ LocalTime(String($0)) }) else { return nil }
        guard parts.count > 1 else {
            self = .local(local, pass: 1)
            return
        }
        guard let pass = Int(parts[1]), pass > 1 else { return nil }
        self = .local(local, pass: pass)
    }
}
