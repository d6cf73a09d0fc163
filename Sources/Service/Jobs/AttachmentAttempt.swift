import SatchelCore
import CodecPool
import FoundationEssentials
import Ingest
import Platform
import Synchronization

/// One attempt at one attachment, from its source to durable blobs.
struct AttachmentAttempt: Sendable {
    let id: AttachmentID
    let submission: AttachmentSubmission
    let claim: Claim
    let deadline: Budget?
    let pipeline: Pipeline

    var isBulk: Bool { claim.submission.priority == .bulk }

    private var profile: Profile { submission.profile ?? claim.submission.profile }

    /// What the attachment came to: its own work, or that of an identical one.
    ///
    /// - Throws: ``StoreUnavailable``, ``NeedsExpensiveLane``, or a cancellation.
    func outcome() async throws -> AttachmentOutcome {
        // What is encrypted has a key of its own.
        guard let sharing = pipeline.configuration.sharing, claim.submission.encrypt == nil,
            let key = sharing.key(of: submission, for: order, tenant: claim.tenant)
        else { return try await ownOutcome() }
        let start = ContinuousClock.now
        let submittedAt = id.instant ?? .wallClock()
        switch try await sharing.turn(at: key, submittedAt: submittedAt, in: claim.lane, until: deadline?.end) {
        case .lead(let lead): return try await ownOutcome(leading: lead)
        case .alone: return try await ownOutcome()
        case .needsExpensiveLane: throw NeedsExpensiveLane()
        case .late:
            let source = SourceFacts(submission)
            return AttachmentOutcome(id: id, result: .failure(timeIsUp), kind: nil, source: source, steps: [])
        case .take(let made):
            if let taken = try await takenOver(made, since: start) { return taken }
            // Its bytes were deleted meanwhile.
            sharing.forget(key)
            return try await ownOutcome()
        }
    }

    /// The outcome of an attachment that others wait for.
    private func ownOutcome(leading lead: RequestCoalescer.Lead) async throws -> AttachmentOutcome {
        do {
            let outcome = try await ownOutcome(foundCostly: lead.turnedOutCostly)
            switch outcome.result {
            case .success(let result)
            where result.fidelity == .full && !outcome.steps.contains { $0.name == Step.unscanned }:
                lead.end(.made(.init(kind: outcome.kind, source: outcome.source, result: result)))
            default:
                // Where time was up, others may have more of it. What no scanner has seen is nobody else's.
                lead.end(deadline.map { $0.end <= .now } ?? false ? .abandoned : .unfit)
            }
            return outcome
        } catch {
            lead.end(error is NeedsExpensiveLane ? .needsExpensiveLane : .abandoned)
            throw error
        }
    }

    /// The outcome of an identical attachment as this one's, with blobs of its own; nil where the bytes are gone.
    private func takenOver(
        _ made: RequestCoalescer.Made, since start: ContinuousClock.Instant
    ) async throws -> AttachmentOutcome? {
        var result = made.result
        var taken: [BlobName] = []
        for (role, delivered) in made.result.renditions {
            do {
                let blob = CommittedBlob(
                    name: delivered.blob, sha256: delivered.rendition.sha256, bytes: delivered.rendition.bytes)
                guard let own = try await pipeline.blobs.copy(blob, under: claim.id) else {
                    try await abandon(taken)
                    return nil
                }
                taken.append(own.name)
                result.renditions[role]?.blob = own.name
            } catch let error as AttachmentError {
                try await abandon(taken)
                throw StoreUnavailable(cause: error)
            }
        }
        if Task.isCancelled {
            try await abandon(taken)
            throw CancellationError()
        }
        var source = made.source
        if submission.sha256 != nil {
            source.name = submission.name
            source.declaredType = submission.declaredType
        }
        JobMetrics.count("attachments_shared_total")
        let step = Step(
            name: "shared", seconds: (ContinuousClock.now - start).inSeconds,
            note: "what an identical attachment came to")
        publish(.stage(id, step))
        // Whatever was planned was made.
        let passedOver = made.kind.flatMap { self.passedOver(of: $0, planned: Array(made.result.renditions.keys)) }
        return AttachmentOutcome(
            id: id, result: .success(result), kind: made.kind, source: source,
            steps: [step, passedOver].compactMap(\.self))
    }

