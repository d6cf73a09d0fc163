import SatchelCore

/// So many at once, and so many a second on the average: a decision without input or output.
package struct TokenBucket: Hashable, Sendable {
    private let capacity: Double
    /// A second.
    private let rate: Double
    private var tokens: Double
    private var filledAt: ContinuousClock.Instant

    /// Full.
    ///
    /// - Parameters:
    ///   - rate: A second, on the average.
    ///   - burst: At once; one at least.
    package init(rate: Double, burst: Double, at now: ContinuousClock.Instant) {
        capacity = max(1, burst)
        self.rate = rate
        tokens = capacity
        filledAt = now
    }

    /// Takes one, or as many as processes count the same thing, each with a bucket of its own: together they then give what one
    /// bucket gives.
    ///
    /// - Returns: Nil where there was as much; else the time until there is.
    package mutating func take(_ count: Int = 1, at now: ContinuousClock.Instant) -> Duration? {
        let wait = wait(for: count, at: now)
        tokens = level(at: now)
        filledAt = now
        if wait == nil { tokens -= taken(count) }
        return wait
    }

    /// Until there are so many; nil where there are.
    package func wait(for count: Int = 1, at now: ContinuousClock.Instant) -> Duration? {
        let (level, taken) = (level(at: now), taken(count))
        return level < taken ? .seconds((taken - level) / rate) : nil
    }

    /// A full bucket gives one to any number.
    private func taken(_ count: Int) -> Double { min(Double(max(count, 1)), capacity) }

    /// What there is, and the time until the bucket is full.
    package func state(at now: ContinuousClock.Instant) -> (level: Double, fullAfter: Duration) {
        let level = level(at: now)
        return (level, .seconds((capacity - level) / rate))
    }

    package func isFull(at now: ContinuousClock.Instant) -> Bool { level(at: now) >= capacity }

    private func level(at now: ContinuousClock.Instant) -> Double {
        min(capacity, tokens + max(0, (now - filledAt).inSeconds) * rate)
    }
}
