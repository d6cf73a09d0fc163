/// A date and a time of day as a clock on the wall shows them, without a zone; in the proleptic Gregorian calendar.
public struct LocalTime: Hashable, Comparable, Sendable {
    /// Seconds since 1970-01-01T00:00:00 on that wall.
    public var seconds: Int64

    public init(seconds: Int64) { self.seconds = seconds }

    public init(_ date: CivilDate, secondOfDay: Int = 0) {
        seconds = date.days * Self.day + Int64(secondOfDay)
    }

    static let day: Int64 = 86_400

    /// Days since 1970-01-01.
    var days: Int64 { seconds.flooredQuotient(by: Self.day) }

    public var date: CivilDate { CivilDate(days: days) }

    public var secondOfDay: Int { Int(seconds - days * Self.day) }

    public static func < (left: LocalTime, right: LocalTime) -> Bool {
        left.seconds < right.seconds
    }

    /// `08:30`, with seconds where there are some.
    var clock: String {
        let second = secondOfDay
        let minutes = "\((second / 3600).padded):\((second / 60 % 60).padded)"
        return second % 60 == 0 ? minutes : minutes + ":\((second % 60).padded)"
    }
}

extension LocalTime: CustomStringConvertible {
    /// As RFC 3339 writes it, without an offset: `2026-11-23T08:30:00`.
    public var description: String {
        let second = secondOfDay
        return "\(date)T\((second / 3600).padded):\((second / 60 % 60).padded):\((second % 60).padded)"
    }

    /// Reads what ``description`` writes; nil for anything else.
    public init?(_ text: String) {
        guard let written = WrittenTime(text), written.offset == nil, written.milliseconds == 0 else { return nil }
        self = written.local
    }
}

/// A date of the proleptic Gregorian calendar.
public struct CivilDate: Hashable, Sendable {
    public var year: Int
    public var month: Int
    public var day: Int

    /// - Parameters:
    ///   - month: 1 to 12.
    ///   - day: 1 or more; what the month lacks counts on in the next one.
    public init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// The date so many days after 1970-01-01: Howard Hinnant's `civil_from_days`
    /// (<https://howardhinnant.github.io/date_algorithms.html>).
    public init(days: Int64) {
        let shifted = days + 719_468
        let era = shifted.flooredQuotient(by: 146_097)
        let dayOfEra = Int(shifted - era * 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        // Years begin in March here, so that the leap day is their last.
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + Int(era) * 400 + (month <= 2 ? 1 : 0)
    }

    /// Days since 1970-01-01: Howard Hinnant's `days_from_civil`.
    public var days: Int64 {
        let year = Int64(month <= 2 ? self.year - 1 : self.year)
        let era = year.flooredQuotient(by: 400)
        let yearOfEra = year - era * 400
        let dayOfYear = Int64((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1)
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    public static func isLeap(_ year: Int) -> Bool {
        year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
    }

    /// How many days a month has.
    static func length(ofMonth month: Int, in year: Int) -> Int {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

extension CivilDate: CustomStringConvertible {
    /// `2026-11-23`.
    public var description: String {
        let digits = String(year)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits + "-\(month.padded)-\(day.padded)"
    }
}

public enum Weekday: String, Hashable, Sendable, Codable, CaseIterable {
    case monday, tuesday, wednesday, thursday, friday, saturday, sunday

    /// Monday is 0.
    var number: Int {
        switch self {
        case .monday: 0
        case .tuesday: 1
        case .wednesday: 2
        case .thursday: 3
        case .friday: 4
        case .saturday: 5
        case .sunday: 6
        }
    }

    /// The number of the weekday so many days after 1970-01-01, which was a Thursday.
    static func number(ofDay days: Int64) -> Int {
        Int(days + 3 - (days + 3).flooredQuotient(by: 7) * 7)
    }
}

extension Int64 {
    /// Rounded down, also below zero.
    func flooredQuotient(by divisor: Int64) -> Int64 {
        self >= 0 ? self / divisor : (self + 1) / divisor - 1
    }
}

extension Int {
    /// With two digits at least.
    var padded: String { self < 10 ? "0\(self)" : "\(self)" }
}