    /// What the attachment came to by itself; a passing failure is tried again first.
    private func ownOutcome(foundCostly: () -> Void = {}) async throws -> AttachmentOutcome {
        var random = SystemRandomNumberGenerator.addressable
        var progress = Progress(facts: SourceFacts(submission))
        if claim.isLate {
            progress.steps.append(Step(name: "resume", seconds: 0, note: "after an interruption; late"))
        }
        var attempt = 1
        while true {
            do {
                let result = try await deliverable(&progress, foundCostly)
                return AttachmentOutcome(
                    id: id, result: .success(result), kind: progress.probeResult?.kind, source: progress.facts,
                    steps: progress.steps)
            } catch {
                // No codec process knows what the file is called.
                let (name, type) = (progress.facts.name, progress.facts.declaredType)
                let bytes = progress.facts.bytes
                guard let error = (error as? AttachmentError)?.ofFile(named: name, declared: type, bytes: bytes) else {
                    throw error
                }
                try Task.checkCancellation()
                guard let wait = pipeline.configuration.backoff.wait(after: attempt, error: error, using: &random),
                    deadline.map({ ContinuousClock.now + wait < $0.end }) ?? true
                else {
                    progress.fail(error)
                    return AttachmentOutcome(
                        id: id, result: .failure(error), kind: progress.probeResult?.kind, source: progress.facts,
                        steps: progress.steps)
                }
                let step = Step(name: "retry", seconds: wait.inSeconds, note: error.message)
                progress.steps.append(step)
                publish(.stage(id, step))
                try await Task.sleep(for: wait)
                attempt += 1
            }
        }
    }

    /// The way of the data.
    private func deliverable(_ progress: inout Progress, _ foundCostly: () -> Void) async throws -> AttachmentResult {
        let source = try await openedAtItsPlace(&progress)
        defer { pipeline.giveSourceBack(for: self) }
        let scan = try scan(of: source)
        defer { scan?.cancel() }
        let committer = OutputCommitter(
            staging: pipeline.staging, blobs: pipeline.blobs, claim: claim.id, encryption: outputEncryption
        ) { report in
            publish(.rendition(id, report))
        }
        let run = await rendered(source, into: committer, &progress, foundCostly)
        if run.isCostly {
            // Ciphertext that was fetched is kept as it came: no plaintext outlives the process that reads it.
            if case .url = submission.location { pipeline.fetchedSources.keep(source, for: id) }
            throw NeedsExpensiveLane()
        }
        let scanned = await scan?.finished()
        let rendered = ContinuousClock.now
        var made = try await committed(by: committer, after: run, &progress)
        if let scanned, scanned.isRejection { try await act(on: scanned, of: made, &progress) }
        let probeResult = try await accepted(run, made, progress)
        try await act(on: scanned, of: made, &progress)
        try await keepOriginal(of: source, probeResult, among: &made, committer)
        return try delivered(made, of: probeResult, after: run, since: rendered, &progress)
    }

    /// What a codec process made of the source. In the expensive lane, of one that turns out to be costly, another process
    /// does, when it is its turn; elsewhere nothing is made of it.
    private func rendered(
        _ source: borrowing OpenedSource, into committer: OutputCommitter, _ progress: inout Progress,
        _ foundCostly: () -> Void
    ) async -> Run {
        let asked = progress.begin(submission.encryption == nil ? "identify" : "decrypt")
        let turn: CodecPool.Turn = !isBulk ? .prompt : pipeline.configuration.isShared ? .bulk : .patient
        var run = await render(source, into: committer, turn: turn, since: asked)
        if run.isCostly {
            guard claim.lane == .expensive else { return run }
            foundCostly()
            run = await render(source, into: committer, turn: .costly, since: asked)
        }
        progress.note(run)
        if let probeResult = progress.probeResult {
            note(passedOver(of: probeResult.kind, planned: probeResult.planned), in: &progress)
        }
        return run
    }

    /// What of it is durable.
    private func committed(
        by committer: OutputCommitter, after run: Run, _ progress: inout Progress
    ) async throws -> MadeRenditions {
        let (made, failure) = await committer.finished(writersAreDead: run.processIsDead)
        if let failure {
            try? await abandon(made.delivered.values.map(\.blob))
            throw failure
        }
        if let missing = run.probeResult?.planned.first(where: { made.delivered[$0] == nil }) {
            progress.stage.name = missing.rawValue
        }
        return made
    }

    /// What was found out of the source, where what was made of it does. Only a deadline makes do with less; whatever else
    /// went wrong would go wrong again.
    private func accepted(_ run: Run, _ made: MadeRenditions, _ progress: Progress) async throws -> ProbeResult {
        if let failure = run.failure,
            failure.code != .deadlineExceeded || deadline == nil || progress.probeResult == nil
        {
            try await abandon(made.delivered.values.map(\.blob))
            try Task.checkCancellation()
            throw failure.code == .deadlineExceeded ? timeIsUp : failure
        }
        guard let probeResult = progress.probeResult else {
            throw AttachmentError.codecCrashed(reason: "no probe result")
        }
        return probeResult
    }

