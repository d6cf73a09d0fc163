import SatchelCore
import FoundationEssentials
import TestSupport
import Testing

@Suite struct TriggerTests {
    private let accepted = Instant(milliseconds: 1_795_600_000_123)

    // MARK: Intervals and dates

    @Test func `an interval is a raster from acceptance on, whatever was late`() throws {
        let trigger = Trigger.interval(seconds: 1800, repeats: true)
        let occurrences = try trigger.occurrences(after: accepted, 1000)
        let raster = (1...1000).map { accepted + .seconds(1800 * Int64($0)) }
        #expect(occurrences.map(\.at) == raster)
        #expect(occurrences.allSatisfy { $0.local == nil && $0.note == nil })
        // Behind an instant that isn't of the raster comes its next one.
        let late = TriggerPosition.instant(accepted + .seconds(1801))
        #expect(
            try trigger.next(after: late, accepted: accepted, in: ZoneFiles.system)?.at == accepted + .seconds(3600))
    }

    @Test func `what doesn't repeat has one occurrence`() throws {
        let date = try #require(WrittenTime("2026-12-24T18:00:00+01:00"))
        let components = CalendarComponents(hour: 8)
        for trigger in [
            Trigger.interval(seconds: 0.5, repeats: false), .date(at: date, timeZone: nil),
            .calendar(timeZone: "Europe/Berlin", components: components, repeats: false),
        ] {
            #expect(try trigger.occurrences(after: accepted, 3).count == 1, "\(trigger)")
        }
        #expect(try Trigger.manual.occurrences(after: accepted, 3).isEmpty)
        #expect(try Trigger.manual.first(accepted: accepted, in: ZoneFiles.system) == nil)
    }

    @Test func `the shortest time between two occurrences is known ahead`() throws {
        func gap(_ trigger: Trigger) throws -> Duration? {
            try trigger.shortestGap(accepted: accepted, in: ZoneFiles.system)
        }
        func berlin(_ components: CalendarComponents) -> Trigger {
            .calendar(timeZone: "Europe/Berlin", components: components, repeats: true)
        }
        #expect(try gap(.interval(seconds: 90, repeats: true)) == .seconds(90))
        #expect(try gap(berlin(CalendarComponents(minute: 5))) == .seconds(3600))
        #expect(try gap(berlin(CalendarComponents(weekday: .any([.monday, .friday, .saturday])))) == .seconds(86_400))
        #expect(try gap(.interval(seconds: 90, repeats: false)) == nil)
        #expect(try gap(.manual) == nil)
    }

    @Test(arguments: [
        ("2026-12-24T18:00:00+01:00", nil, "2026-12-24T17:00:00.000Z", "2026-12-24T18:00:00+01:00"),
        ("2026-12-24T18:00:00.25Z", nil, "2026-12-24T18:00:00.250Z", "2026-12-24T18:00:00.250+00:00"),
        ("2026-12-24T18:00:00Z", "Asia/Kolkata", "2026-12-24T18:00:00.000Z", "2026-12-24T23:30:00+05:30"),
        ("2026-12-24T18:00:00.5", "Asia/Kolkata", "2026-12-24T12:30:00.500Z", "2026-12-24T18:00:00.500+05:30"),
        // In a gap it is the first instant after, in a time that comes twice the first.
        ("2027-03-28T02:30:00.5", "Europe/Berlin", "2027-03-28T01:00:00.000Z", "2027-03-28T03:00:00+02:00"),
        ("2027-10-31T02:30:00", "Europe/Berlin", "2027-10-31T00:30:00.000Z", "2027-10-31T02:30:00+02:00"),
    ])
    func `a date is an instant, or what a zone's clocks show`(
        text: String, zone: String?, at: String, local: String
    ) throws {
        let trigger = Trigger.date(at: try #require(WrittenTime(text)), timeZone: zone)
        let occurrence = try #require(try trigger.first(accepted: accepted, in: ZoneFiles.system))
        #expect(occurrence.at.description == at && occurrence.local == local)
        #expect(trigger.timeZone == (text.hasSuffix("Z") || text.contains("+") ? nil : zone))
    }

    @Test func `a date that has passed is refused, and still found when it is looked for again`() throws {
        let trigger = Trigger.date(at: try #require(WrittenTime("2026-01-01T00:00:00Z")), timeZone: nil)
        #expect(throws: TriggerError.passed(at: try Instant(written: "2026-01-01T00:00:00Z"))) {
            _ = try trigger.first(accepted: accepted, in: ZoneFiles.system)
        }
        #expect(try trigger.next(after: nil, accepted: accepted, in: ZoneFiles.system) != nil)
    }

    @Test func `components that are not given are the least below the smallest, and free above`() throws {
        func locals(_ components: CalendarComponents) throws -> [String?] {
            try Trigger.calendar(timeZone: "UTC", components: components, repeats: true)
                .locals(after: "2026-11-23T08:30:15Z", 2).map { $0.map { String($0.prefix(19)) } }
        }
        let cases: [(CalendarComponents, [String])] = [
            (CalendarComponents(year: 2027), ["2027-01-01T00:00:00"]),
            (CalendarComponents(month: 2), ["2027-02-01T00:00:00", "2028-02-01T00:00:00"]),
            (CalendarComponents(day: 5), ["2026-12-05T00:00:00", "2027-01-05T00:00:00"]),
            (CalendarComponents(weekday: .one(.monday)), ["2026-11-30T00:00:00", "2026-12-07T00:00:00"]),
            (
                CalendarComponents(month: 12, weekday: .any([.friday, .saturday])),
                ["2026-12-04T00:00:00", "2026-12-05T00:00:00"]
            ),
            // Both hold.
            (CalendarComponents(day: 13, weekday: .one(.friday)), ["2027-08-13T00:00:00", "2028-10-13T00:00:00"]),
            (CalendarComponents(hour: 9), ["2026-11-23T09:00:00", "2026-11-24T09:00:00"]),
            (CalendarComponents(minute: 30), ["2026-11-23T09:30:00", "2026-11-23T10:30:00"]),
            (CalendarComponents(second: 15), ["2026-11-23T08:31:15", "2026-11-23T08:32:15"]),
            (CalendarComponents(hour: 8, second: 20), ["2026-11-23T08:30:20", "2026-11-23T08:31:20"]),
            (CalendarComponents(year: 2026, hour: 23), ["2026-11-23T23:00:00", "2026-11-24T23:00:00"]),
        ]
        for (components, expected) in cases {
            #expect(try locals(components) == expected, "\(components)")
        }
    }

    // MARK: What is due

    private struct Case {
        var trigger: Trigger
        var accepted: Instant
    }

    @Test func `all that passed count as one, the latest, with how many others there were`() throws {
        var random = SeededGenerator(seed: 17)
        let zones = ["Europe/Berlin", "Australia/Lord_Howe", "Africa/Cairo", "Pacific/Apia", "America/Santiago", "UTC"]
        for _ in 0..<Sweep.count(600, else: 120) {
            let components = [
                CalendarComponents(minute: 30), CalendarComponents(hour: 2, second: 0),
                CalendarComponents(hour: 2, minute: 15),
                CalendarComponents(hour: 0), CalendarComponents(weekday: .one(.sunday), hour: 2, minute: 30),
            ].randomElement(using: &random)
            let trigger =
                Int.random(in: 0..<6, using: &random) == 0
                ? Trigger.interval(seconds: Double(Int.random(in: 60...9000, using: &random)), repeats: true)
                : .calendar(
                    timeZone: try #require(zones.randomElement(using: &random)), components: try #require(components),
                    repeats: true)
            // Around the days on which clocks change there.
            let change = try [
                "2011-12-30T10:00:00Z", "2026-03-29T01:00:00Z", "2026-04-05T00:00:00Z", "2026-04-23T22:00:00Z",
                "2026-09-06T04:00:00Z", "2026-10-03T15:30:00Z", "2026-10-25T01:00:00Z",
            ]
            .map { try Instant(written: $0) }.randomElement(using: &random)
            let accepted = try #require(change) - .seconds(Int64.random(in: 0...200_000, using: &random))
            let now = accepted + .milliseconds(Int64.random(in: 0...400_000_000, using: &random))
            let all = try trigger.occurrences(after: accepted, 500)
            let passed = all.prefix { $0.at <= now }
            let limit = Duration.seconds(Int64.random(in: 1...86_400, using: &random))
            let due = try trigger.due(all[0], accepted: accepted, now: now, lateLimit: limit, in: ZoneFiles.system)
            let comment: Comment = "\(trigger) from \(accepted) to \(now)"
            guard let latest = passed.last, passed.count < all.count else {
                #expect(due == nil || passed.count == all.count, comment)
                continue
            }
            #expect(due?.occurrence.at == latest.at && due?.occurrence.position == latest.position, comment)
            #expect(due?.coalesced == passed.count - 1 && due?.next?.at == all[passed.count].at, comment)
            let late = now - latest.at
            #expect(due?.late == late && due?.isMissed == (late > limit), comment)
        }
    }

    @Test func `what a gap moves to a moment that matches by itself counts once`() throws {
        let trigger = Trigger.calendar(
            timeZone: "Australia/Lord_Howe", components: CalendarComponents(hour: 2, second: 0), repeats: true)
        let accepted = try Instant(written: "2026-10-03T01:59:59+10:30")
        let next = try #require(try trigger.first(accepted: accepted, in: ZoneFiles.system))
        let due = try trigger.due(
            next, accepted: accepted, now: Instant(written: "2026-10-04T02:31:00+11:00"), lateLimit: .seconds(60),
            in: ZoneFiles.system)
        // The hour's 60 minutes of the day before, 02:30 and 02:31.
        #expect(due?.coalesced == 61 && due?.occurrence.local == "2026-10-04T02:31:00+11:00")
    }

    @Test func `forty years of minutes are decided at once, and counted`() throws {
        let start = try Instant(written: "2026-01-01T00:00:00Z")
        let now = try Instant(written: "2066-01-01T00:00:30Z")
        let minutes = 60 * 24 * (365 * 40 + 10)
        for trigger in [
            Trigger.interval(seconds: 60, repeats: true),
            .calendar(timeZone: "Europe/Berlin", components: CalendarComponents(second: 0), repeats: true),
        ] {
            let first = try #require(try trigger.first(accepted: start, in: ZoneFiles.system))
            let clock = ContinuousClock.now
            let due = try trigger.due(
                first, accepted: start, now: now, lateLimit: .seconds(60), in: ZoneFiles.system)
            #expect(ContinuousClock.now - clock < .seconds(5))
            // No minute is lost or gained in a year: what is left out in spring comes twice in autumn.
            #expect(due?.coalesced == minutes - 1)
            #expect(due?.isMissed == false && due?.late == .seconds(30))
            #expect(due?.next?.at == now + .seconds(30))
        }
    }

    @Test func `what is due fires up to the limit, and is missed behind it`() throws {
        let trigger = Trigger.interval(seconds: 60, repeats: false)
        let next = try #require(try trigger.first(accepted: accepted, in: ZoneFiles.system))
        func due(_ late: Int64) throws -> DueDecision? {
            try trigger.due(
                next, accepted: accepted, now: next.at + .milliseconds(late), lateLimit: .seconds(10),
                in: ZoneFiles.system)
        }
        #expect(try due(-1) == nil)
        #expect(try due(0)?.isMissed == false && due(10_000)?.isMissed == false && due(10_001)?.isMissed == true)
        #expect(try due(10_001)?.next == nil && due(0)?.coalesced == 0)
    }

    // MARK: As JSON

    @Test(arguments: [
        #"{"repeats":false,"seconds":1800,"type":"interval"}"#, #"{"at":"2026-12-24T18:00:00+01:00","type":"date"}"#,
        #"{"at":"2026-12-24T18:00:00","time_zone":"Europe/Berlin","type":"date"}"#, #"{"type":"manual"}"#,
        #"{"components":{"hour":8,"minute":30,"weekday":["monday","friday"]},"repeats":true,"time_zone":"Europe/Berlin","type":"calendar"}"#,
        #"{"components":{"weekday":"monday"},"repeats":false,"time_zone":"Europe/Berlin","type":"calendar"}"#,
        #"{"components":{"day":1,"month":2,"second":3,"year":2027},"repeats":true,"time_zone":"UTC","type":"calendar"}"#,
    ])
    func `a trigger is written as it was given`(json: String) throws {
        let trigger = try JSON.decode(Trigger.self, from: Data(json.utf8))
        #expect(try JSON.text(trigger) == json)
    }

    @Test func `an occurrence and its position survive being stored`() throws {
        for text in ["2026-11-23T08:30:00", "2026-10-25T02:30:00#2", "2026-11-23T07:30:00.000Z"] {
            let position = try #require(TriggerPosition(rawValue: text))
            #expect(position.rawValue == text)
            let occurrence = Occurrence(at: accepted, local: nil, note: nil, position: position)
            let stored = try JSON.encode(occurrence)
            #expect(try JSON.decode(Occurrence.self, from: stored) == occurrence)
        }
        for text in ["", "2026-11-23", "2026-11-23T08:30:00#1", "2026-11-23T08:30:00#x", "2026-13-23T08:30:00"] {
            #expect(TriggerPosition(rawValue: text) == nil, "\(text)")
        }
    }

    @Test(arguments: [
        "2026-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "2026-12-24", "2026-12-24T24:00:00Z", "2026-12-24T18:00Z",
        "2026-12-24T18:00:60Z", "2026-12-24T18:00:00+24:00", "2026-12-24T18:00:00+1:00", "2026-12-24T18:00:00.Z", "",
        "2026-12-24 18:00:00Z", "1969-12-31T23:59:59Z", "3000-01-01T00:00:00Z", "2026-12-24T18:00:00Zx",
        "٢026-12-24T18:00:00Z",
        "-026-12-24T18:00:00Z", "2026-00-10T00:00:00Z", "2026-01-00T00:00:00Z",
    ])
    func `what is no time of RFC 3339 is none`(text: String) {
        #expect(WrittenTime(text) == nil)
    }

    // MARK: Editions

    @Test func `editions are ordered as they were released`() {
        let ordered = [
            "2025-03-01T00:00:00.000Z-0000000000000001", "2025-03-02T00:00:00.000Z-0000000000000000", "2024a", "2024b",
            "2024z", "2024za", "2025a", "2025b", "2025b-1", "2026a",
        ].map(TimeZoneRulesVersion.init)
        for (index, version) in ordered.enumerated() {
            for (other, later) in ordered.enumerated() {
                #expect((version < later) == (index < other), "\(version.rawValue) and \(later.rawValue)")
            }
        }
    }

    @Test func `an edition is dated by its file, within its year`() throws {
        let version = TimeZoneRulesVersion(rawValue: "2025b")
        for (modified, date) in [
            ("2025-03-22T10:00:00Z", "2025-03-22T10:00:00Z"), ("2026-05-09T00:00:00Z", "2026-01-01T00:00:00Z"),
            ("1980-01-01T00:00:00Z", "2025-01-01T00:00:00Z"),
        ] {
            #expect(try version.date(modified: Instant(written: modified)) == Instant(written: date))
        }
    }
}
