import SatchelCore
import CodecPool
import Glibc
import Ingest
import Platform
import Synchronization

/// The outputs of one source on their way from staged files to durable blobs.
///
/// A rendition is committed as soon as it is reported, beside the codec's work on the next one, so that at the end only
/// the record's transaction remains.
final class OutputCommitter: Sendable {
    private struct State {
        var staged: [RenditionRole: ScratchFile] = [:]
        var committing: [(report: RenditionReport, kept: Task<Kept, any Error>)] = []
        /// Reported, and known to be closed only when their writer is dead.
        var unproven: [(report: RenditionReport, file: ScratchFile)] = []
    }

    /// Encrypts renditions before they are kept.
    struct Encryption: Sendable {
        var scheme: EncryptionScheme
        /// Seals the key of a rendition, bound to its hash.
        var seal: @Sendable (MediaEncryption, _ sha256: String) throws(AttachmentError) -> SealedEncryption
    }

    /// A rendition that is durable.
    struct Kept: Sendable {
        var blob: CommittedBlob
        var encryption: SealedEncryption?
    }

    /// Where a store takes files from.
    private let staging: any StagingArea
    /// Where outputs come into being: in memory where they are to be encrypted.
    private let outputs: any StagingArea
    private let encryption: Encryption?
    private let blobs: any BlobStore
    private let claim: ClaimID
    private let committed: @Sendable (RenditionReport) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - claim: Under which the renditions will be delivered.
    ///   - committed: Told of each rendition that is durable.
    init(
        staging: any StagingArea, blobs: any BlobStore, claim: ClaimID, encryption: Encryption? = nil,
        committed: @escaping @Sendable (RenditionReport) -> Void
    ) {
        self.staging = staging
        self.encryption = encryption
        outputs = encryption == nil ? staging : staging.inMemory
        self.blobs = blobs
        self.claim = claim
        self.committed = committed
    }

    /// A staged file for each rendition that will be made.
    func stage(_ roles: [RenditionRole]) throws(AttachmentError) -> [CodecOutput] {
        var outputs: [CodecOutput] = []
        for role in roles {
            var staged = try self.outputs.stage()
            outputs.append(CodecOutput(role: role, writer: staged.takeWriter()))
            let file = staged.file
            state.withLock { $0.staged[role] = file }
        }
        return outputs
    }

    /// Starts to make a reported output durable, or keeps it until its writer is dead where the store must know that.
    func begin(_ report: RenditionReport) throws(AttachmentError) {
        guard let file = state.withLock({ $0.staged.removeValue(forKey: report.role) }) else {
            throw .codecCrashed(reason: "reported \(report.role.rawValue), which was not ordered")
        }
        guard outputs.provesClosing else {
            state.withLock { $0.unproven.append((report, file)) }
            return
        }
        commit(file, report, writersAreDead: false)
    }

    private func commit(_ file: ScratchFile, _ report: RenditionReport, writersAreDead: Bool) {
        let task = Task { [self] in
            let kept = try await commit(file, expecting: report.bytes, writersAreDead: writersAreDead)
            committed(report)
            return kept
        }
        state.withLock { $0.committing.append((report, task)) }
    }

    private func commit(
        _ file: ScratchFile, expecting bytes: Int64, writersAreDead: Bool
    ) async throws(AttachmentError) -> Kept {
        let closed = try await outputs.close(file, expecting: bytes, writersAreDead: writersAreDead)
        guard let encryption else { return Kept(blob: try await blobs.put(closed, under: claim)) }
        return try await keep(closed.file.reader, by: encryption)
    }

    /// Encrypts a file and keeps that. No byte of what it holds is written anywhere.
    private func keep(
        _ plaintext: borrowing Descriptor, by encryption: Encryption
    ) async throws(AttachmentError) -> Kept {
        var staged = try staging.stage()
        let input: Int32
        do { input = try plaintext.duplicate().release() } catch { throw AttachmentError(error) }
        let output = staged.takeWriter().release()
        let (key, bytes) = try await BlockingWork.run { () throws(AttachmentError) in
            let output = Descriptor(owning: output)
            let key = try encryption.scheme.encrypt(Descriptor(owning: input), to: output)
            let bytes: Int64
            do throws(SystemError) { bytes = try Files.size(of: output) } catch { throw AttachmentError(error) }
            return (key, bytes)
        }
        let closed = try await staging.close(staged.file, expecting: bytes, writersAreDead: true)
        let sealed = try encryption.seal(key, closed.sha256)
        return Kept(blob: try await blobs.put(closed, under: claim), encryption: sealed)
    }