    /// Begins to scan the source, where that is wanted.
    private func scan(of source: borrowing OpenedSource) throws -> SourceScan? {
        guard let scanning = pipeline.configuration.scanning else { return nil }
        let file: Descriptor
        do { file = try source.descriptor.duplicate() } catch {
            throw StoreUnavailable(cause: AttachmentError(error))
        }
        let subject = ScanSubject(tenant: claim.tenant, job: claim.job, attachment: id)
        let stored = ScannedSource(file, bytes: source.bytes, of: subject)
        return SourceScan(by: scanning, until: deadline?.end) { read throws(AttachmentError) in
            guard let encryption = submission.encryption else { return await read(stored) }
            // Decrypted once more, so that neither the scanner nor the codec waits for the other's turn.
            let hold = try await pipeline.codecs.hold(
                encryption.memory(of: stored.bytes), patiently: isBulk, until: deadline?.end)
            let end = await read(try await stored.decrypted(by: encryption))
            _ = consume hold
            return end
        }
    }

    /// Nothing is delivered that was rejected, nor what nobody has scanned where it has to be. What was rejected is told
    /// before what a codec thinks of it.
    private func act(on scan: SourceScan.Finished?, of made: MadeRenditions, _ progress: inout Progress) async throws {
        guard let scan else { return }
        if let error = scan.refusal(under: pipeline.configuration.scanning?.failure ?? .closed) {
            progress.begin(Step.scan)
            try await abandon(made.delivered.values.map(\.blob))
            throw error
        }
        note(scan.step, in: &progress)
    }

    /// The source itself, where the profile keeps it.
    private func keepOriginal(
        of source: borrowing OpenedSource, _ probeResult: ProbeResult, among made: inout MadeRenditions,
        _ committer: OutputCommitter
    ) async throws {
        guard profile.keepsOriginal else { return }
        do {
            let (report, blob) =
                if let encryption = submission.encryption {
                    try await keepDecrypted(encryption, of: source, as: probeResult, committer)
                } else {
                    try await committer.keep(
                        source.descriptor, bytes: source.bytes, as: probeResult, for: profile.name)
                }
            made.add(report, blob)
        } catch {
            try? await abandon(made.delivered.values.map(\.blob))
            throw error
        }
    }

    private func keepDecrypted(
        _ encryption: MediaEncryption, of source: borrowing OpenedSource, as probeResult: ProbeResult,
        _ committer: OutputCommitter
    ) async throws -> (RenditionReport, OutputCommitter.Kept) {
        let hold = try await pipeline.codecs.hold(
            encryption.memory(of: source.bytes), patiently: isBulk, until: deadline?.end)
        let plaintext = try await encryption.decrypted(source.descriptor)
        let kept = try await committer.keep(
            plaintext.descriptor, bytes: plaintext.bytes, as: probeResult, for: profile.name)
        _ = consume hold
        return kept
    }

    /// What the record will say.
    private func delivered(
        _ made: MadeRenditions, of probeResult: ProbeResult, after run: Run, since rendered: ContinuousClock.Instant,
        _ progress: inout Progress
    ) throws -> AttachmentResult {
        progress.steps.append(contentsOf: made.steps)
        if let ending = run.ending {
            progress.steps.append(contentsOf: ending.steps(finishing: run.times.finishing))
        }
        let achievement = made.achievement(of: probeResult, ending: run.ending)
        progress.facts.diagnosis = achievement.diagnosis
        note(achievement.step, in: &progress)
        guard let result = made.result(of: probeResult, ending: run.ending, options: submission.options) else {
            throw timeIsUp
        }
        note(made.commit(seconds: (ContinuousClock.now - rendered).inSeconds), in: &progress)
        return result
    }

    /// Says a step to the record and to those who follow.
    private func note(_ step: Step?, in progress: inout Progress) {
        guard let step else { return }
        progress.steps.append(step)
        publish(.stage(id, step))
    }

