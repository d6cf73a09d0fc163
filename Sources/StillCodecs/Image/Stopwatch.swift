/// Measures how long something took.
struct Stopwatch {
    private let start = ContinuousClock.now

    /// Since it was made.
    var seconds: Double {
        let elapsed = (ContinuousClock.now - start).components
        return Double(elapsed.seconds) + Double(elapsed.attoseconds) / 1e18
    }
}
