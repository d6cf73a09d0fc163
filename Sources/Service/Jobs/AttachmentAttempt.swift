import SatchelCore
internal import Stores
import CodecPool
import FoundationEssentials
import Ingest
import Platform
import Synchronization

/// One attempt at one attachment, from its source to durable blobs: what was asked for, and what is known so far. Each stage
/// reads this value and adds to it.
struct AttachmentAttempt: Sendable {
    let id: AttachmentID
    let submission: AttachmentSubmission
    let claim: Claim
    let deadline: Budget?
    /// Shared with the job's other attachments.
    let scratch: ScratchNeed
    let pipeline: Pipeline

    /// The record shows this and the steps even if the attempt fails.
    var facts: SourceFacts
    var probeResult: ProbeResult?
    var steps: [Step] = []
    /// The stage in progress.
    var stage = (name: "fetch", since: ContinuousClock.now)
    /// The bytes that are durable, but not recorded yet.
    var made = MadeRenditions()

    var isBulk: Bool { claim.submission.priority == .bulk }

    private var profile: Profile { submission.profile ?? claim.submission.profile }

    // MARK: The outcome

    /// Returns the outcome of this attachment's own work, or of an identical one's.
    ///
    /// - Throws: An `AttachmentError` if the store failed, ``NeedsExpensiveLane``, or a cancellation.
    mutating func outcome() async throws -> AttachmentOutcome {
        // Encrypted outputs have keys of their own.
        guard let sharing = pipeline.configuration.sharing, claim.submission.encrypt == nil,
            let key = sharing.key(of: submission, for: order, tenant: claim.tenant)
        else { return try await ownOutcome() }
        let start = ContinuousClock.now
        switch try await sharing.turn(at: key, submittedAt: submittedAt, in: claim.lane, until: deadline?.end) {
        case .lead(let lead):
            do {
                let outcome = try await ownOutcome(foundCostly: lead.turnedOutCostly)
                lead.end(ending(for: outcome))
                return outcome
            } catch {
                lead.end(error is NeedsExpensiveLane ? .needsExpensiveLane : .abandoned)
                throw error
            }
        case .alone: return try await ownOutcome()
        case .needsExpensiveLane: throw NeedsExpensiveLane()
        case .late: return ended(.failure(timeIsUp))
        case .take(let shared):
            if let outcome = try await copy(of: shared, since: start) { return outcome }
            // Its bytes were deleted meanwhile.
            sharing.forget(key)
            return try await ownOutcome()
        }
    }

    /// What the others get that wait for this attachment. With more time another may do better. A result without a scan is
    /// not shared.
    private func ending(for outcome: AttachmentOutcome) -> RequestCoalescer.Ending {
        if case .success(let result) = outcome.result, result.fidelity == .full,
            !outcome.steps.contains(where: { $0.name == Step.unscanned })
        {
            return .made(.init(kind: outcome.kind, source: outcome.source, result: result))
        }
        return deadline.map { $0.end <= .now } ?? false ? .abandoned : .unfit
    }

    /// The result of an identical attachment, with blobs of its own; `nil` if its bytes are gone.
    private mutating func copy(
        of shared: RequestCoalescer.Made, since start: ContinuousClock.Instant
    ) async throws -> AttachmentOutcome? {
        var result = shared.result
        var copied: [BlobName] = []
        do {
            for (role, delivered) in shared.result.renditions {
                let blob = CommittedBlob(
                    name: delivered.blob, sha256: delivered.rendition.sha256, bytes: delivered.rendition.bytes)
                guard let own = try await pipeline.blobs.copy(blob, under: claim.id) else {
                    await pipeline.abandon(copied)
                    return nil
                }
                copied.append(own.name)
                result.renditions[role]?.blob = own.name
            }
            try Task.checkCancellation()
        } catch {
            await pipeline.abandon(copied)
            throw error
        }
        facts = shared.source
        if submission.sha256 != nil {
            facts.name = submission.name
            facts.declaredType = submission.declaredType
        }
        JobMetrics.count("attachments_shared_total")
        note(
            Step(
                name: "shared", seconds: (ContinuousClock.now - start).inSeconds,
                note: "what an identical attachment came to"))
        if let kind = shared.kind {
            // Everything that was planned was made.
            steps += [idleOptions(for: kind, planned: Array(shared.result.renditions.keys))].compactMap(\.self)
        }
        return AttachmentOutcome(id: id, result: .success(result), kind: shared.kind, source: facts, steps: steps)
    }

