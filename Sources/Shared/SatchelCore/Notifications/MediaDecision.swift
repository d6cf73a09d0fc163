/// Decides about the media of notifications, from their records: the same for every store. Nothing here reads or writes.
public enum MediaDecision {
    /// Before its instant a firing's media are not tried again any more: what is told then leaves time to act.
    public static let margin: Duration = .seconds(60)
    /// Between two jobs for what failed. The longest wait is an hour: an origin that is away for days is not asked for ever
    /// more often than that.
    public static let backoff = Backoff(base: .seconds(10), limit: .seconds(3600), attempts: .max)
    /// What couldn't be submitted is tried again after this.
    public static let pause: Duration = .seconds(5)

    // MARK: What is to be done

    /// What is to be done about a notification's media when their time has come.
    public enum Task: Hashable, Sendable {
        /// A job is made for its next firing.
        case prepare(Occurrence)
        /// A job is made for what failed.
        case retry
        /// The job has ended: see what it came to.
        case judge
    }

    public static func task(for record: NotificationRecord) -> Task? {
        guard record.mediaDueAt != nil else { return nil }
        if record.media.awaitsJob { return .judge }
        if record.job != nil { return .retry }
        return record.next.map(Task.prepare)
    }

    /// How the media of a body that was just put are begun with.
    ///
    /// - Parameter existing: The one before.
    static func beginning(of new: NewNotification, after existing: NotificationRecord?) -> MediaProgress {
        guard new.submission.lead == nil else { return progress(for: new.next, of: new.submission) }
        var media = MediaProgress()
        media.first = new.job
        // What a retry brought belongs to the same media.
        if let existing, existing.state == .pending, existing.media.first == new.job {
            media.ready = existing.media.ready
        }
        // Without a trigger it fires at once: that firing tells what failed.
        if new.job != nil, new.submission.trigger != nil {
            media.lookAt = new.acceptedAt
            media.awaitsJob = true
        }
        return media
    }

    /// Of one whose media are prepared anew for each firing: nothing is begun before `lead`. Where nobody knows when it will
    /// fire, or it does at once, a job is made at the firing.
    static func progress(for next: Occurrence?, of submission: NotificationSubmission) -> MediaProgress {
        var media = MediaProgress()
        guard let lead = submission.lead, let next, submission.trigger != nil else { return media }
        media.lookAt = next.at - .seconds(fraction: lead)
        return media
    }

    // MARK: Jobs

    /// The job that prepares the next firing's media. Its id is made of what it is for: whoever submits it twice has one.
    public static func preparing(
        _ occurrence: Occurrence, of record: NotificationRecord, from sources: JobSubmission
    ) -> JobSubmission {
        sources.named("\(sources.id.rawValue)-\(record.generation)-\(occurrence.at.milliseconds)")
    }

    /// The job that prepares the media of a firing for which nothing was prepared ahead.
    public static func preparing(_ firing: Firing, from sources: JobSubmission) -> JobSubmission {
        var submission = sources.named(firing.record.id.job.rawValue)
        submission.deadline = firing.notification.submission.deadline
        return submission
    }

    /// The job that tries again what failed; nil where nothing of it can be.
    public static func retrying(
        _ job: JobRecord, of record: NotificationRecord, from sources: JobSubmission
    ) -> JobSubmission? {
        let failed = Set(failures(of: record, job).filter { mayPass($0.error) }.map(\.identifier))
        var submission = sources.named(
            "\(sources.id.rawValue)-\(record.generation)-\(record.next?.at.milliseconds ?? 0)-\(record.media.retries + 1)"
        )
        submission.attachments.removeAll { !failed.contains($0.identifier) }
        return submission.attachments.isEmpty ? nil : submission
    }

    // MARK: Steps

    /// A job was made.
    ///
    /// - Parameter former: Whose failures it tries again; nil for the first of a firing.
    public static func began(_ job: JobRecord, after former: JobRecord?, of record: NotificationRecord) -> MediaStep {
        var step = MediaStep(of: record)
        if let former {
            step.media.retries += 1
            for attachment in former.attachments where attachment.state == .delivered {
                step.media.ready[attachment.identifier] = attachment.id
            }
        }
        step.job = job.id
        step.media.awaitsJob = true
        step.attachments = record.preparedBefore + step.media.ready.values + job.attachments.map(\.id)
        return step
    }

