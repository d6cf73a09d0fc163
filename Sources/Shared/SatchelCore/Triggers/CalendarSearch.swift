/// Finds when a pattern of local times comes in a zone.
///
/// Goes through the zone's periods without a change of clocks, in each of which local times are just moments moved:
/// - Where the hour is fixed, a local time counts where clocks show it first. What a change forward leaves out of a day comes
///   once, at the first moment after it; a day that is left out whole is passed over.
/// - Where it is free, every moment whose local time matches counts: what is left out doesn't come, what comes twice does.
struct CalendarSearch {
    let pattern: CalendarPattern
    let rules: TimeZoneRules

    /// How far it looks ahead, in seconds: 40 years of 365.2425 days. 29 February falls on a weekday once in 28 years, and in
    /// 40 where one of those years is no leap year.
    static let horizon: Int64 = 40 * 31_556_952

    /// A match.
    struct Match: Hashable {
        var moment: Int64
        /// What clocks show then.
        var local: LocalTime
        /// Which time they show that, from 1.
        var pass: Int
        var offset: Int64
        /// What was done at a change of clocks; nil where there was nothing to do.
        var note: String?
    }

    /// Where a search begins.
    struct Start: Hashable {
        /// Only later moments are looked at.
        var after: Int64
        /// Of the local times that a change of clocks leaves out, only those after this one; nil for all.
        var localFloor: Int64?
    }

    /// Behind a match of before, perhaps by other rules: after what clocks show then, not after the moment.
    func start(after local: LocalTime, pass: Int) -> Start {
        switch rules.resolve(local) {
        case .moments(let moments): Start(after: moments[min(max(pass, 1), moments.count) - 1], localFloor: nil)
        case .gap(let end): Start(after: end - 1, localFloor: local.seconds)
        }
    }

    /// What comes of the pattern in one period.
    private struct Stretch {
        let period: TimeZoneRules.Period
        /// Local times that count when clocks show them.
        let locals: Range<Int64>
        /// The first local time that comes at the period's start instead, as clocks were set past it.
        let moved: Int64?
        /// The first that is passed over.
        let skipped: Int64?

        /// Those of ``locals`` that come later than one moment and no later than another.
        func locals(after low: Int64, through high: Int64) -> Range<Int64> {
            let lower = max(locals.lowerBound, min(locals.upperBound, low + 1 + period.offset))
            return lower..<max(lower, min(locals.upperBound, high + 1 + period.offset))
        }
    }

    private func stretch(_ period: TimeZoneRules.Period, _ start: Start) -> Stretch {
        let reach = rules.localReach(before: period)
        let gap = min(max(reach, (start.localFloor ?? .min) &+ 1), period.localStart)..<period.localStart
        guard pattern.isHourFixed else {
            return Stretch(
                period: period, locals: period.localStart..<period.localEnd, moved: nil,
                skipped: pattern.first(in: start.after < period.start ? gap : period.localStart..<period.localStart))
        }
        let lower = min(max(reach, period.localStart), period.localEnd)
        let locals = lower..<period.localEnd
        guard start.after < period.start, let missing = pattern.first(in: gap) else {
            return Stretch(period: period, locals: locals, moved: nil, skipped: nil)
        }
        // From the first to the last midnight of the gap its days are left out whole.
        let days = (
            begin: -(-reach).flooredQuotient(by: LocalTime.day) * LocalTime.day,
            end: period.localStart.flooredQuotient(by: LocalTime.day) * LocalTime.day
        )
        guard days.begin < days.end else {
            return Stretch(period: period, locals: locals, moved: missing, skipped: nil)
        }
        let moved =
            pattern.first(in: gap.lowerBound..<max(gap.lowerBound, days.begin))
            ?? pattern.first(in: max(gap.lowerBound, days.end)..<gap.upperBound)
        return Stretch(period: period, locals: locals, moved: moved, skipped: moved == nil ? missing : nil)
    }

