import CoreMetrics

/// Counts answers to requests for content on one event loop; published to the metrics every now and then, because they are
/// shared by all loops.
struct ContentTally {
    private struct Kind: Hashable {
        var status: Int
        var isHead: Bool
    }

    private let metrics: MetricsRegistry
    private var answers: [Kind: Int64] = [:]
    private var bytes: Int64 = 0

    init(_ metrics: MetricsRegistry) {
        self.metrics = metrics
    }

    /// - Parameter bytes: Of the answer's body.
    mutating func count(status: Int, isHead: Bool, bytes: Int64) {
        answers[Kind(status: status, isHead: isHead), default: 0] += 1
        self.bytes += bytes
    }

    mutating func publish() {
        guard !answers.isEmpty else { return }
        let route = ("route", Endpoint.content.path)
        for (kind, count) in answers {
            metrics.makeCounter(
                label: "satchel_http_requests_total",
                dimensions: [route, ("method", kind.isHead ? "HEAD" : "GET"), ("status", "\(kind.status)")]
            ).increment(by: count)
        }
        metrics.makeCounter(label: "satchel_http_response_bytes_total", dimensions: [route]).increment(by: bytes)
        answers.removeAll(keepingCapacity: true)
        bytes = 0
    }
}
