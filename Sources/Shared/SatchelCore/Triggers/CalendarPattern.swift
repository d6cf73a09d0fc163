/// The local times that components match, as if there were no changes of clocks; with every component either fixed or free.
/// The second is always fixed: given, or the least.
///
/// Within a day the matches are numbered, so that finding the next one, the last one and how many there are is arithmetic;
/// over days they are looked for day by day, with steps over months and years that don't match.
struct CalendarPattern: Hashable, Sendable {
    private let year: Int?
    private let month: Int?
    private let day: Int?
    /// A bit for each weekday that matches, Monday's the lowest.
    private let weekdays: UInt8
    private let hour: Int?
    private let minute: Int?
    private let second: Int

    /// Whether the hour is given, or the least one.
    var isHourFixed: Bool { hour != nil }

    init(_ components: CalendarComponents) {
        // The rank of the smallest component that is given: all smaller ones have the least value.
        let isGiven = [
            components.year != nil, components.month != nil, components.day != nil || components.weekday != nil,
            components.hour != nil, components.minute != nil, components.second != nil,
        ]
        let smallest = isGiven.lastIndex(of: true) ?? 0
        func value(_ given: Int?, rank: Int, least: Int) -> Int? { given ?? (rank > smallest ? least : nil) }
        year = components.year
        month = value(components.month, rank: 1, least: 1)
        day = value(components.day, rank: 2, least: 1)
        weekdays = components.weekday?.all.reduce(0) { $0 | 1 << UInt8($1.number) } ?? 0x7F
        hour = value(components.hour, rank: 3, least: 0)
        minute = value(components.minute, rank: 4, least: 0)
        second = components.second ?? 0
    }

    // MARK: Within a day

    private var perHour: Int { minute == nil ? 60 : 1 }
    private var perDay: Int { (hour == nil ? 24 : 1) * perHour }

    /// How many times of a day come before a second of the day; up to 86400.
    private func count(before secondOfDay: Int) -> Int {
        // A time is a number of three digits, of which some are fixed.
        let digits = [
            (value: secondOfDay / 3600, fixed: hour, weight: perHour),
            (value: secondOfDay / 60 % 60, fixed: minute, weight: 1),
            (value: secondOfDay % 60, fixed: second, weight: 1),
        ]
        var count = 0
        for digit in digits {
            guard let fixed = digit.fixed else {
                count += digit.value * digit.weight
                continue
            }
            if fixed < digit.value { count += digit.weight }
            if fixed != digit.value { break }
        }
        return count
    }

    /// The second of the day of the time with a number, counted from 0.
    private func secondOfDay(number: Int) -> Int {
        (hour ?? number / perHour) * 3600 + (minute ?? number % perHour) * 60 + second
    }

    // MARK: Over days

    /// The first matching day of a range of days since 1970.
    private func firstDay(in days: Range<Int64>) -> Int64? {
        var candidate = days.lowerBound
        while candidate < days.upperBound {
            let date = CivilDate(days: candidate)
            if let year, date.year > year { return nil }
            if let year, date.year < year {
                candidate = CivilDate(year: year, month: 1, day: 1).days
            } else if month.map({ $0 != date.month }) ?? false || day.map({ $0 < date.day }) ?? false {
                candidate =
                    CivilDate(
                        year: date.month == 12 ? date.year + 1 : date.year, month: date.month % 12 + 1, day: 1
                    ).days
            } else if let day, day > date.day {
                // Where the month is shorter that is a day of the next one.
                candidate += Int64(day - date.day)
            } else if matches(weekdayOf: candidate) {
                return candidate
            } else {
                candidate += 1
            }
        }
        return nil
    }

    /// The last matching day of a range of days since 1970.
    private func lastDay(in days: Range<Int64>) -> Int64? {
        var candidate = days.upperBound - 1
        while candidate >= days.lowerBound {
            let date = CivilDate(days: candidate)
            if let year, date.year < year { return nil }
            if let year, date.year > year {
                candidate = CivilDate(year: year, month: 12, day: 31).days
            } else if month.map({ $0 != date.month }) ?? false || day.map({ $0 > date.day }) ?? false {
                candidate -= Int64(date.day)
            } else if let day, day < date.day {
                candidate -= Int64(date.day - day)
            } else if matches(weekdayOf: candidate) {
                return candidate
            } else {
                candidate -= 1
            }
        }
        return nil
    }

    private func matches(weekdayOf day: Int64) -> Bool {
        weekdays & 1 << UInt8(Weekday.number(ofDay: day)) != 0
    }

    // MARK: Local times

    /// The days that a range of local seconds touches.
    private func days(of range: Range<Int64>) -> Range<Int64> {
        range.lowerBound.flooredQuotient(by: LocalTime.day)..<(range.upperBound - 1).flooredQuotient(by: LocalTime.day)
            + 1
    }

    /// How many times of a day come before a local second, which may lie on another day.
    private func count(on day: Int64, before local: Int64) -> Int {
        count(before: Int(min(max(local - day * LocalTime.day, 0), LocalTime.day)))
    }

    /// The first match in a range of local seconds.
    func first(in range: Range<Int64>) -> Int64? {
        guard !range.isEmpty else { return nil }
        var days = days(of: range)
        while let day = firstDay(in: days) {
            let number = count(on: day, before: range.lowerBound)
            if number < perDay {
                let match = day * LocalTime.day + Int64(secondOfDay(number: number))
                return match < range.upperBound ? match : nil
            }
            days = day + 1..<max(day + 1, days.upperBound)
        }
        return nil
    }

    /// The last match in a range of local seconds.
    func last(in range: Range<Int64>) -> Int64? {
        guard !range.isEmpty else { return nil }
        var days = days(of: range)
        while let day = lastDay(in: days) {
            let number = count(on: day, before: range.upperBound) - 1
            if number >= 0 {
                let match = day * LocalTime.day + Int64(secondOfDay(number: number))
                return match >= range.lowerBound ? match : nil
            }
            days = min(days.lowerBound, day)..<day
        }
        return nil
    }

    /// How many matches a range of local seconds has.
    func count(in range: Range<Int64>) -> Int {
        guard !range.isEmpty else { return 0 }
        var days = days(of: range)
        var count = 0
        while let day = firstDay(in: days) {
            count += self.count(on: day, before: range.upperBound) - self.count(on: day, before: range.lowerBound)
            days = day + 1..<max(day + 1, days.upperBound)
        }
        return count
    }
}
