/// How long most took, nearly all, and all but a few.
struct Percentiles: Hashable, Sendable {
    var p50: Double
    var p95: Double
    var p99: Double

    /// - Parameter samples: At least one.
    init(_ samples: [Double]) {
        p50 = Self.percentile(0.5, of: samples)
        p95 = Self.percentile(0.95, of: samples)
        p99 = Self.percentile(0.99, of: samples)
    }

    /// The least value that this part of all is not over (nearest rank); infinite where there is none.
    static func percentile(_ part: Double, of samples: [Double]) -> Double {
        let sorted = samples.sorted()
        guard !sorted.isEmpty else { return .infinity }
        let rank = Int((Double(sorted.count) * part).rounded(.up))
        return sorted[min(sorted.count, max(1, rank)) - 1]
    }
}
