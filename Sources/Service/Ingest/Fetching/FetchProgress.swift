import SatchelCore
import NIOCore
import NIOPosix
import Synchronization

/// How far a fetch is, for the watch over its time and rate.
final class FetchProgress: Sendable {
    private struct State {
        var bytes: Int64 = 0
        var isReadingBody = false
        var announced: Int64?
        var toldAt: ContinuousClock.Instant?
        /// Time that went into writing, which is not the origin's fault.
        var paused = Duration.zero
        var pauseStart: ContinuousClock.Instant?
    }

    /// Between two reports.
    private static let interval: Duration = .milliseconds(250)

    private let start = ContinuousClock.now
    private let state = Mutex(State())
    private let report: Fetcher.FetchReport?

    init(telling report: Fetcher.FetchReport? = nil) {
        self.report = report
    }

    var elapsed: Duration { .now - start }

    var bytes: Int64 { state.withLock { $0.bytes } }

    func startBody(of announced: Int64?) {
        state.withLock { state in
            state.isReadingBody = true
            state.announced = announced
        }
    }

    func endBody() { state.withLock { $0.isReadingBody = false } }

    /// Counts bytes and answers with their sum.
    func received(_ bytes: Int64) -> Int64 {
        let now = ContinuousClock.now
        let (sum, announced, isDue) = state.withLock { state in
            state.bytes += bytes
            let isDue = state.toldAt.map { now - $0 >= Self.interval } ?? true
            if isDue { state.toldAt = now }
            return (state.bytes, state.announced, isDue)
        }
        if isDue { report?(sum, announced) }
        return sum
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
            let left = limits.time - elapsed
            guard left > .zero else { return .fetchTimeout(seconds: elapsed.inSeconds) }
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
                    .tooSlow, reason: "less than \(limits.minimumRate) bytes per second arrived")
            }
        }
    }
}
