import SatchelCore
public import CoreMetrics
import Synchronization

/// Keeps what is told through swift-metrics, for `/metrics`: a back end of its own, for there is none here that writes
/// Prometheus' text format, and that is a page.
public final class MetricsRegistry: MetricsFactory {
    /// Series that one name may have. More become one, whose labels are `other`: a mistake must not fill the memory.
    static let maximumSeries = 512

    private struct Key: Hashable {
        var name: String
        var labels: [Label]
    }

    private struct State {
        var series: [Key: MetricSeries] = [:]
        var counts: [String: Int] = [:]
    }

    private let state = Mutex(State())

    public init() {}

    private func series(_ name: String, _ dimensions: [(String, String)], _ kind: MetricDescription.Kind)
        -> MetricSeries
    {
        let kind = MetricDescription.byName[name]?.kind ?? kind
        return state.withLock { state in
            var key = Key(name: name, labels: dimensions.map(Label.init))
            if let series = state.series[key] { return series }
            if state.counts[name, default: 0] >= Self.maximumSeries {
                key.labels = dimensions.map { Label(($0.0, "other")) }
                if let series = state.series[key] { return series }
            }
            let series = MetricSeries(kind)
            state.series[key] = series
            state.counts[name, default: 0] += 1
            return series
        }
    }

    /// Everything that was told so far.
    var families: [MetricFamily] {
        let series = state.withLock { $0.series }
        return Dictionary(grouping: series, by: \.key.name).map { name, series in
            MetricFamily(
                name: name, kind: series[0].value.kind,
                samples: series.flatMap { key, series in series.samples(labels: key.labels) })
        }
    }

    // MARK: What swift-metrics asks for

    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(label, dimensions, .counter)
    }

    public func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        series(label, dimensions, .counter)
    }

    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(label, dimensions, .gauge)
    }

    public func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        series(label, dimensions, aggregate ? .histogram(buckets: MetricDescription.bytes) : .gauge)
    }

    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(label, dimensions, .histogram(buckets: MetricDescription.seconds))
    }

    // What was counted stays: a scrape wants it after its maker has gone.
    public func destroyCounter(_ handler: any CounterHandler) {}
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    public func destroyMeter(_ handler: any MeterHandler) {}
    public func destroyRecorder(_ handler: any RecorderHandler) {}
    public func destroyTimer(_ handler: any TimerHandler) {}
}

/// One label of a series.
struct Label: Hashable, Sendable {
    var name: String
    var value: String

    init(_ pair: (String, String)) {
        name = pair.0
        value = pair.1
    }
}

/// The numbers of one name with one set of labels.
private final class MetricSeries: CounterHandler, FloatingPointCounterHandler, MeterHandler, RecorderHandler,
    TimerHandler
{
    private struct Numbers {
        var value = 0.0
        /// One for each bucket, not cumulated, and one for what is over the last.
        var buckets: [Int]
        var count = 0
    }

    let kind: MetricDescription.Kind
    private let bounds: [Double]
    private let numbers: Mutex<Numbers>

    init(_ kind: MetricDescription.Kind) {
        self.kind = kind
        if case .histogram(let buckets) = kind { bounds = buckets } else { bounds = [] }
        numbers = Mutex(Numbers(buckets: Array(repeating: 0, count: bounds.count + 1)))
    }

    func increment(by amount: Int64) { increment(by: Double(amount)) }
    func increment(by amount: Double) { numbers.withLock { $0.value += amount } }
    func decrement(by amount: Double) { numbers.withLock { $0.value -= amount } }
    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { numbers.withLock { $0.value = value } }
    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        guard case .histogram = kind else { return set(value) }
        let index = bounds.firstIndex { value <= $0 } ?? bounds.count
        numbers.withLock { numbers in
            numbers.buckets[index] += 1
            numbers.count += 1
            numbers.value += value
        }
    }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

    /// A counter never goes back: that would look like a restart.
    func reset() {}

    func samples(labels: [Label]) -> [MetricSample] {
        let numbers = numbers.withLock { $0 }
        guard case .histogram = kind else { return [MetricSample(labels: labels, value: numbers.value)] }
        var sum = 0
        var samples: [MetricSample] = []
        for (index, count) in numbers.buckets.enumerated() {
            sum += count
            let bound = index < bounds.count ? MetricSample.text(of: bounds[index]) : "+Inf"
            samples.append(
                MetricSample(suffix: "_bucket", labels: labels + [Label(("le", bound))], value: Double(sum)))
        }
        samples.append(MetricSample(suffix: "_sum", labels: labels, value: numbers.value))
        samples.append(MetricSample(suffix: "_count", labels: labels, value: Double(numbers.count)))
        return samples
    }
}