    /// The first match within ``horizon``.
    func first(_ start: Start) -> Match? {
        let end = start.after + Self.horizon
        var skipped: (local: Int64, at: TimeZoneRules.Period)?
        var period = rules.period(at: start.after + 1)
        while true {
            let stretch = stretch(period, start)
            if let moved = stretch.moved { return landing(moved, stretch) }
            if let local = stretch.skipped { skipped = (local, period) }
            if let local = pattern.first(in: stretch.locals(after: start.after, through: end)) {
                var match = match(local, period)
                if match.note == nil, let skipped { match.note = passedOver(skipped.local, skipped.at) }
                return match
            }
            guard period.end <= end, period.end < TimeZoneRules.moments.upperBound else { return nil }
            period = rules.period(at: period.end)
        }
    }

    /// The last match that comes no later than a moment.
    func last(_ start: Start, through end: Int64) -> Match? {
        var period = rules.period(at: end)
        while period.end > start.after + 1 {
            let stretch = stretch(period, start)
            let local = pattern.last(in: stretch.locals(after: start.after, through: end))
            if let moved = stretch.moved, period.start <= end, local.map({ $0 == period.localStart }) ?? true {
                return landing(moved, stretch)
            }
            if let local { return match(local, period) }
            guard period.start > TimeZoneRules.moments.lowerBound else { return nil }
            period = rules.period(at: period.start - 1)
        }
        return nil
    }

    /// How many matches come no later than a moment.
    func count(_ start: Start, through end: Int64) -> Int {
        var count = 0
        var period = rules.period(at: start.after + 1)
        while period.start <= end {
            let stretch = stretch(period, start)
            count += pattern.count(in: stretch.locals(after: start.after, through: end))
            // What is moved to a moment that matches by itself comes with it.
            if stretch.moved != nil, pattern.count(in: period.localStart..<period.localStart + 1) == 0 { count += 1 }
            guard period.end < TimeZoneRules.moments.upperBound else { break }
            period = rules.period(at: period.end)
        }
        return count
    }

    // MARK: Matches

    private func match(_ local: Int64, _ period: TimeZoneRules.Period) -> Match {
        let local = LocalTime(seconds: local)
        let moment = local.seconds - period.offset
        var match = Match(moment: moment, local: local, pass: 1, offset: period.offset, note: nil)
        guard case .moments(let moments) = rules.resolve(local), moments.count > 1,
            let index = moments.firstIndex(of: moment)
        else { return match }
        match.pass = index + 1
        let change = change(into: index == 0 ? rules.period(at: period.end) : period)
        let done =
            pattern.isHourFixed
            ? "it fires only the first time" : "this is the \(index == 0 ? "first" : "second") time"
        match.note = "\(local.clock) occurs twice on \(local.date), because the clocks go back \(change): \(done)."
        return match
    }

    private func landing(_ moved: Int64, _ stretch: Stretch) -> Match {
        let moved = LocalTime(seconds: moved)
        return Match(
            moment: stretch.period.start, local: LocalTime(seconds: stretch.period.localStart), pass: 1,
            offset: stretch.period.offset,
            note:
                "\(moved.clock) does not exist on \(moved.date), because the clocks go forward \(change(into: stretch.period)): it fires directly after the gap."
        )
    }

    private func passedOver(_ local: Int64, _ period: TimeZoneRules.Period) -> String {
        let local = LocalTime(seconds: local)
        // Where the hour is fixed, only a whole day is passed over.
        return pattern.isHourFixed
            ? "\(local.date) does not exist in this zone and is skipped."
            : "\(local.clock) does not exist on \(local.date), because the clocks go forward \(change(into: period)), and is skipped."
    }

    /// From what to what clocks are set when a period begins.
    private func change(into period: TimeZoneRules.Period) -> String {
        let before = LocalTime(seconds: rules.period(at: period.start - 1).localEnd)
        return "from \(before.clock) to \(LocalTime(seconds: period.localStart).clock)"
    }
}