    /// The outcome of this attachment's own work. Passing failures are retried here, but for those of the store, for which
    /// the job waits in the queue.
    private mutating func ownOutcome(foundCostly: () -> Void = {}) async throws -> AttachmentOutcome {
        var random = SystemRandomNumberGenerator.addressable
        if claim.isLate {
            steps.append(Step(name: "resume", seconds: 0, note: "after an interruption; late"))
        }
        var attempt = 1
        while true {
            let error: AttachmentError
            do {
                let result = try await self.result(foundCostly)
                return ended(.success(result))
            } catch let failure as AttachmentError {
                // No codec process knows the file's name.
                error = try await judged(failure).ofFile(
                    named: facts.name, declared: facts.declaredType, bytes: facts.bytes)
            }
            try Task.checkCancellation()
            if error.isOfStore, waitsForStore { throw error }
            guard let wait = pipeline.configuration.backoff.wait(after: attempt, error: error, using: &random),
                deadline.map({ ContinuousClock.now + wait < $0.end }) ?? true
            else { return failed(error) }
            note(Step(name: "retry", seconds: wait.inSeconds, note: error.message))
            try await Task.sleep(for: wait)
            attempt += 1
        }
    }

    /// Whether the job has time to wait for the store.
    private var waitsForStore: Bool {
        if let deadline { return .now < deadline.end }
        return pipeline.configuration.storePatience.map { submittedAt + $0 > .wallClock() } ?? true
    }

    private var submittedAt: Instant { id.instant ?? .wallClock() }

    /// Tells a job that needs more scratch than there is from one that waits for room.
    private func judged(_ error: AttachmentError) async throws -> AttachmentError {
        guard case .scratchFull(let needed) = error else { return error }
        scratch.note(needed, for: id)
        let (total, size) = (scratch.total, try await pipeline.staging.scratchSize())
        // A file system needs up to 2 % for itself.
        return total > size - size / 50 ? .scratchTooSmall(needed: total, size: size) : error
    }

    private func ended(_ result: Result<AttachmentResult, AttachmentError>) -> AttachmentOutcome {
        AttachmentOutcome(id: id, result: result, kind: probeResult?.kind, source: facts, steps: steps)
    }

    /// Ends the steps with the one that failed, and the reason.
    private mutating func failed(_ error: AttachmentError) -> AttachmentOutcome {
        // Bytes that no decoder accepted still looked like a type. The words after the type are for people.
        switch error {
        case .unrecognizedType(let sniffed?), .misnamed(_, let sniffed?):
            facts.sniffedType = facts.sniffedType ?? sniffed.split(separator: " ").first.map(String.init)
        case .unreadable(let finding):
            facts.diagnosis = (facts.diagnosis ?? Diagnosis()).decoded(Diagnosis(evidence: [finding]))
        default: break
        }
        steps.append(
            Step(name: stage.name, seconds: (ContinuousClock.now - stage.since).inSeconds, note: error.message))
        return ended(.failure(error))
    }

    // MARK: The stages

