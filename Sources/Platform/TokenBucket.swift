import Attachments

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

    /// Takes one.
    ///
    /// - Returns: Nil where there was one; else the time until there is.
    package mutating func take(at now: ContinuousClock.Instant) -> Duration? {
        let wait = wait(at: now)
        tokens = level(at: now)
        filledAt = now
        if wait == nil { tokens -= 1 }
        return wait
    }

    /// Until there is one; nil where there is.
    package func wait(at now: ContinuousClock.Instant) -> Duration? {
        let level = level(at: now)
        return level < 1 ? .seconds((1 - level) / rate) : nil
    }

    package func isFull(at now: ContinuousClock.Instant) -> Bool { level(at: now) >= capacity }

    private func level(at now: ContinuousClock.Instant) -> Double {
        min(capacity, tokens + max(0, (now - filledAt).inSeconds) * rate)
    }
}
