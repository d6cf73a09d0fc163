/// When a notification fires.
public enum Trigger: Hashable, Sendable {
    /// `seconds` after acceptance, and where it repeats on that raster; knows no time zone.
    case interval(seconds: Double, repeats: Bool)
    /// Once. Without an offset in `at` it is that of a zone's clocks; with one, a zone only says in which clocks it is shown.
    case date(at: WrittenTime, timeZone: String?)
    /// When the clocks of a zone match.
    case calendar(timeZone: String, components: CalendarComponents, repeats: Bool)
    /// When somebody says so.
    case manual

    /// The kinds, by their names in JSON.
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        case interval, date, calendar, manual

        /// Fields that it may have beside its type.
        public var fields: [String] {
            switch self {
            case .interval: ["seconds", "repeats"]
            case .date: ["at", "time_zone"]
            case .calendar: ["time_zone", "components", "repeats"]
            case .manual: []
            }
        }
    }

    /// Kinds that UserNotifications has and that only the phone could judge.
    public static let unsupportedKinds = ["location", "push"]

    /// Seconds of an interval: from a millisecond to 366 days.
    public static let intervals = 0.001...366.0 * 86_400
    /// Seconds of one that repeats, at least.
    public static let shortestRepetition = 60.0

    public var repeats: Bool {
        switch self {
        case .interval(_, let repeats), .calendar(_, _, let repeats): repeats
        case .date, .manual: false
        }
    }

    /// The zone by whose rules its instants are computed; nil where they depend on none.
    public var timeZone: String? {
        switch self {
        case .date(let written, let timeZone): written.offset == nil ? timeZone : nil
        case .calendar(let timeZone, _, _): timeZone
        case .interval, .manual: nil
        }
    }
}

extension Trigger: Codable {
    private enum Key: String, CodingKey {
        case type, seconds, repeats, at, timeZone, components
    }

    /// Reads what was judged when it was taken; see ``Trigger``'s reader in the API.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        func repeats() throws -> Bool { try container.decodeIfPresent(Bool.self, forKey: .repeats) ?? false }
        switch try container.decode(Kind.self, forKey: .type) {
        case .interval:
            self = .interval(seconds: try container.decode(Double.self, forKey: .seconds), repeats: try repeats())
        case .date:
            let text = try container.decode(String.self, forKey: .at)
            guard let at = WrittenTime(text) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .at, in: container, debugDescription: "'\(text)' is not an RFC 3339 time")
            }
            self = .date(at: at, timeZone: try container.decodeIfPresent(String.self, forKey: .timeZone))
        case .calendar:
            self = .calendar(
                timeZone: try container.decode(String.self, forKey: .timeZone),
                components: try container.decode(CalendarComponents.self, forKey: .components), repeats: try repeats())
        case .manual: self = .manual
        }
    }

    /// As it was given: fields that it doesn't have are left out.
    public func encode(to encoder: any Encoder) throws {
        let fields: JSONFields =
            switch self {
            case .interval(let seconds, let repeats):
                ["type": Kind.interval, "seconds": seconds, "repeats": repeats]
            case .date(let at, let timeZone):
                ["type": Kind.date, "at": at.text] + (timeZone.map { ["timeZone": $0] } ?? [:])
            case .calendar(let timeZone, let components, let repeats):
                ["type": Kind.calendar, "timeZone": timeZone, "components": components, "repeats": repeats]
            case .manual: ["type": Kind.manual]
            }
        try fields.encode(to: encoder)
    }
}