    /// Takes the source through all stages. If one fails, what is durable by then is given up.
    private mutating func result(_ foundCostly: () -> Void) async throws -> AttachmentResult {
        made = MadeRenditions()
        let source = try await open()
        defer { pipeline.openSources?.release(1, sparing: isBulk) }
        let scan = try beginScan(of: source)
        defer { scan?.cancel() }
        let outputs = OutputCommitter(
            staging: pipeline.staging, blobs: pipeline.blobs, claim: claim.id, encryption: outputEncryption
        ) { [self] report in publish(.rendition(id, report)) }
        let run = await render(source, into: outputs, foundCostly)
        if run.isCostly {
            // Fetched ciphertext is kept as it came: no plaintext outlives the process that reads it.
            if case .url = submission.location { pipeline.fetchedSources.keep(source, for: id) }
            throw NeedsExpensiveLane()
        }
        let scanned = await scan?.finished()
        let rendered = ContinuousClock.now
        do {
            try await commit(run, from: outputs)
            try accept(run, scanned)
            try await keepOriginal(of: source, into: outputs)
            return try conclude(run, since: rendered)
        } catch {
            await pipeline.abandon(made.blobs)
            throw error
        }
    }

    /// Opens the source, and takes a place to work on it, which the caller gives back.
    ///
    /// A source that has to be fetched takes that place after the fetch. Until then its fetch counts as one, so that sources
    /// don't pile up that come faster than they are worked on.
    private mutating func open() async throws -> OpenedSource {
        begin("wait")
        if let deadline, deadline.end <= .now { throw timeIsUp }
        if let fetched = pipeline.fetchedSources.take(id) {
            note(fetched)
            guard await pipeline.takeSource(for: self) else { throw timeIsUp }
            return fetched
        }
        let place = fetchPlace
        if let place {
            if let fetches = pipeline.fetches {
                guard await fetches.acquire(place, until: deadline?.end) == .granted else { throw timeIsUp }
            }
        } else {
            guard await pipeline.takeSource(for: self) else { throw timeIsUp }
        }
        defer { if let place { pipeline.fetches?.release(place) } }
        begin("fetch")
        let source: OpenedSource
        do {
            source = try await pipeline.sources.open(
                submission, limits: pipeline.configuration.limits, until: deadline?.end,
                trace: claim.submission.traceparent
            ) { [self] received, total in publish(.progress(id, received: received, of: total)) }
        } catch {
            if place == nil { pipeline.openSources?.release(1, sparing: isBulk) }
            throw error
        }
        for step in source.steps { publish(.stage(id, step)) }
        note(source)
        if place != nil {
            begin("wait")
            guard await pipeline.takeSource(for: self) else { throw timeIsUp }
        }
        return source
    }

    /// `nil` if there is nothing to fetch.
    private var fetchPlace: FetchPlace? {
        guard case .url(let url, _) = submission.location else { return nil }
        // An unusable URL is refused before anything is asked.
        let origin = (try? FetchURL(url))?.origin ?? ""
        return FetchPlace(tenant: claim.tenant, origin: origin, isBulk: isBulk)
    }

    /// Begins to scan the source, if sources are scanned.
    private func beginScan(of source: borrowing OpenedSource) throws -> SourceScan? {
        guard let scanning = pipeline.configuration.scanning else { return nil }
        let file: Descriptor
        do { file = try source.descriptor.duplicate() } catch { throw AttachmentError(error) }
        let subject = ScanSubject(tenant: claim.tenant, job: claim.job, attachment: id)
        let stored = ScannedSource(file, bytes: source.bytes, of: subject)
        return SourceScan(by: scanning, until: deadline?.end) { [self] read throws(AttachmentError) in
            guard let encryption = submission.encryption else { return await read(stored) }
            // Decrypted once more, so that neither the scanner nor the codec waits for the other's turn.
            let hold = try await pipeline.codecs.hold(
                encryption.memory(of: stored.bytes), patiently: isBulk, until: deadline?.end)
            let end = await read(try await stored.decrypted(by: encryption))
            _ = consume hold
            return end
        }
    }

    /// What one codec process came to.
    private struct Run {
        var probeResult: ProbeResult?
        var ending: Ending?
        var failure: AttachmentError?
        /// The last time that the source was decrypted, if it had to be.
        var decryption: Step?
        /// `nil` if the process was not heard to its end.
        var processIsDead: Bool?
        /// It was stopped at the decision, because its turn is another one.
        var isCostly = false
        var times: StageTimes
    }

