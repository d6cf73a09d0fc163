import SatchelCore
import TestSupport
import Testing

/// What becomes of calendar triggers where a zone's clocks change, and where the calendar has gaps of its own.
@Suite struct ClockChangeTests {
    private func daily(_ zone: String, _ hour: Int, _ minute: Int = 0) -> Trigger {
        .calendar(timeZone: zone, components: CalendarComponents(hour: hour, minute: minute), repeats: true)
    }

    @Test func `02.30 in Berlin fires at 03.00 where the clocks go forward past it`() throws {
        let occurrences = try daily("Europe/Berlin", 2, 30).occurrences(
            after: Instant(written: "2026-03-28T00:00:00Z"), 3)
        #expect(
            occurrences.map(\.local) == [
                "2026-03-28T02:30:00+01:00", "2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00",
            ])
        #expect(occurrences[1].at.description == "2026-03-29T01:00:00.000Z")
        #expect(
            occurrences.map(\.note) == [
                nil,
                "02:30 does not exist on 2026-03-29, because the clocks go forward from 02:00 to 03:00: it fires directly after the gap.",
                nil,
            ])
    }

    @Test func `02.30 in Berlin fires the first time alone where it comes twice`() throws {
        let occurrences = try daily("Europe/Berlin", 2, 30).occurrences(
            after: Instant(written: "2026-10-24T00:00:00Z"), 3)
        #expect(
            occurrences.map(\.local) == [
                "2026-10-24T02:30:00+02:00", "2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00",
            ])
        #expect(
            occurrences[1].note
                == "02:30 occurs twice on 2026-10-25, because the clocks go back from 03:00 to 02:00: it fires only the first time."
        )
        // Accepted between the two, it has been.
        #expect(
            try daily("Europe/Berlin", 2, 30).locals(after: "2026-10-25T02:45:00+02:00", 1)
                == ["2026-10-26T02:30:00+01:00"])
    }

    @Test func `02.15 on Lord Howe Island knows its half hour`() throws {
        let trigger = daily("Australia/Lord_Howe", 2, 15)
        #expect(
            try trigger.locals(after: "2026-10-03T00:00:00Z", 2) == [
                "2026-10-04T02:30:00+11:00", "2026-10-05T02:15:00+11:00",
            ])
        #expect(
            try daily("Australia/Lord_Howe", 1, 45).locals(after: "2026-04-04T00:00:00+11:00", 3) == [
                "2026-04-04T01:45:00+11:00", "2026-04-05T01:45:00+11:00", "2026-04-06T01:45:00+10:30",
            ])
        #expect(
            try daily("Australia/Lord_Howe", 2, 15).locals(after: "2026-04-04T12:00:00+11:00", 2) == [
                "2026-04-05T02:15:00+10:30", "2026-04-06T02:15:00+10:30",
            ])
    }

    @Test(arguments: [
        ("Africa/Cairo", "2026-04-23T00:00:00Z", ["2026-04-24T01:00:00+03:00", "2026-04-25T00:00:00+03:00"]),
        ("America/Santiago", "2026-09-05T12:00:00Z", ["2026-09-06T01:00:00-03:00", "2026-09-07T00:00:00-03:00"]),
    ])
    func `midnight that clocks go forward past is at their first instant`(
        zone: String, after: String, locals: [String]
    ) throws {
        #expect(try daily(zone, 0).locals(after: after, 2) == locals)
        // A day without a time has midnight's.
        let date = Trigger.calendar(
            timeZone: zone, components: CalendarComponents(weekday: .any(Weekday.allCases)), repeats: true)
        #expect(try date.locals(after: after, 2) == locals)
    }

    @Test func `midnight that comes twice fires once, of a day's end at its first time`() throws {
        // At 24:00 on 29 October clocks in Cairo go back to 23:00.
        #expect(
            try daily("Africa/Cairo", 23, 30).locals(after: "2026-10-29T12:00:00Z", 2) == [
                "2026-10-29T23:30:00+03:00", "2026-10-30T23:30:00+02:00",
            ])
        #expect(
            try daily("Africa/Cairo", 0).locals(after: "2026-10-29T12:00:00Z", 2) == [
                "2026-10-30T00:00:00+02:00", "2026-10-31T00:00:00+02:00",
            ])
    }

    @Test func `30 December 2011 in Apia is passed over, and said so`() throws {
        let occurrences = try daily("Pacific/Apia", 8).occurrences(after: Instant(written: "2011-12-29T00:00:00Z"), 3)
        #expect(
            occurrences.map(\.local) == [
                "2011-12-29T08:00:00-10:00", "2011-12-31T08:00:00+14:00", "2012-01-01T08:00:00+14:00",
            ])
        #expect(occurrences.map(\.note) == [nil, "2011-12-30 does not exist in this zone and is skipped.", nil])
        // Midnight of the 31st is where the gap ends: it is that day's own.
        #expect(
            try daily("Pacific/Apia", 0).locals(after: "2011-12-29T00:00:00-10:00", 2) == [
                "2011-12-31T00:00:00+14:00", "2012-01-01T00:00:00+14:00",
            ])
        let friday = Trigger.calendar(
            timeZone: "Pacific/Apia", components: CalendarComponents(weekday: .one(.friday), hour: 8), repeats: true)
        #expect(try friday.locals(after: "2011-12-29T00:00:00Z", 1) == ["2012-01-06T08:00:00+14:00"])
    }

    @Test func `a date in Apia's missing day never comes`() throws {
        let written = try #require(WrittenTime("2011-12-30T12:00:00"))
        let date = Trigger.date(at: written, timeZone: "Pacific/Apia")
        #expect(throws: TriggerError.neverFires(field: "at")) {
            _ = try date.first(accepted: Instant(milliseconds: 0), in: ZoneFiles.system)
        }
    }

    @Test func `29 February comes in leap years, and on one weekday in 28 years`() throws {
        let trigger = Trigger.calendar(
            timeZone: "Europe/London", components: CalendarComponents(month: 2, day: 29, hour: 9), repeats: true)
        #expect(
            try trigger.locals(after: "2026-01-01T00:00:00Z", 3) == [
                "2028-02-29T09:00:00+00:00", "2032-02-29T09:00:00+00:00", "2036-02-29T09:00:00+00:00",
            ])
        let monday = Trigger.calendar(
            timeZone: "UTC", components: CalendarComponents(month: 2, day: 29, weekday: .one(.monday)), repeats: true)
        #expect(
            try monday.locals(after: "2028-01-01T00:00:00Z", 2) == [
                "2044-02-29T00:00:00+00:00", "2072-02-29T00:00:00+00:00",
            ])
    }

    @Test func `the 31st is passed over in months that lack it, and 31 April is refused`() throws {
        let trigger = Trigger.calendar(
            timeZone: "America/New_York", components: CalendarComponents(day: 31, hour: 12), repeats: true)
        #expect(
            try trigger.locals(after: "2026-01-31T17:00:00Z", 4) == [
                "2026-03-31T12:00:00-04:00", "2026-05-31T12:00:00-04:00", "2026-07-31T12:00:00-04:00",
                "2026-08-31T12:00:00-04:00",
            ])
        for components in [
            CalendarComponents(month: 4, day: 31), CalendarComponents(month: 2, day: 30),
            CalendarComponents(year: 2027, month: 2, day: 29), CalendarComponents(year: 2020, hour: 8),
            CalendarComponents(weekday: .any([])),
        ] {
            let never = Trigger.calendar(timeZone: "UTC", components: components, repeats: true)
            #expect(throws: TriggerError.neverFires(field: "components")) {
                _ = try never.first(accepted: Instant(written: "2026-01-01T00:00:00Z"), in: ZoneFiles.system)
            }
        }
    }

    @Test func `where the hour is free, times that don't exist are passed over, and those that come twice fire twice`()
        throws
    {
        let hourly = Trigger.calendar(
            timeZone: "Europe/Berlin", components: CalendarComponents(minute: 30), repeats: true)
        let spring = try hourly.occurrences(after: Instant(written: "2026-03-29T00:00:00+01:00"), 4)
        #expect(
            spring.map(\.local) == [
                "2026-03-29T00:30:00+01:00", "2026-03-29T01:30:00+01:00", "2026-03-29T03:30:00+02:00",
                "2026-03-29T04:30:00+02:00",
            ])
        #expect(
            spring[2].note
                == "02:30 does not exist on 2026-03-29, because the clocks go forward from 02:00 to 03:00, and is skipped."
        )
        let autumn = try hourly.occurrences(after: Instant(written: "2026-10-25T02:00:00+02:00"), 3)
        #expect(
            autumn.map(\.local) == [
                "2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00", "2026-10-25T03:30:00+01:00",
            ])
        #expect(autumn[0].note?.hasSuffix("from 03:00 to 02:00: this is the first time.") == true)
        #expect(autumn[1].note?.hasSuffix("from 03:00 to 02:00: this is the second time.") == true)
        #expect(autumn[2].note == nil)
        #expect(
            autumn.map(\.position.rawValue) == ["2026-10-25T02:30:00", "2026-10-25T02:30:00#2", "2026-10-25T03:30:00"])
    }

    @Test func `all times of a gap fire once, and with what comes at its end`() throws {
        let minutes = Trigger.calendar(
            timeZone: "Australia/Lord_Howe", components: CalendarComponents(hour: 2, second: 0), repeats: true)
        let occurrences = try minutes.occurrences(after: Instant(written: "2026-10-03T12:00:00Z"), 3)
        #expect(
            occurrences.map(\.local) == [
                "2026-10-04T02:30:00+11:00", "2026-10-04T02:31:00+11:00", "2026-10-04T02:32:00+11:00",
            ])
        let berlin = Trigger.calendar(
            timeZone: "Europe/Berlin", components: CalendarComponents(hour: 2, second: 0), repeats: true)
        #expect(
            try berlin.locals(after: "2026-03-28T02:58:30+01:00", 3) == [
                "2026-03-28T02:59:00+01:00", "2026-03-29T03:00:00+02:00", "2026-03-30T02:00:00+02:00",
            ])
    }
}
