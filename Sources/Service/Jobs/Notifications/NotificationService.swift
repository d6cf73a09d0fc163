public import SatchelCore
package import Stores
package import Platform
import Synchronization

/// Makes what leaves with a firing.
public protocol FiringRenderer: Sendable {
    /// A payload that was made, or why none can be.
    associatedtype Draft: Sendable

    /// Makes its payload and the links in it.
    ///
    /// - Parameters:
    ///   - materials: What it names, its job as far as that is when no longer is waited for.
    ///   - instant: What its links' lives count from.
    func draft(
        of firing: Firing, from materials: FiringMaterials, at instant: Instant
    ) throws(AttachmentError) -> Draft

    /// What leaves at last: its payload, and the call that hands it over.
    func completion(of firing: Firing, as draft: Draft, at now: Instant) -> FiringCompletion

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
/// completed by whoever looks next. Several processes may serve the same store, which shares out what is due among them
/// (``RecordStore``); of two that fire the same instant one does.
///
/// Payloads whose media are ready are made before their instants, one after the other and while nothing is due, so that many of
/// one instant leave sooner: see ``FiringDrafts``.
public final class NotificationService: Sendable {
    /// Looked for and fired in one transaction. SQLite walks through all pages of a savepoint at each statement's end: four times as
    /// many took a tenth more of a burst's processor time.
    static let group = 32
    /// Of those that nobody completed, once a second: each is completed by a transaction of its own, and the oldest first, so that
    /// slow ones among them may not keep the rest.
    private static let strandedGroup = 128
    /// Groups at once: while one is written, others are read and made.
    private static let groupsAtOnce = 16
    /// How long before its instant a payload may be made: enough for as many as drafts are held on one processor.
    package static let ahead: Duration = .seconds(5)
    /// Between two looks, where nothing happens here: what another process did.
    static let interval: Duration = .seconds(1)
    /// How long after its time for it is over a firing is left to who began it.
    private static let patience: Duration = .seconds(5)
    /// Between two looks at the zone rules' files.
    private static let rulesInterval: Duration = .seconds(600)

    let records: RecordStore
    let jobs: JobService
    /// Of jobs that are made for firings.
    let quotas: TenantQuotas
    private let zones: TimeZoneDatabase
    private let ahead: Duration
    private let signal = AsyncSignal()
    let health = StoreHealth()
    private let clock = Mutex(ClockWatch())
    private let turns = Mutex(FiringTurns())
    private let underway = Mutex<Set<FiringID>>([])

    /// - Parameter ahead: How long before its instant a payload may be made.
    package init(
        records: RecordStore, jobs: JobService, zones: TimeZoneDatabase, quotas: TenantQuotas = TenantQuotas(),
        ahead: Duration = NotificationService.ahead
    ) {
        self.records = records
        self.jobs = jobs
        self.quotas = quotas
        self.zones = zones
        self.ahead = ahead
        jobs.whenDue { [weak self] in self?.changed() }
    }

    /// A notification was put: it may be due before the next look.
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
    public func run<Renderer: FiringRenderer>(by renderer: Renderer) async {
        let drafts = FiringDrafts<Renderer.Draft>()
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
                        for firing in try await records.waitingFirings(since: end, limit: Self.strandedGroup) {
                            begin(firing, by: renderer, in: &group)
                        }
                        strandedAt = now
                        turns.withLock { $0.lookAgain() }
                        drafts.forget(before: end)
                    }
                    if turns.withLock(\.groups) < Self.groupsAtOnce {
                        let next = try await fireDue(by: renderer, drafts, in: &group)
                        if let next { pause = min(pause, next) }
                    }
                    if pause > .zero, try await makeDrafts(by: renderer, drafts) { pause = .zero }
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

    /// A group of what is due, beside others.
    ///
    /// - Returns: Until it is worth looking again, where no group has ended by then: zero where there is more.
    private func fireDue<Renderer: FiringRenderer>(
        by renderer: Renderer, _ drafts: FiringDrafts<Renderer.Draft>, in group: inout DiscardingTaskGroup
    ) async throws(AttachmentError) -> Duration? {
        let asked = Duration.sinceStart
        let due = try await records.dueNotifications(
            limit: Self.group, besides: turns.withLock(\.taken), known: drafts.notification)
        let uptime = asked...max(asked, .sinceStart)
        let (isSteady, steps) = clock.withLock { clock in
            let before = clock.steps
            return (clock.isSteady(due.now, uptime: uptime), clock.steps - before)
        }
        JobMetrics.count("clock_steps_total", by: Int64(steps))
        guard isSteady else { return nil }
        guard !due.elements.isEmpty else {
            // One that fails isn't looked at either.
            if turns.withLock(\.taken.isEmpty) { health.works() }
            return due.next
        }
        let names = Set(due.elements.map(NotificationName.init))
        turns.withLock { $0.begin(names) }
        group.addTask { [self] in
            var waiting: [Firing] = []
            // Of what can't be fired, zone rules can't be read or the store fails: both may pass.
            var undone = names
            do throws(AttachmentError) {
                for (record, firing) in try await fire(due.elements, at: due.now, by: renderer, drafts) {
                    undone.remove(NotificationName(record))
                    if let firing { waiting.append(firing) }
                }
                health.works()
            } catch {
                health.failed()
            }
            turns.withLock { $0.end(names, undone: undone) }
            signal.give()
            await withDiscardingTaskGroup { media in
                for firing in waiting { begin(firing, by: renderer, in: &media) }
            }
        }
        return due.elements.count == Self.group ? .zero : due.next
    }

