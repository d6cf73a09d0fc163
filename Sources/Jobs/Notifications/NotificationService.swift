public import Attachments
package import Platform
import Synchronization

/// Makes what leaves with a firing.
public protocol FiringRenderer: Sendable {
    /// Makes its payload, the links in it and the call that hands it over.
    ///
    /// - Parameter materials: What it names, its job as far as that is when no longer is waited for.
    func completion(
        of firing: Firing, from materials: FiringMaterials, at now: Instant
    ) throws(AttachmentError) -> FiringCompletion

    /// The call that tells the receiver of a missed instant; nil where nobody is told.
    func missedCall(
        _ notification: NotificationRecord, _ id: FiringID, _ occurrence: Occurrence, _ now: Instant
    ) -> OutgoingCall?

    /// The call that tells the receiver before the firing of media that failed; nil where nobody is told.
    func mediaFailedCall(
        _ notification: NotificationRecord, _ failures: [MediaFailure], _ now: Instant
    ) -> OutgoingCall?
}

/// Fires notifications as their triggers are met, until it is cancelled.
///
/// A firing is one transaction where its media are ready: the firing and the next instant of its notification, its payload,
/// its links and its call. Else the payload, with what leaves with it, is a second one. What a crash leaves between the two is
/// completed by whoever looks next. Several processes may serve the same store: of two that fire the same instant one does.
public final class NotificationService: Sendable {
    /// Fired in one transaction.
    static let group = 128
    /// Looked for at once.
    static let look = 16 * group
    /// Groups at once: while one is written, others are made.
    private static let groupsAtOnce = 8
    /// Between two looks, where nothing happens here: what another process did.
    static let interval: Duration = .seconds(1)
    /// How long after its time for it is over a firing is left to who began it.
    private static let patience: Duration = .seconds(5)
    /// Between two looks at the zone rules' files.
    private static let rulesInterval: Duration = .seconds(600)

    let records: any NotificationRecords & NotificationMediaRecords & JobQueue & JobRecords
    let jobs: JobService
    /// Of jobs that are made for firings.
    let quotas: TenantQuotas
    private let zones: TimeZoneDatabase
    private let signal = AsyncSignal()
    let health = StoreHealth()
    private let clock = Mutex(ClockWatch())
    private let underway = Mutex<Set<FiringID>>([])

    package init(
        records: any NotificationRecords & NotificationMediaRecords & JobQueue & JobRecords, jobs: JobService,
        zones: TimeZoneDatabase, quotas: TenantQuotas = TenantQuotas()
    ) {
        self.records = records
        self.jobs = jobs
        self.quotas = quotas
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
        let request = FiringRequest(cause: .manual(idempotencyKey: idempotencyKey, hasHandover: hasHandover))
        // Again where somebody else changed it meanwhile.
        while let read = try await records.notification(id, of: tenant) {
            if read.state != .cancelled, let idempotencyKey,
                let earlier = try await records.firing(by: idempotencyKey, of: id, tenant: tenant)
            {
                return try await finished(Firing(earlier, of: read), by: renderer)
            }
            let now = try await records.now()
            let materials = try await materials(for: [read])[read.tenant] ?? FiringMaterials()
            guard let decided = decide(on: request, read, from: materials, by: renderer, at: now) else { return nil }
            if try await carryOut([decided])[0] { return try await finished(Firing(decided), by: renderer) }
        }
        return nil
    }

    /// A firing that was begun, as it is when it waits no more.
    private func finished(
        _ firing: Firing, by renderer: some FiringRenderer
    ) async throws(AttachmentError) -> FiringRecord? {
        try await finish(firing, by: renderer)
        return try await records.firing(
            firing.record.number, of: firing.notification.id, tenant: firing.notification.tenant)
    }

    // MARK: Working

