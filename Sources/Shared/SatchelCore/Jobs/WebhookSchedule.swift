/// When a webhook that did not succeed is called again: exponentially, with full jitter (see ``Backoff``), for a day.
public struct WebhookSchedule: Hashable, Sendable {
    /// The bound of the first wait; each next bound is four times as long: 5 s, 20 s, 80 s, … about 18 calls in a day,
    /// most of them early, when what ails a receiver is mostly over soon.
    public var base: Duration
    /// No wait is longer, whatever the receiver asks for.
    public var limit: Duration
    /// From when the call was made, such as the job's end; then it is given up.
    public var lifetime: Duration

    /// No wait is shorter, save the last: a receiver that just failed is left alone for a moment.
    public var minimum: Duration

    public init(
        base: Duration = .seconds(5), limit: Duration = .seconds(4 * 3600), lifetime: Duration = .seconds(24 * 3600),
        minimum: Duration = .seconds(1)
    ) {
        self.base = base
        self.minimum = minimum
        self.limit = limit
        self.lifetime = lifetime
    }

    /// How long before its end a call that ends is made for the last time, so that a busy sender isn't too late for it.
    public static let margin: Duration = .seconds(2)

    /// The schedule of a call that nobody may make after `end`; nil for the lifetime.
    public func ending(at end: Instant?, since creation: Instant) -> WebhookSchedule {
        guard let end else { return self }
        var schedule = self
        schedule.lifetime = end - creation - Self.margin
        return schedule
    }

    /// How long to wait after attempt `attempt` (1 for the first); nil where it is given up. The last attempt comes at the
    /// end of the lifetime.
    ///
    /// - Parameters:
    ///   - age: Since the call was made.
    ///   - retryAfter: What the receiver asked for.
    public func wait(
        after attempt: Int, age: Duration, retryAfter: Duration? = nil,
        using generator: inout some RandomNumberGenerator
    ) -> Duration? {
        let left = lifetime - age
        guard left > .zero else { return nil }
        var bound = base
        // After as many, every base that is worth waiting for is at the limit.
        for _ in 1..<min(max(attempt, 1), 32) { bound = min(bound * 4, limit) }
        let jittered = Duration.milliseconds(Int64.random(in: 0...max(bound.wholeMilliseconds, 0), using: &generator))
        return min(max(jittered, minimum, min(retryAfter ?? .zero, limit)), left)
    }
}