    /// Fires in one transaction what is due, and completes what waits for nothing.
    ///
    /// - Returns: Those that were tried, each with its firing; nil where the notification was changed since it was read.
    private func fire<Renderer: FiringRenderer>(
        _ due: [NotificationRecord], at clock: Instant, by renderer: Renderer, _ drafts: FiringDrafts<Renderer.Draft>
    ) async throws(AttachmentError) -> [(read: NotificationRecord, firing: Firing?)] {
        let now = try await records.now()
        let materials = try await materials(for: due)
        var decided: [DecidedFiring] = []
        for record in due {
            let materials = materials[record.tenant] ?? FiringMaterials()
            let draft = drafts.take(record, from: materials)
            guard let request = request(for: record, draft?.firing ?? .generate(), by: renderer, at: clock),
                let firing = decide(on: request, record, from: materials, by: renderer, as: draft?.content, at: now)
            else { continue }
            decided.append(firing)
        }
        let isMade = try await carryOut(decided)
        return zip(decided, isMade).map { ($0.read, $1 ? Firing($0) : nil) }
    }

    /// A firing, complete where it waits for nothing. One whose payload can't be made just now keeps no other from firing: it
    /// waits for a second transaction.
    ///
    /// - Parameter draft: Its payload, where that was made before.
    private func decide<Renderer: FiringRenderer>(
        on request: FiringRequest, _ read: NotificationRecord, from materials: FiringMaterials,
        by renderer: Renderer, as draft: Renderer.Draft? = nil, at now: Instant
    ) -> DecidedFiring? {
        guard let decided = NotificationDecision.fire(request, read, at: now) else { return nil }
        let firing = Firing(decided)
        guard firing.record.isReady(with: materials),
            let draft = try? draft ?? renderer.draft(of: firing, from: materials, at: now)
        else { return decided }
        return NotificationDecision.complete(renderer.completion(of: firing, as: draft, at: now), decided)
    }

    // MARK: Ahead of time

    /// Makes payloads of the next group that will be due.
    ///
    /// - Returns: Whether there may be more.
    private func makeDrafts<Renderer: FiringRenderer>(
        by renderer: Renderer, _ drafts: FiringDrafts<Renderer.Draft>
    ) async throws(AttachmentError) -> Bool {
        guard !drafts.isFull else { return false }
        let upcoming = try await records.upcomingNotifications(
            within: ahead, after: drafts.place, limit: Self.group)
        guard let place = upcoming.next else { return false }
        // Where it was begun from the start again, some are there.
        let missing = upcoming.elements.filter { drafts.notification(.init($0), $0.revision) == nil }
        let materials = try await materials(for: missing)
        for record in missing {
            let materials = materials[record.tenant] ?? FiringMaterials()
            let id = FiringID.generate()
            guard let instant = record.next?.at, let request = request(for: record, id, by: renderer, at: instant),
                let decided = NotificationDecision.fire(request, record, at: instant),
                decided.firing.isReady(with: materials),
                let content = try? renderer.draft(of: Firing(decided), from: materials, at: instant)
            else { continue }
            drafts.put(content, as: id, of: record, from: materials)
        }
        drafts.place = place
        return upcoming.elements.count == Self.group
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
        for record: NotificationRecord, _ id: FiringID, by renderer: some FiringRenderer, at now: Instant
    ) -> FiringRequest? {
        guard let expected = record.next else { return nil }
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
        let now = try await records.now()
        let draft = try renderer.draft(of: firing, from: materials, at: now)
        return renderer.completion(of: firing, as: draft, at: now)
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

extension FiringRecord {
    /// Whether its payload can be made of these at once. A job of its own is begun when the firing is there, not before.
    fileprivate func isReady(with materials: FiringMaterials) -> Bool {
        isWaiting && job != id.job && job.flatMap { materials.jobs[$0] }?.state.isFinished != false
    }
}
