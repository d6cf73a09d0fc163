import Attachments
import FoundationEssentials
import Synchronization

/// One attempt at one attachment, from its source to durable blobs.
struct AttachmentAttempt: Sendable {
    let id: AttachmentID
    let submission: AttachmentSubmission
    let profile: Profile
    let deadline: Budget?
    let isLate: Bool
    let pipeline: Pipeline

    /// What the attachment came to; a passing failure is tried again first.
    ///
    /// - Throws: ``StoreTrouble``, or a cancellation.
    func outcome() async throws -> AttachmentOutcome {
        var random = SystemRandomNumberGenerator()
        var progress = Progress(
            facts: SourceFacts(name: submission.name, declaredType: submission.declaredType))
        if isLate { progress.steps.append(Step(name: "resume", seconds: 0, note: "after an interruption; late")) }
        var attempt = 1
        while true {
            do {
                let result = try await deliverable(&progress)
                return AttachmentOutcome(
                    id: id, result: .success(result), kind: progress.findings?.kind, source: progress.facts,
                    steps: progress.steps)
            } catch {
                guard let error = error as? AttachmentError else { throw error }
                try Task.checkCancellation()
                guard let wait = pipeline.configuration.backoff.wait(after: attempt, error: error, using: &random),
                    deadline.map({ ContinuousClock.now + wait < $0.end }) ?? true
                else {
                    return AttachmentOutcome(
                        id: id, result: .failure(error), kind: progress.findings?.kind, source: progress.facts,
                        steps: progress.steps)
                }
                progress.steps.append(Step(name: "retry", seconds: wait.inSeconds, note: error.message))
                try await Task.sleep(for: wait)
                attempt += 1
            }
        }
    }

    /// The way of the data.
    private func deliverable(_ progress: inout Progress) async throws -> AttachmentResult {
        let source = try await pipeline.sources.open(
            submission, limits: pipeline.configuration.limits, until: deadline?.end)
        progress.note(source)
        let sealing = Sealing(blobs: pipeline.blobs)
        let found = Mutex<Findings?>(nil)
        var ending: Ending?
        var failure: AttachmentError?
        do throws(AttachmentError) {
            let result = try await pipeline.codecs.process(
                source.descriptor, order: order, owner: pipeline.configuration.owner, deadline: end,
                decide: { findings throws(AttachmentError) in
                    found.withLock { $0 = findings }
                    return .proceed(effort: .full, outputs: try sealing.stage(findings.planned))
                },
                received: { report throws(AttachmentError) in
                    try sealing.begin(report)
                })
            ending = result.ending
        } catch {
            failure = error
        }
        progress.note(found.withLock { $0 })
        var made = try await sealing.finished()
        // Only a deadline makes do with less; whatever else went wrong would go wrong again.
        if let failure, failure.code != .deadlineExceeded || deadline == nil || progress.findings == nil {
            try await abandon(made)
            try Task.checkCancellation()
            throw failure.code == .deadlineExceeded ? timeIsUp : failure
        }
        progress.steps.append(contentsOf: made.steps)
        guard let findings = progress.findings else { throw AttachmentError.codecCrashed(reason: "no findings") }
        if profile.keepsOriginal {
            made.add(try await sealing.keep(source.descriptor, bytes: source.bytes, as: findings))
        }
        guard let result = made.result(of: findings, ending: ending, options: submission.options) else {
            throw timeIsUp
        }
        return result
    }

    /// Gives up what was sealed for an attempt that failed.
    private func abandon(_ made: MadeRenditions) async throws(StoreTrouble) {
        do {
            try await pipeline.abandon(made.delivered.values.map(\.blob))
        } catch {
            throw StoreTrouble(cause: error)
        }
    }

    private var order: WorkOrder {
        var request = submission.request
        // Asked for in terms of the source; the codec gives it back in terms of the output.
        request.thumbnailClippingRect = submission.options.thumbnailClippingRect
        return WorkOrder(
            profile: profile, request: request, limits: pipeline.configuration.limits,
            ceilings: pipeline.configuration.ceilings)
    }

    /// The earlier of the job's deadline and the time limit for one source.
    private var end: ContinuousClock.Instant? {
        let limit = pipeline.configuration.timeLimit.map { ContinuousClock.now + $0 }
        return [deadline?.end, limit].compactMap(\.self).min()
    }

    private var timeIsUp: AttachmentError {
        if let deadline { return .deadlineExceeded(seconds: deadline.seconds) }
        let seconds = pipeline.configuration.timeLimit?.inSeconds ?? 0
        return .tooExpensive(resource: "time", granted: "\(seconds) s")
    }
}

/// What is known of an attachment so far; the record shows it even where the attempt fails.
private struct Progress {
    var facts: SourceFacts
    var findings: Findings?
    var steps: [Step] = []

    mutating func note(_ source: borrowing OpenedSource) {
        facts.name = source.name ?? facts.name
        facts.bytes = source.bytes
        facts.declaredType = source.declaredType ?? facts.declaredType
        steps.append(contentsOf: source.steps)
    }

    mutating func note(_ findings: Findings?) {
        guard let findings else { return }
        self.findings = findings
        facts.width = findings.size?.width
        facts.height = findings.size?.height
        facts.duration = findings.duration
        facts.sniffedType = findings.sniffedType
        facts.decodedType = findings.type
        steps.append(Step(name: "identify", seconds: findings.seconds, note: findings.note))
    }
}
