public import Attachments
package import Platform
import Synchronization

/// Makes what leaves with a firing.
public protocol FiringRenderer: Sendable {
    /// Makes its payload, the links in it and the call that hands it over.
    ///
    /// - Parameter job: That prepares its media, as far as it is when no longer is waited for; nil where it has none.
    func completion(
        of firing: Firing, _ job: JobRecord?, at now: Instant
    ) async throws(AttachmentError) -> FiringCompletion

    /// The call that tells the receiver of a missed instant; nil where nobody is told.
    func missedCall(
        _ notification: NotificationRecord, _ id: FiringID, _ occurrence: Occurrence, _ now: Instant
    ) -> OutgoingCall?
}

/// Fires notifications as their triggers are met, until it is cancelled.
///
/// A firing is two transactions, one where its media are ready: the first makes it, with the next instant of its
/// notification; the second its payload, its links and its call. What a crash leaves between the two is completed by whoever
/// looks next. Several processes may serve the same store: of two that fire the same instant one does.
public final class NotificationService: Sendable {
    /// Fired in one transaction.
    static let group = 128
    /// Between two looks, where nothing happens here: what another process did.
    private static let interval: Duration = .seconds(1)
    /// How long after its time for it is over a firing is left to who began it.
    private static let patience: Duration = .seconds(5)
    /// Between two looks at the zone rules' files.
    private static let rulesInterval: Duration = .seconds(600)

    private let records: any NotificationRecords & JobQueue & JobRecords
    private let jobs: JobService
    private let zones: TimeZoneDatabase
    private let signal = AsyncSignal()
    private let health = StoreHealth()
    private let clock = Mutex(ClockWatch())
    private let underway = Mutex<Set<FiringID>>([])

    package init(
        records: any NotificationRecords & JobQueue & JobRecords, jobs: JobService, zones: TimeZoneDatabase
    ) {
        self.records = records
        self.jobs = jobs
        self.zones = zones
    }

    /// A notification was put here: it may be due before the next look.
    public func changed() {
        signal.give()
    }

    /// Fires a notification now, beside its schedule.
    ///
    /// - Returns: The firing as it is when its media were ready or its time was over; nil where there is no such
    ///   notification, or it was cancelled.
    public func fire(
        _ id: NotificationID, of tenant: TenantID, idempotencyKey: String?, hasHandover: Bool,
        by renderer: some FiringRenderer
    ) async throws(AttachmentError) -> FiringRecord? {
        let request = FiringRequest(
            tenant: tenant, notification: id, generation: nil,
            cause: .manual(idempotencyKey: idempotencyKey, hasHandover: hasHandover))
        guard let firing = try await records.fire([request])[0] else { return nil }
        try await finish(firing, by: renderer)
        return try await records.firing(firing.record.number, of: id, tenant: tenant)
    }

    // MARK: Working

    /// Works until the task is cancelled. A failing store doesn't end it.
    public func run(by renderer: some FiringRenderer) async {
        await withDiscardingTaskGroup { group in
            var rulesCheckedAt: ContinuousClock.Instant?
            var strandedAt: ContinuousClock.Instant?
            while !Task.isCancelled {
                var pause = Self.interval
                do throws(AttachmentError) {
                    let now = ContinuousClock.now
                    if rulesCheckedAt.map({ now - $0 > Self.rulesInterval }) ?? true {
                        let isOther = zones.reload()
                        if isOther || rulesCheckedAt == nil { try await followRules() }
                        rulesCheckedAt = now
                    }
                    if strandedAt.map({ now - $0 > Self.interval }) ?? true {
                        let end = try await records.now() - Self.patience
                        for firing in try await records.waitingFirings(since: end, limit: Self.group) {
                            begin(firing, by: renderer, in: &group)
                        }
                        strandedAt = now
                    }
                    let (made, next) = try await fireDue(by: renderer)
                    try await settle(made, by: renderer, in: &group)
                    health.works()
                    if let next { pause = min(pause, next) }
                } catch {
                    health.failed()
                }
                guard pause > .zero else { continue }
                let alarm = Task { [pause] in
                    do { try await Task.sleep(for: pause) } catch { return }
                    signal.give()
                }
                await signal.wait()
                alarm.cancel()
            }
            group.cancelAll()
        }
    }

    /// One group of what is due.
    ///
    /// - Returns: The firings, and until it is worth looking again: zero where there is more.
    private func fireDue(
        by renderer: some FiringRenderer
    ) async throws(AttachmentError) -> ([Firing], next: Duration?) {
        let asked = Duration.sinceStart
        let due = try await records.dueNotifications(limit: Self.group)
        let uptime = asked...max(asked, .sinceStart)
        let (isSteady, steps) = clock.withLock { clock in
            let before = clock.steps
            return (clock.isSteady(due.now, uptime: uptime), clock.steps - before)
        }
        JobMetrics.count("clock_steps_total", by: Int64(steps))
        guard isSteady, !due.elements.isEmpty else { return ([], isSteady ? due.next : nil) }
        let requests = due.elements.compactMap { request(for: $0, by: renderer, at: due.now) }
        let made = try await records.fire(requests).compactMap(\.self)
        let missed = made.count { $0.record.state == .missed }
        if missed > 0 { JobMetrics.count("firings_total", [("state", "missed")], by: Int64(missed)) }
        // Others did it, or zone rules can't be read: looked at again before long.
        return (made, made.isEmpty ? nil : .zero)
    }

