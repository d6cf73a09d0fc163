/// What a date and a time must have for a calendar trigger to match; at least one is given.
///
/// Those that are not given: below the smallest given one the least value (0, or 1), all others free. A weekday ranks with
/// the day; given both, both hold.
public struct CalendarComponents: Hashable, Sendable, Codable {
    public var year: Int?
    public var month: Int?
    public var day: Int?
    public var weekday: Weekdays?
    public var hour: Int?
    public var minute: Int?
    public var second: Int?

    /// One weekday or several, as they were given.
    public enum Weekdays: Hashable, Sendable {
        case one(Weekday)
        case any([Weekday])

        public var all: [Weekday] {
            switch self {
            case .one(let weekday): [weekday]
            case .any(let weekdays): weekdays
            }
        }
    }

    /// A component that is a number.
    public struct Number: Sendable {
        public let name: String
        public let path: any WritableKeyPath<CalendarComponents, Int?> & Sendable
        public let range: ClosedRange<Int>
    }

    /// All of them, the largest first.
    public static let numbers = [
        Number(name: "year", path: \.year, range: WrittenTime.years),
        Number(name: "month", path: \.month, range: 1...12), Number(name: "day", path: \.day, range: 1...31),
        Number(name: "hour", path: \.hour, range: 0...23), Number(name: "minute", path: \.minute, range: 0...59),
        Number(name: "second", path: \.second, range: 0...59),
    ]

    public init(
        year: Int? = nil, month: Int? = nil, day: Int? = nil, weekday: Weekdays? = nil, hour: Int? = nil,
        minute: Int? = nil, second: Int? = nil
    ) {
        self.year = year
        self.month = month
        self.day = day
        self.weekday = weekday
        self.hour = hour
        self.minute = minute
        self.second = second
    }

    public var isEmpty: Bool { self == CalendarComponents() }
}

extension CalendarComponents.Weekdays: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        self =
            if let weekday = try? container.decode(Weekday.self) { .one(weekday) } else {
                .any(try container.decode([Weekday].self))
            }
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .one(let weekday): try weekday.encode(to: encoder)
        case .any(let weekdays): try weekdays.encode(to: encoder)
        }
    }
}
