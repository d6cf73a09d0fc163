import SatchelCore

/// The progress in one line: `[######------]  23 of 151 files, 4.2/s, 30 s left, 3 failed`.
struct ProgressLine {
    var done: Int
    /// The number found so far.
    var found: Int
    /// Whether all have been found.
    var isComplete: Bool
    var failed = 0
    /// Whether the run waits for an outage of the store to end.
    var isWaiting = false
    /// The singular noun for the counted things.
    var unit = "file"
    /// The number per second.
    var pace: Double?

    private static let bar = 8...40

    /// Returns the line in at most `width` columns. If there is too little room, it omits the pace, the bar, the time left
    /// and the failures, in this order.
    func text(in width: Int) -> String {
        let count =
            isComplete
            ? "\(done) of \(Quantity.count(found, unit))" : "\(done) of \(found) \(unit)s found so far"
        let failed = self.failed > 0 ? "\(self.failed) failed" : nil
        let speed = self.pace.map { $0 < 9.95 ? "\(Quantity.tenths($0))/s" : "\(Int($0.rounded()))/s" }
        let pace = isWaiting ? nil : speed
        let left = isWaiting ? "waiting for the store" : timeLeft.map { "\(Quantity.roughly($0)) left" }
        for parts in [[count, pace, left, failed], [count, left, failed], [count, failed], [count]] {
            let words = parts.compactMap(\.self).joined(separator: ", ")
            let room = width - words.columns
            guard room >= 0 else { continue }
            guard isComplete, found > 0, room >= Self.bar.lowerBound + 4 else {
                // The pace is omitted before the bar.
                if parts.count == 4, isComplete, found > 0 { continue }
                return words
            }
            return bar(min(room - 4, Self.bar.upperBound)) + "  " + words
        }
        return count.shortened(to: width)
    }

    private var timeLeft: Double? {
        guard isComplete, let pace, pace > 0, done < found else { return nil }
        return Double(found - done) / pace
    }

    private func bar(_ width: Int) -> String {
        let full = min(width, width * done / max(1, found))
        return "[" + String(repeating: "#", count: full) + String(repeating: "-", count: width - full) + "]"
    }
}

/// The speed of recent work. Files that an earlier run prepared pass quickly and must not count.
struct Pace {
    private var samples: [(time: ContinuousClock.Instant, done: Int)] = []

    private static let window: Duration = .seconds(20)
    private static let step: Duration = .milliseconds(500)
    /// The shortest time over which a speed is computed.
    private static let shortest: Duration = .seconds(2)

    mutating func note(_ done: Int, at time: ContinuousClock.Instant) {
        if let last = samples.last, time - last.time < Self.step { return }
        samples.append((time, done))
        while samples.count > 2, time - samples[0].time > Self.window { samples.removeFirst() }
    }

    /// `nil` at the beginning, and if nothing was done recently.
    var perSecond: Double? {
        guard let first = samples.first, let last = samples.last, last.time - first.time >= Self.shortest,
            last.done > first.done
        else { return nil }
        return Double(last.done - first.done) / (last.time - first.time).inSeconds
    }
}