    /// What is to be done about a notification whose instant has come; nil where zone rules are missing, which may come.
    private func request(
        for record: NotificationRecord, by renderer: some FiringRenderer, at now: Instant
    ) -> FiringRequest? {
        guard let expected = record.next else { return nil }
        let id = FiringID.generate()
        // Without a trigger it fires whenever somebody is there to do it.
        let decision =
            if let trigger = record.submission.trigger {
                try? trigger.due(
                    expected, accepted: record.acceptedAt, now: now,
                    lateLimit: .seconds(fraction: record.submission.lateLimit), in: zones)
            } else {
                DueDecision(occurrence: expected, late: now - expected.at, isMissed: false, coalesced: 0, next: nil)
            }
        guard let decision else { return nil }
        return FiringRequest(
            id: id, tenant: record.tenant, notification: record.id, generation: record.generation,
            cause: .due(expected: expected, decision, rules: record.rules == nil ? nil : zones.version),
            missedCall: decision.isMissed ? renderer.missedCall(record, id, decision.occurrence, now) : nil)
    }

    /// Completes in one transaction what waits for nothing; the rest as its media become ready.
    private func settle(
        _ firings: [Firing], by renderer: some FiringRenderer, in group: inout DiscardingTaskGroup
    ) async throws(AttachmentError) {
        guard firings.contains(where: \.record.isWaiting) else { return }
        var completions: [FiringCompletion] = []
        let now = try await records.now()
        for firing in firings where firing.record.isWaiting {
            if let completion = try await completion(of: firing, by: renderer, at: now) {
                completions.append(completion)
            } else {
                begin(firing, by: renderer, in: &group)
            }
        }
        guard !completions.isEmpty else { return }
        try await complete(completions)
    }

    /// Waits for a firing's media and completes it, beside others.
    private func begin(
        _ firing: Firing, by renderer: some FiringRenderer, in group: inout DiscardingTaskGroup
    ) {
        guard firing.record.isWaiting, underway.withLock({ $0.insert(firing.record.id).inserted }) else { return }
        group.addTask { [self] in
            // What fails is found by the next look for what is stranded.
            try? await finish(firing, by: renderer)
            _ = underway.withLock { $0.remove(firing.record.id) }
        }
    }

    private func finish(
        _ firing: Firing, by renderer: some FiringRenderer
    ) async throws(AttachmentError) {
        guard firing.record.isWaiting, let completion = try await completion(of: firing, by: renderer, at: nil)
        else { return }
        try await complete([completion])
    }

    private func complete(_ completions: [FiringCompletion]) async throws(AttachmentError) {
        try await records.complete(completions)
        for completion in completions {
            switch completion.outcome {
            case .finished: JobMetrics.count("firings_total", [("state", "ready")])
            case .failed: JobMetrics.count("firings_total", [("state", "failed")])
            }
            JobMetrics.time("firing_late_seconds", (completion.at - completion.scheduledAt).inSeconds)
        }
    }

    /// - Parameter now: Nil where it waits until its media are ready or its time is over.
    /// - Returns: Nil where they aren't ready, and it doesn't wait.
    private func completion(
        of firing: Firing, by renderer: some FiringRenderer, at now: Instant?
    ) async throws(AttachmentError) -> FiringCompletion? {
        var job: JobRecord?
        if let id = firing.notification.job {
            job = try await records.job(id, of: firing.notification.tenant)
            if let known = job, !known.state.isFinished {
                guard now == nil else { return nil }
                let left = firing.record.waitsUntil - (try await records.now())
                job = try await jobs.finished(id, of: known.tenant, within: max(left, .zero), known: known)
            }
        }
        let instant = if let now { now } else { try await records.now() }
        return try await renderer.completion(of: firing, job, at: instant)
    }

    // MARK: Zone rules

    /// Computes each next instant again that was made by other rules than those that are there now; never by older ones,
    /// as processes may differ.
    private func followRules() async throws(AttachmentError) {
        let rules = zones.version
        while true {
            let stale = try await records.notifications(notBy: rules, limit: Self.group)
            var moved = 0
            for record in stale {
                guard let expected = record.next, let trigger = record.submission.trigger,
                    record.rules.map({ $0 < rules }) ?? false,
                    let next = try? trigger.next(
                        after: record.position, accepted: record.acceptedAt, in: zones)
                else { continue }
                try await records.reschedule(record, next: next.moved(from: expected.at), rules: rules)
                moved += 1
            }
            guard moved == Self.group else { return }
        }
    }
}
