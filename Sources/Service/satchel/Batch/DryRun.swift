import SatchelCore
import CodecPool
import Foundation
import Ingest
import Synchronization

/// Estimates a batch from a sample of its new and changed sources; nothing is prepared or stored.
struct DryRun {
    let profile: Profile
    let codecs: CodecOptions
    let files: any SourceSupply
    /// Reads objects if the source is a bucket.
    let objects: (any ObjectReader)?
    let earlier: EarlierWork

    private struct Tally {
        var files = 0
        var bytes: Int64 = 0
        var cpuSeconds = 0.0

        mutating func add(_ source: FoundSource, _ cpuSeconds: Double = 0) {
            files += 1
            bytes += source.bytes
            self.cpuSeconds += cpuSeconds
        }
    }

    /// The number of files that are identified: all of a smaller batch, or a random sample of a larger one.
    static let sampled = 200
    /// Files that the store is asked about at once.
    private static let group = 500

    func run() async throws {
        let looked = Atomic(0)
        Console.beginProgress { width in
            "\(Quantity.count(looked.load(ordering: .relaxed), "file")) found".shortened(to: width)
        }
        defer { Console.endProgress() }
        var random = SystemRandomNumberGenerator.addressable
        var (new, unchanged, redone) = (Tally(), Tally(), 0)
        var sample: [FoundSource] = []
        var group: [FoundSource] = []
        func count() async throws {
            for (file, verdict) in zip(group, try await earlier.verdicts(on: group)) {
                if case .unchanged = verdict {
                    unchanged.add(file)
                    continue
                }
                if case .profileChanged = verdict { redone += 1 }
                new.add(file)
                // Each new file has the same chance to be in the sample (Vitter's algorithm R).
                if sample.count < Self.sampled {
                    sample.append(file)
                } else {
                    let place = Int.random(in: 0..<new.files, using: &random)
                    if place < sample.count { sample[place] = file }
                }
            }
            looked.add(group.count, ordering: .relaxed)
            group = []
        }
        try await files.forEach { entry in
            guard case .source(let file) = entry else { return }
            group.append(file)
            if group.count == Self.group { try await count() }
        }
        try await count()
        Console.endProgress()
        Console.printError(
            "\(Quantity.count(new.files, "file")) (\(Quantity.bytes(new.bytes))) to prepare, \(unchanged.files) unchanged."
        )
        try await estimate(from: sample, of: new, unchanged)
        if redone > 0 {
            let files = redone == 1 ? "1 file was" : "\(redone) files were"
            Console.printError(
                "\(files) prepared under another version of the profile '\(profile.name)', and would be prepared again."
            )
        }
    }

    private func estimate(from sample: [FoundSource], of new: Tally, _ unchanged: Tally) async throws {
        let configuration = try codecs.poolConfiguration
        let pool = CodecPool(configuration)
        try await startCodecs(pool, files.decoderSet)
        let looked = Atomic(0)
        Console.beginProgress { width in
            ProgressLine(done: looked.load(ordering: .relaxed), found: sample.count, isComplete: true).text(in: width)
        }
        defer { Console.endProgress() }
        var tallies: [String: Tally] = [:]
        let (profile, objects) = (profile, objects)
        await withTaskGroup(of: (FoundSource, Result<ProbeResult, AttachmentError>).self) { group in
            // The pool lets as many work at once as it has codecs.
            for file in sample { group.addTask { (file, await Self.look(at: file, objects, profile, in: pool)) } }
            for await (file, result) in group {
                looked.add(1, ordering: .relaxed)
                switch result {
                case .success(let found):
                    tallies[found.kind.rawValue, default: Tally()].add(file, found.estimate.cpuSeconds)
                case .failure(let error): tallies[error.code.rawValue, default: Tally()].add(file)
                }
            }
        }
        await pool.shutdown()
        try Task.checkCancellation()
        Console.endProgress()
        let scale = Double(new.files) / Double(max(1, sample.count))
        let about = scale > 1 ? "~" : ""
        func row(_ name: String, _ tally: Tally, _ scale: Double, _ about: String) -> [String] {
            [
                name, about + "\(Int((Double(tally.files) * scale).rounded()))",
                about + Quantity.bytes(Int64(Double(tally.bytes) * scale)),
                tally.cpuSeconds > 0 ? Quantity.seconds(tally.cpuSeconds * scale) : "-",
            ]
        }
        let rows =
            tallies.sorted { $0.key < $1.key }.map { row($0, $1, scale, about) }
            + (unchanged.files > 0 ? [row("unchanged", unchanged, 1, "")] : [])
        print(table(["KIND", "FILES", "BYTES", "CPU TIME"], rows, numbers: [1, 2, 3]))
        if scale > 1 {
            Console.printError("Examined \(sample.count) of \(new.files) files, chosen at random.")
        }
        Console.printError(
            Self.estimate(
                cpuSeconds: tallies.values.reduce(0) { $0 + $1.cpuSeconds } * scale, codecs: configuration.codecs,
                cores: CodecPoolConfiguration.usableProcessors))
    }

