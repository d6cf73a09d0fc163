import SatchelCore
import FoundationEssentials
import Glibc
import Stores

/// What `/metrics` answers: what was told, and what there is at this moment.
struct ServiceMetrics: Sendable {
    let service: Service

    func text() async -> String {
        var families = service.metrics.families + ProcessNumbers.families
        let report = await service.health.report()
        families.append(
            MetricFamily(
                "ready", report.checks.sorted { $0.key < $1.key }.map { ([$0.key], $0.value.ready ? 1 : 0) }))
        if let free = try? await service.store.freeBytes() {
            families.append(MetricFamily("store_free_bytes", free))
        }
        // Without an answer of the store the rest is still worth knowing, and its absence tells.
        if let statistics = try? await service.records.statistics() { families += Self.families(statistics) }
        return MetricsText.of(families)
    }

    private static func families(_ statistics: StoreStatistics) -> [MetricFamily] {
        let queues = statistics.queues.sorted { $0.key.rawValue < $1.key.rawValue }
        return [
            MetricFamily(
                "queue_jobs",
                queues.flatMap { lane, queue in
                    [
                        ([lane.rawValue, "pending"], Double(queue.pending)),
                        ([lane.rawValue, "running"], Double(queue.running)),
                    ]
                }),
            MetricFamily(
                "queue_oldest_seconds",
                queues.flatMap { lane, queue in
                    JobPriority.allCases.map { priority in
                        ([lane.rawValue, priority.rawValue], queue.oldestAges[priority]?.inSeconds ?? 0)
                    }
                }),
            MetricFamily("leases_left_to_expire_total", statistics.leasesLeftToExpire),
            MetricFamily("leases", statistics.liveLeases), MetricFamily("links", statistics.liveLinks),
            MetricFamily("grants", statistics.liveGrants), MetricFamily("blobs", statistics.blobs),
            MetricFamily("blob_bytes", statistics.blobBytes),
            MetricFamily("calls_pending", statistics.pendingWebhooks),
            MetricFamily("uploads_open", statistics.openUploads),
        ]
    }
}

/// The service's own process.
private enum ProcessNumbers {
    static var families: [MetricFamily] {
        var families: [MetricFamily] = []
        var usage = rusage()
        if unsafe getrusage(RUSAGE_SELF.rawValue, &usage) == 0 {
            families.append(
                MetricFamily(
                    "process_cpu_seconds_total",
                    [(["user"], seconds(usage.ru_utime)), (["system"], seconds(usage.ru_stime))]))
        }
        var limit = rlimit()
        if unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            families.append(MetricFamily("process_descriptor_limit", limit.rlim_cur))
        }
        if let pages = file("/proc/self/statm")?.split(separator: " ").dropFirst().first.flatMap({ Int64($0) }) {
            families.append(MetricFamily("process_resident_bytes", pages * Int64(sysconf(Int32(_SC_PAGESIZE)))))
        }
        if let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            // One of them was the listing's own.
            families.append(MetricFamily("process_open_descriptors", max(0, names.count - 1)))
        }
        families.append(MetricFamily("process_start_time_seconds", [([], start)]))
        return families
    }

    /// Field 22 of `stat` is in clock ticks after the boot, whose time `/proc/stat` tells.
    private static let start: Double = {
        let own = file("/proc/self/stat")?.split(separator: ")").last?.split(separator: " ") ?? []
        let boot = file("/proc/stat")?.split(separator: "\n").first { $0.hasPrefix("btime ") }?.split(separator: " ")
        let ticks = own.count > 19 ? Double(own[19]) ?? 0 : 0
        return (boot?.last.flatMap { Double($0) } ?? 0) + ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    }()

    private static func seconds(_ time: timeval) -> Double {
        Double(time.tv_sec) + Double(time.tv_usec) / 1e6
    }

    private static func file(_ path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }
}