    /// Nothing could be submitted now.
    public static func postponed(_ record: NotificationRecord, at now: Instant) -> MediaStep {
        var step = MediaStep(of: record)
        step.media.lookAt = now + pause
        return step
    }

    /// The job has ended: what failed is tried again later, or stays so.
    ///
    /// - Parameters:
    ///   - job: Nil where it was deleted: that wins.
    ///   - sources: Identifiers of what there is to be tried again.
    /// - Returns: The step, and what the receiver is to be told where that is now: once for all failures, as soon as one of
    ///   them can't be helped any more, and never when it has fired.
    public static func judged(
        _ job: JobRecord?, of record: NotificationRecord, sources: Set<String>, at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> (step: MediaStep, told: [MediaFailure]) {
        var step = MediaStep(of: record)
        let failures = job.map { self.failures(of: record, $0) } ?? []
        let retried = Set(failures.filter { mayPass($0.error) && sources.contains($0.identifier) }.map(\.identifier))
        let end = target(of: record).map { $0 - margin }
        step.media.awaitsJob = false
        if let end, now < end, !retried.isEmpty {
            step.media.lookAt = min(now + backoff.wait(after: record.media.retries + 1, using: &generator), end)
        } else {
            step.media.lookAt = nil
            step.forgetsSources = record.submission.lead == nil
        }
        let isRetried = step.media.lookAt != nil
        let isBefore = record.submission.lead != nil || record.position == nil
        guard !record.media.isTold, isBefore,
            failures.contains(where: { !isRetried || !retried.contains($0.identifier) })
        else { return (step, []) }
        step.media.isTold = true
        return (
            step,
            failures.map {
                MediaFailure(
                    identifier: $0.identifier, error: $0.error,
                    isRetried: isRetried && retried.contains($0.identifier))
            }
        )
    }

    /// A firing that was decided from the record as it was before is out of date then, and decided on again.
    ///
    /// - Parameters:
    ///   - read: The record by which the step was decided.
    ///   - found: The record as it is now.
    /// - Returns: Nothing where another has taken a step meanwhile, or it was changed, fired or removed.
    public static func take(
        _ step: MediaStep, _ read: NotificationRecord, _ found: NotificationRecord
    ) -> [NotificationChange] {
        guard found.state == .pending, found.generation == read.generation, found.media == read.media,
            found.job == read.job, found.next == read.next
        else { return [] }
        var record = found
        record.revision += 1
        record.media = step.media
        record.job = step.job
        record.attachments = step.attachments
        return (step.call.map { [.call($0)] } ?? [])
            + (step.forgetsSources ? [.forgetSources(record.id, of: record.tenant)] : [])
            + [.save(record, over: found)]
    }

    // MARK: Facts

    /// What a job didn't deliver, and no other did; not what somebody cancelled.
    private static func failures(
        of record: NotificationRecord, _ job: JobRecord
    ) -> [(identifier: String, error: ErrorReport)] {
        job.attachments.compactMap { attachment in
            guard attachment.state == .failed, record.media.ready[attachment.identifier] == nil else { return nil }
            return attachment.error.map { (attachment.identifier, $0) }
        }
    }

    /// Whether another job could come to something else. A decoder that died twice, as within one job, would again.
    private static func mayPass(_ error: ErrorReport) -> Bool { error.retryable && error.code != .codecCrashed }

    /// When it fires for the first time with these media; nil where that has been, or nobody knows.
    private static func target(of record: NotificationRecord) -> Instant? {
        record.submission.lead != nil || record.position == nil ? record.next?.at : nil
    }
}

extension JobSubmission {
    /// The same work under an id that tells what it is for.
    fileprivate func named(_ id: String) -> JobSubmission {
        var submission = self
        submission.id = JobID(rawValue: id)
        submission.bodyDigest = id
        return submission
    }
}
