import SatchelCore
import Metrics

/// Records the metrics of the service side through swift-metrics. The list of metrics is `MetricDescription.all` in `API`.
package enum JobMetrics {
    package static func count(_ name: String, _ labels: [(String, String)] = [], by amount: Int64 = 1) {
        Counter(label: "satchel_" + name, dimensions: labels).increment(by: amount)
    }

    package static func gauge(_ name: String, _ value: Int64, _ labels: [(String, String)] = []) {
        Gauge(label: "satchel_" + name, dimensions: labels).record(value)
    }

    package static func record(_ name: String, _ value: Int64, _ labels: [(String, String)] = []) {
        Recorder(label: "satchel_" + name, dimensions: labels).record(value)
    }

    package static func time(_ name: String, _ seconds: Double, _ labels: [(String, String)] = []) {
        // Limits times to one year, so that the conversion cannot overflow.
        let nanoseconds = Int64(min(max(seconds, 0), 31_536_000) * 1e9)
        Timer(label: "satchel_" + name, dimensions: labels).recordNanoseconds(nanoseconds)
    }
}