    /// The source, and with it a place to work on it, which is the caller's to give back.
    ///
    /// What has to be fetched takes such a place when it is there. Until then its fetch counts as one: what comes faster
    /// than it is worked on doesn't pile up.
    private func openedAtItsPlace(_ progress: inout Progress) async throws -> OpenedSource {
        progress.begin("wait")
        if let deadline, deadline.end <= .now { throw timeIsUp }
        if let fetched = pipeline.fetchedSources.take(id) {
            progress.note(fetched)
            guard await pipeline.takeSource(for: self) else { throw timeIsUp }
            return fetched
        }
        guard let place = fetchPlace else {
            guard await pipeline.takeSource(for: self) else { throw timeIsUp }
            progress.begin("fetch")
            do {
                let source = try await opened()
                progress.note(source)
                return source
            } catch {
                pipeline.giveSourceBack(for: self)
                throw error
            }
        }
        if let fetches = pipeline.fetches {
            guard await fetches.acquire(place, until: deadline?.end) == .granted else { throw timeIsUp }
        }
        defer { pipeline.fetches?.release(place) }
        progress.begin("fetch")
        let source = try await opened()
        progress.note(source)
        progress.begin("wait")
        guard await pipeline.takeSource(for: self) else { throw timeIsUp }
        return source
    }

    /// Nil where there is nothing to fetch.
    private var fetchPlace: FetchPlace? {
        guard case .url(let url, _) = submission.location else { return nil }
        // One that can't be used is refused before anything is asked.
        let origin = (try? FetchURL(url))?.origin ?? ""
        return FetchPlace(tenant: claim.tenant, origin: origin, isBulk: isBulk)
    }

    /// What the submission names.
    private func opened() async throws -> OpenedSource {
        let source: OpenedSource
        do throws(AttachmentError) {
            source = try await pipeline.sources.open(
                submission, limits: pipeline.configuration.limits, until: deadline?.end,
                trace: claim.submission.traceparent
            ) { received, total in
                publish(.progress(id, received: received, of: total))
            }
        } catch {
            // A bucket that is away says nothing of the object: it is tried again when the bucket is back.
            if case .object = submission.location, error.code == .storeFailed || error.code == .storeFull {
                throw StoreUnavailable(cause: error)
            }
            throw error
        }
        for step in source.steps { publish(.stage(id, step)) }
        return source
    }

    /// What one codec process came to.
    fileprivate struct Run {
        var probeResult: ProbeResult?
        var ending: Ending?
        var failure: AttachmentError?
        /// The last time that the source was decrypted, where it had to be.
        var decryption: Step?
        /// Nil where the process was not heard to its end.
        var processIsDead: Bool?
        /// It was stopped at the decision, because its turn is another one.
        var isCostly = false
        var times: StageTimes
    }

    /// - Parameter asked: When the source began to wait for a codec process.
    private func render(
        _ source: borrowing OpenedSource, into committer: OutputCommitter, turn: CodecPool.Turn,
        since asked: ContinuousClock.Instant
    ) async -> Run {
        let found = Mutex<ProbeResult?>(nil)
        let decryption = Mutex<Step?>(nil)
        let times = Mutex(StageTimes(asked: asked))
        var run = Run(times: StageTimes(asked: asked))
        do throws(AttachmentError) {
            let result = try await pipeline.codecs.process(
                source.descriptor, order: order,
                decoderSet: DecoderSet(declaredType: source.declaredType, name: source.name),
                owner: pipeline.configuration.owner, turn: turn, party: claim.tenant.rawValue, deadline: end,
                finishBy: deadline?.finish,
                holding: memory(of: source.bytes),
                open: { source throws(AttachmentError) in
                    guard let encryption = submission.encryption else { return try CodecPool.asItIs(source) }
                    let start = ContinuousClock.now
                    let plaintext = try await encryption.decrypted(source)
                    let seconds = (ContinuousClock.now - start).inSeconds
                    times.withLock { $0.opened(in: seconds) }
                    let step = Step(
                        name: "decrypt", seconds: seconds, note: "\(plaintext.bytes) bytes, \(encryption.scheme.title)")
                    decryption.withLock { $0 = step }
                    publish(.stage(id, step))
                    return try CodecPool.asItIs(plaintext.descriptor)
                },
                decide: { probeResult throws(AttachmentError) in
                    times.withLock { $0.identified() }
                    if turn != .costly, pipeline.configuration.isCostly(probeResult) { return .stop }
                    found.withLock { $0 = probeResult }
                    publish(.stage(id, probeResult.step))
                    let outputs = try committer.stage(probeResult.planned)
                    times.withLock { $0.told() }
                    return .proceed(effort: .full, outputs: outputs)
                },
                received: { report throws(AttachmentError) in
                    times.withLock { $0.received(report) }
                    try committer.begin(report)
                })
            times.withLock { $0.finished() }
            run.ending = result.ending
            run.processIsDead = result.processIsDead
            run.isCostly = result.ending == nil
        } catch {
            run.failure = error
        }
        run.decryption = decryption.withLock { $0 }
        run.probeResult = found.withLock { $0 }
        run.times = times.withLock { $0 }
        return run
    }

