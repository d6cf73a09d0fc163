/// When a job that failed for a passing reason is tried again: exponential, with full jitter.
///
/// Full jitter (uniform between zero and the exponential bound) is what the AWS Architecture Blog, "Exponential
/// Backoff and Jitter" (2015), measured to finish soonest under contention.
public struct Backoff: Hashable, Sendable {
    /// The bound of the first wait.
    public var base: Duration
    /// No wait is longer.
    public var limit: Duration
    /// Attempts in all, the first included.
    public var attempts: Int

    public init(base: Duration = .milliseconds(500), limit: Duration = .seconds(30), attempts: Int = 3) {
        self.base = base
        self.limit = limit
        self.attempts = attempts
    }

    /// What follows attempt `attempt` (1 for the first) that ended with `error`.
    ///
    /// - Returns: How long to wait, or nil when there is no other attempt: the error is permanent, or the attempts
    ///   are used up. A crashed decoder gets exactly one more.
    public func wait(
        after attempt: Int, error: AttachmentError, using generator: inout some RandomNumberGenerator
    ) -> Duration? {
        guard error.isRetryable else { return nil }
        let allowed = error.code == .codecCrashed ? min(2, attempts) : attempts
        return attempt < allowed ? wait(after: attempt, using: &generator) : nil
    }

    /// How long to wait after attempt `attempt`, whatever it came to.
    public func wait(after attempt: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        var bound = base
        for _ in 1..<max(attempt, 1) where bound < limit { bound = min(bound * 2, limit) }
        return .milliseconds(Int64.random(in: 0...bound.wholeMilliseconds, using: &generator))
    }
}