    /// Has a codec process make the renditions. In the expensive lane a source that turns out to be costly gets another
    /// process in its turn; in other lanes nothing is made of it.
    private mutating func render(
        _ source: borrowing OpenedSource, into outputs: OutputCommitter, _ foundCostly: () -> Void
    ) async -> Run {
        let asked = begin(submission.encryption == nil ? "identify" : "decrypt")
        let turn: CodecPool.Turn = !isBulk ? .prompt : pipeline.configuration.isShared ? .bulk : .patient
        var run = await self.run(source, into: outputs, turn: turn, since: asked)
        if run.isCostly {
            guard claim.lane == .expensive else { return run }
            foundCostly()
            run = await self.run(source, into: outputs, turn: .costly, since: asked)
        }
        if let step = run.decryption {
            steps.append(step)
            stage.name = "identify"
        }
        guard let found = run.probeResult else { return run }
        probeResult = found
        facts.width = found.size?.width
        facts.height = found.size?.height
        facts.duration = found.duration
        facts.sniffedType = found.sniffedType
        facts.decodedType = found.type
        facts.diagnosis = found.diagnosis
        steps.append(
            Step(
                name: "wait", seconds: run.times.waiting(identifying: found.seconds),
                note: "for a codec process and its memory"))
        steps.append(found.step)
        note(idleOptions(for: found.kind, planned: found.planned))
        return run
    }

    /// - Parameter asked: When the source began to wait for a codec process.
    private func run(
        _ source: borrowing OpenedSource, into outputs: OutputCommitter, turn: CodecPool.Turn,
        since asked: ContinuousClock.Instant
    ) async -> Run {
        var run = Run(times: StageTimes(asked: asked))
        // This process found the error; the codec process did not report it.
        var own: AttachmentError?
        do throws(AttachmentError) {
            let result = try await pipeline.codecs.process(
                source.descriptor, order: order,
                decoderSet: DecoderSet(declaredType: facts.declaredType, name: facts.name),
                owner: pipeline.configuration.owner, turn: turn, party: claim.tenant.rawValue, deadline: end,
                finishBy: deadline?.finish,
                holding: memory(of: source.bytes),
                open: { source throws(AttachmentError) in
                    guard let encryption = submission.encryption else { return try CodecPool.asItIs(source) }
                    let start = ContinuousClock.now
                    let plaintext = try await encryption.decrypted(source)
                    let seconds = (ContinuousClock.now - start).inSeconds
                    run.times.opened(in: seconds)
                    let step = Step(
                        name: "decrypt", seconds: seconds, note: "\(plaintext.bytes) bytes, \(encryption.scheme.title)")
                    run.decryption = step
                    publish(.stage(id, step))
                    return try CodecPool.asItIs(plaintext.descriptor)
                },
                decide: { found throws(AttachmentError) in
                    run.times.identified()
                    if turn != .costly, pipeline.configuration.isCostly(found) { return .stop }
                    run.probeResult = found
                    publish(.stage(id, found.step))
                    do throws(AttachmentError) {
                        let staged = try outputs.stage(found.planned)
                        run.times.told()
                        return .proceed(outputs: staged)
                    } catch {
                        own = error
                        throw error
                    }
                },
                received: { report throws(AttachmentError) in
                    run.times.received(report)
                    try outputs.begin(report)
                })
            run.times.finished()
            run.ending = result.ending
            run.processIsDead = result.processIsDead
            run.isCostly = result.ending == nil
        } catch {
            if own == nil { run.failure = await believed(error) } else { run.failure = error }
        }
        return run
    }

    /// What a codec process says of the store counts only if this process sees it too: otherwise a hostile file could keep
    /// its job waiting for hours.
    private func believed(_ error: AttachmentError) async -> AttachmentError {
        guard error.isOfStore else { return error }
        if error == .storeFull, let free = try? await pipeline.staging.freeBytes(), free < profile.largestOutputs {
            return error
        }
        return .outOfResources(reason: error.message)
    }

