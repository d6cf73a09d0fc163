import Attachments
import Synchronization

/// When the work on the current source should be over. For the whole process, which has one source at a time: callbacks
/// from inside libvips and FFmpeg ask it too.
enum WorkTime {
    private static let end = Mutex<ContinuousClock.Instant?>(nil)

    /// Sets the time that is left; nil for no hurry.
    static func begin(secondsLeft: Double?) {
        let instant = secondsLeft.map { ContinuousClock.now + .seconds(max(0, $0)) }
        end.withLock { $0 = instant }
    }

    /// Until the end; nil for no hurry, negative where it has passed.
    static var secondsLeft: Double? {
        guard let instant = end.withLock({ $0 }) else { return nil }
        let left = (instant - .now).components
        return Double(left.seconds) + Double(left.attoseconds) / 1e18
    }

    static var isUp: Bool { secondsLeft.map { $0 <= 0 } ?? false }
}
