import Attachments
import Synchronization

/// When the work on the current source should be over. For the whole process, which has one source at a time: callbacks
/// from inside libvips and FFmpeg ask it too.
enum WorkTime {
    private static let end = Mutex<ContinuousClock.Instant?>(nil)

    /// Sets the time that is left; nil for no hurry.
    static func begin(secondsLeft: Double?) {
        // A year is no hurry either, and more would overflow.
        let instant = secondsLeft.map { ContinuousClock.now + .seconds(min(max(0, $0), 3e7)) }
        end.withLock { $0 = instant }
    }

    /// Until the end; nil for no hurry, negative where it has passed.
    static var secondsLeft: Double? {
        guard let instant = end.withLock({ $0 }) else { return nil }
        let left = (instant - .now).components
        return Double(left.seconds) + Double(left.attoseconds) / 1e18
    }

    static var isUp: Bool { secondsLeft.map { $0 <= 0 } ?? false }

    /// What work throws that was stopped because the time is up, or would be.
    static let failure = AttachmentError.deadlineExceeded(seconds: 0)

    /// Stops where the time is up: called wherever work goes on for long, such as between frames and packets.
    static func check() throws(AttachmentError) {
        if isUp { throw failure }
    }

    /// Asked from inside of libvips' loops: whether to stop.
    static let stops: @convention(c) () -> Int32 = { WorkTime.isUp ? 1 : 0 }

    /// Runs what makes more than there is already; where the time does not suffice, that is no failure.
    ///
    /// - Returns: Whether `body` came to its end.
    @discardableResult
    static func asFarAsItGoes(_ body: () throws(AttachmentError) -> Void) throws(AttachmentError) -> Bool {
        do {
            try body()
            return true
        } catch {
            guard error == failure else { throw error }
            return false
        }
    }
}
