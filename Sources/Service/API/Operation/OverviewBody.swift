import SatchelCore
import Stores

/// What an operator looks at first, as the API shows it.
struct OverviewBody: Encodable {
    /// In how many seconds half of them, and all but one in twenty, were done; null where there were none.
    struct Times: Encodable {
        @Nullable var p50: Double?
        @Nullable var p95: Double?

        init(_ histogram: Histogram) {
            p50 = histogram.quantile(0.5).map(Self.rounded)
            p95 = histogram.quantile(0.95).map(Self.rounded)
        }

        private static func rounded(_ seconds: Double) -> Double { (seconds * 1000).rounded() / 1000 }
    }

    /// Attachments that came to their end within a time.
    struct Ends: Encodable {
        /// When that begins.
        var at: Instant
        var delivered: Int64
        var failed: Int64
        var cancelled: Int64
        var waiting: Times
        var work: Times

        init(at: Instant, _ tallies: [Tally.Key: Tally]) {
            func count(_ state: WorkState) -> Int64 {
                tallies.reduce(0) { $0 + ($1.key.state == state ? $1.value.count : 0) }
            }
            self.at = at
            delivered = count(.delivered)
            failed = count(.failed)
            cancelled = count(.cancelled)
            let all = tallies.values.reduce(into: Tally()) { $0.add($1) }
            waiting = Times(all.waiting)
            work = Times(all.work)
        }
    }

    /// What there is, and how much there may be; null for any amount.
    struct Used: Encodable {
        var used: Int64
        @Nullable var quota: Int64?
    }

    struct Calls: Encodable {
        /// That are tried again.
        var failing: Int
        /// That were given up.
        var failed: Int
    }

    var at: Instant
    /// All of the last hour.
    var hour: Ends
    /// Of each of its minutes, the latest last.
    var minutes: [Ends]
    /// Attachments that failed within the hour, by code.
    var codes: [String: Int64]
    var storedBytes: Used
    var unfinishedJobs: Used
    var leases: Used
    var links: Int
    var grants: Int
    /// That fire within the next hour.
    var notificationsDue: Int
    var calls: Calls
    /// Of all tenants, for administrators; null for others.
    @Nullable var service: ServiceFigures?

    init(_ overview: TenantOverview, within quotas: Quotas) {
        at = overview.at
        let minutes = Int64(TenantOverview.span.inSeconds / 60)
        let first = overview.at.minute - .seconds(60 * (minutes - 1))
        let tallies = overview.tallies.filter { $0.key.minute >= first }
        let byMinute = Dictionary(grouping: tallies, by: \.key.minute)
        hour = Ends(at: first, tallies)
        self.minutes = (0..<minutes).map { number in
            let minute = first + .seconds(60 * number)
            return Ends(at: minute, Dictionary(byMinute[minute] ?? []) { first, _ in first })
        }
        codes = tallies.reduce(into: [:]) { codes, tally in
            if let code = tally.key.code { codes[code.rawValue, default: 0] += tally.value.count }
        }
        storedBytes = Used(used: overview.usage.storedBytes, quota: quotas.storedBytes)
        unfinishedJobs = Used(used: Int64(overview.usage.pendingJobs), quota: quotas.pendingJobs.map { Int64($0) })
        leases = Used(used: Int64(overview.usage.liveLeases), quota: quotas.liveLeases.map { Int64($0) })
        links = overview.links
        grants = overview.grants
        notificationsDue = overview.dueNotifications
        calls = Calls(failing: overview.failingCalls, failed: overview.failedCalls)
    }
}

/// What an administrator sees of the whole service: the store's figures, and this node's health.
struct ServiceFigures: Encodable {
    struct Check: Encodable {
        var name: String
        var ready: Bool
        /// What is wrong.
        @Nullable var detail: String?
        /// What to do about it.
        @Nullable var advice: String?
    }

    struct Lane: Encodable {
        var lane: JobLane
        var pending: Int
        var running: Int
        /// Seconds since the oldest that is due became so; null where none waits.
        @Nullable var oldest: Double?
    }

    var ready: Bool
    var checks: [Check]
    var lanes: [Lane]
    /// Codec processes of this node that did not end by themselves, by cause, since it began.
    var codecDeaths: [String: Int64]
    /// On the disk of this node where sources are received and outputs staged; null where that can't be told.
    @Nullable var freeBytes: Int64?
    /// Of all renditions, equal ones of a tenant counted once.
    var blobBytes: Int64
    var leases: Int
    var links: Int
    var grants: Int
    /// That wait, for the first or another attempt.
    var callsPending: Int

    init(of service: Service) async throws {
        let report = await service.health.report()
        ready = report.ready
        checks = report.checks.sorted { $0.key < $1.key }.map { name, check in
            Check(
                name: name, ready: check.ready, detail: check.detail,
                advice: check.ready ? nil : service.health.advice(on: name))
        }
        let statistics = try await service.records.statistics()
        lanes = JobLane.allCases.map { lane in
            let queue = statistics.queues[lane] ?? StoreStatistics.Queue()
            return Lane(
                lane: lane, pending: queue.pending, running: queue.running,
                oldest: queue.oldestAges.values.max()?.inSeconds)
        }
        codecDeaths = service.metrics.counts(of: "codec_deaths_total")
        freeBytes = try? await service.store.freeBytes()
        blobBytes = statistics.blobBytes
        leases = statistics.liveLeases
        links = statistics.liveLinks
        grants = statistics.liveGrants
        callsPending = statistics.pendingWebhooks
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
