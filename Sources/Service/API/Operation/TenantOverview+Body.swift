public import SatchelCore
import Stores

extension TenantOverview {
    /// What an operator looks at first, as the API shows it.
    func shown(within quotas: Quotas) -> JSONFields {
        let count = Int64(Self.span.inSeconds / 60)
        let first = at.minute - .seconds(60 * (count - 1))
        let tallies = tallies.filter { $0.key.minute >= first }
        let byMinute = Dictionary(grouping: tallies, by: \.key.minute)
        // The latest last.
        let minutes = (0..<count).map { number in
            let minute = first + .seconds(60 * number)
            return Self.ends(at: minute, Dictionary(byMinute[minute] ?? []) { first, _ in first })
        }
        // Attachments that failed within the hour, by code.
        let codes = tallies.reduce(into: [String: Int64]()) { codes, tally in
            if let code = tally.key.code { codes[code.rawValue, default: 0] += tally.value.count }
        }
        let calls: JSONFields = ["failing": failingCalls, "failed": failedCalls]
        return [
            "at": at, "hour": Self.ends(at: first, tallies), "minutes": minutes, "codes": codes,
            "storedBytes": Self.used(usage.storedBytes, of: quotas.storedBytes),
            "unfinishedJobs": Self.used(Int64(usage.pendingJobs), of: quotas.pendingJobs.map { Int64($0) }),
            "leases": Self.used(Int64(usage.liveLeases), of: quotas.liveLeases.map { Int64($0) }),
            "links": links, "grants": grants, "notificationsDue": dueNotifications, "calls": calls,
        ]
    }

    /// What there is, and how much there may be; null for any amount.
    private static func used(_ amount: Int64, of quota: Int64?) -> JSONFields { ["used": amount, "quota": quota] }

    /// Attachments that came to their end within a time.
    ///
    /// - Parameter at: When that begins.
    private static func ends(at: Instant, _ tallies: [Tally.Key: Tally]) -> JSONFields {
        func count(_ state: WorkState) -> Int64 {
            tallies.reduce(0) { $0 + ($1.key.state == state ? $1.value.count : 0) }
        }
        let all = tallies.values.reduce(into: Tally()) { $0.add($1) }
        return [
            "at": at, "delivered": count(.delivered), "failed": count(.failed), "cancelled": count(.cancelled),
            "waiting": times(all.waiting), "work": times(all.work),
        ]
    }

    /// In how many seconds half of them, and all but one in twenty, were done; null where there were none.
    private static func times(_ histogram: Histogram) -> JSONFields {
        func quantile(_ share: Double) -> Double? {
            histogram.quantile(share).map { ($0 * 1000).rounded() / 1000 }
        }
        return ["p50": quantile(0.5), "p95": quantile(0.95)]
    }
}

extension Service {
    /// What an administrator sees of the whole service: the store's figures, and this node's health.
    var figures: JSONFields {
        get async throws {
            let report = await health.report()
            let checks = report.checks.sorted { $0.key < $1.key }.map { name, check -> JSONFields in
                [
                    "name": name, "ready": check.ready, "detail": check.detail,
                    "advice": check.ready ? nil : health.advice(on: name),
                ]
            }
            let statistics = try await records.statistics()
            let lanes = JobLane.allCases.map { lane -> JSONFields in
                let queue = statistics.queues[lane] ?? StoreStatistics.Queue()
                return [
                    "lane": lane, "pending": queue.pending, "running": queue.running,
                    // Seconds since the oldest that is due became so; null where none waits.
                    "oldest": queue.oldestAges.values.max()?.inSeconds,
                ]
            }
            return [
                "ready": report.ready, "checks": checks, "lanes": lanes,
                "codecDeaths": metrics.counts(of: "codec_deaths_total"), "freeBytes": try? await store.freeBytes(),
                "blobBytes": statistics.blobBytes, "leases": statistics.liveLeases, "links": statistics.liveLinks,
                "grants": statistics.liveGrants, "callsPending": statistics.pendingWebhooks,
            ]
        }
    }
}

extension MetricsRegistry {
    /// A counter of one label, by its values.
    fileprivate func counts(of name: String) -> [String: Int64] {
        let samples = families.first { $0.name == "satchel_" + name }?.samples ?? []
        return samples.reduce(into: [:]) { counts, sample in
            if let label = sample.labels.first { counts[label.value, default: 0] += Int64(sample.value) }
        }
    }
}

extension FailureGroup {
    /// Failures with one code and cause as the API and the command line show them. Message and ``ErrorReport/retryable`` are
    /// the latest one's.
    public var shown: JSONFields {
        [
            "code": code, "cause": error.cause, "count": count, "retryable": error.retryable,
            "message": error.message, "firstAt": firstAt, "lastAt": lastAt, "kinds": kinds, "jobs": jobs,
        ]
    }
}
