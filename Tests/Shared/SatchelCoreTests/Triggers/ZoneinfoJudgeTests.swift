import SatchelCore
import Foundation
import TestSupport
import Testing

/// Calendar triggers in every zone, judged by Python's zoneinfo, which reads the same files and looks for matches in another
/// way: date by date, asking of each local time when it comes.
@Suite struct ZoneinfoJudgeTests {
    private struct Case: Codable {
        var zone: String
        /// Seconds since 1970.
        var after: Int64
        var components: CalendarComponents
        /// Local times with offsets.
        var found: [String]
    }

    /// How many occurrences of each trigger are compared.
    private static let count = 4
    /// 2010 to 2040.
    private static let moments: ClosedRange<Int64> = 1_262_304_000...2_240_611_200

    @Test(.timeLimit(.minutes(10)))
    func `triggers fire when an independent calculation says so, in every zone from 2010 to 2040`() throws {
        var random = SeededGenerator(seed: 29)
        var cases: [Case] = []
        let rounds = Sweep.count(40, else: 3)
        for zone in ZoneFiles.names {
            let changes = try changes(of: zone)
            for _ in 0..<rounds {
                var after = Int64.random(in: Self.moments, using: &random)
                // Mostly near a change of clocks: from a day and a half before to a few hours after.
                if let change = changes.randomElement(using: &random), Int.random(in: 0..<4, using: &random) > 0 {
                    after = change + Int64.random(in: -130_000...12_000, using: &random)
                }
                let components = components(near: after, &random)
                let trigger = Trigger.calendar(timeZone: zone, components: components, repeats: true)
                let found = try trigger.occurrences(after: Instant(milliseconds: after * 1000), Self.count)
                cases.append(
                    Case(zone: zone, after: after, components: components, found: found.compactMap(\.local)))
                #expect(found.allSatisfy { $0.local != nil })
            }
        }
        #expect(cases.count > 1000)
        let directory = try TemporaryDirectory(inMemory: true)
        let file = directory.url.appending(path: "cases")
        try JSONEncoder().encode(cases).write(to: file)
        let result = try Python.run(
            Self.script,
            [ZoneFiles.directory.path(percentEncoded: false), file.path(percentEncoded: false), "\(Self.count)"])
        #expect(
            result.status == 0 && result.outputText == "compared \(cases.count)\n",
            "\(result.outputText.prefix(4000)) \(result.errorText)")
    }

    /// When clocks of a zone change, as far as days tell.
    private func changes(of zone: String) throws -> [Int64] {
        let rules = try ZoneFiles.system.rules(of: zone)
        var changes: [Int64] = []
        var last = rules.offset(at: Instant(milliseconds: Self.moments.lowerBound * 1000))
        for moment in stride(from: Self.moments.lowerBound, through: Self.moments.upperBound, by: 864_000) {
            let offset = rules.offset(at: Instant(milliseconds: moment * 1000))
            if offset != last {
                var (low, high) = (moment - 864_000, moment)
                while high - low > 1 {
                    let middle = (low + high) / 2
                    if rules.offset(at: Instant(milliseconds: middle * 1000)) == last {
                        low = middle
                    } else {
                        high = middle
                    }
                }
                changes.append(high)
            }
            last = offset
        }
        return changes
    }

    private func components(near moment: Int64, _ random: inout SeededGenerator) -> CalendarComponents {
        var date = CivilDate(days: moment / 86_400)
        if Int.random(in: 0..<4, using: &random) == 0 {
            date =
                [
                    CivilDate(year: date.year, month: 2, day: 29), CivilDate(year: date.year, month: 1, day: 31),
                    CivilDate(year: date.year, month: 12, day: 30),
                ].randomElement(using: &random) ?? date
        }
        func maybe(_ value: Int, _ chances: Int) -> Int? {
            Int.random(in: 0..<chances, using: &random) == 0 ? value : nil
        }
        var components = CalendarComponents()
        switch Int.random(in: 0..<10, using: &random) {
        case 0: components.day = date.day
        case 1: (components.month, components.day) = (date.month, date.day)
        case 2: components.month = date.month
        case 3: components.weekday = Weekday.allCases.randomElement(using: &random).map { .one($0) }
        case 4: components.weekday = .any(Weekday.allCases.filter { _ in Bool.random(using: &random) } + [.sunday])
        case 5: (components.day, components.weekday) = (date.day, .any([.friday, .sunday, .monday]))
        case 6: components.year = date.year
        default: break
        }
        let hour = [0, 0, 1, 1, 2, 2, 2, 3, 23, 22, 12].randomElement(using: &random)
        let minute = [0, 0, 15, 30, 30, 45, 59].randomElement(using: &random)
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<10: (components.hour, components.minute) = (hour, minute)
        case 10..<13: components.hour = hour
        case 13..<16: components.minute = minute
        case 16: (components.hour, components.second) = (hour, maybe(30, 2) ?? 0)
        case 17: (components.hour, components.minute, components.second) = (hour, minute, 59)
        case 18: components.second = maybe(59, 2) ?? 0
        default: break
        }
        if components.isEmpty { components.hour = hour }
        return components
    }

    private static let script = """
        import datetime, json, sys, zoneinfo
        zoneinfo.reset_tzpath([sys.argv[1]])
        utc, day = datetime.timezone.utc, datetime.timedelta(days=1)
        names = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
        ranks = [['year'], ['month'], ['day', 'weekday'], ['hour'], ['minute'], ['second']]
        count = int(sys.argv[3])

        def at(moment, zone): return datetime.datetime.fromtimestamp(moment, zone)

        def moments(local, zone):
            # When the zone's clocks show a local time: what both readings of it lead back to.
            found = {int(local.replace(tzinfo=zone, fold=fold).timestamp()) for fold in (0, 1)}
            return sorted(moment for moment in found if at(moment, zone).replace(tzinfo=None, fold=0) == local)

        def gap_end(local, zone):
            # The later clocks read it as a moment before the change, the earlier ones as one after.
            low, high = (int(local.replace(tzinfo=zone, fold=fold).timestamp()) for fold in (1, 0))
            before = at(low, zone).utcoffset()
            while high - low > 1:
                middle = (low + high) // 2
                if at(middle, zone).utcoffset() == before: low = middle
                else: high = middle
            return high

        def left_out(date, zone):
            ends = [datetime.datetime.combine(date, time) for time in (datetime.time(0), datetime.time(23, 59, 59))]
            return not any(moments(end, zone) for end in ends) and len({gap_end(end, zone) for end in ends}) == 1

        def expected(case):
            zone, given = zoneinfo.ZoneInfo(case['zone']), case['components']
            smallest = max(rank for rank, units in enumerate(ranks) if any(unit in given for unit in units))
            def values(unit, rank, least, free):
                return [given[unit]] if unit in given else [least] if rank > smallest else free
            months, days = values('month', 1, 1, range(1, 13)), values('day', 2, 1, range(1, 32))
            hours, minutes = values('hour', 3, 0, range(24)), values('minute', 4, 0, range(60))
            seconds = values('second', 5, 0, range(60))
            weekdays = given.get('weekday', names)
            weekdays = {names.index(name) for name in ([weekdays] if isinstance(weekdays, str) else weekdays)}
            start = at(case['after'], zone)
            date, found, last = start.date() - day, set(), None
            while date.year < start.year + 39 and (last is None or date <= last + day):
                if (date.month in months and date.day in days and date.weekday() in weekdays
                        and date.year == given.get('year', date.year)):
                    skipped = None
                    for hour in hours:
                        for minute in minutes:
                            for second in seconds:
                                local = datetime.datetime.combine(date, datetime.time(hour, minute, second))
                                hits = moments(local, zone)
                                if len(hours) == 1:
                                    if not hits:
                                        if skipped is None: skipped = left_out(date, zone)
                                        if not skipped: hits = [gap_end(local, zone)]
                                    hits = hits[:1]
                                found.update(moment for moment in hits if moment > case['after'])
                    if last is None and len(found) >= count: last = date
                date += day
            return [at(moment, zone).isoformat() for moment in sorted(found)[:count]]

        cases = json.load(open(sys.argv[2]))
        wrong = 0
        for case in cases:
            wanted = expected(case)
            if wanted != case['found'] and wrong < 10:
                wrong += 1
                print(case, 'but zoneinfo says', wanted)
        if not wrong: print('compared', len(cases))
        """
}
