import SatchelCore
internal import Stores
import Platform

/// What is to be done about media before a firing: jobs that are made ahead of it, or again for what failed, and the receiver
/// who is told of what stays so.
///
/// Each step is one transaction that says what the next one is. A job's id is made of what it is for, so that one that was
/// submitted before a crash, or by another process, is found again.
extension NotificationService {
    /// Works until the task is cancelled. A failing store doesn't end it.
    func tendMedia(by renderer: some FiringRenderer) async {
        while !Task.isCancelled {
            var hasMore = false
            do throws(AttachmentError) {
                hasMore = try await tendDueMedia(by: renderer)
            } catch {
                health.failed()
            }
            if !hasMore { try? await Task.sleep(for: Self.interval) }
        }
    }

    /// One group of what is due.
    ///
    /// - Returns: Whether there may be more.
    func tendDueMedia(by renderer: some FiringRenderer) async throws(AttachmentError) -> Bool {
        let due = try await records.dueMedia(limit: Self.group)
        var taken = 0
        for record in due {
            let now = try await records.now()
            if let step = try await step(for: record, by: renderer, at: now), try await records.take(step, record) {
                taken += 1
            }
        }
        return taken == Self.group
    }

    private func step(
        for record: NotificationRecord, by renderer: some FiringRenderer, at now: Instant
    ) async throws(AttachmentError) -> MediaStep? {
        guard let task = MediaDecision.task(for: record) else { return nil }
        let sources = try await records.mediaSources(of: record.id, tenant: record.tenant)
        var former: JobRecord?
        if let id = record.job { former = try await records.job(id, of: record.tenant) }
        var submission: JobSubmission?
        switch task {
        case .judge: break
        // It fires just now, and prepares them itself.
        case .prepare(let occurrence) where occurrence.at <= now: return nil
        case .prepare(let occurrence):
            submission = sources.map { MediaDecision.preparing(occurrence, of: record, from: $0) }
        case .retry:
            if let former, let sources { submission = MediaDecision.retrying(former, of: record, from: sources) }
        }
        guard let submission else { return judged(former, of: record, sources, by: renderer, at: now) }
        guard let job = try await submit(submission) else { return MediaDecision.postponed(record, at: now) }
        return MediaDecision.began(job, after: task == .retry ? former : nil, of: record)
    }

    private func judged(
        _ job: JobRecord?, of record: NotificationRecord, _ sources: JobSubmission?, by renderer: some FiringRenderer,
        at now: Instant
    ) -> MediaStep {
        var generator = SystemRandomNumberGenerator.addressable
        var (step, told) = MediaDecision.judged(
            job, of: record, sources: Set(sources?.attachments.map(\.identifier) ?? []), at: now, using: &generator)
        if !told.isEmpty { step.call = renderer.mediaFailedCall(record, told, now) }
        return step
    }

    /// - Returns: Nil where it isn't taken now.
    private func submit(_ submission: JobSubmission) async throws(AttachmentError) -> JobRecord? {
        do throws(AttachmentError) {
            // A notification was taken: its jobs aren't counted once more.
            let quotas = Quotas(storedBytes: quotas[submission.tenant].storedBytes)
            switch try await jobs.submit(submission, SubmissionOptions(quotas: quotas)) {
            case .accepted(let record), .claimed(let record, _), .adopted(let record), .unchanged(let record):
                return record
            case .conflict: return nil
            }
        } catch {
            guard error.code == .storeFailed else { return nil }
            throw error
        }
    }

    /// The job that prepares a firing's media; one for which nothing was prepared ahead begins it now.
    ///
    /// - Returns: Nil where it has none, or that is gone.
    func job(of firing: Firing) async throws(AttachmentError) -> JobRecord? {
        guard let id = firing.record.job else { return nil }
        if let job = try await records.job(id, of: firing.record.tenant) { return job }
        guard id == firing.record.id.job,
            let sources = try await records.mediaSources(of: firing.notification.id, tenant: firing.record.tenant)
        else { return nil }
        return try await submit(MediaDecision.preparing(firing, from: sources))
    }
}
