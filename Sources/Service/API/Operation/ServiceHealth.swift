import SatchelCore
import FoundationEssentials
import Synchronization

/// Whether the service is ready for requests, and if not, why.
///
/// Every check runs by itself, about once a second, beside the requests: an answer takes no longer when what it looks at
/// does.
public final class ServiceHealth: Sendable {
    /// One thing that must be well.
    public struct Check: Sendable {
        public var name: String
        /// Else it keeps no request away: those that it concerns are answered for themselves.
        public var isRequired: Bool
        /// What to do where something is wrong: a sentence.
        public var advice: String?
        /// What is wrong; nil where nothing is.
        public var problem: @Sendable () async -> String?

        public init(
            _ name: String, isRequired: Bool = true, advice: String? = nil,
            _ problem: @escaping @Sendable () async -> String?
        ) {
            self.name = name
            self.isRequired = isRequired
            self.advice = advice
            self.problem = problem
        }
    }

    private struct Finding {
        var problem: String?
        var at: ContinuousClock.Instant
    }

    /// Between two runs of a check.
    private static let interval: Duration = .seconds(1)
    /// A check that took longer than this to answer is a problem by itself.
    private static let patience: Duration = .seconds(5)

    private let checks: [Check]
    private let findings = Mutex<[String: Finding]>([:])
    private let draining = Atomic(false)

    public init(checks: [Check] = []) {
        self.checks = checks
    }

    /// Not ready from now on: the service is about to end.
    public func drain() {
        draining.store(true, ordering: .relaxed)
    }

    /// Whether the service is about to end.
    public var isDraining: Bool { draining.load(ordering: .relaxed) }

    /// Runs the checks until the task is cancelled.
    public func run() async {
        await withDiscardingTaskGroup { group in
            for check in checks {
                group.addTask {
                    while !Task.isCancelled {
                        await self.look(check)
                        try? await Task.sleep(for: Self.interval)
                    }
                }
            }
        }
    }

    private func look(_ check: Check) async {
        let problem = await check.problem()
        findings.withLock { $0[check.name] = Finding(problem: problem, at: .now) }
    }

    /// What to do about what a check found.
    func advice(on name: String) -> String? { checks.first { $0.name == name }?.advice }

    /// What ``run()`` last found; where it doesn't run, what is found now.
    func report() async -> HealthReport {
        for check in checks where findings.withLock({ $0[check.name] == nil }) { await look(check) }
        let now = ContinuousClock.now
        var report = HealthReport(ready: true, checks: [:])
        findings.withLock { findings in
            for (name, finding) in findings {
                let age = now - finding.at
                let isStuck = age > Self.interval + Self.patience
                let detail = isStuck ? "has not answered for \(Int(age.inSeconds)) s" : finding.problem
                report.checks[name] = HealthReport.Check(ready: detail == nil, detail: detail)
            }
        }
        if isDraining {
            report.checks["draining"] = HealthReport.Check(
                ready: false, detail: "the service is shutting down; send requests to another node")
        }
        let passedOver = Set(checks.lazy.filter { !$0.isRequired }.map(\.name))
        report.ready = report.checks.allSatisfy { $0.value.ready || passedOver.contains($0.key) }
        return report
    }
}

/// The answer of `/readyz`.
struct HealthReport: Hashable, Sendable, Encodable {
    struct Check: Hashable, Sendable, Encodable {
        var ready: Bool
        /// What is wrong.
        @Nullable var detail: String?
    }

    var ready: Bool
    var checks: [String: Check]
}
