/// What clocks in a time zone show at each moment, as a TZif file says it (RFC 9636); see ``init(tzif:)``.
///
/// Moments are seconds since 1970-01-01T00:00:00Z, without leap seconds.
public struct TimeZoneRules: Hashable, Sendable {
    /// A time without a change of clocks.
    struct Period: Hashable, Sendable {
        /// Its first second.
        var start: Int64
        /// The second after its last.
        var end: Int64
        /// Seconds east of UTC.
        var offset: Int64

        /// What the clocks show at its first second.
        var localStart: Int64 { start + offset }
        /// What they would show at ``end``, if it went on.
        var localEnd: Int64 { end + offset }
    }

    /// When clocks change, ascending, and what they are set to.
    let transitions: [Int64]
    let offsets: [Int64]
    /// Before the first change.
    let initial: Int64
    /// From the last change on; nil where it stays as it is then.
    let footer: POSIXTimeZone?

    /// No moment lies outside; sums with offsets don't overflow.
    static let moments: ClosedRange<Int64> = -(1 << 56)...(1 << 56)
    /// Seconds by which clocks may differ from UTC at most: what RFC 9636 recommends (section 3.2, `utoff`).
    static let offsetRange: ClosedRange<Int64> = -89_999...93_599

    init(transitions: [Int64], offsets: [Int64], initial: Int64, footer: POSIXTimeZone?) {
        self.transitions = transitions
        self.offsets = offsets
        self.initial = initial
        self.footer = footer
    }

    /// The period that a moment lies in.
    func period(at moment: Int64) -> Period {
        let moment = min(max(moment, Self.moments.lowerBound), Self.moments.upperBound - 1)
        guard let last = transitions.last else {
            return footer?.period(at: moment)
                ?? Period(start: Self.moments.lowerBound, end: Self.moments.upperBound, offset: initial)
        }
        guard moment >= last else {
            let index = transitions.partitioned { $0 <= moment }
            return Period(
                start: index == 0 ? Self.moments.lowerBound : transitions[index - 1], end: transitions[index],
                offset: index == 0 ? initial : offsets[index - 1])
        }
        guard var period = footer?.period(at: moment) else {
            return Period(start: last, end: Self.moments.upperBound, offset: offsets[offsets.count - 1])
        }
        period.start = max(period.start, last)
        return period
    }

    /// Seconds east of UTC at a moment.
    public func offset(at instant: Instant) -> Int {
        Int(period(at: instant.wholeSeconds).offset)
    }

    /// What clocks have shown before a period began, at the latest: where that lies after its first local time they were set
    /// back, and where it lies before, forward.
    ///
    /// Looks at all periods that can have shown later times, so that several changes within days count as one.
    func localReach(before period: Period) -> Int64 {
        guard period.start > Self.moments.lowerBound else { return period.localStart }
        var earlier = self.period(at: period.start - 1)
        var reach = earlier.localEnd
        let span = Self.offsetRange.upperBound - Self.offsetRange.lowerBound
        while earlier.start > max(Self.moments.lowerBound, period.start - span) {
            earlier = self.period(at: earlier.start - 1)
            reach = max(reach, earlier.localEnd)
        }
        return reach
    }

    /// When clocks show a time.
    enum Resolution: Hashable {
        /// Once, or more often where they are set back; ascending.
        case moments([Int64])
        /// Never: they were set forward, at this moment, past it.
        case gap(end: Int64)
    }

    func resolve(_ local: LocalTime) -> Resolution {
        var found: [Int64] = []
        var gapEnd: Int64?
        var period = self.period(at: local.seconds - Self.offsetRange.upperBound)
        while true {
            if period.localStart <= local.seconds, local.seconds < period.localEnd {
                found.append(local.seconds - period.offset)
            }
            // The first to show later times, where none shows this one.
            if gapEnd == nil, period.localEnd > local.seconds { gapEnd = period.start }
            if period.end > local.seconds - Self.offsetRange.lowerBound { break }
            period = self.period(at: period.end)
        }
        return found.isEmpty ? .gap(end: gapEnd ?? period.end) : .moments(found)
    }
}

extension Instant {
    /// Whole seconds since 1970, rounded down.
    var wholeSeconds: Int64 { milliseconds.flooredQuotient(by: 1000) }

    init(seconds: Int64) {
        self.init(milliseconds: seconds * 1000)
    }
}

extension Array {
    /// How many elements at the beginning hold; those that do come first.
    fileprivate func partitioned(by holds: (Element) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if holds(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// Where the rules of time zones come from.
public protocol TimeZoneSource: Sendable {
    /// The rules of a zone by its IANA name, such as `Europe/Berlin`.
    ///
    /// - Throws: ``TriggerError/unknownTimeZone(_:nearest:)`` or ``TriggerError/unreadableTimeZone(_:reason:)``.
    func rules(of name: String) throws(TriggerError) -> TimeZoneRules
}
