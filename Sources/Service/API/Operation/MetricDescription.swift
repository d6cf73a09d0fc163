/// What `/metrics` tells: every name, what it means and its labels. The documentation of the metrics is this list.
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
        .init("http_requests_total", .counter, "Requests that were answered.", "route", "method", "status"),
        .init(
            "http_request_seconds", .histogram(buckets: seconds),
            "From a request's headers to the beginning of its answer.", "route"),
        .init("http_requests_underway", .gauge, "Requests whose answer has not begun."),
        .init(
            "http_response_bytes_total", .counter, "Of answers' bodies whose length was known when they began.", "route"
        ),

        .init("jobs_finished_total", .counter, "Jobs that came to their end here.", "state", "lane"),
        .init(
            "attachments_finished_total", .counter, "Attachments of those jobs; 'none' where there is no such thing.",
            "state", "kind", "fidelity", "code"),
        .init("attachments_shared_total", .counter, "Attachments that took over what an identical one came to."),
        .init("jobs_postponed_total", .counter, "Jobs that were handed back.", "reason"),
        .init("jobs_underway", .gauge, "Jobs that are being carried out here.", "lane"),
        .init("job_seconds", .histogram(buckets: seconds), "From a job's acceptance to its end.", "lane"),
        .init("queue_seconds", .histogram(buckets: seconds), "From a job's acceptance to its claim.", "lane"),
        .init(
            "stage_seconds", .histogram(buckets: seconds),
            "Stages of attachments: fetch, wait, identify, each rendition, placeholder, scan, commit.", "stage"),
        .init("scans_total", .counter, "Scans of sources: clean, rejected, or failed without a verdict.", "verdict"),
        .init(
            "scan_seconds", .histogram(buckets: seconds),
            "From the beginning of a scan to its verdict, or the end of its time."),
        .init("fetch_places", .gauge, "Sources that are, and that wait to be, fetched.", "state", "priority"),
        .init(
            "starved_seconds_total", .counter,
            "Seconds in which a source had been waiting for more than one for a place: to be fetched, to be worked on, or in a codec.",
            "place", "priority"),
        .init("fetches_total", .counter, "Fetches of sources, by 'fetched' or the error's code.", "result"),
        .init("fetched_bytes_total", .counter, "Of fetched bodies."),
        .init("firings_total", .counter, "Firings of notifications that were made ready here, or missed.", "state"),
        .init(
            "firing_late_seconds", .histogram(buckets: seconds),
            "From the instant of a firing until its payload was made."),
        .init(
            "responses_total", .counter, "Responses to notifications, by what was said and by whom.", "then",
            "decided_by"),
        .init("clock_steps_total", .counter, "How often the clock was set while it was being watched."),
        .init("upload_bytes_total", .counter, "Bytes of uploads that became durable here."),
        .init("calls_total", .counter, "Calls to receivers, such as callbacks.", "type", "result"),

        .init("codec_zygotes_total", .counter, "Zygotes that were started."),
        .init("codec_processes_total", .counter, "Codec processes that took a source."),
        .init("codec_deaths_total", .counter, "Codec processes that did not end by themselves.", "cause"),
        .init("codec_places", .gauge, "Sources that may be, and are, worked on.", "state"),
        .init("codec_granted_bytes", .gauge, "Memory granted to codec processes now."),
        .init("codec_peak_bytes", .histogram(buckets: bytes), "Peak memory of each codec process."),
        .init("codec_cpu_seconds", .histogram(buckets: seconds), "Processor time of each codec process."),
        .init("store_failing", .gauge, "1 while the store fails the workers, else 0."),

        .init("queue_jobs", .gauge, "Jobs in the store that are not finished.", "lane", "state"),
        .init(
            "queue_oldest_seconds", .gauge, "Since the oldest pending job that is due became so.", "lane", "priority"),
        .init("leases", .gauge, "Leases that live."),
        .init("links", .gauge, "Links that live."),
        .init("grants", .gauge, "Grants that live."),
        .init("leases_left_to_expire_total", .counter, "Leases that ended by themselves, never stopped."),
        .init("uploads_open", .gauge, "Uploads that take bytes."),
        .init("blobs", .gauge, "Blobs in the store, each counted once."),
        .init("blob_bytes", .gauge, "Of all blobs, each counted once."),
        .init("calls_pending", .gauge, "Calls that are still to be made."),
        .init("store_free_bytes", .gauge, "Free on the store's disk."),
        .init("ready", .gauge, "1 where /readyz answers 200, else 0.", "check"),

        .init("process_resident_bytes", .gauge, "Memory of the service's own process, without codecs."),
        .init("process_cpu_seconds_total", .counter, "Processor time of the service's own process.", "mode"),
        .init("process_open_descriptors", .gauge, "Open descriptors of the service's own process."),
        .init("process_descriptor_limit", .gauge, "Descriptors that the service's own process may have open."),
        .init("process_start_time_seconds", .gauge, "When the service's own process started, in seconds since 1970."),
    ]

    static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
}
