import SatchelCore
import Metrics

/// Every number that the service side tells: the names and labels that a back end of swift-metrics is given, in one place.
///
/// Timers are named in seconds, which is what a back end should show; counters end in `_total`. Labels have few values:
/// no tenant, no id, no URL.
///
/// | name | kind | labels | what |
/// | --- | --- | --- | --- |
/// | `satchel_jobs_finished_total` | counter | `state`, `lane` | jobs that came to their end here |
/// | `satchel_attachments_finished_total` | counter | `state`, `kind`, `fidelity`, `code` | their attachments; `none` where there is no such thing |
/// | `satchel_attachments_shared_total` | counter | | attachments that took over what an identical one came to |
/// | `satchel_jobs_postponed_total` | counter | `reason` (`expensive`, `stopped`, `store`) | jobs that were handed back |
/// | `satchel_jobs_underway` | gauge | `lane` | jobs that are being carried out |
/// | `satchel_fetch_places` | gauge | `state` (`used`, `waiting`), `priority` | sources that are, and that wait to be, fetched |
/// | `satchel_starved_seconds_total` | counter | `place` (`fetch`, `work`, `codec`), `priority` | seconds in which a source had been waiting for such a place for more than one |
/// | `satchel_job_seconds` | timer | `lane` | from acceptance to the end |
/// | `satchel_queue_seconds` | timer | `lane` | from acceptance to the claim |
/// | `satchel_stage_seconds` | timer | `stage` (`fetch`, `wait`, `identify`, `retry`, a rendition, `placeholder`, `scan`, `unscanned`, `commit`) | stages of attachments |
/// | `satchel_scans_total` | counter | `verdict` (`clean`, `rejected`, `failed`) | scans of sources |
/// | `satchel_scan_seconds` | timer | | from the beginning of a scan to its verdict, or the end of its time |
/// | `satchel_fetches_total` | counter | `result` (`fetched` or an error's code) | fetches of sources |
/// | `satchel_fetched_bytes_total` | counter | | bytes of bodies |
/// | `satchel_firings_total` | counter | `state` (`ready`, `failed`, `missed`) | firings that were made ready here, or missed |
/// | `satchel_firing_late_seconds` | timer | | from the instant of a firing until its payload was made |
/// | `satchel_clock_steps_total` | counter | | how often the clock was set while it was being watched |
/// | `satchel_upload_bytes_total` | counter | | bytes of uploads that are durable |
/// | `satchel_calls_total` | counter | `type`, `result` (`delivered`, `again`, `failed`) | calls to webhooks |
/// | `satchel_codec_zygotes_total` | counter | | zygotes that were started |
/// | `satchel_codec_processes_total` | counter | | processes that took a source |
/// | `satchel_codec_deaths_total` | counter | `cause` (`crash`, `breach`, `limit`, `silence`, `deadline`) | processes that did not end by themselves |
/// | `satchel_codec_places` | gauge | `state` (`all`, `used`) | sources that may be, and are, worked on |
/// | `satchel_codec_granted_bytes` | gauge | | memory granted to processes now |
/// | `satchel_codec_peak_bytes` | recorder | | peak memory of each process |
/// | `satchel_codec_cpu_seconds` | timer | | processor time of each process |
/// | `satchel_store_failing` | gauge | | 1 while the store fails the workers, else 0 |
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
        // A time of more than a year is none.
        let nanoseconds = Int64(min(max(seconds, 0), 31_536_000) * 1e9)
        Timer(label: "satchel_" + name, dimensions: labels).recordNanoseconds(nanoseconds)
    }
}