    /// Waits for all that was begun, and answers what of it is durable.
    ///
    /// - Parameter writersAreDead: Nil where the codec process didn't come to its end by itself: then what can't be
    ///   proven to be closed is given up.
    /// - Returns: `failure` is an error of the store, or `codec_crashed` when an output was not what was reported.
    func finished(writersAreDead: Bool?) async -> (made: MadeRenditions, failure: (any Error)?) {
        var made = MadeRenditions()
        var failure: (any Error)?
        if let writersAreDead {
            for (report, file) in state.withLock({ $0.unproven }) {
                commit(file, report, writersAreDead: writersAreDead)
            }
        }
        for (report, task) in state.withLock({ $0.committing }) {
            do {
                made.add(report, try await task.value)
            } catch {
                failure = failure ?? error
            }
        }
        return (made, failure)
    }

    /// Copies the source itself into the store.
    func keep(
        _ source: borrowing Descriptor, bytes: Int64, as probeResult: ProbeResult, for profile: String
    ) async throws -> (RenditionReport, Kept) {
        let start = ContinuousClock.now
        func report() -> RenditionReport {
            RenditionReport(
                role: .original, type: probeResult.type, size: probeResult.size, duration: probeResult.duration,
                bytes: bytes, seconds: (ContinuousClock.now - start).inSeconds,
                note: "\(bytes) bytes as they came, because the profile '\(profile)' keeps its sources", encodes: 0)
        }
        do {
            if let encryption {
                let kept = try await keep(source, by: encryption)
                return (report(), kept)
            }
            var staged = try staging.stage()
            let from = try source.duplicate()
            let (input, output) = (from.release(), staged.takeWriter().release())
            let copied = try await BlockingWork.run {
                let input = Descriptor(owning: input)
                let output = Descriptor(owning: output)
                return try copyFile(input, to: output)
            }
            guard copied == bytes else {
                throw AttachmentError.invalidSource(reason: "it changed while it was read")
            }
            let kept = try await commit(staged.file, expecting: bytes, writersAreDead: true)
            return (report(), kept)
        } catch CopyFailure.source(let error) {
            throw AttachmentError.invalidSource(reason: "the system \(error)")
        } catch CopyFailure.target(let error) {
            throw AttachmentError(error)
        } catch let error as SystemError {
            throw AttachmentError(error)
        }
    }
}

/// The durable renditions of one source.
struct MadeRenditions: Sendable {
    private(set) var reports: [RenditionReport] = []
    private(set) var delivered: [RenditionRole: DeliveredRendition] = [:]

    var blobs: [BlobName] { delivered.values.map(\.blob) }

    mutating func add(_ report: RenditionReport, _ kept: OutputCommitter.Kept) {
        let blob = kept.blob
        reports.append(report)
        delivered[report.role] = DeliveredRendition(
            rendition: Rendition(
                mediaType: report.type, width: report.size?.width, height: report.size?.height,
                duration: report.duration, bytes: blob.bytes, sha256: blob.sha256,
                encryption: kept.encryption),
            blob: blob.name)
    }

    /// One for each rendition.
    var steps: [Step] {
        reports.map { Step(name: $0.role.rawValue, seconds: $0.seconds, note: $0.note) }
    }

    /// What making the renditions durable came to.
    ///
    /// - Parameter seconds: Those that were spent on nothing else: much of it is done while the codec is at work.
    func commit(seconds: Double) -> Step {
        let bytes = delivered.values.reduce(0) { $0 + $1.rendition.bytes }
        let files = delivered.count == 1 ? "1 file" : "\(delivered.count) files"
        return Step(
            name: "commit", seconds: seconds, note: "\(files), \(bytes) bytes, durable before they are recorded")
    }

