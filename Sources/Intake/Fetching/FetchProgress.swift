import Attachments
import NIOCore
import NIOPosix
import Synchronization

/// How far a fetch is, for the watch over its time and rate.
final class FetchProgress: Sendable {
    private struct State {
        var bytes: Int64 = 0
        var isReadingBody = false
        /// Time that went into writing, which is not the origin's fault.
        var paused = Duration.zero
        var pauseStart: ContinuousClock.Instant?
    }

    private let start = ContinuousClock.now
    private let state = Mutex(State())

    func startBody() { state.withLock { $0.isReadingBody = true } }
    func endBody() { state.withLock { $0.isReadingBody = false } }

    /// Counts bytes and answers with their sum.
    func received(_ bytes: Int64) -> Int64 {
        state.withLock { state in
            state.bytes += bytes
            return state.bytes
        }
    }

    func pause() { state.withLock { $0.pauseStart = .now } }

    func resume() {
        state.withLock { state in
            if let start = state.pauseStart { state.paused += .now - start }
            state.pauseStart = nil
        }
    }

    /// Waits until the time is up or the body comes too slowly; nil when cancelled before.
    func watch(_ limits: FetchLimits) async -> AttachmentError? {
        var meter = RateMeter(minimum: limits.minimumRate, window: limits.rateWindow)
        let tick = min(max(limits.rateWindow / 10, .milliseconds(10)), .seconds(1))
        while true {
            let left = limits.time - (.now - start)
            guard left > .zero else { return .fetchTimeout(seconds: limits.time.inSeconds) }
            do {
                try await Task.sleep(for: min(left, tick), tolerance: .milliseconds(5))
            } catch {
                return nil
            }
            let now = ContinuousClock.now
            let (bytes, paused, isReading) = state.withLock { state in
                (state.bytes, state.paused + (state.pauseStart.map { now - $0 } ?? .zero), state.isReadingBody)
            }
            guard isReading else { continue }
            if meter.isTooSlow(bytes: bytes, after: now - start - paused) {
                return .fetchFailed(
                    reason: "it sends fewer than \(limits.minimumRate) bytes a second", status: nil)
            }
        }
    }
}