    /// Waits until the renditions are durable.
    private mutating func commit(_ run: Run, from outputs: OutputCommitter) async throws {
        let finished = await outputs.finished(writersAreDead: run.processIsDead)
        made = finished.made
        if let failure = finished.failure { throw failure }
        if let missing = run.probeResult?.planned.first(where: { made.delivered[$0] == nil }) {
            stage.name = missing.rawValue
        }
    }

    /// Throws the reason not to deliver: what the scanner rejected, then what the codec refused, then what was not scanned
    /// although it has to be. Only a deadline makes do with less; any other failure would occur again.
    private mutating func accept(_ run: Run, _ scanned: SourceScan.Finished?) throws {
        let refusal = scanned?.refusal(under: pipeline.configuration.scanning?.failure ?? .closed)
        let isRejection = scanned?.isRejection ?? false
        if let failure = run.failure, !isRejection,
            failure.code != .deadlineExceeded || deadline == nil || probeResult == nil
        {
            try Task.checkCancellation()
            throw failure.code == .deadlineExceeded ? timeIsUp : failure
        }
        if let refusal {
            begin(Step.scan)
            throw refusal
        }
        note(scanned?.step)
    }

    /// Stores the source itself, if the profile keeps it.
    private mutating func keepOriginal(
        of source: borrowing OpenedSource, into outputs: OutputCommitter
    ) async throws {
        guard profile.keepsOriginal, let probeResult else { return }
        guard let encryption = submission.encryption else {
            let (report, kept) = try await outputs.keep(
                source.descriptor, bytes: source.bytes, as: probeResult, for: profile.name)
            return made.add(report, kept)
        }
        let hold = try await pipeline.codecs.hold(
            encryption.memory(of: source.bytes), patiently: isBulk, until: deadline?.end)
        let plaintext = try await encryption.decrypted(source.descriptor)
        let (report, kept) = try await outputs.keep(
            plaintext.descriptor, bytes: plaintext.bytes, as: probeResult, for: profile.name)
        made.add(report, kept)
        _ = consume hold
    }

    /// The result for the record.
    private mutating func conclude(_ run: Run, since rendered: ContinuousClock.Instant) throws -> AttachmentResult {
        guard let probeResult else { throw AttachmentError.codecCrashed(reason: "no probe result") }
        steps += made.steps
        if let ending = run.ending { steps += ending.steps(finishing: run.times.finishing) }
        let achievement = made.achievement(of: probeResult, ending: run.ending)
        facts.diagnosis = achievement.diagnosis
        note(achievement.step)
        guard let result = made.result(of: probeResult, ending: run.ending, options: submission.options) else {
            throw timeIsUp
        }
        note(made.commit(seconds: (ContinuousClock.now - rendered).inSeconds))
        return result
    }

    // MARK: Steps

    @discardableResult
    private mutating func begin(_ name: String) -> ContinuousClock.Instant {
        stage = (name, .now)
        return stage.since
    }

    /// Adds a step to the record, and tells the job's followers.
    private mutating func note(_ step: Step?) {
        guard let step else { return }
        steps.append(step)
        publish(.stage(id, step))
    }

    private mutating func note(_ source: borrowing OpenedSource) {
        facts.name = source.name ?? facts.name
        facts.bytes = source.bytes
        facts.declaredType = source.declaredType ?? facts.declaredType
        steps += source.steps
        scratch.note(source.bytes, for: id)
    }

    private func publish(_ what: JobEvent.What) {
        pipeline.publish(what, of: claim)
    }

    /// Names the options that have no effect on the source.
    private func idleOptions(for kind: MediaKind, planned: [RenditionRole]) -> Step? {
        Step(order.request.idleOptions(for: kind, planned: planned, under: profile))
    }

    // MARK: What was asked for

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

extension ProbeResult {
    fileprivate var step: Step { Step(name: "identify", seconds: seconds, note: note) }
}
