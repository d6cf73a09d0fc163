import SatchelCore
import Platform
import Synchronization

/// What a ``CodecPool`` has done so far and does now.
public struct CodecStatistics: Hashable, Sendable {
    /// Zygotes that were started.
    public var zygotes = 0
    /// Processes that took a source.
    public var processes = 0
    /// Those that did not end by themselves.
    public var deaths: [CodecDeath: Int] = [:]
    /// Sources that are worked on now, and at most.
    public var placesUsed = 0
    public var places = 0
    /// Of them costly ones, and how many of these there were at once at the most.
    public var costlyPlacesUsed = 0
    public var costlyPlacesPeak = 0
    /// Bytes granted now, at once at the most, and in all.
    public var granted: Int64 = 0
    public var grantedPeak: Int64 = 0
    public var memory: Int64 = 0
    /// Bytes resident in one process at the most.
    public var processPeak: Int64 = 0
}

/// Counts for ``CodecStatistics`` and for ``JobMetrics``.
final class CodecLedger: Sendable {
    private let state: Mutex<CodecStatistics>
    private let shortages = Mutex<(latest: String, at: ContinuousClock.Instant)?>(nil)

    init(places: Int, memory: Int64) {
        var statistics = CodecStatistics()
        statistics.places = places
        statistics.memory = memory
        state = Mutex(statistics)
        JobMetrics.gauge("codec_places", Int64(places), [("state", "all")])
        for death in CodecDeath.allCases { JobMetrics.count("codec_deaths_total", [("cause", death.rawValue)], by: 0) }
    }

    var statistics: CodecStatistics { state.withLock { $0 } }

    func zygoteStarted() {
        state.withLock { $0.zygotes += 1 }
        JobMetrics.count("codec_zygotes_total")
    }

    func processTaken() {
        state.withLock { $0.processes += 1 }
        JobMetrics.count("codec_processes_total")
    }

    func died(of cause: CodecDeath) {
        state.withLock { $0.deaths[cause, default: 0] += 1 }
        JobMetrics.count("codec_deaths_total", [("cause", cause.rawValue)])
    }

    /// Notes what was lacking: processes, threads, memory or descriptors. True unless that is known.
    func lacked(_ reason: String) -> Bool {
        defer { shortages.withLock { $0 = (reason, .now) } }
        return shortage == nil
    }

    /// What was lacking during the last half minute.
    var shortage: String? { shortages.withLock { $0.flatMap { $0.at + .seconds(30) > .now ? $0.latest : nil } } }

    func ended(_ ending: ProcessEnding) {
        state.withLock { $0.processPeak = max($0.processPeak, ending.peakMemory) }
        JobMetrics.record("codec_peak_bytes", ending.peakMemory)
        JobMetrics.time("codec_cpu_seconds", ending.cpuSeconds)
    }

    /// - Parameter change: 1 for a source that gets a place, -1 for one that gives it back.
    func places(_ change: Int, costly: Bool) {
        let used = state.withLock { state in
            state.placesUsed += change
            if costly {
                state.costlyPlacesUsed += change
                state.costlyPlacesPeak = max(state.costlyPlacesPeak, state.costlyPlacesUsed)
            }
            return state.placesUsed
        }
        JobMetrics.gauge("codec_places", Int64(used), [("state", "used")])
    }

    func granted(_ change: Int64) {
        let granted = state.withLock { state in
            state.granted += change
            state.grantedPeak = max(state.grantedPeak, state.granted)
            return state.granted
        }
        JobMetrics.gauge("codec_granted_bytes", granted)
    }
}