    /// Works until the task is cancelled. A failing store doesn't end it.
    public func run(by renderer: some FiringRenderer) async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.tendMedia(by: renderer) }
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
                    let next = try await fireDue(by: renderer, in: &group)
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

    /// What is due, in groups side by side.
    ///
    /// - Returns: Until it is worth looking again: zero where there is more.
    private func fireDue(
        by renderer: some FiringRenderer, in group: inout DiscardingTaskGroup
    ) async throws(AttachmentError) -> Duration? {
        let asked = Duration.sinceStart
        let due = try await records.dueNotifications(limit: Self.look)
        let uptime = asked...max(asked, .sinceStart)
        let (isSteady, steps) = clock.withLock { clock in
            let before = clock.steps
            return (clock.isSteady(due.now, uptime: uptime), clock.steps - before)
        }
        JobMetrics.count("clock_steps_total", by: Int64(steps))
        guard isSteady, !due.elements.isEmpty else { return isSteady ? due.next : nil }
        let results = await withTaskGroup(of: Result<[Firing?], AttachmentError>.self) { groups in
            var results: [Result<[Firing?], AttachmentError>] = []
            for start in stride(from: 0, to: due.elements.count, by: Self.group) {
                if start >= Self.groupsAtOnce * Self.group, let ended = await groups.next() { results.append(ended) }
                let part = due.elements[start..<min(start + Self.group, due.elements.count)]
                groups.addTask { [self] in
                    do throws(AttachmentError) {
                        return .success(try await fire(part, at: due.now, by: renderer))
                    } catch {
                        return .failure(error)
                    }
                }
            }
            return await groups.reduce(into: results) { $0.append($1) }
        }
        for case .success(let firings) in results {
            for firing in firings.compactMap(\.self) { begin(firing, by: renderer, in: &group) }
        }
        var tried = 0
        for result in results { tried += try result.get().count }
        // Where nothing was tried, zone rules can't be read: looked at again before long.
        return tried > 0 ? .zero : nil
    }

    /// Fires in one transaction what is due, and completes what waits for nothing.
    ///
    /// - Returns: Of each that was tried its firing; nil where the notification was changed since it was read.
    private func fire(
        _ due: ArraySlice<NotificationRecord>, at clock: Instant, by renderer: some FiringRenderer
    ) async throws(AttachmentError) -> [Firing?] {
        let now = try await records.now()
        let materials = try await materials(for: due)
        var decided: [DecidedFiring] = []
        for record in due {
            guard let request = request(for: record, by: renderer, at: clock),
                let firing = decide(
                    on: request, record, from: materials[record.tenant] ?? FiringMaterials(), by: renderer, at: now)
            else { continue }
            decided.append(firing)
        }
        let isMade = try await carryOut(decided)
        return zip(decided, isMade).map { $1 ? Firing($0) : nil }
    }

    /// A firing, complete where it waits for nothing. One whose payload can't be made just now keeps no other from firing: it
    /// waits for a second transaction.
    private func decide(
        on request: FiringRequest, _ read: NotificationRecord, from materials: FiringMaterials,
        by renderer: some FiringRenderer, at now: Instant
    ) -> DecidedFiring? {
        guard let decided = NotificationDecision.fire(request, read, at: now) else { return nil }
        let firing = Firing(decided)
        let job = firing.record.job
        // A job of its own is begun when the firing is there, not before.
        guard firing.record.isWaiting, job != firing.record.id.job,
            job.flatMap({ materials.jobs[$0] })?.state.isFinished != false,
            let completion = try? renderer.completion(of: firing, from: materials, at: now)
        else { return decided }
        return NotificationDecision.complete(completion, decided)
    }

    /// What notifications would be made of if they fired now, by tenant.
    private func materials(
        for notifications: some Sequence<NotificationRecord>
    ) async throws(AttachmentError) -> [TenantID: FiringMaterials] {
        try await records.materials(
            notifications.reduce(into: [:]) { $0[$1.tenant, default: .init()].formUnion(.init($1)) })
    }

    private func carryOut(_ decided: [DecidedFiring]) async throws(AttachmentError) -> [Bool] {
        guard !decided.isEmpty else { return [] }
        let isMade = try await records.carryOut(decided)
        for (decided, isMade) in zip(decided, isMade) where isMade { count(decided.firing) }
        return isMade
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
            id: id, cause: .due(expected: expected, decision, rules: record.rules == nil ? nil : zones.version),
            missedCall: decision.isMissed ? renderer.missedCall(record, id, decision.occurrence, now) : nil)
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
        guard firing.record.isWaiting, let completion = try await completion(of: firing, by: renderer) else { return }
        try await records.complete(completion)
        if let made = NotificationDecision.complete(completion, DecidedFiring(firing.record, of: firing.notification)) {
            count(made.firing)
        }
    }

    /// Counts a firing that came as far as it comes by itself.
    private func count(_ firing: FiringRecord) {
        guard !firing.isWaiting else { return }
        let state = firing.state == .missed || firing.state == .failed ? firing.state.rawValue : "ready"
        JobMetrics.count("firings_total", [("state", state)])
        if let late = firing.late { JobMetrics.time("firing_late_seconds", late) }
    }

    /// Waits until its media are ready or its time is over.
    ///
    /// - Returns: Nil where they aren't ready, and it doesn't wait any more as the task was cancelled.
    private func completion(
        of firing: Firing, by renderer: some FiringRenderer
    ) async throws(AttachmentError) -> FiringCompletion? {
        var job = try await job(of: firing)
        if let known = job, !known.state.isFinished {
            let left = firing.record.waitsUntil - (try await records.now())
            job = try await jobs.finished(known.id, of: known.tenant, within: max(left, .zero), known: known)
            // Who was stopped as it waited leaves the rest to whoever looks next.
            if Task.isCancelled, job?.state.isFinished == false { return nil }
        }
        let tenant = firing.record.tenant
        var materials = try await records.materials([tenant: .init(firing)])[tenant] ?? FiringMaterials()
        // It may have gone on since then.
        if let job { materials.jobs[job.id] = job }
        return try renderer.completion(of: firing, from: materials, at: try await records.now())
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
