extension Trigger {
    /// Occurrences that are looked at: more than the days of a week, after which what a calendar matches comes again.
    private static let sample = 9

    /// The least time between two of the next occurrences; nil where it is met once at most.
    public func shortestGap(
        accepted: Instant, in zones: some TimeZoneSource
    ) throws(TriggerError) -> Duration? {
        guard repeats else { return nil }
        if case .interval(let seconds, _) = self { return .seconds(fraction: seconds) }
        var shortest: Duration?
        var last: Occurrence?
        for _ in 0..<Self.sample {
            guard let next = try next(after: last?.position, accepted: accepted, in: zones) else { break }
            if let last { shortest = min(shortest ?? next.at - last.at, next.at - last.at) }
            last = next
        }
        return shortest
    }
}
