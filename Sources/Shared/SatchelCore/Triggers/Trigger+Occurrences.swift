extension Trigger {
    /// The first time that it is met after it was accepted; nil for one that fires by hand.
    ///
    /// - Throws: ``TriggerError`` where that is never: what the sender of the trigger should know.
    public func first(accepted: Instant, in zones: some TimeZoneSource) throws(TriggerError) -> Occurrence? {
        let next = try next(after: nil, accepted: accepted, in: zones)
        switch self {
        case .manual: return nil
        case .date:
            guard let next else { throw .neverFires(field: "at") }
            guard next.at > accepted else { throw .passed(at: next.at) }
            return next
        case .interval, .calendar:
            guard let next else { throw .neverFires(field: "components") }
            return next
        }
    }

    /// The next time that it is met; nil where there is none.
    ///
    /// Asked again with the same position after a zone's rules changed, it says when that time is by the new ones.
    ///
    /// - Parameters:
    ///   - position: Of the last occurrence that fired or was missed; nil where there was none.
    ///   - accepted: When the trigger began to hold: what intervals are counted from.
    public func next(
        after position: TriggerPosition?, accepted: Instant, in zones: some TimeZoneSource
    ) throws(TriggerError) -> Occurrence? {
        if position != nil, !repeats { return nil }
        switch self {
        case .interval(let seconds, _):
            let raster = IntervalRaster(start: accepted, seconds: seconds)
            guard case .instant(let last) = position else { return raster.occurrence(1) }
            return raster.occurrence(raster.number(notAfter: last) + 1)
        case .date(let written, let timeZone):
            return try Self.occurrence(of: written, timeZone, in: zones)
        case .calendar(let timeZone, let components, _):
            let search = CalendarSearch(
                pattern: CalendarPattern(components), rules: try zones.rules(of: timeZone))
            return search.first(search.start(after: position, accepted: accepted)).map(Occurrence.init)
        case .manual:
            return nil
        }
    }

    /// What to do with an occurrence whose time may have come.
    ///
    /// What passed while nobody looked fires if no more than `lateLimit` late, else it is missed; of a trigger that repeats
    /// all that passed count as one, the latest. Takes no longer for many.
    ///
    /// - Parameter next: What ``next(after:accepted:in:)`` gave.
    /// - Returns: Nil where its time has not come.
    public func due(
        _ next: Occurrence, accepted: Instant, now: Instant, lateLimit: Duration, in zones: some TimeZoneSource
    ) throws(TriggerError) -> DueDecision? {
        guard next.at <= now else { return nil }
        var latest = next
        var coalesced = 0
        switch self {
        case .interval(let seconds, repeats: true):
            let raster = IntervalRaster(start: accepted, seconds: seconds)
            let number = raster.number(notAfter: now)
            coalesced = max(0, number - raster.number(notAfter: next.at))
            if coalesced > 0 { latest = raster.occurrence(number) }
        case .calendar(let timeZone, let components, repeats: true):
            let search = CalendarSearch(pattern: CalendarPattern(components), rules: try zones.rules(of: timeZone))
            let start = search.start(after: next.position, accepted: accepted)
            if let match = search.last(start, through: now.wholeSeconds) {
                latest = Occurrence(match)
                coalesced = search.count(start, through: now.wholeSeconds)
            }
        case .interval, .calendar, .date, .manual: break
        }
        return DueDecision(
            occurrence: latest, late: now - latest.at, isMissed: now - latest.at > lateLimit, coalesced: coalesced,
            next: try self.next(after: latest.position, accepted: accepted, in: zones))
    }

    private static func occurrence(
        of written: WrittenTime, _ timeZone: String?, in zones: some TimeZoneSource
    ) throws(TriggerError) -> Occurrence? {
        guard let instant = written.instant else {
            guard let timeZone else { return nil }
            let date = written.local.date
            let second = written.local.secondOfDay
            let search = CalendarSearch(
                pattern: CalendarPattern(
                    CalendarComponents(
                        year: date.year, month: date.month, day: date.day, hour: second / 3600,
                        minute: second / 60 % 60, second: second % 60)),
                rules: try zones.rules(of: timeZone))
            // No zone shows it more than two days before.
            let start = CalendarSearch.Start(after: written.local.seconds - 2 * LocalTime.day)
            return search.first(start).map {
                Occurrence($0, milliseconds: $0.local == written.local ? written.milliseconds : 0)
            }
        }
        var local = written.local
        var offset = written.offset ?? 0
        if let timeZone {
            offset = try zones.rules(of: timeZone).offset(at: instant)
            local = LocalTime(seconds: instant.wholeSeconds + Int64(offset))
        }
        return Occurrence(
            at: instant, local: Occurrence.text(local, milliseconds: written.milliseconds, offset: offset), note: nil,
            position: .instant(instant))
    }
}

extension CalendarSearch {
    fileprivate func start(after position: TriggerPosition?, accepted: Instant) -> Start {
        switch position {
        case nil: Start(after: accepted.wholeSeconds, localFloor: nil)
        case .instant(let instant): Start(after: instant.wholeSeconds, localFloor: nil)
        case .local(let local, let pass): start(after: local, pass: pass)
        }
    }
}

extension Occurrence {
    fileprivate init(_ match: CalendarSearch.Match) {
        self.init(match, milliseconds: 0)
    }

    fileprivate init(_ match: CalendarSearch.Match, milliseconds: Int) {
        self.init(
            at: Instant(milliseconds: match.moment * 1000 + Int64(milliseconds)),
            local: Self.text(match.local, milliseconds: milliseconds, offset: Int(match.offset)), note: match.note,
            position: .local(match.local, pass: match.pass))
    }
}

/// The instants of an interval, numbered from 1: whole multiples of it after its start, whatever was late before.
private struct IntervalRaster {
    var start: Instant
    /// Milliseconds.
    var period: Int64

    init(start: Instant, seconds: Double) {
        self.start = start
        period = max(1, Duration.seconds(fraction: seconds).wholeMilliseconds)
    }

    /// The number of the last instant that is not after `instant`; 0 where all are.
    func number(notAfter instant: Instant) -> Int {
        Int(max(0, (instant.milliseconds - start.milliseconds).flooredQuotient(by: period)))
    }

    func occurrence(_ number: Int) -> Occurrence {
        let instant = Instant(milliseconds: start.milliseconds + Int64(number) * period)
        return Occurrence(at: instant, local: nil, note: nil, position: .instant(instant))
    }
}
