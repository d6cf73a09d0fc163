package import SatchelCore
import Synchronization

/// When the work on the current source should be over. For the whole process, which has one source at a time: callbacks
/// from inside libvips and FFmpeg ask it too.
package enum WorkTime {
    private struct Times {
        var start: ContinuousClock.Instant
        var end: ContinuousClock.Instant
    }

    private static let times = Mutex<Times?>(nil)

    /// Sets the time that is left; nil for no hurry.
    static func begin(secondsLeft: Double?) {
        let start = ContinuousClock.now
        // A year is no hurry either, and more would overflow.
        let times = secondsLeft.map { Times(start: start, end: start + .seconds(min(max(0, $0), 3e7))) }
        Self.times.withLock { $0 = times }
    }

    /// Until the end; nil for no hurry, negative where it has passed.
    package static var secondsLeft: Double? {
        guard let times = times.withLock({ $0 }) else { return nil }
        return (times.end - .now) / .seconds(1)
    }

    /// Whether more than this part of the time, 0 to 1, is gone: what could be looked at longer has been looked at long
    /// enough.
    package static func isPast(_ part: Double) -> Bool {
        guard let times = times.withLock({ $0 }) else { return false }
        return times.start + (times.end - times.start) * part < .now
    }

    package static var isUp: Bool { secondsLeft.map { $0 <= 0 } ?? false }

    /// What work throws that was stopped because the time is up, or would be.
    package static let failure = AttachmentError.deadlineExceeded(seconds: 0)

    /// Stops where the time is up: called wherever work goes on for long, such as between frames and packets.
    package static func check() throws(AttachmentError) {
        if isUp { throw failure }
    }

    /// Asked from inside of libvips' loops: whether to stop.
    static let stops: @convention(c) () -> Int32 = { WorkTime.isUp ? 1 : 0 }

    /// Runs what makes more than there is already; where the time does not suffice, that is no failure.
    ///
    /// - Returns: Whether `body` came to its end.
    @discardableResult
    package static func asFarAsItGoes(_ body: () throws(AttachmentError) -> Void) throws(AttachmentError) -> Bool {
        do {
            try body()
            return true
        } catch {
            guard error == failure else { throw error }
            return false
        }
    }
}
