/// Measures how long something took.
package struct Stopwatch {
    private let start = ContinuousClock.now

    package init() {}

    /// Since it was made.
    package var seconds: Double {
        let elapsed = (ContinuousClock.now - start).components
        return Double(elapsed.seconds) + Double(elapsed.attoseconds) / 1e18
    }
}
