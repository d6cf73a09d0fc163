import SatchelCore

/// Tells when the clock was set, by a clock that nobody sets: then nothing is fired until it has gone on evenly for a while, so
/// that one that is set back at once makes nothing due before its time.
struct ClockWatch: Hashable, Sendable {
    /// By how much the two may part without having been set.
    static let tolerance: Duration = .seconds(2)
    /// How long a new difference has to hold.
    static let patience: Duration = .seconds(10)

    /// Between the two, as it was last: from the least that it can have been to the most.
    private var difference: ClosedRange<Duration>?
    /// When that began, by the clock that nobody sets; nil since before the first look.
    private var since: Duration?
    /// How often it was set.
    private(set) var steps = 0

    /// - Parameters:
    ///   - clock: That may be set.
    ///   - uptime: Since the machine started, asleep or not: before the clock was asked, and when it had answered. Who is kept
    ///     waiting for the answer has not seen the clock set.
    /// - Returns: Whether what is due by the clock is due.
    mutating func isSteady(_ clock: Instant, uptime: ClosedRange<Duration>) -> Bool {
        let time = clock - Instant(milliseconds: 0)
        let new = (time - uptime.upperBound)...(time - uptime.lowerBound)
        defer { difference = new }
        if let difference,
            new.lowerBound - difference.upperBound > Self.tolerance
                || difference.lowerBound - new.upperBound > Self.tolerance
        {
            since = uptime.upperBound
            steps += 1
            return false
        }
        return since.map { uptime.upperBound - $0 >= Self.patience } ?? true
    }
}
