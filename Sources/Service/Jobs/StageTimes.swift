import SatchelCore

/// When a codec process said what, so that the time of an attachment can be told stage by stage without a gap: what the
/// codec doesn't count itself is waiting before its first rendition, and finishing after it.
struct StageTimes: Hashable, Sendable {
    private var asked: ContinuousClock.Instant
    /// Seconds that the source itself took before it could be read.
    private var openingSeconds = 0.0
    private var found: ContinuousClock.Instant?
    private var decided: ContinuousClock.Instant?
    private var first: ContinuousClock.Instant?
    /// Seconds that making the first rendition took, and those after it.
    private var firstSeconds = 0.0
    private var laterSeconds = 0.0
    private var ended: ContinuousClock.Instant?

    init(asked: ContinuousClock.Instant = .now) {
        self.asked = asked
    }

    /// The source was made readable.
    mutating func opened(in seconds: Double) {
        openingSeconds += seconds
    }

    /// The probe result has come.
    mutating func identified(at now: ContinuousClock.Instant = .now) {
        found = now
    }

    /// The codec was told what to make.
    mutating func told(at now: ContinuousClock.Instant = .now) {
        decided = now
    }

    mutating func received(_ report: RenditionReport, at now: ContinuousClock.Instant = .now) {
        if first == nil {
            first = now
            firstSeconds = report.seconds
        } else {
            laterSeconds += report.seconds
        }
    }

    /// The codec process has ended, or the next source is its.
    mutating func finished(at now: ContinuousClock.Instant = .now) {
        ended = now
    }

    /// Seconds that the source waited for a codec process and for its memory.
    ///
    /// - Parameter identifying: Seconds that the codec counted for it.
    func waiting(identifying: Double) -> Double {
        guard let found else { return 0 }
        let before = max(0, (found - asked).inSeconds - openingSeconds - identifying)
        guard let decided, let first else { return before }
        return before + max(0, (first - decided).inSeconds - firstSeconds)
    }

    /// Seconds after the first rendition that no other counts.
    var finishing: Double {
        guard let first, let ended else { return 0 }
        return max(0, (ended - first).inSeconds - laterSeconds)
    }
}