    /// Gives up what was committed and won't be delivered.
    private func abandon(_ blobs: [BlobName]) async throws(StoreUnavailable) {
        do {
            try await pipeline.abandon(blobs)
        } catch {
            throw StoreUnavailable(cause: error)
        }
    }

    private func publish(_ what: JobEvent.What) {
        pipeline.publish(what, of: claim)
    }

    /// Names the options that the source has no use for.
    private func passedOver(of kind: MediaKind, planned: [RenditionRole]) -> Step? {
        Step(order.request.idleOptions(for: kind, planned: planned, under: profile))
    }

    private var outputEncryption: OutputCommitter.Encryption? {
        claim.submission.encrypt.map { scheme in
            OutputCommitter.Encryption(scheme: scheme) { key, sha256 throws(AttachmentError) in
                try pipeline.records.seal(key, of: claim.tenant, for: sha256)
            }
        }
    }

    /// Bytes of memory that the source and what is made of it take beside the codec process, as neither is in a file; nil
    /// where both are.
    private func memory(of bytes: Int64) -> Int64? {
        let source = submission.encryption?.memory(of: bytes)
        let outputs = claim.submission.encrypt.map { scheme in
            scheme.memory(of: min(profile.largestOutputs, EncryptionScheme.maximumBytes))
        }
        guard source != nil || outputs != nil else { return nil }
        return (source ?? 0) + (outputs ?? 0)
    }

    private var order: WorkOrder {
        var request = submission.request
        // Asked for in terms of the source; the codec gives it back in terms of the output.
        request.thumbnailClippingRect = submission.options.thumbnailClippingRect
        var ceilings = pipeline.configuration.ceilings
        if claim.submission.encrypt != nil {
            ceilings.fileBytes = min(ceilings.fileBytes, EncryptionScheme.maximumBytes)
        }
        return WorkOrder(
            profile: profile, request: request, limits: pipeline.configuration.limits, ceilings: ceilings)
    }

    /// The earlier of the job's deadline and the time limit for one source.
    private var end: ContinuousClock.Instant? {
        let limit = pipeline.configuration.timeLimit.map { ContinuousClock.now + $0 }
        return [deadline?.end, limit].compactMap(\.self).min()
    }

    private var timeIsUp: AttachmentError {
        .deadlineExceeded(seconds: deadline?.seconds ?? pipeline.configuration.timeLimit?.inSeconds ?? 0)
    }
}

/// A source turned out to be too costly for the quick lane.
struct NeedsExpensiveLane: Error {}

/// What is known of an attachment so far; the record shows it even where the attempt fails.
private struct Progress {
    var facts: SourceFacts
    var probeResult: ProbeResult?
    var steps: [Step] = []
    /// What is being done.
    var stage = (name: "fetch", since: ContinuousClock.now)

    @discardableResult
    mutating func begin(_ name: String) -> ContinuousClock.Instant {
        stage = (name, .now)
        return stage.since
    }

    /// Ends the steps with the one that could not be done, and why.
    mutating func fail(_ error: AttachmentError) {
        // What no decoder took still looked like something; what is said beside the type is for people.
        switch error {
        case .unrecognizedType(let sniffed?), .misnamed(_, let sniffed?):
            facts.sniffedType = facts.sniffedType ?? sniffed.split(separator: " ").first.map(String.init)
        case .unreadable(let finding):
            facts.diagnosis = (facts.diagnosis ?? Diagnosis()).decoded(Diagnosis(evidence: [finding]))
        default: break
        }
        steps.append(
            Step(name: stage.name, seconds: (ContinuousClock.now - stage.since).inSeconds, note: error.message))
    }

    mutating func note(_ source: borrowing OpenedSource) {
        facts.name = source.name ?? facts.name
        facts.bytes = source.bytes
        facts.declaredType = source.declaredType ?? facts.declaredType
        steps.append(contentsOf: source.steps)
    }

    mutating func note(_ run: AttachmentAttempt.Run) {
        if let step = run.decryption {
            steps.append(step)
            stage.name = "identify"
        }
        guard let probeResult = run.probeResult else { return }
        self.probeResult = probeResult
        facts.width = probeResult.size?.width
        facts.height = probeResult.size?.height
        facts.duration = probeResult.duration
        facts.sniffedType = probeResult.sniffedType
        facts.decodedType = probeResult.type
        facts.diagnosis = probeResult.diagnosis
        steps.append(
            Step(
                name: "wait", seconds: run.times.waiting(identifying: probeResult.seconds),
                note: "for a codec process and its memory"))
        steps.append(probeResult.step)
    }
}

extension ProbeResult {
    fileprivate var step: Step { Step(name: "identify", seconds: seconds, note: note) }
}
