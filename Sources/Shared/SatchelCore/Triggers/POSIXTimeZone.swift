/// A time zone as POSIX's `TZ` writes it, with the extensions of RFC 9636 (section 3.3.2): `CET-1CEST,M3.5.0,M10.5.0/3`.
struct POSIXTimeZone: Hashable, Sendable {
    /// A day of each year, and a time on that day's clocks.
    struct Rule: Hashable, Sendable {
        enum Day: Hashable, Sendable {
            /// `J60`: 1 to 365; 29 February is never counted.
            case withoutLeapDay(Int)
            /// `59`: 0 to 365; 29 February is counted.
            case ofYear(Int)
            /// `M3.5.0`: a weekday (Sunday is 0) of a week of a month; the fifth is the last.
            case weekday(Int, week: Int, month: Int)
        }

        var day: Day
        /// Seconds from midnight, from a week before to a week after.
        var time: Int

        /// As local seconds since 1970.
        func local(in year: Int) -> Int64 {
            let days: Int64
            switch day {
            case .withoutLeapDay(let number):
                days =
                    CivilDate(year: year, month: 1, day: 1).days + Int64(number - 1)
                    + (CivilDate.isLeap(year) && number >= 60 ? 1 : 0)
            case .ofYear(let number):
                days = CivilDate(year: year, month: 1, day: 1).days + Int64(number)
            case .weekday(let weekday, let week, let month):
                let first = CivilDate(year: year, month: month, day: 1).days
                // Monday is 0 there.
                let ahead = (weekday + 6 - Weekday.number(ofDay: first)) % 7
                var day = ahead + (week - 1) * 7
                if day >= CivilDate.length(ofMonth: month, in: year) { day -= 7 }
                days = first + Int64(day)
            }
            return days * LocalTime.day + Int64(time)
        }
    }

    struct DaylightSaving: Hashable, Sendable {
        /// Seconds east of UTC.
        var offset: Int64
        var start: Rule
        var end: Rule
    }

    /// Seconds east of UTC.
    var standard: Int64
    var daylight: DaylightSaving?

    func period(at moment: Int64) -> TimeZoneRules.Period {
        var period = TimeZoneRules.Period(
            start: TimeZoneRules.moments.lowerBound, end: TimeZoneRules.moments.upperBound, offset: standard)
        guard let daylight else { return period }
        let year = LocalTime(seconds: moment + standard).date.year
        // A rule's time may be a week off its day, so that a change may lie in a neighbouring year.
        let changes = (year - 2...year + 2).flatMap { year in
            [
                (moment: daylight.start.local(in: year) - standard, offset: daylight.offset),
                (moment: daylight.end.local(in: year) - daylight.offset, offset: standard),
            ]
        }
        // Of changes at one moment the later year's counts: that is how a summer time of the whole year is written.
        for change in changes {
            if change.moment <= moment, change.moment >= period.start {
                period.start = change.moment
                period.offset = change.offset
            }
            if change.moment > moment { period.end = min(period.end, change.moment) }
        }
        return period
    }
}

extension POSIXTimeZone {
    /// Nil for what isn't of the form.
    init?(_ text: some Sequence<UInt8>) {
        var reader = POSIXTimeZoneReader(rest: Array(text)[...])
        guard reader.name(), let standard = reader.offset() else { return nil }
        self.standard = -standard
        guard !reader.rest.isEmpty else { return }
        guard reader.name() else { return nil }
        var offset = self.standard + 3600
        if reader.rest.first != UInt8(ascii: ",") {
            guard let given = reader.offset() else { return nil }
            offset = -given
        }
        guard reader.take(","), let start = reader.rule(), reader.take(","), let end = reader.rule(),
            reader.rest.isEmpty, TimeZoneRules.offsetRange.contains(offset)
        else { return nil }
        daylight = DaylightSaving(offset: offset, start: start, end: end)
    }
}

/// Reads the parts of a time zone as POSIX writes it.
private struct POSIXTimeZoneReader {
    var rest: ArraySlice<UInt8>

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    /// Three letters at least, or anything of letters, digits and signs in angle brackets.
    mutating func name() -> Bool {
        func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte & 0xDF) && byte < 0x80 }
        if take("<") {
            let name = rest.prefix { isLetter($0) || (0x30...0x39).contains($0) || $0 == 0x2B || $0 == 0x2D }
            rest = rest.dropFirst(name.count)
            return name.count >= 3 && take(">")
        }
        let name = rest.prefix(while: isLetter)
        rest = rest.dropFirst(name.count)
        return name.count >= 3
    }

    mutating func number(in range: ClosedRange<Int>) -> Int? {
        let digits = rest.prefix { (0x30...0x39).contains($0) }
        guard (1...3).contains(digits.count) else { return nil }
        rest = rest.dropFirst(digits.count)
        let value = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        return range.contains(value) ? value : nil
    }

    /// `[+-]h[h[h]][:mm[:ss]]`, in seconds.
    private mutating func time(hours: ClosedRange<Int>) -> Int? {
        let sign = take("-") ? -1 : 1
        if sign == 1 { _ = take("+") }
        guard let hour = number(in: hours) else { return nil }
        var seconds = hour * 3600
        if take(":") {
            guard let minute = number(in: 0...59) else { return nil }
            seconds += minute * 60
            if take(":") {
                guard let second = number(in: 0...59) else { return nil }
                seconds += second
            }
        }
        return sign * seconds
    }

    /// Seconds west of UTC.
    mutating func offset() -> Int64? {
        time(hours: 0...24).map(Int64.init)
    }

    mutating func rule() -> POSIXTimeZone.Rule? {
        let day: POSIXTimeZone.Rule.Day
        if take("J") {
            guard let number = number(in: 1...365) else { return nil }
            day = .withoutLeapDay(number)
        } else if take("M") {
            guard let month = number(in: 1...12), take("."), let week = number(in: 1...5), take("."),
                let weekday = number(in: 0...6)
            else { return nil }
            day = .weekday(weekday, week: week, month: month)
        } else {
            guard let number = number(in: 0...365) else { return nil }
            day = .ofYear(number)
        }
        // Where it doesn't say, at 02:00.
        guard take("/") else { return POSIXTimeZone.Rule(day: day, time: 2 * 3600) }
        return time(hours: 0...167).map { POSIXTimeZone.Rule(day: day, time: $0) }
    }
}