    private static func look(
        at file: FoundSource, _ objects: (any ObjectReader)?, _ profile: Profile, in pool: CodecPool
    ) async -> Result<ProbeResult, AttachmentError> {
        do throws(AttachmentError) {
            return .success(
                try await inspect(
                    try await open(file.location, objects), named: file.name, profile: profile, limits: .commandLine,
                    in: pool))
        } catch {
            return .failure(error)
        }
    }

    private static func open(
        _ location: SourceLocation, _ objects: (any ObjectReader)?
    ) async throws(AttachmentError) -> Descriptor {
        switch location {
        case .file(let root, let path, _):
            let file = try SourceRoot(root).open(path)
            return file.takeDescriptor()
        case .object(let bucket, let key, let state):
            guard let objects else { throw .invalidSource(reason: "it is not in the bucket of this run") }
            return try await objects.open(key, of: bucket, in: state)
        case .url, .spool: preconditionFailure("a batch finds files and objects")
        }
    }

    /// Returns the estimated duration. Each codec uses one core.
    static func estimate(cpuSeconds: Double, codecs: Int, cores: Int) -> String {
        let atOnce = codecs < cores ? Quantity.count(codecs, "codec") : Quantity.count(cores, "core")
        let time = Quantity.seconds(cpuSeconds / Double(max(1, min(codecs, cores))))
        return "Estimated: \(Quantity.seconds(cpuSeconds)) of CPU time, about \(time) with \(atOnce)."
    }
}

/// Identifies a source in a codec process and, if wanted, forecasts its renditions.
///
/// - Parameter staging: Where to make the renditions, to find out what decoding finds; `nil` to read headers only.
func inspect(
    _ source: consuming Descriptor, named name: String, profile: Profile,
    request: RenditionRequest = RenditionRequest(), limits: Limits,
    wantsForecasts: Bool = false, staging: (any StagingArea)? = nil, in pool: CodecPool
) async throws(AttachmentError) -> ProbeResult {
    let result = try await pool.process(
        source,
        order: WorkOrder(profile: profile, request: request, limits: limits, wantsForecasts: wantsForecasts),
        decoderSet: DecoderSet(declaredType: nil, name: name),
        decide: { probeResult throws(AttachmentError) in
            guard let staging else { return .stop }
            var outputs: [CodecOutput] = []
            for role in probeResult.planned {
                var staged = try staging.stage()
                outputs.append(CodecOutput(role: role, writer: staged.takeWriter()))
            }
            return .proceed(outputs: outputs)
        }, received: { _ throws(AttachmentError) in })
    var probeResult = result.probeResult
    probeResult.diagnosis = result.ending?.diagnosis ?? probeResult.diagnosis
    return probeResult
}
