/// A metric at `/metrics`: its name, meaning and labels. The documentation's table comes from ``all``.
///
/// Names end in their unit; labels have few values: no tenant, no id, no URL.
public struct MetricDescription: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        case counter
        case gauge
        case histogram(buckets: [Double])

        var name: String {
            switch self {
            case .counter: "counter"
            case .gauge: "gauge"
            case .histogram: "histogram"
            }
        }
    }

    public var name: String
    public var kind: Kind
    public var help: String
    public var labels: [String]

    init(_ name: String, _ kind: Kind, _ help: String, _ labels: String...) {
        self.name = "satchel_" + name
        self.kind = kind
        self.help = help
        self.labels = labels
    }

    /// From a fast lookup to a long video.
    static let seconds: [Double] = [
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300,
    ]
    /// From 1 MiB to 4 GiB.
    static let bytes: [Double] = (20...32).map { Double(1 << $0) }

    public static let all: [MetricDescription] = [
        .init("http_requests_total", .counter, "Number of answered requests.", "route", "method", "status"),
        .init(
            "http_request_seconds", .histogram(buckets: seconds),
            "Time from a request's headers to the beginning of its answer.", "route"),
        .init("http_requests_underway", .gauge, "Number of requests that wait for the beginning of their answer."),
        .init(
            "http_response_bytes_total", .counter, "Bytes of answers with a known length.", "route"),

        .init("jobs_finished_total", .counter, "Number of jobs that ended on this node.", "state", "lane"),
        .init(
            "attachments_finished_total", .counter,
            "Number of attachments of those jobs. A label that does not apply has the value 'none'.",
            "state", "kind", "fidelity", "code"),
        .init(
            "attachments_shared_total", .counter,
            "Number of attachments that reused the result of an identical attachment."),
        .init("jobs_postponed_total", .counter, "Number of jobs that this node handed back to the queue.", "reason"),
        .init("jobs_underway", .gauge, "Number of jobs that this node is working on.", "lane"),
        .init("job_seconds", .histogram(buckets: seconds), "Time from a job's acceptance to its end.", "lane"),
        .init(
            "queue_seconds", .histogram(buckets: seconds), "Time from a job's acceptance to the beginning of the work.",
            "lane"),
        .init(
            "stage_seconds", .histogram(buckets: seconds),
            "Duration of each stage of an attachment: fetch, wait, identify, each rendition, placeholder, scan, commit.",
            "stage"),
        .init("scans_total", .counter, "Number of scans: clean, rejected, or failed without a verdict.", "verdict"),
        .init(
            "scan_seconds", .histogram(buckets: seconds),
            "Duration of scans, including those that timed out."),
        .init(
            "fetch_places", .gauge, "Number of sources that are being fetched, and of those that wait.", "state",
            "priority"),
        .init(
            "starved_seconds_total", .counter,
            "Time in which a source waited for more than a second: to be fetched, to be processed, or for a codec process.",
            "place", "priority"),
        .init(
            "fetches_total", .counter, "Number of fetches of sources. The result is 'fetched' or an error code.",
            "result"),
        .init("fetched_bytes_total", .counter, "Bytes of fetched bodies."),
        .init("firings_total", .counter, "Number of firings that this node prepared or marked as missed.", "state"),
        .init(
            "firing_late_seconds", .histogram(buckets: seconds),
            "Time from a firing's due time to its finished payload."),
        .init(
            "responses_total", .counter, "Number of responses to notifications, by decision.", "then",
            "decided_by"),
        .init("clock_steps_total", .counter, "Number of times that the system clock was set."),
        .init("upload_bytes_total", .counter, "Bytes of uploads that this node stored durably."),
        .init("calls_total", .counter, "Number of calls to receivers, such as callbacks.", "type", "result"),

        .init("codec_zygotes_total", .counter, "Number of zygotes started. Codec processes are forked from them."),
        .init("codec_processes_total", .counter, "Number of codec processes that received a source."),
        .init("codec_deaths_total", .counter, "Number of codec processes that crashed or were killed.", "cause"),
        .init(
            "codec_places", .gauge, "Number of sources that can be processed at once, and of those in progress.",
            "state"),
        .init("codec_granted_bytes", .gauge, "Memory that is granted to codec processes."),
        .init("codec_peak_bytes", .histogram(buckets: bytes), "Peak memory of each codec process."),
        .init("codec_cpu_seconds", .histogram(buckets: seconds), "Processor time of each codec process."),
        .init("store_failing", .gauge, "1 if the store is failing, else 0."),

        .init("queue_jobs", .gauge, "Number of unfinished jobs in the store.", "lane", "state"),
        .init(
            "queue_oldest_seconds", .gauge, "Waiting time of the oldest of the next ten jobs.", "lane", "priority"),
        .init("leases", .gauge, "Number of active leases."),
        .init("links", .gauge, "Number of active links."),
        .init("grants", .gauge, "Number of active grants."),
        .init("leases_left_to_expire_total", .counter, "Number of leases that expired without being stopped."),
        .init("uploads_open", .gauge, "Number of open uploads."),
        .init("blobs", .gauge, "Number of blobs in the store, without duplicates."),
        .init("blob_bytes", .gauge, "Bytes of all blobs, without duplicates."),
        .init("calls_pending", .gauge, "Number of calls that wait to be made."),
        .init("store_free_bytes", .gauge, "Free bytes on the disk of the store."),
        .init("ready", .gauge, "1 if the check of /readyz passes, else 0.", "check"),

        .init(
            "process_resident_bytes", .gauge, "Resident memory of the service's own process, without codec processes."),
        .init("process_cpu_seconds_total", .counter, "Processor time of the service's own process.", "mode"),
        .init("process_open_descriptors", .gauge, "Number of open file descriptors of the service's own process."),
        .init(
            "process_descriptor_limit", .gauge, "Maximum number of open file descriptors of the service's own process."),
        .init("process_start_time_seconds", .gauge, "Start time of the service's own process, in seconds since 1970."),
    ]

    static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
}
