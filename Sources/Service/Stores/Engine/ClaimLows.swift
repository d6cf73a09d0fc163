internal import SatchelCore

/// The least ranks that a node's claims look at, by line.
///
/// What ranks before was claimed already, and while something holds back the vacuum its dead rows would be walked over by each
/// claim. What comes back with a lower rank is found by the next look from the start: once in a while, and sooner where there is
/// room for more than was found.
struct ClaimLows: Sendable {
    struct Line: Hashable, Sendable {
        var run: String
        var lane: JobLane?
        var priority: Int
    }

    private struct Low {
        var rank: Int64
        /// The last look from the start.
        var lookedAt: ContinuousClock.Instant
        /// Whether the last claim found less than it had room for.
        var ranShort: Bool
    }

    /// Below what was claimed: what others put in there meanwhile ranks no lower, as a rank is that of what was claimed last when
    /// the submission looked, which is some ten milliseconds before. At 10,000 jobs a second that is far less.
    static let margin: Int64 = 1000
    /// Between two looks from the start.
    var interval: Duration = .seconds(5)
    /// The same while there is room. An idle node looks several times a second, and one that is fed piece by piece with each of
    /// them: as many walks over all dead rows would be most of what the database does.
    var shortInterval: Duration = .seconds(1)

    private var lows: [Line: Low] = [:]

    /// 0: from the start.
    func low(of line: Line, at now: ContinuousClock.Instant) -> Int64 {
        guard let low = lows[line], now - low.lookedAt < (low.ranShort ? shortInterval : interval) else {
            return 0
        }
        return low.rank
    }

    /// Notes what a claim found.
    ///
    /// - Parameters:
    ///   - wanted: At most so many would have been taken.
    ///   - low: From where it looked.
    mutating func note(
        _ ranks: [Int64], of line: Line, wanted: Int, from low: Int64, at now: ContinuousClock.Instant
    ) {
        guard wanted > 0 else { return }
        let known = lows[line]
        let lookedAt = low == 0 ? now : known?.lookedAt ?? now
        if ranks.count >= wanted, let least = ranks.min() {
            // Others of these ranks may wait.
            return lows[line] = Low(rank: max(0, least - Self.margin), lookedAt: lookedAt, ranShort: false)
        }
        // Nothing is left from there on. A run's end has to be seen when it is there.
        let reached = max(known?.rank ?? 0, (ranks.max() ?? 0) - Self.margin)
        lows[line] = line.run.isEmpty && reached > 0 ? Low(rank: reached, lookedAt: lookedAt, ranShort: true) : nil
    }

    /// Jobs came back to their lines.
    mutating func forget() { lows = [:] }
}