    /// How much of the promise was kept, and why no more.
    ///
    /// - Parameter ending: Nil where the codec process was ended because the time was up.
    func achievement(of probeResult: ProbeResult, ending: Ending?) -> FidelityAssessment {
        var achievement = FidelityAssessment(
            planned: probeResult.planned, made: [], keptOriginal: delivered[.original] != nil,
            diagnosis: ending?.diagnosis ?? probeResult.diagnosis)
        for report in reports where report.role != .original {
            achievement.made.insert(report.role)
            achievement.diagnosis.losses += [report.haste].compactMap(\.self)
        }
        if ending == nil {
            achievement.diagnosis.losses += probeResult.planned.filter { !achievement.made.contains($0) }
                .map { Finding(.timeUp, $0) }
        }
        achievement.diagnosis.losses = achievement.losses
        return achievement
    }

    /// What the record will say; nil when there is nothing to deliver.
    func result(of probeResult: ProbeResult, ending: Ending?, options: DisplayOptions) -> AttachmentResult? {
        let achievement = achievement(of: probeResult, ending: ending)
        guard let fidelity = achievement.fidelity, let best = achievement.best, let shown = delivered[best] else {
            return nil
        }
        var options = options
        options.typeHint = shown.rendition.uti
        options.thumbnailClippingRect = ending?.thumbnailClippingRect ?? options.thumbnailClippingRect
        options.thumbnailTime = ending?.thumbnailTime ?? options.thumbnailTime
        var ratio: Double?
        if let width = shown.rendition.width, let height = shown.rendition.height, width > 0 {
            ratio = (Double(height) / Double(width) * 10_000).rounded() / 10_000
        }
        return AttachmentResult(
            fidelity: fidelity, best: best, renditions: delivered, options: options, trim: ending?.trim,
            placeholder: ending?.placeholder, contentSizeRatio: ratio)
    }
}

extension Ending {
    /// What else a codec process did and noticed.
    ///
    /// - Parameter seconds: Those that it took beside making renditions.
    func steps(finishing seconds: Double) -> [Step] {
        let warnings = diagnosis.evidence.map(\.text) + warnings
        return [
            placeholder.map { Step(name: "placeholder", seconds: seconds, note: $0.note) }, Step(warnings: warnings),
        ].compactMap(\.self)
            + (diagnosis.omissions + diagnosis.changes).map { Step(name: Step.note, seconds: 0, note: $0.text) }
            + diagnosis.losses.map { Step(name: Step.loss, seconds: 0, note: $0.text) }
    }
}

extension Placeholder {
    fileprivate var note: String {
        let parts = [
            thumbhash.map { _ in "ThumbHash" }, blurhash.map { _ in "BlurHash" }, color.map { "the colour \($0)" },
            peaks.map { "\($0.count) peaks" },
        ].compactMap(\.self)
        return "\(parts.joined(separator: ", ")), to be shown until the bytes are there"
    }
}

extension Step {
    static let warnings = "warnings"
    /// What the profile would have kept and is missing.
    static let loss = "loss"
    /// Characters of a note that lists warnings, about.
    private static let warningsLength = 200

    /// What decoders complained of and could work around; nil where there is nothing of the kind.
    init?(warnings: [String]) {
        var counts: [(text: String, count: Int)] = []
        for text in warnings where !text.isEmpty {
            if let index = counts.firstIndex(where: { $0.text == text }) {
                counts[index].count += 1
            } else {
                counts.append((text, 1))
            }
        }
        guard !counts.isEmpty else { return nil }
        var listed: [String] = []
        var length = 0
        for (text, count) in counts {
            let entry = count == 1 ? text : "\(text) (\(count) times)"
            length += entry.count + 2
            guard listed.isEmpty || length <= Self.warningsLength - 20 else { break }
            listed.append(String(entry.prefix(Self.warningsLength - 20)))
        }
        let left = counts.count - listed.count
        let rest = left > 0 ? "; and \(left) more" : ""
        self.init(name: Self.warnings, seconds: 0, note: listed.joined(separator: "; ") + rest)
    }
}
